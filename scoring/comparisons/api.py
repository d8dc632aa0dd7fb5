"""Endpoints of comparisons: what the page shows, and the start of what takes long."""

from typing import Any

from django.http import Http404, QueryDict
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import JobSerializer
from benchmarks_app.models import Benchmark, Scope
from benchmarks_app.permissions import Action
from benchwright.errors import TooFewRunsError
from scoring.comparisons.forms import AskedComparison, asked_comparison, asked_release
from scoring.comparisons.services import comparing, comparison_rows, robustness
from scoring.comparisons.services.query_differences import ORDERS, query_differences
from scoring.comparisons.services.reading import told, told_by_key
from scoring.comparisons.services.side_by_side import DEPTHS, result_lists
from scoring.models import Comparison
from scoring.scores.selectors.releases import release_query_texts
from scoring.scores.services.firewall import sight_written_down

TAG = ["comparisons"]
ASKED = [
    OpenApiParameter("runs", required=True, description="Numbers or names, commas between."),
    OpenApiParameter("release", description="A version; the newest unless given."),
    OpenApiParameter("measure", description="Any measure by its name; nDCG@10 unless given."),
    OpenApiParameter("baseline", description="A run; all pairs are compared unless given."),
]
PAIR = [
    OpenApiParameter("run", description="The run of the pair; the second one unless given."),
    OpenApiParameter("against", description="Its reference; the baseline or first unless given."),
]
LIST = [
    OpenApiParameter("slice", description="Only queries of this slice."),
    OpenApiParameter("q", description="Only queries with these letters in id or text."),
    OpenApiParameter("order", enum=list(ORDERS), default=ORDERS[0]),
]


class ComparedRunSerializer(serializers.Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()


class ComparabilitySerializer(serializers.Serializer):
    verdict = serializers.ChoiceField(["free", "provisional", "not-comparable"])
    reasons = serializers.ListField(child=serializers.CharField())


class PatternFactSerializer(serializers.Serializer):
    """A difference a pattern rests on; level within `margin`."""

    measure = serializers.CharField()
    slice = serializers.CharField()
    difference = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    n = serializers.IntegerField()
    needed = serializers.IntegerField(allow_null=True)
    margin = serializers.FloatField()
    direction = serializers.ChoiceField(["up", "level", "down"], allow_null=True)


class PatternSerializer(serializers.Serializer):
    run = serializers.CharField()
    reference = serializers.CharField()
    code = serializers.CharField()
    title = serializers.CharField()
    advice = serializers.CharField()
    evidence = PatternFactSerializer(many=True)
    needed = serializers.IntegerField(allow_null=True)


class BoardMeanSerializer(serializers.Serializer):
    """A run's mean on the leaderboard, and less that of the baseline or the first run."""

    run = serializers.CharField()
    over = serializers.CharField()
    mean = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True)


class ComparisonSerializer(serializers.Serializer):
    """Runs against each other; in `comparison` they are named by their numbers as text.

    `comparison` is what `benchwright compare --format json` prints: `summaries` of runs and
    `pairs`, each by measure and slice. Where grades are hidden from who asks, it `is_public`: over
    the queries of public splits alone. `board` then has the means that the leaderboard shows.
    """

    key = serializers.CharField()
    benchmark = serializers.CharField()
    release = serializers.CharField()
    measure = serializers.CharField()
    runs = ComparedRunSerializer(many=True)
    baseline = serializers.IntegerField(allow_null=True)
    comparability = ComparabilitySerializer()
    judged = serializers.DictField()
    answered = serializers.DictField(child=serializers.FloatField())
    n_unjudged = serializers.IntegerField(allow_null=True)
    is_public = serializers.BooleanField()
    board = BoardMeanSerializer(many=True)
    comparison = serializers.DictField()
    patterns = PatternSerializer(many=True)


class NewComparisonSerializer(serializers.Serializer):
    """Runs by number or name; of what is left out, the newest release and nDCG@10 are taken."""

    runs = serializers.ListField(child=serializers.CharField(), min_length=2)
    release = serializers.CharField(required=False)
    measure = serializers.CharField(required=False)
    baseline = serializers.CharField(required=False)


class NewPairSerializer(NewComparisonSerializer):
    run = serializers.CharField(required=False)
    against = serializers.CharField(required=False)


class StartedComparisonSerializer(serializers.Serializer):
    """Where the comparison will be; `job` is null once it is there."""

    key = serializers.CharField()
    is_ready = serializers.BooleanField()
    job = JobSerializer(allow_null=True)


class QueryDifferenceSerializer(serializers.Serializer):
    """Both runs' values of one query, and run minus reference."""

    query = serializers.CharField(source="qid")
    text = serializers.CharField()
    run = serializers.FloatField()
    reference = serializers.FloatField()
    difference = serializers.FloatField()
    outcome = serializers.ChoiceField(["win", "tie", "loss"])


class PlaceSerializer(serializers.Serializer):
    """A document; `elsewhere` holds its ranks in the other runs, null where they lack it."""

    rank = serializers.IntegerField()
    document = serializers.CharField(source="docid")
    grade = serializers.IntegerField(allow_null=True)
    elsewhere = serializers.DictField(child=serializers.IntegerField(allow_null=True))


class ResultListSerializer(serializers.Serializer):
    """A run's first results, and what it lacks among the first of the others."""

    run = serializers.CharField()
    places = PlaceSerializer(many=True)
    lacking = PlaceSerializer(many=True)


class RobustnessCellSerializer(serializers.Serializer):
    """A difference under one variant; without numbers, `note` says why."""

    group = serializers.CharField(allow_blank=True)
    name = serializers.CharField()
    measure = serializers.CharField()
    n_queries = serializers.IntegerField()
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    outcome = serializers.ChoiceField(["better", "worse", "not-shown", "not-recorded"])
    has_same_sign = serializers.BooleanField(allow_null=True)
    survives = serializers.BooleanField(allow_null=True)
    note = serializers.CharField(allow_blank=True)


class RobustnessSerializer(serializers.Serializer):
    """The first cell is the difference as it stands."""

    measure = serializers.CharField()
    runs = serializers.ListField(child=serializers.IntegerField())
    n_recorded = serializers.IntegerField()
    n_surviving = serializers.IntegerField()
    cells = RobustnessCellSerializer(many=True)


class AboutComparison(Endpoint):
    """What the endpoints share: reading what is asked for."""

    # A job computes, and changes nothing that was there.
    scopes = {"POST": Scope.READ}

    def asked(self, benchmark: Benchmark, params: QueryDict) -> AskedComparison:
        release = asked_release(params, benchmark)
        if release is None:
            raise Http404
        choice = asked_comparison(params, self.request.user, release)
        if len(choice.score_sets) < 2:
            raise TooFewRunsError(count=len(choice.score_sets))
        return choice

    def benchmark_to_start(self) -> Benchmark:
        """The benchmark, for somebody who is signed in: jobs are nobody's for the asking."""
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        self.caller()
        return benchmark

    def posted(self, serializer: type[serializers.Serializer]) -> QueryDict:
        """What was posted, in the form of an address's parameters."""
        params = QueryDict(mutable=True)
        for name, value in self.validated(serializer).items():
            params.setlist(name, value if isinstance(value, list) else [value])
        return params


def _started(row: Comparison) -> Response:
    waits = row.job if not row.result else None
    content = {"key": row.key, "is_ready": bool(row.result), "job": waits}
    code = status.HTTP_200_OK if row.result else status.HTTP_202_ACCEPTED
    return Response(StartedComparisonSerializer(content).data, status=code)


class ComparisonList(AboutComparison):
    serializer_class = ComparisonSerializer
    pagination_class = None

    @extend_schema(
        summary="Runs against each other on a release",
        tags=TAG,
        parameters=ASKED,
        responses=ComparisonSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        question = self.asked(self.benchmark_for(Action.SEE_RESULTS), request.query_params).question
        row = comparing.answer(question, request.user)
        return Response(ComparisonSerializer(told(question, row, request.user).as_dict()).data)

    @extend_schema(
        summary="Start the job of a comparison that takes long",
        tags=TAG,
        request=NewComparisonSerializer,
        responses={200: StartedComparisonSerializer, 202: StartedComparisonSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_to_start()
        choice = self.asked(benchmark, self.posted(NewComparisonSerializer))
        return _started(comparing.start_comparison(choice.question, request.user))


class ComparisonDetail(Endpoint):
    serializer_class = ComparisonSerializer
    pagination_class = None

    @extend_schema(
        summary="A stored comparison by its key",
        tags=TAG,
        operation_id="benchmarks_comparisons_stored_retrieve",
    )
    def get(self, request: Request, slug: str, key: str) -> Response:
        comparison = told_by_key(self.benchmark_for(Action.SEE_RESULTS), key, request.user)
        if comparison is None:
            raise Http404
        return Response(ComparisonSerializer(comparison.as_dict()).data)


class ComparisonQueries(AboutComparison):
    serializer_class = QueryDifferenceSerializer

    @extend_schema(
        summary="Two runs query by query; those of hidden splits are left out",
        tags=TAG,
        parameters=[*ASKED, *PAIR, *LIST],
        responses=QueryDifferenceSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        choice = self.asked(self.benchmark_for(Action.SEE_RESULTS), request.query_params)
        self.choice("order", ORDERS)
        self.choice("slice", choice.slice_names)
        run, reference = choice.pair()
        what = f"runs {run.run.name} and {reference.run.name}, by query, over the API"
        rows = query_differences(
            run=run,
            reference=reference,
            measure=choice.measure.name,
            sight=sight_written_down(request.user, choice.release, what),
            wanted=choice.wanted,
        )
        return self.page_of(rows, QueryDifferenceSerializer)


class ComparisonResults(AboutComparison):
    serializer_class = ResultListSerializer
    pagination_class = None

    @extend_schema(
        summary="The result lists of the runs for one query",
        tags=TAG,
        parameters=[
            *ASKED,
            OpenApiParameter("query", required=True),
            OpenApiParameter("depth", int, enum=list(DEPTHS), default=10),
        ],
        responses=ResultListSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        choice = self.asked(self.benchmark_for(Action.SEE_RESULTS), request.query_params)
        self.choice("depth", DEPTHS)
        qid = request.query_params.get("query", "")
        sight = sight_written_down(request.user, choice.release, "results of a query, over the API")
        if qid in sight.hidden or qid not in release_query_texts(choice.release):
            raise Http404
        runs = [score_set.run for score_set in choice.score_sets]
        lists = result_lists(release=choice.release, runs=runs, qid=qid, depth=choice.depth)
        return Response(ResultListSerializer(lists.columns, many=True).data)


class ComparisonRobustness(AboutComparison):
    serializer_class = RobustnessSerializer
    pagination_class = None

    @extend_schema(
        summary="Whether a difference survives other labels, gains and depths",
        tags=TAG,
        parameters=[*ASKED, *PAIR],
        responses=RobustnessSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        choice = self.asked(self.benchmark_for(Action.SEE_RESULTS), request.query_params)
        row = robustness.robustness(choice.robustness_question(), request.user)
        return Response(RobustnessSerializer(comparison_rows.result_of(row)).data)

    @extend_schema(
        summary="Start the job of a robustness grid that takes long",
        tags=TAG,
        request=NewPairSerializer,
        responses={200: StartedComparisonSerializer, 202: StartedComparisonSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_to_start()
        choice = self.asked(benchmark, self.posted(NewPairSerializer))
        return _started(robustness.start_robustness(choice.robustness_question(), request.user))


of_benchmark: list[Any] = [
    path("comparisons/", ComparisonList.as_view(), name="comparison-list"),
    path("comparisons/queries/", ComparisonQueries.as_view(), name="comparison-queries"),
    path("comparisons/results/", ComparisonResults.as_view(), name="comparison-results"),
    path("comparisons/robustness/", ComparisonRobustness.as_view(), name="comparison-robustness"),
    path("comparisons/<str:key>/", ComparisonDetail.as_view(), name="comparison-detail"),
]
