"""The columns of a board's page: which there are, which are shown, and their cells."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from benchmarks_app.language import translated
from benchmarks_app.templatetags.benchwright import DASH, score, score_beside
from benchwright.comparison.comparability import COMPARABLE, PROVISIONAL
from benchwright.evaluation.weighting import weighted_name
from scoring.boards.services.boards import Board
from scoring.boards.services.heat import HeatCell, HeatSlice
from scoring.models import Score
from scoring.scores.selectors.boards import JUDGED, BoardRow
from scoring.scores.shown import Shown

MEASURES = gettext_noop("Measures")
SLICES = gettext_noop("Slices")
FACTS = gettext_noop("Of the run")
# With so many slices a table is as wide as a page of 1,280 pixels.
MOST_SLICES = 6
# Of columns by their kind, in widths of a measure, as the stylesheet has them.
WIDTHS = {"heat": 0.55, "num": 1.0, "": 1.25}
MOST_WIDTHS = 6.35
SLICE_KEY = "slice:{name}"
# In an address: that columns were chosen, if only none of them.
CHOSEN = "-"
INTERVALS = "intervals"


@dataclass(frozen=True)
class Cell:
    """One cell: `kind` are its classes, `below` a second line, `aside` words for readers alone."""

    kind: str
    text: str
    title: str = ""
    below: str = ""
    aside: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class Line:
    """What the cells of a row are made from."""

    row: BoardRow
    weighted: Score | None = None
    move: Any = None
    heat: Mapping[str, HeatCell] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column beside rank, run and mean; `sort` or `measure` is what its head sorts by."""

    key: str
    label: str
    group: str
    kind: str
    cell: Callable[[Line], Cell]
    hint: str = ""
    sort: str = ""
    is_down: bool = False
    measure: Shown | None = None
    heat: HeatSlice | None = None
    is_usual: bool = False

    @property
    def shown_label(self) -> str:
        """In the page's language; a measure, a slice and a release are called the same in all."""
        return self.label if self.measure or self.heat else translated(self.label)


def _condensed_cell(line: Line) -> Cell:
    return Cell("num", score(line.row.unjudged.condensed if line.row.unjudged else None))


def _all_relevant_cell(line: Line) -> Cell:
    return Cell("num", score(line.row.unjudged.all_relevant if line.row.unjudged else None))


def _drawn_cell(line: Line) -> Cell:
    return Cell("num", interval_text(line.row.unjudged.drawn if line.row.unjudged else None))


SCENARIOS = [
    Column(
        "condensed",
        gettext_noop("Condensed"),
        MEASURES,
        "num",
        _condensed_cell,
        hint=gettext_noop("Unjudged documents left out"),
        is_usual=True,
    ),
    Column(
        "all-relevant",
        gettext_noop("All relevant"),
        MEASURES,
        "num",
        _all_relevant_cell,
        hint=gettext_noop("Unjudged documents of the top grade"),
        is_usual=True,
    ),
    Column(
        "drawn",
        gettext_noop("Drawn"),
        MEASURES,
        "num",
        _drawn_cell,
        hint=gettext_noop(
            "Unjudged documents given grades at random, as this run's judged ones have them: 9 in "
            "10 means lie there"
        ),
        is_usual=True,
    ),
]


@dataclass(frozen=True)
class Columns:
    """The columns that are shown, of all that are offered; `is_asked` where somebody chose."""

    offered: list[Column]
    shown: list[Column]
    is_asked: bool
    has_intervals: bool

    @property
    def n_offered(self) -> int:
        return len(self.offered)

    @property
    def by_group(self) -> list[tuple[str, list[Column]]]:
        groups: dict[str, list[Column]] = {}
        for column in self.offered:
            groups.setdefault(column.group, []).append(column)
        return list(groups.items())

    @property
    def keys(self) -> set[str]:
        return {column.key for column in self.shown}

    @property
    def is_narrow(self) -> bool:
        """Whether the table fits a page of 1,280 pixels."""
        return sum(WIDTHS.get(column.kind, WIDTHS[""]) for column in self.shown) <= MOST_WIDTHS

    @property
    def slices(self) -> list[HeatSlice]:
        return [column.heat for column in self.shown if column.heat]


def columns_of(
    board: Board,
    slices: Sequence[HeatSlice],
    asked: Sequence[str],
    *,
    has_weighted: bool = False,
    has_scenarios: bool = False,
    moves: Any = None,
) -> Columns:
    """The columns of a board, those `asked` by their keys or else the usual ones."""
    has_intervals = INTERVALS in asked
    further = list(_further(board, has_weighted=has_weighted, moves=moves))
    further += SCENARIOS if has_scenarios else []
    n_further = sum(1 for column in further if column.is_usual)
    measures = _measures(board, has_intervals=has_intervals)
    offered = [
        *_slices(slices, most=max(0, MOST_SLICES - n_further)),
        *measures,
        *further,
        *_facts(board),
    ]
    wanted = set(asked)
    is_asked = bool(wanted)
    columns = [each for each in offered if (each.key in wanted if is_asked else each.is_usual)]
    return Columns(offered, columns, is_asked, has_intervals)


# --- which there are -----------------------------------------------------------------------


def _slices(slices: Sequence[HeatSlice], *, most: int) -> Iterable[Column]:
    """Large ones first among the usual: of few queries a cell says little."""
    largest = sorted(slices, key=lambda each: (each.is_few, -each.part.n))[:most]
    for each in slices:
        name = each.part.name
        n_queries = ngettext("{n} query", "{n} queries", each.part.n).format(n=f"{each.part.n:,}")
        few = _("fewer than its minimum: too few")
        size = f"{n_queries}, {few}" if each.is_few else n_queries
        yield Column(
            key=SLICE_KEY.format(name=name),
            label=name,
            group=SLICES,
            kind="heat",
            cell=_heat_cell(name),
            hint=f"{name}: {size}",
            heat=each,
            is_usual=each in largest,
        )


def _measures(board: Board, *, has_intervals: bool) -> list[Column]:
    usual = set(board.columns)
    return [
        Column(
            key=shown.label,
            label=shown.label,
            group=MEASURES,
            kind="num",
            cell=_measure_cell(shown.name, has_intervals=has_intervals),
            hint=shown.hint,
            measure=shown,
            is_usual=shown in usual,
        )
        for shown in board.choices
        if shown != board.measure
    ]


def _further(board: Board, *, has_weighted: bool, moves: Any) -> Iterable[Column]:
    if has_weighted:
        yield Column(
            "weighted",
            weighted_name(board.measure.label),
            MEASURES,
            "num",
            _weighted_cell(board.sight.digits),
            hint=gettext_noop("Each query counts by its weight in the release"),
            is_usual=True,
        )
    if any(row.adjusted is not None for row in board.whole):
        yield Column(
            "adjusted",
            gettext_noop("Adjusted"),
            MEASURES,
            "num",
            _adjusted_cell(board.sight.digits),
            hint=gettext_noop(
                "The best of a team's attempts, less what the best of so many equal ones has by "
                "chance"
            ),
            sort="adjusted",
            is_down=True,
            is_usual=True,
        )
    if moves is not None and any(move.mean_before is not None for move in moves.rows):
        version = moves.before.version
        yield Column(
            "moves",
            _("On {version}").format(version=version),
            MEASURES,
            "num",
            _move_cell(board.sight.digits),
            hint=_("The mean on release {version}, and what has moved since").format(
                version=version
            ),
            is_usual=True,
        )


def _facts(board: Board) -> Iterable[Column]:
    yield Column("by", gettext_noop("By"), FACTS, "", lambda line: Cell("", line.row.by), sort="by")
    yield Column(
        "type", gettext_noop("Type"), FACTS, "", lambda line: Cell("", line.row.type or DASH)
    )
    yield Column("kind", gettext_noop("Kind"), FACTS, "", _kind_cell)
    yield Column(
        "group",
        gettext_noop("Group"),
        FACTS,
        "num",
        lambda line: Cell("num", str(line.row.standing.tie_group) if line.row.standing else DASH),
        hint=gettext_noop("Number of the tie group"),
    )
    if not board.slice_name:
        yield Column(
            "answered",
            gettext_noop("Answered"),
            FACTS,
            "num",
            _answered_cell,
            sort="answered",
            is_down=True,
        )
    yield Column("date", gettext_noop("Date"), FACTS, "", _date_cell, sort="date", is_down=True)


# --- cells ---------------------------------------------------------------------------------


def interval_text(interval: tuple[float, float] | None) -> str:
    """The two ends of an interval; a dash without one."""
    if interval is None:
        return DASH
    return f"{score(interval[0], 3)}{DASH}{score(interval[1], 3)}"


def said_interval(interval: tuple[float, float] | None) -> str:
    """A 95 % interval in words; nothing without one."""
    text = _("95 % interval {interval}")
    return text.format(interval=interval_text(interval)) if interval else ""


def _kind_cell(line: Line) -> Cell:
    return Cell("", translated(line.row.run.get_kind_display()))


def _measure_cell(name: str, *, has_intervals: bool) -> Callable[[Line], Cell]:
    def cell(line: Line) -> Cell:
        mean, interval = line.row.scores.get(name), line.row.intervals.get(name)
        title = said_interval(interval)
        below = interval_text(interval) if interval and has_intervals else ""
        if name == JUDGED and line.row.comparability:
            share = score_beside(mean, PROVISIONAL, COMPARABLE, digits=3)
            return Cell("num is-low", share, title, below, _(line.row.comparability))
        return Cell("num", score(mean, 3), title, below)

    return cell


def _heat_cell(name: str) -> Callable[[Line], Cell]:
    def cell(line: Line) -> Cell:
        heat = line.heat.get(name)
        if heat is None or heat.mean is None:
            return Cell("heat", DASH)
        kind = "heat is-few" if heat.is_few else f"heat {heat.shade}"
        if heat.difference is None:
            return Cell(kind, short(heat.mean))
        return Cell(kind, short(heat.difference, is_signed=True), title=score(heat.mean, 3))

    return cell


def short(value: float, *, is_signed: bool = False) -> str:
    """Three decimals without a leading zero: ".426", "+.050", "1.000".

    Examples
    --------
    >>> short(0.4264), short(0.05, is_signed=True), short(-0.0004, is_signed=True), short(1.0)
    ('.426', '+.050', '±.000', '1.000')
    """
    text = f"{abs(value):.3f}".removeprefix("0")
    if not is_signed:
        return f"\N{MINUS SIGN}{text}" if value < 0 and text != ".000" else text
    if text == ".000":
        return f"±{text}"
    return f"{'+' if value > 0 else chr(0x2212)}{text}"


def _weighted_cell(digits: int) -> Callable[[Line], Cell]:
    def cell(line: Line) -> Cell:
        weighted = line.weighted
        if weighted is None:
            return Cell("num", DASH)
        low, high = weighted.ci_low, weighted.ci_high
        interval = None if low is None or high is None else (low, high)
        title = said_interval(interval)
        return Cell("num", score(weighted.mean, digits), title)

    return cell


def _adjusted_cell(digits: int) -> Callable[[Line], Cell]:
    def cell(line: Line) -> Cell:
        if line.row.adjusted is None:
            return Cell("num", DASH)
        attempts = _("best of {n}").format(n=f"{line.row.n_attempts:,}")
        return Cell("num", score(line.row.adjusted, digits), attempts, aside=attempts)

    return cell


def _move_cell(digits: int) -> Callable[[Line], Cell]:
    def cell(line: Line) -> Cell:
        move = line.move
        if move is None:
            return Cell("num", DASH)
        mean = score(move.mean_before, digits)
        if not move.places:
            return Cell("num", mean, aside=_("new") if move.places is None else _("same rank"))
        arrow, way = ("▲", _("{n} up")) if move.places > 0 else ("▼", _("{n} down"))
        n_places = abs(move.places)
        return Cell("num", f"{mean} {arrow}{n_places}", move.said, aside=way.format(n=n_places))

    return cell


def _answered_cell(line: Line) -> Cell:
    answered = line.row.answered
    if answered is None:
        return Cell("num", DASH)
    parts = (
        _("{n} missing").format(n=f"{answered.n_missing:,}"),
        _("{n} extra").format(n=f"{answered.n_extra:,}"),
    )
    counts = (answered.n_missing, answered.n_extra)
    below = ", ".join(part for part, n in zip(parts, counts, strict=True) if n)
    text = _("{n} of {total}").format(n=f"{answered.n:,}", total=f"{answered.n_queries:,}")
    return Cell("num", text, below=below)


def _date_cell(line: Line) -> Cell:
    created = line.row.run.created_at
    return Cell("", date_format(created, _("j M Y")), at=created)
