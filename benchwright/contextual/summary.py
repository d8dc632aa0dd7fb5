"""What the outcomes of many cases come to: means, counts and costs, overall and by slice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, nan

from benchwright.contextual.types import Outcome

ALL = "all"


@dataclass(frozen=True, slots=True)
class Row:
    """Cases of one slice: how many, how many of them failed, and the mean of the others.

    `mean` is NaN where none has a score, `success` (a share) also where there is no threshold.
    """

    name: str
    n_cases: int
    n_failed: int
    mean: float
    success: float


@dataclass(frozen=True, slots=True)
class Summary:
    """`rows`: all cases first, then each slice by name. Costs are of what was asked now.

    `cost` is None where no answer has a price; tokens likewise.
    """

    rows: tuple[Row, ...]
    n_cached: int
    n_requests: int
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None


def summarised(outcomes: Sequence[Outcome]) -> Summary:
    """Means over the cases that have a score; failed ones are counted beside them.

    Examples
    --------
    >>> summarised([Outcome("a", 1.0), Outcome("b", 0.5)]).rows[0].mean
    0.75
    """
    names = sorted({name for outcome in outcomes for name in outcome.slices})
    fresh = [outcome for outcome in outcomes if not outcome.is_cached]
    return Summary(
        rows=(
            _row(ALL, outcomes),
            *(_row(name, [each for each in outcomes if name in each.slices]) for name in names),
        ),
        n_cached=len(outcomes) - len(fresh),
        n_requests=sum(answer.attempts for outcome in fresh for answer in outcome.answers),
        tokens_in=_known_sum(outcome.tokens_in for outcome in fresh),
        tokens_out=_known_sum(outcome.tokens_out for outcome in fresh),
        cost=_known_cost(fresh),
    )


def _row(name: str, outcomes: Sequence[Outcome]) -> Row:
    scores = [outcome.score for outcome in outcomes if outcome.score is not None]
    verdicts = [outcome.is_success for outcome in outcomes if outcome.is_success is not None]
    return Row(
        name,
        n_cases=len(outcomes),
        n_failed=sum(outcome.error is not None for outcome in outcomes),
        mean=fsum(scores) / len(scores) if scores else nan,
        success=sum(verdicts) / len(verdicts) if verdicts else nan,
    )


def _known_sum(values: Iterable[int | None]) -> int | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None


def _known_cost(outcomes: Iterable[Outcome]) -> float | None:
    costs = [outcome.cost for outcome in outcomes if outcome.cost is not None]
    return fsum(costs) if costs else None
