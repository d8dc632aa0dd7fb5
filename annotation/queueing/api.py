"""The endpoint of a queue's order."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.common.selectors.pools import pools_of
from annotation.models import Pool
from annotation.queueing.selectors import Ordered, campaigns_of, runs_of
from annotation.queueing.services import queue_arguments
from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.jobs.services import jobs
from benchmarks_app.permissions import Action
from benchwright.recipes import pools

ORDERS = list(pools.BY.choices)


class QueueSerializer(serializers.Serializer):
    """By what a pool's queue was put in order last; null where it stands as it was built."""

    by = serializers.ChoiceField(choices=ORDERS, allow_null=True)
    at = serializers.DateTimeField(allow_null=True)


class NewQueueSerializer(serializers.Serializer):
    by = api_field(pools.BY)
    campaigns = serializers.ListField(
        child=serializers.CharField(max_length=120),
        default=list,
        max_length=20,
        help_text="Names, for `disagreement`.",
    )
    runs = serializers.ListField(
        child=serializers.CharField(max_length=120),
        default=list,
        max_length=2,
        help_text="Names of two runs, for `verdict`.",
    )
    measure = api_field(pools.MEASURE)
    cutoff = api_field(pools.CUTOFF)


class PoolQueue(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = QueueSerializer
    pagination_class = None

    def pool(self) -> Pool:
        benchmark = self.benchmark_for(Action.EDIT)
        pools = pools_of(benchmark).select_related("benchmark")
        pool: Pool = get_object_or_404(pools, pk=self.kwargs["pk"])
        return pool

    @extend_schema(summary="By what the queue of a pool was put in order", tags=["pools"])
    def get(self, request: Request, slug: str, pk: int) -> Response:
        ordered = Ordered.of(self.pool())
        facts = {"by": ordered and ordered.by, "at": ordered and ordered.at}
        return Response(QueueSerializer(facts).data)

    @extend_schema(
        summary="Put the queue of a pool in order: by doubt, disagreement, or a verdict",
        tags=["pools"],
        request=NewQueueSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool = self.pool()
        fields = dict(self.validated(NewQueueSerializer))
        fields["campaigns"] = _named(campaigns_of(pool), fields["campaigns"], "campaigns")
        fields["runs"] = _named(runs_of(pool.benchmark, request.user), fields["runs"], "runs")
        with transaction.atomic():
            arguments = queue_arguments(pool=pool, **fields)
            job = jobs.start(benchmark=pool.benchmark, user=request.user, **arguments)
        return Response(JobSerializer(job).data, status=202)


def _named(rows: Any, names: Sequence[str], field: str) -> list[Any]:
    """The rows of these names, in this order; 400 where one is not there."""
    row_of = {row.name: row for row in rows.filter(name__in=names)}
    if missing := [name for name in names if name not in row_of]:
        raise exceptions.ValidationError({field: [f"There is no '{missing[0]}' here."]})
    return [row_of[name] for name in names]


of_benchmark = [path("pools/<int:pk>/queue/", PoolQueue.as_view(), name="pool-queue")]
