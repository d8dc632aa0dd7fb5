"""What a board draws beside its numbers: bars of tie groups."""

from collections.abc import Sequence
from dataclasses import dataclass

# More bars side by side than this are told by letters instead.
MOST_LANES = 3


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
