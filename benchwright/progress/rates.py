"""Shares with their intervals: how much the latest labels still find, against the first ones."""

from dataclasses import dataclass
from math import isnan, nan, sqrt

from benchwright.statistics.descriptive import wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """`n` of `of`; its interval is Wilson's at 95 %, NaN where `of` is 0.

    Examples
    --------
    >>> rate = Rate(3, 10)
    >>> round(rate.share, 2), round(rate.low, 4), round(rate.high, 4)
    (0.3, 0.1078, 0.6032)
    """

    n: int
    of: int

    @property
    def share(self) -> float:
        return self.n / self.of if self.of else nan

    @property
    def low(self) -> float:
        return wilson(self.n, self.of)[0]

    @property
    def high(self) -> float:
        return wilson(self.n, self.of)[1]


def difference(later: Rate, earlier: Rate) -> tuple[float, float]:
    """The 95 % interval of `later.share - earlier.share`; NaN where one has nothing.

    Newcombe's hybrid of two Wilson intervals (Statistics in Medicine 17, 1998, method 10).
    """
    gap = later.share - earlier.share
    if isnan(gap):
        return nan, nan
    below = sqrt((later.share - later.low) ** 2 + (earlier.high - earlier.share) ** 2)
    above = sqrt((later.high - later.share) ** 2 + (earlier.share - earlier.low) ** 2)
    return gap - below, gap + above
