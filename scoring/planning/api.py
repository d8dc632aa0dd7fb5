"""Endpoints of what a benchmark can show: plans, reliability, stale labels, reusability."""

from math import isfinite
from typing import Any

from django.http import Http404
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.api.base import Endpoint
from benchmarks_app.api.serializers import Count
from benchmarks_app.api.throttling import COMPUTATIONS
from benchmarks_app.permissions import Action
from benchwright.pools.planning import Plan, SlicePlan
from benchwright.qrels.freshness import Freshness, State
from scoring.planning.forms import LONGEST_DAYS, NAMES, PlannerForm
from scoring.planning.services.freshness import freshness_of_release
from scoring.planning.services.planning import known_of, planned
from scoring.planning.services.reliability import reliability_of
from scoring.planning.services.reusability import (
    ShownSystem,
    copies_shown,
    defined,
    reusability_of,
    summary_of,
    systems_shown,
)
from scoring.scores.api import release_named
from scoring.scores.selectors.releases import release_of_version
from scoring.scores.services.firewall import sight_of


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


COUNTS = ("depth", "systems")
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
        parameters=[
            OpenApiParameter(name, type=int if name in COUNTS else float, description=WORDS[name])
            for name in NAMES
        ],
        responses=PlannedSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        known = known_of(benchmark, request.user)
        params = request.query_params.dict()
        form = PlannerForm(params, seconds=known.seconds, has_runs=not known.growth.is_assumed)
        self.cleaned(form)
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


class ReliabilitySerializer(serializers.Serializer):
    """Which differences of two runs the queries can show; `is_assumed` where no run was scored.

    `sigma` is how single differences scatter, `rho` what wordings of one need have in common.
    """

    tier = serializers.CharField(source="tier.name")
    good_for = serializers.CharField(source="tier.text")
    measure = serializers.CharField()
    release = serializers.CharField(source="release.version", default=None, allow_null=True)
    n_queries = serializers.IntegerField(source="reach.n")
    n_families = serializers.IntegerField(source="reach.n_families")
    detectable = serializers.FloatField(
        source="reach.detectable",
        allow_null=True,
        help_text="The smallest difference shown with a power of 80 %.",
    )
    sigma = serializers.FloatField(source="spread.sigma")
    rho = serializers.FloatField(source="spread.rho")
    is_assumed = serializers.BooleanField(source="spread.is_assumed")


class Reliability(Endpoint):
    serializer_class = ReliabilitySerializer
    pagination_class = None
    refusals = {"GET": (400,)}

    @extend_schema(
        operation_id="reliability_detail",
        summary="Which differences the benchmark can show",
        tags=["planning"],
        parameters=[OpenApiParameter("release", description="Of what this version grades.")],
    )
    def get(self, request: Request, slug: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        version = request.query_params.get("release", "")
        release = release_named(benchmark, version) if version else None
        return Response(ReliabilitySerializer(reliability_of(benchmark, release)).data)


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
        days = self.parameter("days", Count(max_value=LONGEST_DAYS))
        hidden = sight_of(request.user, release).hidden
        freshness = freshness_of_release(release, days=days, hidden=hidden)
        of_all = {"": freshness.report.overall, **freshness.report.slices}
        answer = {
            "release": release.version,
            "days": freshness.days,
            "labels": [_labels_row(name, part) for name, part in of_all.items()],
            "n_queries_known": freshness.queries.n_known,
            "n_queries_old": freshness.queries.n_old,
        }
        return Response(FreshnessSerializer(answer).data)


def _labels_row(name: str, freshness: Freshness) -> dict[str, Any]:
    return {
        "slice": name,
        "share": freshness.share if freshness.n else None,
        "n": freshness.n,
        "n_gone": freshness.counts.get(State.GONE, 0),
        "n_changed": freshness.counts.get(State.CHANGED, 0),
        "n_old": freshness.counts.get(State.OLD, 0),
        "n_unknown": freshness.n_unknown,
    }


class LeftOutSerializer(serializers.Serializer):
    """A system without the judgments that only its group brought; counts are null where withheld.

    Numbers `_alone` are those without what it alone brought. `left_out_with` are the others of its
    team and its near copies, as far as they may be told.
    """

    run = serializers.CharField()
    left_out_with = serializers.ListField(child=serializers.CharField())
    n_left_out_with = serializers.IntegerField()
    ndcg = serializers.FloatField()
    without = serializers.FloatField(allow_null=True)
    shift = serializers.FloatField(allow_null=True)
    rank = serializers.IntegerField()
    rank_without = serializers.IntegerField()
    judged = serializers.FloatField(allow_null=True)
    tau = serializers.FloatField(allow_null=True)
    n_unique = serializers.IntegerField()
    n_unique_relevant = serializers.IntegerField()
    without_alone = serializers.FloatField(allow_null=True)
    shift_alone = serializers.FloatField(allow_null=True)
    judged_alone = serializers.FloatField(allow_null=True)


class LeftOutMeansSerializer(serializers.Serializer):
    """Over groups, or over runs; null where there is one in all."""

    n = serializers.IntegerField()
    mean_shift = serializers.FloatField(allow_null=True)
    worst_shift = serializers.FloatField(allow_null=True)
    mean_judged = serializers.FloatField(allow_null=True)
    least_judged = serializers.FloatField(allow_null=True)
    tau = serializers.FloatField(allow_null=True)


class NearCopySerializer(serializers.Serializer):
    """Two runs of different teams that rank nearly, or `is_same` entirely, the same."""

    run_a = serializers.CharField()
    run_b = serializers.CharField()
    rbo = serializers.FloatField()
    is_same = serializers.BooleanField()


class ReusabilitySerializer(LeftOutMeansSerializer):
    """Each group of pooled runs left out once; `by_run` leaves out each run alone."""

    release = serializers.CharField()
    is_assumed = serializers.BooleanField(
        help_text="Nobody wrote down which runs were pooled: all, to depth 10."
    )
    n = serializers.IntegerField(help_text="Groups: teams and near copies count once.")
    n_runs = serializers.IntegerField(help_text="Also those that are not shown.")
    n_systems = serializers.IntegerField(help_text="Runs, those that rank the same counted once.")
    by_run = LeftOutMeansSerializer()
    copies = NearCopySerializer(many=True)
    systems = LeftOutSerializer(many=True)


class ReusabilityDetail(Endpoint):
    serializer_class = ReusabilitySerializer
    pagination_class = None
    limits = {"GET": COMPUTATIONS}

    @extend_schema(
        summary="How a release treats a new system: each pooled group left out once",
        tags=["releases"],
        responses=ReusabilitySerializer,
    )
    def get(self, request: Request, slug: str, version: str) -> Response:
        benchmark = self.benchmark_for(Action.SEE_RESULTS)
        release = release_of_version(benchmark, version)
        if release is None:
            raise Http404
        report = reusability_of(
            release, user=request.user, hidden=sight_of(request.user, release).hidden
        )
        if report is None:
            raise Http404
        answer = {
            "release": release.version,
            "is_assumed": report.is_assumed,
            "n_runs": len(report.runs),
            "n_systems": report.treatment.n_systems,
            **summary_of(report.treatment.by_group),
            "by_run": summary_of(report.treatment.by_run),
            "copies": copies_shown(report, user=request.user),
            "systems": [_system_row(system) for system in systems_shown(report, user=request.user)],
        }
        return Response(ReusabilitySerializer(answer).data)


def _system_row(system: ShownSystem) -> dict[str, Any]:
    of = system.left_out
    return {
        "run": system.run.name,
        "left_out_with": [other.name for other in system.companions],
        "n_left_out_with": system.n_companions,
        "ndcg": system.full,
        "without": system.without,
        "shift": system.shift,
        "rank": of.rank_full,
        "rank_without": of.rank,
        "judged": defined(of.judged),
        "tau": defined(of.tau),
        "n_unique": system.n_unique,
        "n_unique_relevant": system.n_unique_relevant,
        "without_alone": system.without_alone,
        "shift_alone": system.shift_alone,
        "judged_alone": defined(system.alone.judged),
    }


of_benchmark = [
    path("planner/", Planner.as_view(), name="planner"),
    path("reliability/", Reliability.as_view(), name="reliability"),
    path("freshness/", FreshnessDetail.as_view(), name="freshness-detail"),
    path(
        "releases/<str:version>/reusability/",
        ReusabilityDetail.as_view(),
        name="reusability-detail",
    ),
]
