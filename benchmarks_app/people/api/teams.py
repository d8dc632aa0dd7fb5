"""Endpoints of one's own teams, and of links by which one joins."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.models import Invitation, Team
from benchmarks_app.people.forms.people import MateForm, TeamForm
from benchmarks_app.people.services import people, teams

TAG = ["account"]


class TeamSerializer(serializers.ModelSerializer):
    """A team that you are in, and who else is."""

    members = serializers.SerializerMethodField()

    class Meta:
        model = Team
        fields = ["id", "name", "members"]
        # Whether a name is free is the service's to say.
        extra_kwargs: dict[str, Any] = {"name": {"validators": []}}

    def get_members(self, team: Team) -> list[str]:
        return sorted(person.username for person in team.members.all())


class MateSerializer(serializers.Serializer):
    username = serializers.CharField(
        max_length=150, help_text="Of somebody who works on one of the same benchmarks."
    )


class TeamLinkSerializer(serializers.Serializer):
    link = serializers.URLField(help_text=f"Works for {teams.LINK_DAYS} days.")


class JoiningSerializer(serializers.Serializer):
    """What a link leads into: its last part, or the whole address."""

    link = serializers.CharField(max_length=500)

    def validate_link(self, link: str) -> str:
        return link.rstrip("/").rpartition("/")[2]


class JoinedSerializer(serializers.Serializer):
    """Where you are a member now."""

    benchmark = serializers.SlugField(source="benchmark.slug")
    role = serializers.CharField()


class OfTeam(Endpoint):
    """An endpoint of a team of who asks."""

    pagination_class = None

    def team(self, pk: int) -> Team:
        return get_object_or_404(self.caller().teams.prefetch_related("members"), pk=pk)


class TeamList(Endpoint):
    serializer_class = TeamSerializer

    @extend_schema(summary="Your teams, by name", tags=TAG, responses=TeamSerializer(many=True))
    def get(self, request: Request) -> Response:
        rows = self.caller().teams.order_by("name", "pk").prefetch_related("members")
        return self.page_of(rows, TeamSerializer)

    @extend_schema(
        summary="Make a team; you are its only member",
        tags=TAG,
        responses={201: TeamSerializer},
    )
    def post(self, request: Request) -> Response:
        caller = self.caller()
        name = self.cleaned(TeamForm(self.validated(TeamSerializer)))["name"]
        return Response(TeamSerializer(teams.make_team(name=name, user=caller)).data, status=201)


class TeamDetail(OfTeam):
    serializer_class = TeamSerializer

    @extend_schema(summary="A team of yours", tags=TAG)
    def get(self, request: Request, pk: int) -> Response:
        return Response(TeamSerializer(self.team(pk)).data)

    @extend_schema(
        summary="Leave a team; what was submitted for it stays its own",
        tags=TAG,
        responses={204: None},
    )
    def delete(self, request: Request, pk: int) -> Response:
        teams.leave_team(team=self.team(pk), user=self.caller())
        return Response(status=204)


class TeamMembers(OfTeam):
    serializer_class = MateSerializer

    @extend_schema(
        summary="Let somebody into a team",
        tags=TAG,
        responses={201: TeamSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        team = self.team(pk)
        username = self.cleaned(MateForm(self.validated(MateSerializer)))["username"]
        teams.add_mate(team=team, user=self.caller(), username=username)
        return Response(TeamSerializer(self.team(pk)).data, status=201)


class TeamLink(OfTeam):
    keeps_answers = False  # the link is told once
    serializer_class = TeamLinkSerializer

    @extend_schema(
        summary="Make a link by which others join a team",
        tags=TAG,
        request=None,
        responses={201: TeamLinkSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        secret = teams.team_link_secret(team=self.team(pk), user=self.caller())
        link = request.build_absolute_uri(reverse("team-join", args=[secret]))
        return Response({"link": link}, status=201)


class TeamJoin(Endpoint):
    refusals = {"POST": (410,)}
    serializer_class = JoiningSerializer
    pagination_class = None

    @extend_schema(summary="Join a team by its link", tags=TAG, responses=TeamSerializer)
    def post(self, request: Request) -> Response:
        caller = self.caller()
        joined = teams.join_team(secret=self.validated(JoiningSerializer)["link"], user=caller)
        return Response(TeamSerializer(joined).data)


class InvitationAccept(Endpoint):
    refusals = {"POST": (404, 410)}
    serializer_class = JoiningSerializer
    pagination_class = None

    @extend_schema(
        summary="Accept an invitation to a benchmark by its link",
        tags=TAG,
        responses=JoinedSerializer,
    )
    def post(self, request: Request) -> Response:
        caller = self.caller()
        secret = self.validated(JoiningSerializer)["link"]
        invitation = get_object_or_404(Invitation.objects.of_secret(secret))
        membership = people.accept_invitation(invitation=invitation, user=caller)
        return Response(JoinedSerializer(membership).data)


urlpatterns = [
    path("me/invitations/accept/", InvitationAccept.as_view(), name="invitation-accept"),
    path("me/teams/", TeamList.as_view(), name="team-list"),
    path("me/teams/join/", TeamJoin.as_view(), name="team-join"),
    path("me/teams/<int:pk>/", TeamDetail.as_view(), name="team-detail"),
    path("me/teams/<int:pk>/members/", TeamMembers.as_view(), name="team-members"),
    path("me/teams/<int:pk>/link/", TeamLink.as_view(), name="team-link"),
]
