"""What a board draws beside its numbers: bars of tie groups, and one axis for all intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

# More bars side by side than this are told by letters instead.
MOST_LANES = 3
# Steps of an axis, as parts of a power of ten.
STEPS = (1.0, 2.0, 4.0, 5.0)
MOST_TICKS = 5
# Of the span, beyond the lowest and the highest value.
ROOM = 0.04


@dataclass(frozen=True)
class Stroke:
    """What one bar does in one row: it stands there, or `is_passing` a row of another group."""

    lane: int
    is_first: bool
    is_last: bool
    is_passing: bool
    is_claim: bool


@dataclass(frozen=True)
class TieBars:
    """The strokes of each row; where they need too many lanes there are none, only `letters`."""

    strokes: list[list[Stroke]]
    letters: list[str]
    n_lanes: int


def tie_bars(groups: Sequence[int | None]) -> TieBars:
    """Bars that join the rows of each tie group, which need not stand together; None has no group.

    A bar takes the first lane that is free from its first row to its last.

    Examples
    --------
    >>> bars = tie_bars([1, 2, 1, 2])
    >>> [[(stroke.lane, stroke.is_passing) for stroke in row] for row in bars.strokes]
    [[(0, False)], [(0, True), (1, False)], [(0, False), (1, True)], [(1, False)]]
    >>> bars.letters
    ['A', 'B', 'A', 'B']
    """
    ends: dict[int, tuple[int, int]] = {}
    for place, group in enumerate(groups):
        if group is not None:
            ends[group] = (ends.get(group, (place, place))[0], place)
    free_from: list[int] = []  # by lane: the first row that no bar of it reaches
    lane_of: dict[int, int] = {}
    for group, (first, last) in sorted(ends.items(), key=lambda entry: entry[1]):
        free = (lane for lane, row in enumerate(free_from) if row <= first)
        lane = next(free, len(free_from))
        free_from[lane : lane + 1] = [last + 1]
        lane_of[group] = lane
    strokes: list[list[Stroke]] = [[] for _ in groups]
    if len(free_from) <= MOST_LANES:
        for group, (first, last) in ends.items():
            for place in range(first, last + 1):
                is_passing = groups[place] != group
                strokes[place].append(
                    Stroke(lane_of[group], place == first, place == last, is_passing, group == 1)
                )
    for row in strokes:
        row.sort(key=lambda stroke: stroke.lane)
    letters = ["" if group is None else letters_of(group) for group in groups]
    return TieBars(strokes, letters, len(free_from))


def letters_of(number: int) -> str:
    """A, B, …, Z, AA, AB, … for 1, 2, …, 26, 27, 28, …"""
    letters = ""
    while number > 0:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("A") + place) + letters
    return letters


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
