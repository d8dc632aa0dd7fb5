"""The endpoint of pools without one of their systems."""

from math import isnan
from typing import Any

from django.http import Http404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.permissions import Action
from scoring import selectors
from scoring.services.firewall import sight_of
from scoring.services.reusability import ShownSystem, reusability_of, systems_shown


class LeftOutSerializer(serializers.Serializer):
    """A system without the judgments that it alone brought; counts are null where withheld."""

    run = serializers.CharField()
    ndcg = serializers.FloatField()
    without = serializers.FloatField()
    shift = serializers.FloatField()
    rank = serializers.IntegerField()
    rank_without = serializers.IntegerField()
    judged = serializers.FloatField(allow_null=True)
    tau = serializers.FloatField(allow_null=True)
    n_unique = serializers.IntegerField(allow_null=True)
    n_unique_relevant = serializers.IntegerField(allow_null=True)


class ReusabilitySerializer(serializers.Serializer):
    release = serializers.CharField()
    is_assumed = serializers.BooleanField(help_text="Nobody wrote down which runs were pooled.")
    n_systems = serializers.IntegerField(help_text="Also those that are not shown.")
    mean_shift = serializers.FloatField()
    worst_shift = serializers.FloatField()
    mean_judged = serializers.FloatField(allow_null=True)
    least_judged = serializers.FloatField(allow_null=True)
    tau = serializers.FloatField(allow_null=True)
    systems = LeftOutSerializer(many=True)


class ReusabilityDetail(Endpoint):
    serializer_class = ReusabilitySerializer
    pagination_class = None
    limits = {"GET": COMPUTATIONS}

    @extend_schema(
        summary="How a release treats a new system: each pooled one left out once",
        tags=["releases"],
        responses=ReusabilitySerializer,
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        benchmark = self.benchmark_for(Action.VIEW)
        release = selectors.release_of_version(benchmark, version)
        report = reusability_of(release) if release else None
        if release is None or report is None:
            raise Http404
        sight = sight_of(request.user, release)
        found = report.found
        told = {
            "release": release.version,
            "is_assumed": report.is_assumed,
            "n_systems": len(found.systems),
            "mean_shift": sight.rounded(found.mean_shift),
            "worst_shift": sight.rounded(found.worst_shift),
            "mean_judged": _number(found.mean_judged),
            "least_judged": _number(found.least_judged),
            "tau": _number(found.tau),
            "systems": [
                _told(one) for one in systems_shown(report, user=request.user, sight=sight)
            ],
        }
        return Response(ReusabilitySerializer(told).data)


def _told(one: ShownSystem) -> dict[str, Any]:
    of = one.left_out
    return {
        "run": one.run.name,
        "ndcg": one.full,
        "without": one.without,
        "shift": one.shift,
        "rank": of.rank_full,
        "rank_without": of.rank,
        "judged": _number(of.judged),
        "tau": _number(of.tau),
        "n_unique": one.n_unique,
        "n_unique_relevant": one.n_unique_relevant,
    }


def _number(value: float) -> float | None:
    return None if isnan(value) else value


of_benchmark = [
    path(
        "releases/<str:version>/reusability/",
        ReusabilityDetail.as_view(),
        name="reusability-detail",
    )
]
