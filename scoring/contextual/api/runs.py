"""Endpoint of a run's contextual precision, and of the case sets that are made of it."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.parameters import api_field
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.models import Run
from benchmarks_app.permissions import Action, may
from benchwright.recipes import contextual
from scoring.contextual.api.sets import StartedJobSerializer
from scoring.contextual.api.shapes import ContextualMeanSerializer
from scoring.contextual.services.from_runs import start_cases_of_run
from scoring.contextual.services.results import RunValue, values_of_run

TAG = ["contextual precision"]
MOST_VALUES = 20


class NewRunCasesSerializer(serializers.Serializer):
    """How cases are made: `expected` is a field of the queries or a column of their metadata."""

    name = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    depth = api_field(contextual.DEPTH)
    slice = serializers.CharField(
        max_length=200, required=False, allow_blank=True, default="", source="slice_name"
    )
    n_sample = api_field(contextual.N_SAMPLE)
    seed = api_field(contextual.SEED)
    expected = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class RunContextualSerializer(serializers.Serializer):
    """A judge's verdicts on cases of a run: no measure that ranks. `cost` is for its keepers."""

    evaluation = serializers.IntegerField(source="evaluation.pk")
    case_set = serializers.IntegerField(source="case_set.pk")
    name = serializers.CharField(source="case_set.name")
    judge = serializers.CharField(source="evaluation.judge_name")
    model = serializers.CharField(source="evaluation.model")
    state = serializers.CharField(source="evaluation.state")
    overall = ContextualMeanSerializer()
    n_failed = serializers.IntegerField(source="evaluation.n_failed")
    is_fresh = serializers.BooleanField(source="freshness.is_fresh")
    cost = serializers.FloatField(required=False)


class RunContextual(Endpoint):
    serializer_class = RunContextualSerializer
    pagination_class = None
    limits = {"POST": COMPUTATIONS}

    def run_for(self, action: Action) -> Run:
        benchmark = self.benchmark_for(action)
        runs = Run.objects.visible_to(self.request.user).select_related("benchmark__corpus")
        return get_object_or_404(runs, benchmark=benchmark, pk=self.kwargs["pk"])

    @extend_schema(
        operation_id="runs_contextual",
        summary="Contextual precision of a run, newest first",
        description="Of the case sets that were made of it; at most the newest 20.",
        tags=TAG,
        responses=RunContextualSerializer(many=True),
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        run = self.run_for(Action.SEE_RESULTS)
        of_run = values_of_run(run, request.user, most=MOST_VALUES)
        sees_cost = may(request.user, Action.EDIT, run.benchmark)
        return Response([_told(value, sees_cost=sees_cost) for value in of_run.values])

    @extend_schema(
        operation_id="runs_contextual_make",
        summary="Make a case set of a run",
        tags=TAG,
        request=NewRunCasesSerializer,
        responses={202: StartedJobSerializer},
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        run = self.run_for(Action.EDIT)
        fields = self.validated(NewRunCasesSerializer)
        job = start_cases_of_run(run=run, user=request.user, **fields)
        return Response(StartedJobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


def _told(value: RunValue, *, sees_cost: bool) -> dict[str, Any]:
    facts: dict[str, Any] = RunContextualSerializer(value).data
    return {**facts, "cost": value.evaluation.cost} if sees_cost else facts


of_benchmark = [
    path("runs/<int:pk>/contextual/", RunContextual.as_view(), name="run-contextual"),
]
