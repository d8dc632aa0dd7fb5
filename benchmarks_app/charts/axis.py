"""One axis for the intervals of many rows: a dot and a whisker beside each row's numbers."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import NamedTuple

# Steps of an axis, as parts of a power of ten.
STEPS = (1.0, 2.0, 4.0, 5.0)
MOST_TICKS = 5
# Of the span, beyond the lowest and the highest value.
ROOM = 0.04


class Whisker(NamedTuple):
    """Where a mean and the ends of its interval stand on the axis, in percent."""

    place: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Axis:
    """From `low` to `high`, with round `ticks` between them, which need so many `digits`."""

    low: float
    high: float
    ticks: list[float]
    digits: int

    def place(self, value: float) -> float:
        """Where a value stands, in percent of the axis; what lies outside stands at its end."""
        share = 100 * (value - self.low) / (self.high - self.low)
        return round(min(100.0, max(0.0, share)), 1)

    def whisker(self, mean: float, low: float | None, high: float | None) -> Whisker:
        ends = (None, None) if low is None or high is None else (self.place(low), self.place(high))
        return Whisker(self.place(mean), *ends)

    @property
    def labels(self) -> list[tuple[float, str]]:
        """Places of the ticks, in percent, with their labels: .4 for 0.4."""
        return [(self.place(tick), _label(tick, self.digits)) for tick in self.ticks]


def axis_of(values: Iterable[float]) -> Axis | None:
    """An axis that holds all these values, with a little room and two to five ticks.

    None without a value.

    Examples
    --------
    >>> axis = axis_of([0.383, 0.452, 0.314])
    >>> axis.ticks, axis.digits, axis.place(0.383)
    ([0.32, 0.36, 0.4, 0.44], 2, 50.0)
    """
    there = [value for value in values if isfinite(value)]
    if not there:
        return None
    low, high = min(there), max(there)
    room = ROOM * (high - low) or ROOM * max(1.0, abs(high))
    low, high = low - room, high + room
    # The smallest round step of which no more than `MOST_TICKS` fit.
    power = floor(log10((high - low) / MOST_TICKS))
    steps = (part * 10.0**exponent for exponent in (power, power + 1) for part in STEPS)
    step = next(step for step in steps if (high - low) / step < MOST_TICKS)
    numbers = range(ceil(low / step), floor(high / step) + 1)
    digits = max(0, -floor(log10(step) + 1e-9))
    return Axis(low, high, [round(number * step, digits) for number in numbers], digits)


def _label(tick: float, digits: int) -> str:
    if tick == 0:
        return "0"
    text = f"{abs(tick):.{digits}f}"
    short = text.removeprefix("0") if digits else text
    return f"\N{MINUS SIGN}{short}" if tick < 0 else short
