"""Endpoints of members: who they are, and for whom blindness is lifted."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.common.selectors.factors import members_of
from benchmarks_app.models import Membership
from benchmarks_app.people.services.people import change_blindness
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
        read_only_fields = ["role", "created_at"]
        extra_kwargs: dict[str, Any] = {"is_blindness_lifted": {"required": True}}


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
        summary="Show results to an annotator of open pools, or withhold them again", tags=TAG
    )
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        member = self.member(pk)
        is_lifted = self.validated(PersonSerializer)["is_blindness_lifted"]
        change_blindness(membership=member, is_lifted=is_lifted, actor=request.user)
        return Response(PersonSerializer(self.member(pk)).data)


of_benchmark = [
    path("people/", MemberList.as_view(), name="member-list"),
    path("people/<int:pk>/", MemberDetail.as_view(), name="member-detail"),
]
