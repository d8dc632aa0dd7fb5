"""How far judged shares and coverage let runs be compared: freely, provisionally, or not at all.

Unjudged documents count as not relevant, so the run with fewer judged ones may lose for that alone.
From 95 % judged and gaps up to 2 points runs are compared freely; from 80 % and up to 5 points
provisionally; else what is missing has to be judged first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isnan, nan

from benchwright.texts.counting import percent_beside

COMPARABLE, PROVISIONAL = 0.95, 0.80
LARGEST_GAP, WIDE_GAP = 0.02, 0.05
# 0.95 - 0.93 is computed as a little more than 0.02.
ROUNDING = 1e-9


class Verdict(StrEnum):
    FREE = "free"
    PROVISIONAL = "provisional"
    NOT_COMPARABLE = "not-comparable"


@dataclass(frozen=True, slots=True)
class Comparability:
    """The verdict, its reasons as sentences, and the runs of the lowest and highest judged share.

    `low` and `high` are those shares; NaN, with empty names, where no run has one.
    """

    verdict: Verdict
    reasons: tuple[str, ...]
    lowest: str = ""
    highest: str = ""
    low: float = nan
    high: float = nan


def comparability(
    shares: Mapping[str, float], answered: Mapping[str, float] | None = None
) -> Comparability:
    """What judged shares, and shares of answered queries, let be said of these runs.

    A share that is NaN (nothing retrieved) makes its run provisional at best.

    Examples
    --------
    >>> comparability({"a": 0.99, "b": 0.98}).verdict.value
    'free'
    >>> comparability({"a": 0.99, "b": 0.93}).verdict.value
    'not-comparable'
    >>> comparability({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.9}).reasons
    ('b answers 90.0 % of the queries; the others count 0.',)
    """
    reasons: list[str] = []
    verdicts = [Verdict.FREE]
    defined = {run: share for run, share in shares.items() if not isnan(share)}
    for run, share in shares.items():
        if isnan(share):
            verdicts.append(Verdict.PROVISIONAL)
            reasons.append(f"{run} has no judged share: it retrieved nothing.")
    for run, share in (answered or {}).items():
        if share < 1:
            verdicts.append(Verdict.PROVISIONAL)
            percent = percent_beside(share, 1)
            reasons.append(f"{run} answers {percent} % of the queries; the others count 0.")
    if not defined:
        return Comparability(_worst(verdicts), tuple(reasons))
    # Of equal ones two that are not the same run.
    lowest = min(defined, key=defined.__getitem__)
    highest = max(reversed(defined), key=defined.__getitem__)
    low, high = defined[lowest], defined[highest]
    verdicts.append(_of_shares(low, high - low))
    return Comparability(_worst(verdicts), tuple(reasons), lowest, highest, low, high)


def _of_shares(low: float, gap: float) -> Verdict:
    if low < PROVISIONAL - ROUNDING or gap > WIDE_GAP + ROUNDING:
        return Verdict.NOT_COMPARABLE
    if low < COMPARABLE - ROUNDING or gap > LARGEST_GAP + ROUNDING:
        return Verdict.PROVISIONAL
    return Verdict.FREE


def _worst(verdicts: list[Verdict]) -> Verdict:
    return max(verdicts, key=list(Verdict).index)
