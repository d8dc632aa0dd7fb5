"""Endpoints of scoring on a release, and of how runs moved since an earlier one."""

from time import monotonic
from typing import Any

from django.http import Http404
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.models import Release
from benchmarks_app.permissions import Action, may
from benchwright.errors import ScoringError
from benchwright.evaluation.moves import LabelCounts
from scoring.rescoring.selectors import Move, release_before
from scoring.rescoring.services.moving import MovesAsked, moves_asked
from scoring.rescoring.services.rescoring import start_scoring_runs
from scoring.scores.selectors.rescoring import Waiting, rescoring_of
from scoring.scores.services.firewall import measure_seen
from scoring.scores.services.slice_scores import slices_on_board
from scoring.scores.shown import Shown
from scoring.scores.views import release_or_404

SECONDS = 10.0


# --- how far it is -------------------------------------------------------------------------


class UnscoredSerializer(serializers.Serializer):
    """A run without scores; `cause` is told to its owner and the benchmark's keepers."""

    run = serializers.IntegerField(source="run.pk")
    name = serializers.CharField(source="run.name")
    cause = serializers.SerializerMethodField()

    def get_cause(self, row: Waiting) -> str:
        user = self.context["user"]
        knows = row.run.owner_id == user.pk or may(user, Action.EDIT, row.run.benchmark)
        return row.cause if knows else ""


class RescoringSerializer(serializers.Serializer):
    """How many runs that you may see are scored on a release; `is_running` while jobs are at it."""

    release = serializers.CharField(source="release.version")
    n_scored = serializers.IntegerField()
    n_total = serializers.IntegerField()
    is_running = serializers.BooleanField()
    waiting = UnscoredSerializer(many=True)
    failed = UnscoredSerializer(many=True)


class RescoringDetail(Endpoint):
    serializer_class = RescoringSerializer
    pagination_class = None

    @extend_schema(summary="How far scoring on a release is", tags=["scores"])
    def get(self, request: Request, slug: str, version: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        state = rescoring_of(release_or_404(benchmark, version), request.user)
        return Response(RescoringSerializer(state, context={"user": request.user}).data)

    @extend_schema(
        summary="Score the runs that have no scores on a release",
        tags=["scores"],
        request=None,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, version: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        job = start_scoring_runs(release=release_or_404(benchmark, version), user=request.user)
        return Response(JobSerializer(job).data, status=202)


# --- moves ---------------------------------------------------------------------------------


class LabelCountsSerializer(serializers.Serializer):
    added = serializers.IntegerField()
    changed = serializers.IntegerField()
    removed = serializers.IntegerField()


class PartsSerializer(serializers.Serializer):
    """What each kind of change adds to the mean; the parts add up to the difference."""

    added = serializers.FloatField()
    changed = serializers.FloatField()
    removed = serializers.FloatField()
    queries = serializers.FloatField()
    rules = serializers.FloatField()


class MoveSerializer(serializers.Serializer):
    """A run on both releases; ranks are among the runs that both have scored.

    `labels` counts changed labels of what it retrieved, and `parts` is what the difference is made
    of: null where that is withheld, or takes longer than an answer may.
    """

    run = serializers.IntegerField(source="run.pk")
    name = serializers.CharField(source="run.name")
    by = serializers.CharField()
    rank_before = serializers.IntegerField(allow_null=True)
    rank_after = serializers.IntegerField(allow_null=True)
    places = serializers.IntegerField(allow_null=True)
    mean_before = serializers.FloatField(allow_null=True)
    mean_after = serializers.FloatField(allow_null=True)
    labels = LabelCountsSerializer(allow_null=True)
    parts = PartsSerializer(source="explained.parts", allow_null=True, default=None)
    elsewhere = serializers.FloatField(
        source="explained.elsewhere",
        allow_null=True,
        default=None,
        help_text="Of the part of labels added: those of documents that it did not retrieve.",
    )
    cause = serializers.CharField(
        allow_blank=True, help_text="What accounts for most of the difference, in words."
    )
    said = serializers.CharField()


class MovesSerializer(serializers.Serializer):
    """Every run of a release beside an earlier one; `before` is null where it is the first."""

    before = serializers.CharField(source="moves.before.version", allow_null=True)
    after = serializers.CharField(source="moves.after.version")
    measure = serializers.CharField(source="moves.measure.name")
    slice = serializers.CharField(source="moves.slice_name")
    labels = LabelCountsSerializer(source="compared.labels")
    is_withheld = serializers.BooleanField()
    runs = serializers.SerializerMethodField()

    @extend_schema_field(MoveSerializer(many=True))
    def get_runs(self, asked_moves: MovesAsked) -> list[dict[str, Any]]:
        return MoveSerializer(self.context["rows"], many=True).data


class UnknownSliceError(ScoringError):
    code = "unknown-slice"
    message = "The board of {version} shows no slice “{name}”."


class MovesDetail(Endpoint):
    serializer_class = MovesSerializer
    pagination_class = None

    @extend_schema(
        summary="How runs moved since an earlier release, and what moved them",
        tags=["scores"],
        parameters=[
            OpenApiParameter("from", OpenApiTypes.STR, description="Version; default: the parent."),
            OpenApiParameter("measure", OpenApiTypes.STR, description="Default nDCG@10."),
            OpenApiParameter("slice", OpenApiTypes.STR, description="Default: all queries."),
        ],
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        release = release_or_404(self.benchmark_for(Action.SEE_RESULTS), version)
        before = release_before(release, request.query_params.get("from", ""))
        if before is None and "from" in request.query_params:
            raise Http404
        if before is None:
            return Response(_first(release, _measure(request, release)))
        moves = moves_asked(
            before=before,
            after=release,
            user=request.user,
            measure=_measure(request, release),
            sliced=_slice(request, release),
        )
        deadline = monotonic() + SECONDS
        rows: list[Move] = moves.explained(moves.moves.rows, lambda: monotonic() < deadline)
        return Response(MovesSerializer(moves, context={"rows": rows}).data)


def _first(release: Release, measure: Shown) -> dict[str, Any]:
    """The first release: there is nothing that could have moved."""
    nothing = LabelCountsSerializer(LabelCounts()).data
    return {
        "before": None,
        "after": release.version,
        "measure": measure.name,
        "slice": "",
        "labels": nothing,
        "is_withheld": False,
        "runs": [],
    }


def _measure(request: Request, release: Release) -> Shown:
    return measure_seen(request.user, release, request.query_params.get("measure", ""))


def _slice(request: Request, release: Release) -> str:
    name = request.query_params.get("slice", "")
    if name and all(part.name != name for part in slices_on_board(release)):
        raise UnknownSliceError(version=release.version, name=name)
    return name


of_benchmark = [
    path("releases/<str:version>/rescoring/", RescoringDetail.as_view(), name="rescoring-detail"),
    path("releases/<str:version>/moves/", MovesDetail.as_view(), name="moves-detail"),
]
