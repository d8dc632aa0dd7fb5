"""Endpoints of members: who they are, what they may do, and the links that invite more."""

from django.conf import settings
from django.db import transaction
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.common.selectors.factors import members_of
from benchmarks_app.models import Invitation, Membership, Role
from benchmarks_app.people.services import people
from benchmarks_app.permissions import Action

TAG = ["people"]


class PersonSerializer(serializers.ModelSerializer):
    """A member; `is_blindness_lifted` counts for annotators alone."""

    username = serializers.CharField(source="user.username", read_only=True)
    has_two_factors = serializers.BooleanField(read_only=True)

    class Meta:
        model = Membership
        fields = [
            "id",
            "username",
            "role",
            "is_blindness_lifted",
            "has_two_factors",
            "created_at",
        ]
        read_only_fields = ["created_at"]


class InvitationSerializer(serializers.ModelSerializer):
    """An invitation that is open; its link was told once, when it was made."""

    class Meta:
        model = Invitation
        fields = ["id", "role", "note", "email", "expires_at", "created_at"]


class NewInvitationSerializer(serializers.Serializer):
    role = serializers.ChoiceField(Role.choices, default=Role.ANNOTATOR)
    note = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    email = serializers.EmailField(
        required=False,
        allow_blank=True,
        max_length=Invitation._meta.get_field("email").max_length,
        help_text="Then only an account of this address can accept.",
    )
    days = serializers.IntegerField(
        min_value=1,
        max_value=people.MOST_INVITATION_DAYS,
        default=settings.INVITATION_DAYS,
        help_text="Days until it expires.",
    )


class InvitedSerializer(InvitationSerializer):
    """A new invitation with its link, which cannot be read again."""

    link = serializers.URLField()

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "link"]


class MemberList(Endpoint):
    serializer_class = PersonSerializer

    @extend_schema(
        summary="Members and their roles, by name",
        tags=TAG,
        responses=PersonSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.MANAGE_PEOPLE)
        return self.page_of(members_of(benchmark), PersonSerializer)


class MemberDetail(Endpoint):
    serializer_class = PersonSerializer
    pagination_class = None

    def member(self, pk: int) -> Membership:
        benchmark = self.benchmark_for(Action.MANAGE_PEOPLE)
        return get_object_or_404(members_of(benchmark), pk=pk)

    @extend_schema(summary="A member", tags=TAG)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(PersonSerializer(self.member(pk)).data)

    @extend_schema(
        summary="Change a member's role, or show an annotator of open pools results",
        tags=TAG,
        request=PersonSerializer(partial=True),
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        member, changes = self.member(pk), self.validated(PersonSerializer, partial=True)
        if not changes:
            message = "Expected `role` or `is_blindness_lifted`."
            raise exceptions.ValidationError(message)
        with transaction.atomic():
            if "role" in changes:
                role = Role(changes["role"])
                people.change_role(membership=member, role=role, actor=request.user)
            if "is_blindness_lifted" in changes:
                is_lifted = changes["is_blindness_lifted"]
                people.change_blindness(membership=member, is_lifted=is_lifted, actor=request.user)
        rows = members_of(member.benchmark)
        return Response(PersonSerializer(get_object_or_404(rows, pk=pk)).data)

    @extend_schema(summary="Remove a member; their work stays", tags=TAG, responses={204: None})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        people.remove_member(membership=self.member(pk), actor=request.user)
        return Response(status=204)


class InvitationList(Endpoint):
    keeps_answers = False  # the link is told once
    serializer_class = InvitationSerializer

    @extend_schema(
        operation_id="invitations_list",
        summary="Invitations that are open, the next to expire first",
        tags=TAG,
        responses=InvitationSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.MANAGE_PEOPLE)
        rows = benchmark.invitations.open().order_by("expires_at", "pk")
        return self.page_of(rows, InvitationSerializer)

    @extend_schema(
        operation_id="invitations_create",
        summary="Make a link that invites, which is told this once",
        tags=TAG,
        request=NewInvitationSerializer,
        responses={201: InvitedSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.MANAGE_PEOPLE)
        fields = self.validated(NewInvitationSerializer)
        fields["role"] = Role(fields["role"])
        invited = people.invite(benchmark=benchmark, actor=request.user, **fields)
        path = reverse("invitation-accept", args=[invited.secret])
        answer = InvitationSerializer(invited.invitation).data
        return Response({**answer, "link": request.build_absolute_uri(path)}, status=201)


class InvitationDetail(Endpoint):
    serializer_class = InvitationSerializer
    pagination_class = None

    @extend_schema(
        operation_id="invitations_detail", summary="An invitation that is open", tags=TAG
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.MANAGE_PEOPLE)
        invitation = get_object_or_404(benchmark.invitations.open(), pk=pk)
        return Response(InvitationSerializer(invitation).data)

    @extend_schema(
        operation_id="invitations_destroy",
        summary="Withdraw an invitation; its link no longer works",
        tags=TAG,
        responses={204: None},
    )
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.MANAGE_PEOPLE)
        invitation = get_object_or_404(benchmark.invitations.open(), pk=pk)
        people.revoke_invitation(invitation=invitation, actor=request.user)
        return Response(status=204)


of_benchmark = [
    path("people/", MemberList.as_view(), name="member-list"),
    path("people/invitations/", InvitationList.as_view(), name="invitation-list"),
    path("people/invitations/<int:pk>/", InvitationDetail.as_view(), name="invitation-detail"),
    path("people/<int:pk>/", MemberDetail.as_view(), name="member-detail"),
]
