"""A board slice by slice: the means of its runs over each, or what sets them apart from one run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from time import monotonic
from typing import Any, NamedTuple

from scoring.boards.services.boards import Board
from scoring.models import Score
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.services import measuring
from scoring.scores.services.firewall import Sight
from scoring.scores.services.slice_scores import BoardSlice, slices_on_board, whole_slice

# How many shades a table has, the first of them without colour.
SHADES = 10
# A page waits this long for means that are not stored; the rest is computed by the next one.
SECONDS = 4.0


class SliceCell(NamedTuple):
    """A mean over a slice, or its difference from the baseline's."""

    slice: BoardSlice
    mean: float | None
    interval: tuple[float, float] | None
    n: int
    difference: float | None
    scale: "_Scale"

    @property
    def shade(self) -> int:
        """How strong its colour is; files of twenty thousand cells have none."""
        return self.scale.shade(self.mean, self.difference)

    @property
    def direction(self) -> str:
        """`up` or `down` from the baseline; empty without one, and where nothing differs."""
        if not self.difference:
            return ""
        return "up" if self.difference > 0 else "down"


@dataclass(frozen=True)
class SliceRow:
    row: BoardRow
    cells: list[SliceCell]


@dataclass(frozen=True)
class SliceBoard:
    """Runs by slices; the first column is all queries. `baseline` is the run compared with."""

    slices: list[BoardSlice]
    rows: list[SliceRow]
    baseline: BoardRow | None
    lowest: float | None
    highest: float | None

    def multiples(self, n: int) -> list[tuple[BoardSlice, list[tuple[BoardRow, SliceCell]]]]:
        """Each slice with its `n` best runs."""
        charts = []
        for place, part in enumerate(self.slices):
            cells = [(of.row, of.cells[place]) for of in self.rows]
            valued = [(cell.mean, row, cell) for row, cell in cells if cell.mean is not None]
            valued.sort(key=lambda entry: -entry[0])
            charts.append((part, [(row, cell) for _, row, cell in valued[:n]]))
        return charts


Stored = dict[tuple[int, str], tuple[float | None, float | None, float | None, int]]


def slice_board(board: Board, rows: Sequence[BoardRow], baseline: BoardRow | None) -> SliceBoard:
    """The means of these rows over every slice that may be shown."""
    slices = [whole_slice(board.release), *slices_on_board(board.release)]
    return sliced_rows(board, rows, baseline, slices, stored_means(board, rows, baseline, slices))


def sliced_rows(
    board: Board,
    rows: Sequence[BoardRow],
    baseline: BoardRow | None,
    slices: list[BoardSlice],
    stored: Stored,
) -> SliceBoard:
    """Rows by these slices, of means that are there by score set and slice."""
    means = [of[0] for of in stored.values() if of[0] is not None]
    scale = _Scale(board.sight, stored, baseline, means)
    sliced = [SliceRow(row, [scale.cell(row, part) for part in slices]) for row in rows]
    lowest, highest = (min(means), max(means)) if means else (None, None)
    return SliceBoard(slices, sliced, baseline, lowest, highest)


def add_slice_means(board: Board, rows: Iterable[BoardRow]) -> int:
    """Store what is lacking of these rows by slice; returns in how many slices something still is.

    Scoring stores the standard measures, so this is for one that was added and for old scores.
    """
    deadline, n_lacking = monotonic() + SECONDS, 0
    sets = [row.score_set for row in rows]
    names = [part.name for part in slices_on_board(board.release)]
    for name in _incomplete(sets, names, board.measure.name):
        if monotonic() > deadline:
            n_lacking += 1
            continue
        left = measuring.add_slice_scores(
            release=board.release, score_sets=sets, slice_name=name, names=[board.measure.name]
        )
        n_lacking += bool(left)
    return n_lacking


def _incomplete(score_sets: Sequence[Any], names: Iterable[str], measure: str) -> list[str]:
    rows = Score.objects.filter(
        score_set__in=[score_set.pk for score_set in score_sets], measure=measure
    ).values_list("slice_name", "score_set")
    there: dict[str, int] = {}
    for name, _ in rows:
        there[name] = there.get(name, 0) + 1
    n = sum(1 for score_set in score_sets if score_set.hits)
    return [name for name in names if there.get(name, 0) < n]


def stored_means(
    board: Board,
    rows: Iterable[BoardRow],
    baseline: BoardRow | None,
    slices: Iterable[BoardSlice],
) -> Stored:
    """The stored means of rows and of the baseline over slices, as this person may see them."""
    sight = board.sight
    measure = board.measure.name
    sizes = {part.name: part.n for part in slices}
    names = list(sizes)
    keys = {row.score_set.pk for row in [*rows, *([baseline] if baseline else [])]}
    scores = Score.objects.filter(measure=measure, slice_name__in=names).values_list(
        "score_set", "slice_name", "mean", "ci_low", "ci_high", "n"
    )
    if sight.is_clear:
        clear = scores.filter(score_set__in=keys)
        return {(key, name): (mean, low, high, n) for key, name, mean, low, high, n in clear}
    sources = {(key, name): sight.source(key, measure, name) for key in keys for name in names}
    stored = {
        # Of how many queries a value is undefined would tell of them.
        (key, name): (sight.rounded(mean), sight.rounded(low), sight.rounded(high), sizes[name])
        for key, name, mean, low, high, _ in scores.filter(
            score_set__in=keys | set(sources.values()) - {None}
        )
    }
    return {
        (key, name): stored[(of, name)]
        for (key, name), of in sources.items()
        if of is not None and (of, name) in stored
    }


class _Scale:
    """How strong the colours of a table are: from its lowest to its highest mean, or from 0."""

    def __init__(
        self, sight: Sight, stored: Stored, baseline: BoardRow | None, means: list[float]
    ) -> None:
        self.sight, self.stored, self.baseline = sight, stored, baseline
        self.low, self.high = (min(means), max(means)) if means else (0.0, 1.0)
        places = stored if baseline else ()
        differences = [self.difference(key, name) for key, name in places]
        self.widest = max(
            (abs(difference) for difference in differences if difference), default=0.0
        )

    def difference(self, key: int, name: str) -> float | None:
        if self.baseline is None:
            return None
        own = self.stored.get((key, name))
        other = self.stored.get((self.baseline.score_set.pk, name))
        return self.sight.difference(own and own[0], other and other[0])

    def cell(self, row: BoardRow, part: BoardSlice) -> SliceCell:
        key = row.score_set.pk
        mean, low, high, n = self.stored.get((key, part.name), (None, None, None, 0))
        interval = None if low is None or high is None else (low, high)
        difference = self.difference(key, part.name) if self.baseline else None
        return SliceCell(part, mean, interval, n, difference, self)

    def shade(self, mean: float | None, difference: float | None) -> int:
        if mean is None or isnan(mean):
            return 0
        if self.baseline is not None:
            share = abs(difference or 0.0) / self.widest if self.widest else 0.0
        else:
            share = (mean - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(SHADES * share)


def row_of(board: Board, key: str) -> BoardRow | None:
    """The row of a run by its key, of those this person may see; None where there is none."""
    return next((row for row in board.whole if str(row.run.pk) == key), None)


def slice_labels(board: SliceBoard) -> list[str]:
    return [part.name or "All queries" for part in board.slices]
