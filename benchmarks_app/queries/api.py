"""Endpoints of families drawn for people to label."""

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.models import QueryDraw
from benchmarks_app.permissions import Action
from benchmarks_app.queries.services.drawing import draw_families
from benchwright.recipes.sampling import FAMILIES_DRAWN

TAG = ["drawn queries"]


class QueryDrawSerializer(serializers.ModelSerializer):
    """A draw: `families` in their order, each called by its smallest query id.

    Who has the ids of all families draws the same ones from `seed`.
    """

    families = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = QueryDraw
        fields = ("id", "seed", "frame", "n_population", "n_drawn", "families", "created_at")


class NewDrawSerializer(serializers.Serializer):
    n = api_field(FAMILIES_DRAWN, required=True)


class QueryDrawList(Endpoint):
    serializer_class = QueryDrawSerializer

    @extend_schema(
        summary="Families drawn for people to label, the newest first",
        tags=TAG,
        responses=QueryDrawSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = self.benchmark_for(Action.EDIT).query_draws.order_by("-pk")
        return self.page_of(rows, QueryDrawSerializer)

    @extend_schema(
        summary="Draw families, or go on with a draw",
        description="All draws of a benchmark have one seed, so a larger one goes on in order.",
        tags=TAG,
        request=NewDrawSerializer,
        responses={201: QueryDrawSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewDrawSerializer)
        draw = draw_families(benchmark=benchmark, user=request.user, **fields)
        return Response(QueryDrawSerializer(draw).data, status=201)


of_benchmark = [path("query-draws/", QueryDrawList.as_view(), name="query-draw-list")]
