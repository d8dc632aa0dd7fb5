"""Online outcomes from the same logs, by arm: what an A/B test measures, with intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchwright.clicks.errors import ArmsError
from benchwright.clicks.pages import Page, Reading, Tell, told_pages
from benchwright.recipes.clicks import OUTCOME
from benchwright.sandbox import reader

OUTCOMES = tuple(OUTCOME.choices)
# Of which less is better.
FEWER_IS_BETTER = frozenset({"zero results"})


class Estimate(NamedTuple):
    """A share with its 95 % interval; NaN where too few visits say nothing of it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Arm:
    """The outcomes of an arm: shares of pages, and for success of visits; `errors` are theirs."""

    name: str
    n_pages: int
    n_visits: int
    shares: dict[str, Estimate]
    errors: dict[str, float]

    @property
    def facts(self) -> dict[str, Any]:
        """The arm as plain values; an outcome is its share and the ends of its interval."""
        shares = {name: list(estimate) for name, estimate in self.shares.items()}
        counts = {"n_pages": self.n_pages, "n_visits": self.n_visits}
        return {"arm": self.name, **counts, "shares": shares}


class _Visit:
    __slots__ = ("n_clicked", "n_empty", "n_pages")

    def __init__(self) -> None:
        self.n_pages = self.n_clicked = self.n_empty = 0


def online_outcomes(pages: Iterable[Page], *, cutoff: int) -> dict[str, Arm]:
    """The outcomes of each arm, by name.

    *click-through*: pages with a click among the first `cutoff`. *zero results*: pages that showed
    nothing. *success*: visits with a click among the first `cutoff` of any page. A visit is a
    session in an arm, or a page that has none. Intervals are Student's t over visits, as everywhere
    (`statistics.intervals`).
    """
    visits: dict[str, dict[str, _Visit]] = {}
    for number, page in enumerate(pages):
        of_arm = visits.setdefault(page.arm, {})
        visit = of_arm.setdefault(page.session or f"\0{number}", _Visit())
        visit.n_pages += 1
        visit.n_clicked += any(page.rank(position) <= cutoff for position in page.clicked)
        visit.n_empty += not page.docs
    return {name: _arm(name, list(visits[name].values())) for name in sorted(visits)}


def _arm(name: str, visits: list[_Visit]) -> Arm:
    pages = [visit.n_pages for visit in visits]
    counted = {
        "click-through": ([visit.n_clicked for visit in visits], pages),
        "success": ([int(visit.n_clicked > 0) for visit in visits], [1] * len(visits)),
        "zero results": ([visit.n_empty for visit in visits], pages),
    }
    shares, errors = {}, {}
    for outcome, (sums, sizes) in counted.items():
        shares[outcome], errors[outcome] = _share(sums, sizes)
    return Arm(name, sum(pages), len(visits), shares, errors)


def _share(sums: list[int], sizes: list[int]) -> tuple[Estimate, float]:
    import numpy as np

    from benchwright.statistics.intervals import bounds_of_totals
    from benchwright.statistics.paired import errors_of_totals

    columns = np.array(sums, float)[:, None], np.array(sizes, float)[:, None]
    value = sum(sums) / sum(sizes)
    if len(sums) < 2:
        return Estimate(value, nan, nan), nan
    low, high = bounds_of_totals(*columns, alpha=0.025, span=(0, 1))[:, 0]
    return Estimate(value, float(low), float(high)), float(errors_of_totals(*columns)[0])


def difference(first: Arm, second: Arm, outcome: str) -> Estimate:
    """How much higher an outcome of the second arm is, with Welch's 95 % interval.

    B. L. Welch, The generalization of Student's problem, Biometrika 34, 1947: the arms' visits are
    different people's, so their errors add.
    """
    import scipy.special

    value = second.shares[outcome].value - first.shares[outcome].value
    parts = [(arm.errors[outcome] ** 2, arm.n_visits - 1) for arm in (first, second)]
    variance = sum(square for square, _ in parts)
    if not variance >= 0 or any(n < 1 for _, n in parts):
        return Estimate(value, nan, nan)
    if variance == 0:
        return Estimate(value, value, value)
    freedom = variance**2 / sum(square**2 / n for square, n in parts)
    reach = float(scipy.special.stdtrit(freedom, 0.975)) * sqrt(variance)
    return Estimate(value, max(-1.0, value - reach), min(1.0, value + reach))


def direction(outcome: str, estimate: Estimate) -> Literal["better", "same", "worse"]:
    """What a difference says of the second arm, by whether its interval holds 0."""
    if estimate.low <= 0 <= estimate.high:
        return "same"
    return "better" if (estimate.value > 0) != (outcome in FEWER_IS_BETTER) else "worse"


@reader
def outcomes_apart(
    paths: Sequence[Path],
    names: Sequence[str],
    folder: Path,
    arms: tuple[str, str],
    *,
    cutoff: int,
    columns: Mapping[str, str],
    actions: Sequence[str],
    progress: Tell,
) -> dict[str, Any]:
    """Two arms of logs from outside, and the differences of the second to the first.

    Returns `arms` (their facts), `differences` ([value, low, high] by outcome) and `reading`.

    Raises
    ------
    ClickColumnsError, NoClicksError
    ArmsError
        If both are one, the logs have no such arms, or too few visits for an interval.
    """
    reading = Reading()
    pages = told_pages(
        paths, folder, reading, names=names, columns=columns, actions=actions, progress=progress
    )
    outcomes = online_outcomes(pages, cutoff=cutoff)
    for name in arms:
        if name not in outcomes:
            there = ", ".join(f"'{arm}'" for arm in outcomes if arm) or "none"
            raise ArmsError(arm=name, why=f"is no arm of the log; there are {there}")
    first, second = (outcomes[name] for name in arms)
    differences = {outcome: difference(first, second, outcome) for outcome in OUTCOMES}
    if any(isnan(estimate.low) for estimate in differences.values()):
        name, n = min((arm.name, arm.n_visits) for arm in (first, second) if arm.n_visits < 2)
        raise ArmsError(arm=name, why=f"has {n} visit, which gives no interval")
    if arms[0] == arms[1]:
        raise ArmsError(arm=arms[0], why="stands for both runs, and says nothing of either")
    return {
        "arms": [first.facts, second.facts],
        "differences": {outcome: list(estimate) for outcome, estimate in differences.items()},
        "reading": reading.facts,
    }
