"""Shares with their intervals: how much the latest labels still find, against the first ones."""

from dataclasses import dataclass
from math import isnan, nan, sqrt

Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Rate:
    """`n` of `of`; its interval is Wilson's at 95 % (Wilson, JASA 22, 1927), NaN where `of` is 0.

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
        return max(self._middle - self._half, 0.0) if self.n else (0.0 if self.of else nan)

    @property
    def high(self) -> float:
        return (
            min(self._middle + self._half, 1.0) if self.n < self.of else (1.0 if self.of else nan)
        )

    @property
    def _middle(self) -> float:
        return (self.n + Z95**2 / 2) / (self.of + Z95**2)

    @property
    def _half(self) -> float:
        spread = self.n * (self.of - self.n) / self.of + Z95**2 / 4
        return Z95 * sqrt(spread) / (self.of + Z95**2)


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
