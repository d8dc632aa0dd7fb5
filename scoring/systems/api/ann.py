"""The endpoint of approximate search against exact search."""

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.permissions import Action
from benchwright.retrieval.ann import USUAL_BASELINE
from scoring.scores.api import runs_asked
from scoring.scores.selectors.rankings import runs_offered
from scoring.scores.selectors.releases import newest_release
from scoring.scores.services.firewall import sight_of
from scoring.systems.forms.ann import AnnForm
from scoring.systems.services.ann import N_WORST, AnnReport, ann_report


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
            runs = runs_asked(benchmark, request.user, params.get(name, ""), most=1)
            params[name] = str(runs[0].pk)
        form = AnnForm(params, runs=runs_offered(benchmark, request.user))
        if not form.is_valid():
            raise ValidationError(form.errors.get_json_data())
        release = newest_release(benchmark)
        hidden = sight_of(request.user, release).hidden if release else frozenset()
        report = ann_report(release=release, hidden=hidden, **form.cleaned_data)
        return Response(_told(form.cleaned_data, report))


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


of_benchmark = [path("ann/", Ann.as_view(), name="ann")]
