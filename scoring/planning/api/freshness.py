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
from scoring.planning.forms.freshness import asked_days
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
        found = freshness_of_release(release, days=days, hidden=hidden)
        of_all = {"": found.report.overall, **found.report.slices}
        told = {
            "release": release.version,
            "days": found.days,
            "labels": [_told(name, one) for name, one in of_all.items()],
            "n_queries_known": found.queries.n_known,
            "n_queries_old": found.queries.n_old,
        }
        return Response(FreshnessSerializer(told).data)


def _told(name: str, one: Freshness) -> dict[str, Any]:
    return {
        "slice": name,
        "share": one.share if one.n else None,
        "n": one.n,
        "n_gone": one.counts.get(State.GONE, 0),
        "n_changed": one.counts.get(State.CHANGED, 0),
        "n_old": one.counts.get(State.OLD, 0),
        "n_unknown": one.n_unknown,
    }


of_benchmark = [path("freshness/", FreshnessDetail.as_view(), name="freshness-detail")]
