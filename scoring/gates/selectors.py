"""Policies and gates, as those see them who see both runs."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KT

from benchmarks_app.common.selectors.naming import is_anonymous_to
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.permissions import Action, may
from scoring.models import GatePolicy, GateRehearsal, GateResult

PARTS = ("policy__benchmark", "policy__baseline__upload", "release__benchmark", "candidate__upload")


def policies_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[GatePolicy]:
    """Policies of which this person may see the baseline, and the lexical run where there is one.

    By name, the newest version first.
    """
    runs = Run.objects.filter(benchmark=benchmark)
    seen = runs.visible_to(user).values("pk")
    return (
        GatePolicy.objects.filter(benchmark=benchmark, baseline__in=seen)
        .alias(lexical=KT("content__guard_rails__lexical"))
        .exclude(lexical__in=runs.exclude(pk__in=seen).values("name"))
        .select_related("benchmark", "baseline", "created_by")
        .order_by("name", "-version")
    )


def is_maker_told(user: Any, policy: GatePolicy) -> bool:
    """Whether this person may know who made a policy: it is often whose one of its runs is."""
    lexical = policy.content.get("guard_rails", {}).get("lexical", "")
    runs = Run.objects.filter(
        Q(pk=policy.baseline_id) | Q(name=lexical), benchmark=policy.benchmark
    )
    return not any(is_anonymous_to(run, user) for run in runs.select_related("benchmark"))


def policies_in_use(user: Any, benchmark: Benchmark) -> QuerySet[GatePolicy]:
    return policies_seen_by(user, benchmark).filter(retired_at=None)


def newest_version_of(benchmark: Benchmark, name: str) -> GatePolicy | None:
    return GatePolicy.objects.filter(benchmark=benchmark, name=name).order_by("-version").first()


def policy_named(user: Any, benchmark: Benchmark, name: str) -> GatePolicy | None:
    """The newest version in use of a policy that this person may see."""
    return policies_in_use(user, benchmark).filter(name=name).order_by("-version").first()


def rehearsal_of(user: Any, benchmark: Benchmark, digest: str) -> dict[str, Any]:
    """The newest rates that this person sees of a draft that means the same; empty without any.

    Those of others may rest on runs, or on queries, that are hidden from who would freeze them.
    """
    done = rehearsals_seen_by(user, benchmark).filter(digest=digest, state=GateRehearsal.State.DONE)
    newest = done.first()
    return newest.result if newest else {}


def rehearsals_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[GateRehearsal]:
    """A person's own; the benchmark's keepers see all of it."""
    rehearsals = GateRehearsal.objects.filter(benchmark=benchmark).select_related(
        "benchmark", "baseline", "lexical", "release", "job"
    )
    own = rehearsals if may(user, Action.EDIT, benchmark) else rehearsals.filter(created_by=user)
    return own.order_by("-pk")


def rehearsal_told(user: Any, benchmark: Benchmark, rehearsal: dict[str, Any]) -> dict[str, Any]:
    """Rates as this person may read them: runs that they do not see have no name."""
    if not rehearsal:
        return {}
    visible = Run.objects.visible_to(user).filter(benchmark=benchmark)
    names = set(
        visible.filter(name__in=[rate["run"] for rate in rehearsal["runs"]]).values_list(
            "name", flat=True
        )
    )
    runs = [
        rate if rate["run"] in names else {**rate, "run": "another run"}
        for rate in rehearsal["runs"]
    ]
    return {**rehearsal, "runs": runs}


def gates_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[GateResult]:
    """Gates of which this person sees policy and candidate; the newest first.

    What was decided on hidden queries is seen by the benchmark's keepers alone.
    """
    runs = Run.objects.visible_to(user).filter(benchmark=benchmark).values("pk")
    policies = policies_seen_by(user, benchmark).order_by().values("pk")
    open_to_all = Q(is_public=True) | Q(release__hidden_splits=[])
    return (
        GateResult.objects.filter(
            Q() if may(user, Action.EDIT, benchmark) else open_to_all,
            policy__in=policies,
            candidate__in=runs,
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
    same = ("policy", "candidate", "is_public")
    later = GateResult.objects.filter(
        release__gt=OuterRef("release"), **{name: OuterRef(name) for name in same}
    )
    waiting = GateResult.objects.filter(state=GateResult.State.WAITING, policy__benchmark=benchmark)
    return waiting.exclude(Exists(later)).select_related(*PARTS, "created_by")
