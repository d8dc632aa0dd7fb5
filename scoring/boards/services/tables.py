"""A board as a table of plain values: the same columns in every file and over the API."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchwright.evaluation.weighting import weighted_name
from scoring.boards.services.boards import Board, weighted_of
from scoring.models import Score
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.shown import Shown

Cell = str | int | float | bool | None
NO_ENDS, NO_SCORE = (None, None), Score()


@dataclass(frozen=True)
class BoardTable:
    """Columns by name, and a value of each in every row; None where there is none."""

    columns: list[str]
    rows: list[dict[str, Cell]]


def board_table(board: Board, rows: Sequence[BoardRow] | None = None) -> BoardTable:
    """Every row that is asked for, or these of them, with every standard measure in full."""
    rows = board.rows if rows is None else rows
    columns = dict(_columns(board, weighted_of(board, rows, board.all_measures)))
    lines = [{name: cell(row) for name, cell in columns.items()} for row in rows]
    return BoardTable(list(columns), lines)


def _columns(
    board: Board, weighted: Mapping[int, Mapping[str, Score]]
) -> Iterator[tuple[str, Callable[[BoardRow], Cell]]]:
    """Name and cell of each column: the same ones whether there are rows or not."""
    yield "rank", lambda row: row.rank
    yield "best_rank", lambda row: row.standing and row.standing.best
    yield "worst_rank", lambda row: row.standing and row.standing.worst
    yield "tie_group", lambda row: row.standing and row.standing.tie_group
    yield "run", lambda row: row.run.name
    yield "by", lambda row: row.by
    yield "kind", lambda row: row.run.kind
    for measure in board.all_measures:
        yield from _of_measure(measure)
    if board.sight.ladder or board.sight.is_told_elsewhere:
        yield "held", lambda row: row.held is not None
    if weighted:
        for measure in board.all_measures:
            yield from _of_weighted(measure, weighted)
    yield "adjusted", lambda row: row.adjusted
    yield "attempts", lambda row: row.n_attempts
    yield "type", lambda row: row.type
    yield "comparability", lambda row: row.comparability
    yield "pooled_depth", lambda row: row.run.pooled_depth
    yield "trained_on_it", lambda row: row.is_trained
    yield "created_at", lambda row: row.run.created_at.isoformat()
    yield "n_queries", lambda row: row.score_set.n_queries
    yield "n_missing", lambda row: row.answered and row.answered.n_missing
    yield "n_extra", lambda row: row.answered and row.answered.n_extra
    yield "sha256", lambda row: row.run.sha256
    if board.machine_judged:
        yield "machine_judged", lambda row: True
    if any(row.unjudged for row in board.rows):
        yield from SCENARIOS.items()


def _of_measure(measure: Shown) -> Iterator[tuple[str, Callable[[BoardRow], Cell]]]:
    name, label = measure.name, measure.label
    yield label, lambda row: row.scores.get(name)
    yield f"{label} low", lambda row: row.intervals.get(name, NO_ENDS)[0]
    yield f"{label} high", lambda row: row.intervals.get(name, NO_ENDS)[1]


def _of_weighted(
    measure: Shown, weighted: Mapping[int, Mapping[str, Score]]
) -> Iterator[tuple[str, Callable[[BoardRow], Cell]]]:
    label = weighted_name(measure.label)

    def score(row: BoardRow) -> Score:
        return weighted.get(row.score_set.pk, {}).get(measure.name, NO_SCORE)

    yield label, lambda row: score(row).mean
    yield f"{label} low", lambda row: score(row).ci_low
    yield f"{label} high", lambda row: score(row).ci_high


SCENARIOS: dict[str, Callable[[BoardRow], Cell]] = {
    "condensed": lambda row: row.unjudged and row.unjudged.condensed,
    "all_relevant": lambda row: row.unjudged and row.unjudged.all_relevant,
    "drawn_low": lambda row: row.unjudged and (row.unjudged.drawn or NO_ENDS)[0],
    "drawn_high": lambda row: row.unjudged and (row.unjudged.drawn or NO_ENDS)[1],
}
