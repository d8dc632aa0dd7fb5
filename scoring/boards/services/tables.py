"""A board as a table of plain values: the same columns in every file and over the API."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchwright.evaluation.weighting import weighted_name
from scoring.boards.services.boards import Board, weighted_of
from scoring.models import Score
from scoring.scores.selectors.boards import BoardRow

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class BoardTable:
    """Columns by name, and a value of each in every row; None where there is none."""

    columns: list[str]
    rows: list[dict[str, Cell]]


def board_table(board: Board, shown: Sequence[BoardRow] | None = None) -> BoardTable:
    """Every row that is asked for, or those shown of them, with every standard measure in full."""
    shown = board.rows if shown is None else shown
    weighted = weighted_of(board, shown, board.all_measures)
    has_scenarios = any(row.unjudged for row in board.rows)
    rows = []
    for row in shown:
        cells = dict(_cells(board, row, weighted.get(row.score_set.pk, {}) if weighted else None))
        rows.append(cells | dict(_scenarios(row)) if has_scenarios else cells)
    columns = list(rows[0]) if rows else list(dict(_no_cells(board)))
    return BoardTable(columns, rows)


def _cells(
    board: Board, row: BoardRow, weighted: dict[str, Score] | None
) -> Iterator[tuple[str, Cell]]:
    best, worst, group = row.standing or (None, None, None)
    yield "rank", row.rank
    yield "best_rank", best
    yield "worst_rank", worst
    yield "tie_group", group
    yield "run", row.run.name
    yield "by", row.by
    yield "kind", row.run.kind
    yield from _scores(board, row)
    if board.sight.ladder or board.sight.is_told_elsewhere:
        yield "held", row.held is not None
    if weighted is not None:
        yield from _weighted(board, weighted)
    yield "adjusted", row.adjusted
    yield "attempts", row.n_attempts
    yield "type", row.type
    yield "comparability", row.comparability
    yield "pooled_depth", row.run.pooled_depth
    yield "trained_on_it", row.is_trained
    yield "created_at", row.run.created_at.isoformat()
    yield "n_queries", row.score_set.n_queries
    yield "n_missing", row.answered and row.answered.n_missing
    yield "n_extra", row.answered and row.answered.n_extra
    yield "sha256", row.run.sha256
    if board.machine_judged:
        yield "machine_judged", True


def _scenarios(row: BoardRow) -> Iterator[tuple[str, Cell]]:
    scenarios = row.unjudged
    low, high = scenarios.drawn if scenarios and scenarios.drawn else (None, None)
    yield "condensed", scenarios and scenarios.condensed
    yield "all_relevant", scenarios and scenarios.all_relevant
    yield "drawn_low", low
    yield "drawn_high", high


def _scores(board: Board, row: BoardRow) -> Iterator[tuple[str, Cell]]:
    for measure in board.all_measures:
        low, high = row.intervals.get(measure.name, (None, None))
        yield measure.label, row.scores.get(measure.name)
        yield f"{measure.label} low", low
        yield f"{measure.label} high", high


def _weighted(board: Board, weighted: dict[str, Score]) -> Iterator[tuple[str, Cell]]:
    for measure in board.all_measures:
        name, score = weighted_name(measure.label), weighted.get(measure.name)
        yield name, score.mean if score else None
        yield f"{name} low", score.ci_low if score else None
        yield f"{name} high", score.ci_high if score else None


def _no_cells(board: Board) -> Iterator[tuple[str, None]]:
    """The columns of a board without rows."""
    for name in ("rank", "best_rank", "worst_rank", "tie_group", "run", "by", "kind"):
        yield name, None
    for measure in board.all_measures:
        yield from (
            (name, None)
            for name in (measure.label, f"{measure.label} low", f"{measure.label} high")
        )
    for name in ("n_queries", "n_missing", "n_extra", "sha256"):
        yield name, None
    if board.machine_judged:
        yield "machine_judged", None
