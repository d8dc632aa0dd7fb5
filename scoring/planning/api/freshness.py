"""The endpoint of stale labels."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.permissions import Action
from benchwright.qrels.freshness import Freshness, State
from scoring.planning.forms import asked_days
from scoring.planning.services.freshness import freshness_of_release
from scoring.scores.api import release_named
from scoring.scores.services.firewall import sight_of


class StaleShareSerializer(serializers.Serializer):
    """Labels of all queries (an empty `slice`) or of a slice; counts are null where withheld."""

    slice = serializers.CharField(allow_blank=True)
    share = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(allow_null=True)
    n_gone = serializers.IntegerField(allow_null=True)
    n_changed = serializers.IntegerField(allow_null=True)
    n_old = serializers.IntegerField(allow_null=True)
    n_unknown = serializers.IntegerField(allow_null=True)


class FreshnessSerializer(serializers.Serializer):
    release = serializers.CharField()
    days = serializers.IntegerField()
    labels = StaleShareSerializer(many=True)
    n_queries_known = serializers.IntegerField(help_text="Of which it is known when asked last.")
    n_queries_old = serializers.IntegerField(help_text="Of those, asked longer ago than `days`.")


class FreshnessDetail(Endpoint):
    serializer_class = FreshnessSerializer
    pagination_class = None
    limits = {"GET": COMPUTATIONS}
    refusals = {"GET": (400,)}

    @extend_schema(
        summary="How many labels of a release are stale, overall and by slice",
        tags=["freshness"],
        parameters=[
            OpenApiParameter("release", description="A version; the newest unless given."),
            OpenApiParameter("days", type=int, description="Older labels are stale; 365."),
        ],
        responses=FreshnessSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        release = release_named(benchmark, request.query_params.get("release", ""))
        days = asked_days(request.query_params.get("days", ""))
        hidden = sight_of(request.user, release).hidden
        freshness = freshness_of_release(release, days=days, hidden=hidden)
        of_all = {"": freshness.report.overall, **freshness.report.slices}
        answer = {
            "release": release.version,
            "days": freshness.days,
            "labels": [_told(name, part) for name, part in of_all.items()],
            "n_queries_known": freshness.queries.n_known,
            "n_queries_old": freshness.queries.n_old,
        }
        return Response(FreshnessSerializer(answer).data)


def _told(name: str, freshness: Freshness) -> dict[str, Any]:
    return {
        "slice": name,
        "share": freshness.share if freshness.n else None,
        "n": freshness.n,
        "n_gone": freshness.counts.get(State.GONE, 0),
        "n_changed": freshness.counts.get(State.CHANGED, 0),
        "n_old": freshness.counts.get(State.OLD, 0),
        "n_unknown": freshness.n_unknown,
    }


of_benchmark = [path("freshness/", FreshnessDetail.as_view(), name="freshness-detail")]
