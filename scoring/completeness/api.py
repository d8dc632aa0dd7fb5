"""Endpoints of what is worth judging."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import CandidateListSerializer, Count
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import Benchmark, Release, Run
from benchmarks_app.permissions import Action
from scoring.completeness.services.answers import Completeness
from scoring.completeness.services.completeness import (
    MEASURE,
    MOST_RUNS,
    completeness_of,
    make_top_up,
    pair_rows,
)
from scoring.scores.api import release_named, runs_asked
from scoring.scores.services.firewall import Sight, sight_of, sight_written_down

TAG = ["what is worth judging"]
MOST_LISTED = 1_000


class WorthSerializer(serializers.Serializer):
    """A document worth judging; `ranks` are those of the runs, null below the cutoff."""

    query = serializers.CharField(source="qid")
    document = serializers.CharField(source="docid")
    priority = serializers.IntegerField()
    influence = serializers.FloatField()
    probability = serializers.FloatField(help_text="That it is relevant.")
    ranks = serializers.ListField(child=serializers.IntegerField(allow_null=True))


class PairVerdictSerializer(serializers.Serializer):
    """What is said of two runs, whatever the unjudged documents turn out to be."""

    run = serializers.CharField(source="one.name")
    reference = serializers.CharField(source="other.name")
    raw = serializers.FloatField()
    raw_verdict = serializers.CharField()
    all_relevant = serializers.FloatField()
    all_relevant_verdict = serializers.CharField()
    drawn_low = serializers.FloatField()
    drawn_high = serializers.FloatField()
    drawn_alike = serializers.FloatField()
    is_settled = serializers.BooleanField()
    n_unjudged = serializers.IntegerField()


class JudgedRunSerializer(serializers.Serializer):
    run = serializers.CharField()
    judged = serializers.FloatField(
        allow_null=True, help_text="Null where the run has nothing for a graded query."
    )


class CompletenessSerializer(serializers.Serializer):
    """The unjudged of one run, or what could tell several apart, the most influential first."""

    release = serializers.CharField()
    cutoff = serializers.IntegerField()
    runs = JudgedRunSerializer(many=True)
    pairs = PairVerdictSerializer(many=True)
    is_settled = serializers.BooleanField(
        allow_null=True, help_text="Null where one run alone is asked about."
    )
    n_worth = serializers.IntegerField(help_text="Documents that are still worth judging.")
    n_unjudged = serializers.IntegerField()
    n_labels = serializers.IntegerField(help_text="What the probabilities were learnt from.")
    is_prior = serializers.BooleanField(help_text="Too few labels: all as probable.")
    is_withheld = serializers.BooleanField(help_text="Documents of a hidden split are left out.")
    documents = WorthSerializer(many=True)


class NewTopUpSerializer(serializers.Serializer):
    """`runs` are names or ids; without `limit` the documents still worth judging are listed."""

    runs = serializers.ListField(child=serializers.CharField(), min_length=1, max_length=MOST_RUNS)
    release = serializers.CharField(required=False, default="", allow_blank=True)
    measure = serializers.CharField(required=False, default=MEASURE, max_length=120)
    limit = Count(required=False, allow_null=True, default=None)
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)


class TopUpList(Endpoint):
    serializer_class = CompletenessSerializer
    pagination_class = None
    limits = {"GET": COMPUTATIONS, "POST": COMPUTATIONS}
    refusals = {"GET": (400, 422), "POST": (409, 422)}

    @extend_schema(
        summary="Unjudged documents of runs, by what they can change",
        tags=TAG,
        parameters=[
            OpenApiParameter("runs", required=True, description="Names or ids, with commas."),
            OpenApiParameter("release", description="A version; the newest unless given."),
            OpenApiParameter("measure", description="Whose cutoff says how deep; nDCG@10."),
            OpenApiParameter("limit", type=int, description="How many documents: 100, to 1,000."),
        ],
        responses=CompletenessSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        params = request.query_params
        release = release_named(benchmark, params.get("release", ""))
        runs = runs_asked(benchmark, request.user, [params.get("runs", "")], most=MOST_RUNS)
        completeness = completeness_of(
            release=release,
            runs=runs,
            measure=params.get("measure") or MEASURE,
            is_public=not sight_of(request.user, release).is_clear,
        )
        n = self.parameter("limit", Count(max_value=MOST_LISTED)) or 100
        return Response(_told(request, release, runs, completeness, n))

    @extend_schema(
        summary="Keep the documents worth judging as a list, for a pool to be made of",
        tags=TAG,
        request=NewTopUpSerializer,
        responses={201: CandidateListSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark: Benchmark = self.benchmark_for(Action.EDIT)
        fields = self.validated(NewTopUpSerializer)
        runs = runs_asked(benchmark, request.user, fields.pop("runs"), most=MOST_RUNS)
        release = release_named(benchmark, fields.pop("release"))
        candidates = make_top_up(release=release, runs=runs, user=request.user, **fields)
        return Response(CandidateListSerializer(candidates).data, status=201)


def _told(
    request: Request, release: Release, runs: list[Run], completeness: Completeness, n: int
) -> dict[str, Any]:
    names = " and ".join(run.name for run in runs)
    what = f"unjudged documents of {names}, by API"
    sight: Sight = sight_written_down(request.user, release, what)
    listed = [entry for entry in completeness.worth if entry.qid not in sight.hidden]
    judged = [{"run": r.name, "judged": completeness.judged[r.pk]} for r in runs]
    return {
        "release": release.version,
        "cutoff": completeness.k,
        "runs": judged,
        "pairs": PairVerdictSerializer(pair_rows(completeness, runs), many=True).data,
        "is_settled": completeness.is_settled,
        "n_worth": completeness.n_worth,
        "n_unjudged": completeness.n_unjudged,
        "n_labels": completeness.n_labels,
        "is_prior": completeness.is_prior,
        "is_withheld": not sight.is_clear,
        "documents": WorthSerializer(listed[:n], many=True).data,
    }


of_benchmark = [path("top-ups/", TopUpList.as_view(), name="top-up-list")]
