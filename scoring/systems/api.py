"""Endpoints of systems that are run here, and of approximate search against exact search."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.permissions import Action
from benchwright.recipes import systems as recipe
from benchwright.retrieval.ann import USUAL_BASELINE
from benchwright.retrieval.catalog import CATALOG, LEXICAL
from scoring.scores.api import runs_asked
from scoring.scores.selectors.boards import leaderboard
from scoring.scores.selectors.rankings import runs_offered
from scoring.scores.selectors.releases import newest_release, relevance_threshold
from scoring.scores.selectors.runs import latencies_of, query_latencies
from scoring.scores.services.firewall import sight_of
from scoring.scores.shown import BOARD
from scoring.systems.forms import AnnForm
from scoring.systems.selectors import BaselineRow, SystemRow, baseline_rows, system_rows
from scoring.systems.services.ann import N_WORST, AnnReport, ann_report
from scoring.systems.services.baseline_runs import DEPTH
from scoring.systems.services.baselines import start_baselines

TAG = ["baselines"]


class BaselineRunSerializer(serializers.Serializer):
    """A run of one of our systems: its means on the newest release, and what making it took."""

    run = serializers.IntegerField()
    name = serializers.CharField()
    language = serializers.CharField(allow_null=True)
    depth = serializers.IntegerField(allow_null=True)
    corpus_version = serializers.IntegerField(allow_null=True)
    stale = serializers.CharField(
        allow_blank=True, help_text="What has changed since it was made; empty where nothing has."
    )
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))
    indexing_seconds = serializers.FloatField(allow_null=True)
    memory_bytes = serializers.IntegerField(allow_null=True)
    latency_p50_ms = serializers.FloatField(allow_null=True)
    latency_p95_ms = serializers.FloatField(allow_null=True)
    metadata = serializers.JSONField()


class BaselineSystemSerializer(serializers.Serializer):
    """A system that this site can run, and the runs it has made here."""

    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    type = serializers.CharField()
    extra = serializers.CharField(allow_blank=True, help_text="The extra it is installed with.")
    is_available = serializers.BooleanField()
    in_shards = serializers.BooleanField(help_text="Whether several workers can share its work.")
    state = serializers.ChoiceField(["made", "stale", "missing", "unavailable"])
    runs = BaselineRunSerializer(many=True)


class NewBaselinesSerializer(serializers.Serializer):
    systems = serializers.ListField(
        child=serializers.CharField(max_length=40),
        required=False,
        max_length=20,
        help_text=f"Of {', '.join(CATALOG)}; the lexical ones where it is left out.",
    )
    language = serializers.CharField(required=False, max_length=35, allow_blank=True)
    depth = api_field(recipe.DEPTH, required=False)
    shards = api_field(recipe.SHARDS, required=False, allow_null=True)


class QueryLatenciesSerializer(serializers.Serializer):
    """Milliseconds of each query, and their summary."""

    source = serializers.CharField()
    n_queries = serializers.IntegerField()
    p50 = serializers.FloatField()
    p95 = serializers.FloatField()
    p99 = serializers.FloatField()
    longest = serializers.FloatField()
    milliseconds = serializers.DictField(child=serializers.FloatField())


class BaselineList(Endpoint):
    serializer_class = BaselineSystemSerializer
    pagination_class = None
    limits = {"POST": COMPUTATIONS}
    refusals = {"POST": (409, 422)}

    @extend_schema(
        summary="Systems that this site can run, and the runs they have made",
        tags=TAG,
        responses=BaselineSystemSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        release = newest_release(benchmark)
        board, threshold = {}, 1
        if release is not None:
            sight = sight_of(request.user, release)
            rows = leaderboard(release=release, user=request.user, sight=sight)
            board = {row.run.pk: row for row in rows}
            threshold = relevance_threshold(release)
        table_rows = system_rows(baseline_rows(benchmark, request.user, board))
        systems = [_system(row, threshold) for row in table_rows]
        return Response(BaselineSystemSerializer(systems, many=True).data)

    @extend_schema(
        summary="Start the systems that have no such run, a job each",
        tags=TAG,
        request=NewBaselinesSerializer,
        responses={202: JobSerializer(many=True)},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewBaselinesSerializer)
        jobs = start_baselines(
            benchmark=benchmark,
            user=request.user,
            systems=fields.get("systems", LEXICAL),
            language=fields.get("language", ""),
            depth=fields.get("depth", DEPTH),
            n_shards=fields.get("shards"),
        )
        return Response(JobSerializer(jobs, many=True).data, status=202)


def _system(row: SystemRow, threshold: int) -> dict[str, Any]:
    entry = row.entry
    return {
        "name": entry.name,
        "title": entry.title,
        "description": entry.description,
        "type": entry.kind,
        "extra": entry.extra,
        "is_available": entry.is_available,
        "in_shards": entry.in_shards,
        "state": row.state,
        "runs": [_run(each, threshold) for each in row.rows],
    }


def _run(row: BaselineRow, threshold: int) -> dict[str, Any]:
    retrieved, latencies = row.retrieval, row.latencies
    return {
        "run": row.run.pk,
        "name": row.run.name,
        "language": retrieved and retrieved.language,
        "depth": retrieved and retrieved.depth,
        "corpus_version": retrieved.corpus_version.number
        if retrieved and retrieved.corpus_version
        else None,
        "stale": row.stale,
        "scores": {
            measure.name: row.scores[name]
            for measure in BOARD
            if (name := measure.counting_from(threshold)) in row.scores
        },
        "indexing_seconds": retrieved and retrieved.indexing_seconds,
        "memory_bytes": retrieved and retrieved.memory_bytes,
        "latency_p50_ms": latencies and latencies.p50,
        "latency_p95_ms": latencies and latencies.p95,
        "metadata": row.facts,
    }


class RunLatencies(Endpoint):
    serializer_class = QueryLatenciesSerializer
    pagination_class = None

    @extend_schema(
        summary="How long each query of a run took, where that was measured here", tags=TAG
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        run = get_object_or_404(self._runs(benchmark), pk=pk)
        timings = latencies_of(run)
        if timings is None:
            raise Http404
        names = ("source", "n_queries", "p50", "p95", "p99", "longest")
        summary = {name: getattr(timings, name) for name in names}
        latencies = {**summary, "milliseconds": query_latencies(timings)}
        return Response(QueryLatenciesSerializer(latencies).data)

    def _runs(self, benchmark: Benchmark) -> Any:
        return Run.objects.visible_to(self.request.user).filter(benchmark=benchmark)


class EstimateSerializer(serializers.Serializer):
    mean = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class AnnRowSerializer(serializers.Serializer):
    """All queries (an empty `slice`) or a slice; `loss` is in nDCG@10, index minus exact."""

    slice = serializers.CharField(allow_blank=True)
    n = serializers.IntegerField()
    recall = EstimateSerializer(allow_null=True)
    loss = EstimateSerializer(allow_null=True)


class QueryRecallSerializer(serializers.Serializer):
    query = serializers.CharField(source="qid")
    recall = serializers.FloatField()
    missed = serializers.ListField(child=serializers.CharField())


class AnnSerializer(serializers.Serializer):
    exact = serializers.CharField()
    approximate = serializers.CharField()
    k = serializers.IntegerField()
    recall = serializers.FloatField(allow_null=True)
    usual_baseline = serializers.FloatField()
    n_queries = serializers.IntegerField()
    n_missing = serializers.IntegerField(help_text="Not answered by the index: recall 0.")
    n_extra = serializers.IntegerField(help_text="Answered by it alone: left out.")
    n_above = serializers.IntegerField(
        help_text="Queries in which the index found what should have been in the exact run."
    )
    rows = AnnRowSerializer(many=True)
    worst = QueryRecallSerializer(many=True)


class Ann(Endpoint):
    serializer_class = AnnSerializer
    pagination_class = None
    limits = {"GET": COMPUTATIONS}
    refusals = {"GET": (400,)}

    @extend_schema(
        summary="What an approximate index keeps of exact search",
        tags=["approximate search"],
        parameters=[
            OpenApiParameter("exact", required=True, description="A run, by name or id."),
            OpenApiParameter("approximate", required=True, description="A run of the same model."),
            OpenApiParameter("k", type=int, description="First ranks; 10."),
            OpenApiParameter("tolerance", type=float, description="Scores this near are equal."),
        ],
        responses=AnnSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        params = request.query_params.dict()
        for name in ("exact", "approximate"):
            runs = runs_asked(benchmark, request.user, [params.get(name, "")], most=1)
            params[name] = str(runs[0].pk)
        asked = self.cleaned(AnnForm(params, runs=runs_offered(benchmark, request.user)))
        release = newest_release(benchmark)
        hidden = sight_of(request.user, release).hidden if release else frozenset()
        report = ann_report(release=release, hidden=hidden, **asked)
        return Response(_told(asked, report))


def _told(params: dict[str, Any], report: AnnReport) -> dict[str, Any]:
    recall = report.recall
    rows = [
        {
            "slice": row.name,
            "n": row.n,
            "recall": row.recall,
            "loss": row.loss,
        }
        for row in (report.overall, *report.slices)
    ]
    return {
        "exact": params["exact"].name,
        "approximate": params["approximate"].name,
        "k": params["k"],
        "recall": recall.mean if recall.queries else None,
        "usual_baseline": USUAL_BASELINE,
        "n_queries": len(recall.queries),
        "n_missing": recall.n_missing,
        "n_extra": recall.n_extra,
        "n_above": recall.n_above,
        "rows": AnnRowSerializer(rows, many=True).data,
        "worst": QueryRecallSerializer(recall.worst(N_WORST), many=True).data,
    }


of_benchmark = [
    path("baselines/", BaselineList.as_view(), name="baseline-list"),
    path("runs/<int:pk>/latencies/", RunLatencies.as_view(), name="run-latencies"),
    path("ann/", Ann.as_view(), name="ann"),
]
