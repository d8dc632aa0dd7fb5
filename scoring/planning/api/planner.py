"""The endpoint of plans: queries, depth and labels before anybody labels."""

from math import isfinite
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
from benchwright.pools.planning import Plan, SlicePlan
from scoring.planning.forms import NAMES, PlannerForm
from scoring.planning.services.planning import known_of, planned


class LabellingPlanSerializer(serializers.Serializer):
    """`detectable` is null without queries, `judged_of_new` where no runs tell it."""

    n_queries = serializers.IntegerField()
    depth = serializers.IntegerField()
    documents_per_query = serializers.FloatField()
    labels = serializers.IntegerField()
    hours = serializers.FloatField()
    detectable = serializers.FloatField(allow_null=True)
    judged_of_new = serializers.FloatField(allow_null=True)
    has_holes = serializers.BooleanField()


class SlicePlanSerializer(serializers.Serializer):
    name = serializers.CharField()
    n_queries = serializers.IntegerField()
    share = serializers.FloatField()
    sigma = serializers.FloatField()
    detectable = serializers.FloatField(allow_null=True)
    n_for_delta = serializers.IntegerField()
    n_for_gate = serializers.IntegerField()
    n_lacking = serializers.IntegerField()
    n_lacking_for_gate = serializers.IntegerField()


class PlannedSerializer(serializers.Serializer):
    """The cheapest plan for a difference, the best within the hours, plans by depth, slices."""

    sigma = serializers.FloatField(help_text="Of two runs' differences on a query.")
    is_sigma_assumed = serializers.BooleanField()
    design_effect = serializers.FloatField()
    is_growth_assumed = serializers.BooleanField()
    seconds_per_label = serializers.FloatField()
    n_graded = serializers.IntegerField(help_text="Queries of the newest release.")
    n_more = serializers.IntegerField(help_text="Queries that the plan lacks.")
    cheapest = LabellingPlanSerializer(allow_null=True)
    best = LabellingPlanSerializer(allow_null=True)
    by_depth = LabellingPlanSerializer(many=True)
    slices = SlicePlanSerializer(many=True)


WORDS = {
    "delta": "Difference to be seen; 0.02.",
    "hours": "Hours of labelling there are.",
    "depth": "Shallowest pool; 10.",
    "judged": "Judged share of a new system's first ten, in per cent, at least.",
    "overlap": "Documents labelled twice, in per cent; 10.",
    "seconds": "Seconds a label; the labels' median, else 30.",
    "systems": "Systems in the pool, where there are no runs; 3.",
}


class Planner(Endpoint):
    serializer_class = PlannedSerializer
    pagination_class = None
    limits = {"GET": COMPUTATIONS}
    refusals = {"GET": (400,)}

    @extend_schema(
        summary="What a budget of labels shows, and what showing a difference costs",
        tags=["planner"],
        parameters=[OpenApiParameter(name, type=float, description=WORDS[name]) for name in NAMES],
        responses=PlannedSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        known = known_of(benchmark, request.user)
        params = request.query_params.dict()
        form = PlannerForm(params, seconds=known.seconds, has_runs=not known.growth.is_assumed)
        if not form.is_valid():
            raise ValidationError(form.errors.get_json_data())
        wish = form.wish()
        if known.growth.is_assumed:
            known = known_of(benchmark, request.user, systems=wish.systems)
        whole = planned(benchmark, known, wish)
        answer = {
            "sigma": known.spread.sigma,
            "is_sigma_assumed": known.spread.is_assumed,
            "design_effect": known.effect,
            "is_growth_assumed": known.growth.is_assumed,
            "seconds_per_label": wish.seconds,
            "n_graded": known.n_graded,
            "n_more": whole.n_more,
            "cheapest": whole.cheapest and _finite(whole.cheapest),
            "best": whole.best and _finite(whole.best),
            "by_depth": [_finite(plan) for plan in whole.by_depth],
            "slices": [_finite(part) for part in whole.slices],
        }
        return Response(PlannedSerializer(answer).data)


def _finite(plan: Plan | SlicePlan) -> dict[str, Any]:
    """Its fields and what follows from them; null where JSON has no number."""
    shape = LabellingPlanSerializer if isinstance(plan, Plan) else SlicePlanSerializer
    numbers = {name: getattr(plan, name) for name in shape().fields}
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in numbers.items()
    }


of_benchmark = [path("planner/", Planner.as_view(), name="planner")]
