"""The endpoint of estimates."""

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.selectors.pools import pools_of
from annotation.estimates.services import estimates_of
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.common.services import audit
from benchmarks_app.permissions import Action

AGAINST = OpenApiParameter("against", str, description="A run; by default the best one.")


class EstimatedSerializer(serializers.Serializer):
    """A number with its 95 % interval, from labels of `n_labels` of `n_documents`."""

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    n_labels = serializers.IntegerField()
    n_documents = serializers.IntegerField()


class RunEstimateSerializer(serializers.Serializer):
    """A run; `difference` is less the reference, null of the reference itself."""

    run = serializers.CharField()
    mean = EstimatedSerializer()
    difference = EstimatedSerializer(allow_null=True)


class PoolEstimatesSerializer(serializers.Serializer):
    """Estimates of a pool's runs, the best first; without any `refusal` says why."""

    measure = serializers.CharField()
    sentence = serializers.CharField()
    refusal = serializers.CharField(allow_blank=True)
    n_documents = serializers.IntegerField(help_text="Drawn from.")
    n_queries = serializers.IntegerField()
    n_families = serializers.IntegerField()
    n_drawn = serializers.IntegerField()
    n_labelled = serializers.IntegerField()
    n_cant_judge = serializers.IntegerField(
        help_text="Drawn, and nobody could judge: they count 0."
    )
    n_lacking = serializers.IntegerField()
    as_of = serializers.IntegerField(help_text="The last event that counts.")
    reference = serializers.CharField(allow_blank=True)
    guess = serializers.CharField(
        allow_blank=True, help_text="The set of a machine's grades that served as a guess."
    )
    warnings = serializers.ListField(child=serializers.CharField())
    rows = RunEstimateSerializer(many=True)


class PoolEstimates(Endpoint):
    limits = {"GET": COMPUTATIONS}
    serializer_class = PoolEstimatesSerializer
    pagination_class = None

    @extend_schema(
        summary="What the labels of an estimation pool say of its runs",
        description="Means of P@k or DCG@k and differences, once all drawn documents have labels.",
        tags=["pools"],
        parameters=[AGAINST],
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        pool = get_object_or_404(pools_of(benchmark), pk=pk)
        against = request.query_params.get("against", "")
        estimates = estimates_of(pool, request.user, against=against)
        target = f"estimates of {pool}"
        audit.record(
            actor=request.user, action="read-judgments", benchmark=benchmark, target=target
        )
        return Response(PoolEstimatesSerializer(estimates).data)


of_benchmark = [
    path("pools/<int:pk>/estimates/", PoolEstimates.as_view(), name="pool-estimates"),
]
