"""What A/B tests said of candidates, and how often gates came true."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext as _

from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, User
from benchwright.statistics.descriptive import wilson
from scoring.gates.selectors import gates_seen_by
from scoring.gates.services.errors import GateUndecidedError, OnlineIntervalError
from scoring.models import GateResult, OnlineResult

OUTCOMES = [OnlineResult.Outcome.BETTER, OnlineResult.Outcome.SAME, OnlineResult.Outcome.WORSE]


@dataclass(frozen=True)
class CameTrue:
    """Of gates with one verdict: how many A/B tests came out how, with a Wilson interval."""

    verdict: GateResult.Verdict
    n: int
    cells: list[tuple[str, int, float, float, float]]


@dataclass(frozen=True)
class OutcomeRow:
    """The difference in an outcome, then both arms, each with the ends of its interval."""

    outcome: str
    cells: list[list[float]]


@dataclass(frozen=True)
class OnlineArms:
    """What a log said of both arms."""

    cutoff: int
    arms: list[dict[str, Any]]
    rows: list[OutcomeRow]


def arms_of(online: OnlineResult) -> OnlineArms | None:
    """None where the result was typed in."""
    if not online.from_log:
        return None
    arms, differences = online.from_log["arms"], online.from_log["differences"]
    rows = [
        OutcomeRow(outcome, [difference, *(arm["shares"][outcome] for arm in arms)])
        for outcome, difference in differences.items()
    ]
    return OnlineArms(online.from_log["cutoff"], arms, rows)


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
    has_no_interval: bool = False,
    note: str = "",
    from_log: Mapping[str, Any] | None = None,
) -> OnlineResult:
    """Write down what an A/B test said of a gate's candidate.

    Raises
    ------
    OnlineIntervalError
        If difference and interval are not all there, and it is not said that there are none.
    GateUndecidedError
        If the gate has no verdict yet.
    """
    check_interval(difference, low, high, has_no_interval=has_no_interval)
    if not gate.verdict:
        raise GateUndecidedError(gate=str(gate))
    online = OnlineResult.objects.create(
        gate=gate,
        outcome=outcome,
        metric=metric,
        difference=difference,
        low=low,
        high=high,
        note=note,
        from_log=from_log or {},
        recorded_by=user,
    )
    audit.record(
        actor=user,
        action="record-online-result",
        benchmark=gate.policy.benchmark,
        target=f"{gate}: {outcome}",
    )
    return online


def check_interval(
    difference: float | None, low: float | None, high: float | None, *, has_no_interval: bool
) -> None:
    """A bare "better" proves nothing: the difference with its interval, or that there is none.

    Raises
    ------
    OnlineIntervalError
        If neither is there.
    """
    numbers = {"difference": difference, "low": low, "high": high}
    there = [name for name, value in numbers.items() if value is not None]
    if has_no_interval and there:
        raise OnlineIntervalError(
            given=_("%(numbers)s and `has_no_interval`") % {"numbers": ", ".join(there)}
        )
    if has_no_interval:
        return
    if difference is None or low is None or high is None:
        only = _("only %(numbers)s") % {"numbers": ", ".join(there)}
        raise OnlineIntervalError(given=only if there else _("no difference"))
    if not low <= difference <= high:
        numbers = {"difference": difference, "low": low, "high": high}
        text = _("%(difference)s outside of %(low)s to %(high)s") % numbers
        raise OnlineIntervalError(given=text)


def came_true(user: Any, benchmark: Benchmark) -> list[CameTrue]:
    """For each verdict what A/B tests said afterwards; verdicts without any are left out.

    Of the gates that this person sees.
    """
    gates = gates_seen_by(user, benchmark).order_by().values("pk")
    rows = (
        OnlineResult.objects.filter(gate__in=gates)
        .values_list("gate__verdict", "outcome")
        .annotate(n=Count("pk"))
        .order_by()
    )
    counts = {(verdict, outcome): n for verdict, outcome, n in rows}
    outcomes = []
    for verdict in GateResult.Verdict:
        of_verdict = [counts.get((verdict, outcome), 0) for outcome in OUTCOMES]
        n = sum(of_verdict)
        if n:
            cells = [
                (outcome.label, k, k / n, *wilson(k, n))
                for outcome, k in zip(OUTCOMES, of_verdict, strict=True)
            ]
            outcomes.append(CameTrue(verdict, n, cells))
    return outcomes
