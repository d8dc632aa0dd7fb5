"""The rows of a board's page: marks, bars of tie groups, intervals on one axis, cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from benchmarks_app.charts.axis import Axis, Whisker, axis_of
from benchmarks_app.language import translated
from benchmarks_app.templatetags.benchwright import DASH
from scoring.boards.columns import Cell, Columns, Line, interval_text
from scoring.boards.drawing import Stroke, tie_bars
from scoring.boards.services.boards import Board
from scoring.boards.services.heat import HeatCell
from scoring.models import Score
from scoring.scores.selectors.boards import BoardRow

BASELINE = "baseline"


class Mark(NamedTuple):
    """An icon beside a run's name: `kind` is whose, `said` what it says of this run."""

    kind: str
    said: str


# What each icon says of any run, in the order of a legend.
LEGEND = {
    BASELINE: gettext_noop("baseline: made by the benchmark, nobody's entry"),
    "pooled": gettext_noop("pooled: its first documents were put before judges"),
    "partial": gettext_noop("does not answer every query; the others count 0"),
    "trained": gettext_noop("trained on this data, as it says"),
    "held": gettext_noop("the value shown is that of an earlier submission"),
    "private": gettext_noop("not public"),
}


@dataclass(frozen=True)
class BoardLine:
    """One row of the page; `letter` names the tie group where bars do not."""

    row: BoardRow
    rank: str
    rank_said: str
    strokes: list[Stroke]
    letter: str
    words: str
    marks: list[Mark]
    whisker: Whisker | None
    interval: str
    cells: list[tuple[str, Cell]]


@dataclass(frozen=True)
class BoardLines:
    """The rows of one page, and what they share."""

    lines: list[BoardLine]
    axis: Axis | None
    has_bars: bool
    n_lanes: int

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places of the axis' ticks, in percent, with their labels."""
        return self.axis.labels if self.axis else []

    @property
    def legend(self) -> list[Mark]:
        """The icons that occur."""
        kinds = {mark.kind for line in self.lines for mark in line.marks}
        return [Mark(kind, said) for kind, said in LEGEND.items() if kind in kinds]


def board_lines(
    board: Board,
    rows: Sequence[BoardRow],
    columns: Columns,
    *,
    first: int = 0,
    heat: Sequence[Sequence[HeatCell]] = (),
    weighted: Mapping[int, Score | None] | None = None,
    moves: Any = None,
) -> BoardLines:
    """The lines of these rows, which are those of the board from the `first` on."""
    name, weighted = board.measure.name, weighted or {}
    bars = tie_bars([row.standing.tie_group if row.standing else None for row in board.rows])
    axis = _axis(board)
    names = [each.part.name for each in columns.slices]
    by_run = moves.by_run if moves is not None else {}
    labeled = [(column.shown_label, column) for column in columns.shown]
    lines = []
    for place, row in enumerate(rows):
        cells_of_slices = heat[place] if place < len(heat) else []
        line = Line(
            row,
            weighted.get(row.score_set.pk),
            by_run.get(row.run.pk),
            dict(zip(names, cells_of_slices, strict=False)),
        )
        rank, rank_said = _rank(row)
        lines.append(
            BoardLine(
                row=row,
                rank=rank,
                rank_said=rank_said,
                strokes=bars.strokes[first + place],
                letter=bars.letters[first + place],
                words=" · ".join(filter(None, [row.run.name, row.by, row.type, _kind(row)])),
                marks=_marks(row),
                whisker=_whisker(row, name, axis),
                interval=interval_text(row.intervals[name]) if name in row.intervals else "",
                cells=[(label, column.cell(line)) for label, column in labeled],
            )
        )
    return BoardLines(lines, axis, any(bars.strokes), bars.n_lanes)


def _kind(row: BoardRow) -> str:
    return "" if row.is_baseline else translated(row.run.get_kind_display().lower())


def _rank(row: BoardRow) -> tuple[str, str]:
    """The ranks a run may have, and in words how they are known."""
    if row.rank is None:
        return DASH, _("no value of this measure")
    by_mean = _("rank {n} by the mean, shared") if row.is_tied else _("rank {n} by the mean")
    rank = by_mean.format(n=row.rank)
    standing = row.standing
    if standing is None:
        return f"{row.rank}{'=' if row.is_tied else ''}", rank
    if standing.best == standing.worst:
        return str(standing.best), _("{rank}, and in 95 % of resamples").format(rank=rank)
    ranks = f"{standing.best}{DASH}{standing.worst}"
    return ranks, _("{rank}; {ranks} in 95 % of resampled query sets").format(
        rank=rank, ranks=ranks
    )


def _marks(row: BoardRow) -> list[Mark]:
    marks = []
    if row.is_baseline:
        marks.append(Mark(BASELINE, _("baseline")))
    if row.run.pooled_depth:
        marks.append(Mark("pooled", _("pooled to {depth}").format(depth=row.run.pooled_depth)))
    if row.answered and row.answered.n_missing:
        n, total = f"{row.answered.n:,}", f"{row.answered.n_queries:,}"
        answers = ngettext(
            "answers {n} of {total} query",
            "answers {n} of {total} queries",
            row.answered.n_queries,
        )
        marks.append(Mark("partial", answers.format(n=n, total=total)))
    if row.is_trained:
        marks.append(Mark("trained", _("trained on this data")))
    if row.held:
        marks.append(Mark("held", _held(row.held)))
    if row.is_private:
        marks.append(Mark("private", _("not public")))
    return marks


def _held(held: Any) -> str:
    if held.is_told_elsewhere:
        label = _("on another release")
    elif held.is_undecided:
        label = _("undecided")
    elif held.is_clear:
        label = _("others see {name}").format(name=held.name)
    else:
        label = _("as {name}").format(name=held.name) if held.name else _("held")
    return f"{label}: {held.said}"


# --- the axis ------------------------------------------------------------------------------


def _axis(board: Board) -> Axis | None:
    """One for all rows of the board, whichever are shown: filters move nobody on it."""
    name = board.measure.name
    ends = [end for row in board.whole for end in row.intervals.get(name, ())]
    means = [row.scores.get(name) for row in board.whole]
    return axis_of([*ends, *(mean for mean in means if mean is not None)])


def _whisker(row: BoardRow, name: str, axis: Axis | None) -> Whisker | None:
    mean = row.scores.get(name)
    if axis is None or mean is None or mean != mean:
        return None
    return axis.whisker(mean, *row.intervals.get(name, (None, None)))
