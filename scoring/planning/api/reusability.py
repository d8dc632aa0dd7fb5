"""The endpoint of pools without one of their systems."""

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
from scoring.planning.services.reusability import (
    ShownSystem,
    copies_shown,
    defined,
    reusability_of,
    summary_of,
    systems_shown,
)
from scoring.scores.selectors.releases import release_of_version
from scoring.scores.services.firewall import sight_of


class LeftOutSerializer(serializers.Serializer):
    """A system without the judgments that only its group brought; counts are null where withheld.

    Numbers `_alone` are those without what it alone brought. `left_out_with` are the others of its
    team and its near copies, as far as they may be told.
    """

    run = serializers.CharField()
    left_out_with = serializers.ListField(child=serializers.CharField())
    n_left_out_with = serializers.IntegerField()
    ndcg = serializers.FloatField()
    without = serializers.FloatField(allow_null=True)
    shift = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField()
    rank_without = serializers.IntegerField()
    judged = serializers.FloatField(allow_null=True)
    tau = serializers.FloatField(allow_null=True)
    n_unique = serializers.IntegerField()
    n_unique_relevant = serializers.IntegerField()
    without_alone = serializers.FloatField(allow_null=True)
    shift_alone = serializers.FloatField(allow_null=True)
    judged_alone = serializers.FloatField(allow_null=True)


class LeftOutMeansSerializer(serializers.Serializer):
    """Over groups, or over runs; null where there is one in all."""

    n = serializers.IntegerField()
    mean_shift = serializers.FloatField(allow_null=True)
    worst_shift = serializers.FloatField(allow_null=True)
    mean_judged = serializers.FloatField(allow_null=True)
    least_judged = serializers.FloatField(allow_null=True)
    tau = serializers.FloatField(allow_null=True)


class NearCopySerializer(serializers.Serializer):
    """Two runs of different teams that rank nearly, or `is_same` entirely, the same."""

    run_a = serializers.CharField()
    run_b = serializers.CharField()
    rbo = serializers.FloatField()
    is_same = serializers.BooleanField()


class ReusabilitySerializer(LeftOutMeansSerializer):
    """Each group of pooled runs left out once; `by_run` leaves out each run alone."""

    release = serializers.CharField()
    is_assumed = serializers.BooleanField(
        help_text="Nobody wrote down which runs were pooled: all, to depth 10."
    )
    n = serializers.IntegerField(help_text="Groups: teams and near copies count once.")
    n_runs = serializers.IntegerField(help_text="Also those that are not shown.")
    n_systems = serializers.IntegerField(help_text="Runs, those that rank the same counted once.")
    by_run = LeftOutMeansSerializer()
    copies = NearCopySerializer(many=True)
    systems = LeftOutSerializer(many=True)


class ReusabilityDetail(Endpoint):
    serializer_class = ReusabilitySerializer
    pagination_class = None
    limits = {"GET": COMPUTATIONS}

    @extend_schema(
        summary="How a release treats a new system: each pooled group left out once",
        tags=["releases"],
        responses=ReusabilitySerializer,
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        release = release_of_version(benchmark, version)
        if release is None:
            raise Http404
        report = reusability_of(release, sight_of(request.user, release).hidden)
        if report is None:
            raise Http404
        answer = {
            "release": release.version,
            "is_assumed": report.is_assumed,
            "n_runs": len(report.runs),
            "n_systems": report.found.n_systems,
            **summary_of(report.found.by_group),
            "by_run": summary_of(report.found.by_run),
            "copies": copies_shown(report, user=request.user),
            "systems": [_told(system) for system in systems_shown(report, user=request.user)],
        }
        return Response(ReusabilitySerializer(answer).data)


def _told(system: ShownSystem) -> dict[str, Any]:
    of = system.left_out
    return {
        "run": system.run.name,
        "left_out_with": [other.name for other in system.companions],
        "n_left_out_with": system.n_companions,
        "ndcg": system.full,
        "without": system.without,
        "shift": system.shift,
        "rank": of.rank_full,
        "rank_without": of.rank,
        "judged": defined(of.judged),
        "tau": defined(of.tau),
        "n_unique": system.n_unique,
        "n_unique_relevant": system.n_unique_relevant,
        "without_alone": system.without_alone,
        "shift_alone": system.shift_alone,
        "judged_alone": defined(system.alone.judged),
    }


of_benchmark = [
    path(
        "releases/<str:version>/reusability/",
        ReusabilityDetail.as_view(),
        name="reusability-detail",
    )
]
