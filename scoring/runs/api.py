"""Endpoints of the scores of a run: means, queries, unjudged documents, and probing."""

from collections.abc import Iterator
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import Run
from benchmarks_app.permissions import Action
from benchmarks_app.releases.selectors import release_slices
from benchwright.errors import ScoringError
from benchwright.evaluation.stored_hits import DEPTH, DEPTHS
from scoring.models import ProbingFlag, Score, ScoreSet
from scoring.rescoring.services.rescoring import start_scoring_runs
from scoring.runs.selectors import holes_of
from scoring.runs.services import chosen_queries
from scoring.scores.selectors.releases import (
    measures_stored,
    newest_release,
    release_of_version,
    release_query_texts,
)
from scoring.scores.selectors.retrieved import retrieved
from scoring.scores.selectors.runs import per_query_values, score_sets_of_run
from scoring.scores.services.errors import NoOpenPhaseError
from scoring.scores.services.firewall import (
    Sight,
    looked_at,
    measure_seen,
    sight_of,
    sight_written_down,
)
from scoring.scores.services.slice_scores import slices_on_board
from scoring.submissions.selectors.submissions import probing_flags
from scoring.submissions.services import probing

TAG = ["runs"]
RELEASE = OpenApiParameter("release", description="A version; the newest it is scored on if none.")


class RunEndpoint(Endpoint):
    """An endpoint of one run's scores on one release."""

    def score_set(self) -> ScoreSet:
        """The scores that the address and `?release=` name, if the caller may see the run."""
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        runs = Run.objects.visible_to(self.request.user).select_related("owner", "team")
        run = get_object_or_404(runs, benchmark=benchmark, pk=self.kwargs["pk"])
        version = self.request.query_params.get("release", "")
        for score_set in score_sets_of_run(run):
            if not version or score_set.release.version == version:
                score_set.run = run
                return score_set
        raise Http404


class RunMeanSerializer(serializers.Serializer):
    """A mean with its interval; `slice` is empty for all queries."""

    measure = serializers.CharField()
    slice = serializers.CharField(allow_blank=True)
    is_weighted = serializers.BooleanField()
    mean = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    judged_share = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()


class RunScoresSerializer(serializers.Serializer):
    """The means of a run; rounded to `decimals` where the release has a hidden split."""

    run = serializers.IntegerField()
    name = serializers.CharField()
    release = serializers.CharField()
    n_queries = serializers.IntegerField()
    n_missing = serializers.IntegerField(
        allow_null=True,
        help_text="Null, as `n_extra`, where it would tell which hidden queries are graded.",
    )
    n_extra = serializers.IntegerField(allow_null=True)
    decimals = serializers.IntegerField(
        allow_null=True, help_text="Null where nothing is rounded for you."
    )
    notes = serializers.ListField(
        child=serializers.CharField(), help_text="Which intervals are over too few families."
    )
    scores = RunMeanSerializer(many=True)


class RunScores(RunEndpoint):
    serializer_class = RunScoresSerializer
    pagination_class = None

    @extend_schema(
        operation_id="runs_scores",
        summary="The means of a run, over all queries and by slice",
        tags=TAG,
        parameters=[RELEASE],
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        score_set = self.score_set()
        sight = sight_of(request.user, score_set.release)
        answered = sight.answered(score_set)
        answer = {
            "run": score_set.run_id,
            "name": score_set.run.name,
            "release": score_set.release.version,
            "n_queries": score_set.n_queries,
            "n_missing": answered and answered.n_missing,
            "n_extra": answered and answered.n_extra,
            "decimals": sight.decimals,
            "notes": list(_notes(score_set)),
            "scores": list(_means(score_set, sight)),
        }
        return Response(RunScoresSerializer(answer).data)


def _notes(score_set: ScoreSet) -> Iterator[str]:
    yield from score_set.interval_warnings
    for part in slices_on_board(score_set.release):
        yield from (f"{part.name}: {warning}" for warning in part.warnings)


def _means(score_set: ScoreSet, sight: Sight) -> Iterator[dict[str, Any]]:
    """The stored means that may be shown, as somebody sees them."""
    names = ["", Score.WEIGHTED, *(part.name for part in slices_on_board(score_set.release))]
    rows = score_set.scores.filter(slice_name__in=names).order_by("slice_name", "measure")
    for score in sight.means(rows):
        is_weighted = score.slice_name == Score.WEIGHTED
        yield {
            "measure": score.measure,
            "slice": "" if is_weighted else score.slice_name,
            "is_weighted": is_weighted,
            "mean": score.mean,
            "low": score.ci_low,
            "high": score.ci_high,
            "judged_share": score.judged_share,
            "n": score.n,
        }


class RunQuerySerializer(serializers.Serializer):
    """One query of a run: its values by measure; null where a measure has none."""

    query = serializers.CharField()
    text = serializers.CharField()
    is_missing = serializers.BooleanField()
    n_retrieved = serializers.IntegerField()
    scores = serializers.DictField(child=serializers.FloatField(allow_null=True))


class RunQueries(RunEndpoint):
    serializer_class = RunQuerySerializer

    @extend_schema(
        operation_id="runs_queries",
        summary="A run query by query",
        description="Queries of a hidden split are left out for all but the benchmark's keepers.",
        tags=TAG,
        parameters=[
            RELEASE,
            OpenApiParameter("measure", description="What to sort by; nDCG@10 unless given."),
            OpenApiParameter("order", enum=["worst", "best"], default="worst"),
            OpenApiParameter("slice", description="Only queries of this slice."),
            OpenApiParameter("q", description="Only queries with these letters in id or text."),
        ],
        responses=RunQuerySerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        score_set = self.score_set()
        what = looked_at(score_set, "query by query")
        sight = sight_written_down(request.user, score_set.release, what)
        name = self._measure(score_set)
        texts = release_query_texts(score_set.release)
        rows, _ = chosen_queries(
            score_set,
            measure=name,
            sight=sight,
            search=request.query_params.get("q", "").strip(),
            inside=self._inside(score_set),
            is_best_first=self.choice("order", ("worst", "best")) == "best",
        )
        page = self.paginate_queryset(rows)
        page_rows = [_query(row, texts) for row in page or ()]
        return self.get_paginated_response(RunQuerySerializer(page_rows, many=True).data)

    def _measure(self, score_set: ScoreSet) -> str:
        """The measure to sort by; one that is not stored is computed for who has an account."""
        text = self.request.query_params.get("measure", "")
        try:
            measure = measure_seen(self.request.user, score_set.release, text)
        except ScoringError as error:
            raise serializers.ValidationError({"measure": [str(error)]}) from error
        is_stored = measure.name in measures_stored(score_set.release)
        if not is_stored and not self.request.user.is_authenticated:
            raise serializers.ValidationError({"measure": ["Others are for who is signed in."]})
        return measure.name

    def _inside(self, score_set: ScoreSet) -> frozenset[str] | None:
        name = self.request.query_params.get("slice", "")
        if not name:
            return None
        slices = release_slices(score_set.release)
        if name not in slices:
            raise serializers.ValidationError({"slice": ["The release has no slice of this name."]})
        return frozenset(slices[name])


class RankedSerializer(serializers.Serializer):
    """A document; `rank` is null where it was not retrieved, `grade` where it was not judged."""

    document = serializers.CharField(source="docid")
    title = serializers.CharField()
    rank = serializers.IntegerField(allow_null=True)
    score = serializers.FloatField(allow_null=True)
    grade = serializers.IntegerField(allow_null=True)
    is_relevant = serializers.BooleanField()


class RunQueryDetailSerializer(RunQuerySerializer):
    """One query: its first documents with their grades, and the relevant ones that are missing."""

    n_relevant = serializers.IntegerField()
    n_judged = serializers.IntegerField()
    found = RankedSerializer(many=True)
    missing = RankedSerializer(many=True)


class RunQuery(RunEndpoint):
    serializer_class = RunQueryDetailSerializer
    pagination_class = None

    @extend_schema(
        operation_id="runs_query",
        summary="One query of a run: what was retrieved, beside what was to be found",
        description="404 for queries of a hidden split, but for the benchmark's keepers.",
        tags=TAG,
        parameters=[RELEASE],
    )
    def get(self, request: Request, slug: str, pk: int, qid: str) -> Response:
        score_set = self.score_set()
        row = next((each for each in per_query_values(score_set) if each["qid"] == qid), None)
        if row is None:
            raise Http404
        what = looked_at(score_set, f"query {qid}")
        if qid in sight_written_down(request.user, score_set.release, what).hidden:
            raise Http404
        result_list = retrieved(run=score_set.run, release=score_set.release, qid=qid)
        answer = {
            **_query(row, release_query_texts(score_set.release)),
            **{name: getattr(result_list, name) for name in ("n_relevant", "n_judged")},
            **{name: getattr(result_list, name) for name in ("found", "missing")},
        }
        return Response(RunQueryDetailSerializer(answer).data)


class RunsScoreSerializer(serializers.Serializer):
    release = serializers.CharField(
        required=False, default="", help_text="A version; the newest if none is told."
    )


class RunsScore(Endpoint):
    limits = {"POST": COMPUTATIONS}
    serializer_class = RunsScoreSerializer
    pagination_class = None
    refusals = {"POST": (409,)}

    @extend_schema(
        operation_id="runs_score",
        summary="Score every run that a release has no scores of, as a job",
        tags=TAG,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        version = self.validated(RunsScoreSerializer)["release"]
        release = release_of_version(benchmark, version) if version else newest_release(benchmark)
        if release is None:
            raise NoOpenPhaseError(benchmark=benchmark.name)
        job = start_scoring_runs(release=release, user=request.user)
        return Response(JobSerializer(job).data, status=202)


NO_MEASURES = ("qid", "is_missing", "n_retrieved")


def _query(row: dict[str, Any], texts: dict[str, str]) -> dict[str, Any]:
    values = {name: value for name, value in row.items() if name not in NO_MEASURES}
    return {
        "query": row["qid"],
        "text": texts.get(row["qid"], ""),
        "is_missing": row["is_missing"],
        "n_retrieved": row["n_retrieved"],
        # NaN is no JSON.
        "scores": {name: value if value == value else None for name, value in values.items()},
    }


class HoleSerializer(serializers.Serializer):
    rank = serializers.IntegerField()
    document = serializers.CharField(source="docid")


class RunHolesSerializer(serializers.Serializer):
    """The unjudged documents of one query; `n_top` is how many were looked at."""

    query = serializers.CharField(source="qid")
    n_top = serializers.IntegerField()
    at_stake = serializers.FloatField(help_text="The DCG that one grade of each would add.")
    holes = HoleSerializer(many=True)


class RunHoles(RunEndpoint):
    serializer_class = RunHolesSerializer

    @extend_schema(
        operation_id="runs_holes",
        summary="Unjudged documents among the first of a run, by query",
        description=(
            "What could change most stands first. Queries of a hidden split are left out for all "
            "but the benchmark's keepers."
        ),
        tags=TAG,
        parameters=[
            RELEASE,
            OpenApiParameter("depth", int, enum=list(DEPTHS), default=DEPTH),
        ],
        responses=RunHolesSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        score_set = self.score_set()
        what = looked_at(score_set, "unjudged documents")
        sight = sight_written_down(request.user, score_set.release, what)
        depth = int(self.choice("depth", DEPTHS, default=str(DEPTH)))
        holes = holes_of(score_set, depth=depth, without=sight.hidden)
        return self.page_of(holes, RunHolesSerializer)


class ProbingEvidenceSerializer(serializers.Serializer):
    """The numbers of a flag over the hidden queries, in the first `depth` documents; by its kind.

    How two submissions agree (`n_differing`, `share_equal`, `queries`), how many queries have the
    same documents (`n_equal`, `n_reordered`), or how many documents are listed once
    (`share_distinct`).
    """

    depth = serializers.IntegerField()
    n_queries = serializers.IntegerField()
    n_differing = serializers.IntegerField(required=False)
    share_equal = serializers.FloatField(required=False)
    queries = serializers.ListField(child=serializers.CharField(), required=False)
    n_equal = serializers.IntegerField(required=False)
    n_reordered = serializers.IntegerField(required=False)
    share_distinct = serializers.FloatField(required=False)
    n_compared = serializers.IntegerField(required=False)


class ProbingFlagSerializer(serializers.ModelSerializer):
    """A submission that looks made to read hidden grades, and the earlier one it is like."""

    evidence = ProbingEvidenceSerializer(read_only=True)
    submitter = serializers.CharField(source="submission.submitter.username", read_only=True)
    name = serializers.CharField(source="submission.name", read_only=True)

    class Meta:
        model = ProbingFlag
        fields = [
            "id",
            "submission",
            "name",
            "submitter",
            "earlier",
            "kind",
            "evidence",
            "created_at",
            "settled_at",
        ]
        read_only_fields = fields


class ProbingList(Endpoint):
    serializer_class = ProbingFlagSerializer

    @extend_schema(
        operation_id="runs_probing_list",
        summary="Submissions that look like probing, for the benchmark's keepers",
        tags=TAG,
        parameters=[OpenApiParameter("state", enum=["open", "settled"])],
        responses=ProbingFlagSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        wanted = {"open": False, "settled": True}.get(self.choice("state", ("open", "settled")))
        return self.page_of(probing_flags(benchmark, is_settled=wanted), ProbingFlagSerializer)


class ProbingSettle(Endpoint):
    serializer_class = ProbingFlagSerializer
    pagination_class = None

    @extend_schema(
        operation_id="runs_probing_settle",
        summary="Note that a flag was looked at",
        tags=TAG,
        request=None,
        responses=ProbingFlagSerializer,
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        benchmark = self.benchmark_for(Action.EDIT)
        flag = get_object_or_404(probing_flags(benchmark), pk=pk)
        settled = probing.settle(flag=flag, by=request.user)
        return Response(ProbingFlagSerializer(settled).data)


of_benchmark = [
    path("runs/probing/", ProbingList.as_view(), name="probing-list"),
    path("runs/probing/<int:pk>/settle/", ProbingSettle.as_view(), name="probing-settle"),
    path("runs/<int:pk>/scores/", RunScores.as_view(), name="run-scores"),
    path("runs/<int:pk>/queries/", RunQueries.as_view(), name="run-queries"),
    path("runs/score/", RunsScore.as_view(), name="runs-score"),
    path("runs/<int:pk>/queries/<path:qid>/", RunQuery.as_view(), name="run-query"),
    path("runs/<int:pk>/holes/", RunHoles.as_view(), name="run-holes"),
]
