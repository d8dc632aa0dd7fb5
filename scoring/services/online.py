"""What A/B tests said of candidates, and how often gates came true."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count

from benchmarks_app.core.statistics import wilson
from benchmarks_app.models import Benchmark, User
from benchmarks_app.services import audit
from scoring.models import GateResult, OnlineResult
from scoring.selectors.gates import gates_seen_by
from scoring.services.gate_errors import GateUndecidedError

OUTCOMES = [OnlineResult.Outcome.BETTER, OnlineResult.Outcome.SAME, OnlineResult.Outcome.WORSE]


@dataclass(frozen=True)
class CameTrue:
    """Of gates with one verdict: how many A/B tests came out how, with a Wilson interval."""

    verdict: GateResult.Verdict
    n: int
    cells: list[tuple[str, int, float, float, float]]


@transaction.atomic
def record_online_result(
    *,
    gate: GateResult,
    outcome: str,
    metric: str,
    user: User,
    difference: float | None = None,
    low: float | None = None,
    high: float | None = None,
    note: str = "",
) -> OnlineResult:
    """Write down what an A/B test said of a gate's candidate.

    Raises
    ------
    GateUndecidedError
        If the gate has no verdict yet.
    """
    if not gate.verdict:
        raise GateUndecidedError(gate=str(gate))
    made = OnlineResult.objects.create(
        gate=gate,
        outcome=outcome,
        metric=metric,
        difference=difference,
        low=low,
        high=high,
        note=note,
        recorded_by=user,
    )
    audit.record(
        actor=user,
        action="record-online-result",
        benchmark=gate.policy.benchmark,
        target=f"{gate}: {outcome}",
    )
    return made


def came_true(user: Any, benchmark: Benchmark) -> list[CameTrue]:
    """For each verdict what A/B tests said afterwards; verdicts without any are left out.

    Of the gates that this person sees.
    """
    seen = gates_seen_by(user, benchmark).order_by().values("pk")
    rows = (
        OnlineResult.objects.filter(gate__in=seen)
        .values_list("gate__verdict", "outcome")
        .annotate(n=Count("pk"))
        .order_by()
    )
    counts = {(verdict, outcome): n for verdict, outcome, n in rows}
    found = []
    for verdict in GateResult.Verdict:
        of_verdict = [counts.get((verdict, outcome), 0) for outcome in OUTCOMES]
        n = sum(of_verdict)
        if n:
            cells = [
                (outcome.label, k, k / n, *wilson(k, n))
                for outcome, k in zip(OUTCOMES, of_verdict, strict=True)
            ]
            found.append(CameTrue(verdict, n, cells))
    return found
