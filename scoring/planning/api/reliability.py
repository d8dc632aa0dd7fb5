"""The endpoint of what a benchmark can show."""

from django.http import Http404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.permissions import Action
from scoring.planning.services.reliability import reliability_of
from scoring.scores.selectors.releases import release_of_version


class ReliabilitySerializer(serializers.Serializer):
    """Which differences of two runs the queries can show; `is_assumed` where no run was scored.

    `sigma` is how single differences scatter, `rho` what wordings of one need have in common.
    """

    tier = serializers.CharField(source="tier.name")
    good_for = serializers.CharField(source="tier.text")
    measure = serializers.CharField()
    release = serializers.CharField(source="release.version", default=None, allow_null=True)
    n_queries = serializers.IntegerField(source="reach.n")
    n_families = serializers.IntegerField(source="reach.n_families")
    detectable = serializers.FloatField(
        source="reach.detectable",
        allow_null=True,
        help_text="The smallest difference shown with a power of 80 %.",
    )
    sigma = serializers.FloatField(source="spread.sigma")
    rho = serializers.FloatField(source="spread.rho")
    is_assumed = serializers.BooleanField(source="spread.is_assumed")


class Reliability(Endpoint):
    serializer_class = ReliabilitySerializer
    pagination_class = None

    @extend_schema(
        operation_id="reliability_detail",
        summary="Which differences the benchmark can show",
        tags=["planning"],
        parameters=[OpenApiParameter("release", description="Of what this version grades.")],
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        version = request.query_params.get("release", "")
        release = release_of_version(benchmark, version) if version else None
        if version and release is None:
            raise Http404
        return Response(ReliabilitySerializer(reliability_of(benchmark, release)).data)


of_benchmark = [path("reliability/", Reliability.as_view(), name="reliability")]
