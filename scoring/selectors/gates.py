"""Policies and gates, as those see them who see both runs."""

from typing import Any

from django.db.models import QuerySet

from benchmarks_app.models import Benchmark, Run
from scoring.models import GatePolicy, GateResult

PARTS = ("policy__benchmark", "policy__baseline__upload", "release__benchmark", "candidate__upload")


def policies_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[GatePolicy]:
    """Policies whose baseline this person may see; the ones in use first, then by name."""
    seen = Run.objects.visible_to(user).filter(benchmark=benchmark)
    return (
        GatePolicy.objects.filter(benchmark=benchmark, baseline__in=seen.values("pk"))
        .select_related("benchmark", "baseline", "created_by")
        .order_by("name", "-version")
    )


def policies_in_use(user: Any, benchmark: Benchmark) -> QuerySet[GatePolicy]:
    return policies_seen_by(user, benchmark).filter(retired_at=None)


def newest_version_of(benchmark: Benchmark, name: str) -> GatePolicy | None:
    return GatePolicy.objects.filter(benchmark=benchmark, name=name).order_by("-version").first()


def policy_named(user: Any, benchmark: Benchmark, name: str) -> GatePolicy | None:
    """The newest version in use of a policy that this person may see."""
    return policies_in_use(user, benchmark).filter(name=name).order_by("-version").first()


def gates_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[GateResult]:
    """Gates of whose both runs this person sees; the newest first."""
    seen = Run.objects.visible_to(user).filter(benchmark=benchmark).values("pk")
    return (
        GateResult.objects.filter(
            policy__benchmark=benchmark, candidate__in=seen, policy__baseline__in=seen
        )
        .select_related("policy__benchmark", "policy__baseline", "release", "candidate", "job")
        .select_related("candidates", "created_by")
        .order_by("-pk")
    )


def whole_gate(pk: int) -> GateResult:
    """A gate with everything that deciding it looks at."""
    return GateResult.objects.select_related(*PARTS, "created_by").get(pk=pk)


def waiting_gates(benchmark: Benchmark) -> QuerySet[GateResult]:
    """Gates that wait for labels and were not asked for again on a later release."""
    return GateResult.objects.filter(
        policy__benchmark=benchmark, state=GateResult.State.WAITING, resumed_by=None
    ).select_related(*PARTS, "created_by")
