"""The slices beside a board's means: of its own queries alone, from what is there."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isnan

from django.core.cache import cache

from benchmarks_app.models import Slice
from benchmarks_app.models.slices import SMALLEST_SLICE
from benchmarks_app.releases.selectors import hidden_queries
from benchwright.measures import parse_measure
from scoring.boards.services.boards import Board
from scoring.boards.services.slices import (
    SliceBoard,
    SliceCell,
    Stored,
    sliced_rows,
    stored_means,
)
from scoring.scores.selectors.boards import BoardRow
from scoring.scores.services.ranking import MOST_VALUES, values_of
from scoring.scores.services.slice_scores import (
    BoardSlice,
    members_of,
    n_families_of,
    slices_of_release,
    slices_on_board,
)

# Shades to either side of the baseline.
STRENGTHS = 3


@dataclass(frozen=True)
class HeatCell:
    """A mean over a slice against the baseline's; `is_few` where the slice is below its minimum.

    `shade` is `u1` to `u3` above the baseline, `d1` to `d3` below it, `u0` where neither.
    """

    mean: float | None
    difference: float | None
    shade: str
    is_few: bool


@dataclass(frozen=True)
class HeatSlice:
    """A slice as a column; `is_few` where it has fewer queries than its minimum."""

    part: BoardSlice
    is_few: bool


def heat_slices(board: Board) -> list[HeatSlice]:
    """The slices that may stand beside the means of a board, by name.

    On a split these are the parts of slices in it: means over several splits would be beside a mean
    over one. Where its grades are hidden from this person only slices that lie in it whole.
    """
    offered = slices_on_board(board.release)
    inside = _split_queries(board)
    if inside is not None:
        offered = _inside(board, offered, inside)
    minimum = dict(
        Slice.objects.filter(
            benchmark=board.release.benchmark_id, name__in=[part.name for part in offered]
        ).values_list("name", "minimum")
    )
    return [HeatSlice(part, part.n < minimum.get(part.name, SMALLEST_SLICE)) for part in offered]


def heat_cells(
    board: Board,
    rows: Sequence[BoardRow],
    baseline: BoardRow | None,
    slices: Sequence[HeatSlice],
) -> list[list[HeatCell]]:
    """The cells of rows by these slices; nothing that takes long is computed."""
    parts = [each.part for each in slices]
    if not parts or not rows:
        return [[] for _ in rows]
    inside = _split_queries(board)
    whole = [part for part in parts if inside is None or _is_whole(board, part, inside)]
    stored = stored_means(board, rows, baseline, whole) if whole else {}
    cut = [part for part in parts if part not in whole]
    if cut and inside is not None:
        stored |= _means_inside(board, [*rows, *([baseline] if baseline else [])], cut, inside)
    return _cells(sliced_rows(board, rows, baseline, parts, stored), slices)


def _cells(board: SliceBoard, slices: Sequence[HeatSlice]) -> list[list[HeatCell]]:
    own = board.baseline.score_set.pk if board.baseline else None
    rows = []
    for of in board.rows:
        is_baseline = of.row.score_set.pk == own
        cells = []
        for cell, part in zip(of.cells, slices, strict=True):
            difference = None if is_baseline else cell.difference
            shade = _shade(cell, board.baseline is not None)
            cells.append(HeatCell(cell.mean, difference, shade, part.is_few))
        rows.append(cells)
    return rows


def _shade(cell: SliceCell, has_baseline: bool) -> str:
    if not has_baseline or cell.difference is None:
        return "u0"
    # Ten shades of the widest difference become three, the least of them none.
    strength = min(STRENGTHS, (cell.shade + 1) // 3)
    return f"{'d' if cell.direction == 'down' else 'u'}{strength}" if strength else "u0"


# --- slices in a split ---------------------------------------------------------------------


def _split_queries(board: Board) -> frozenset[str] | None:
    """The graded queries of the split a board stands on; None where it takes all splits."""
    if board.split is None or not board.split.name:
        return None
    return members_of(board.release, board.split.slice_name)


def _inside(
    board: Board, offered: Sequence[BoardSlice], inside: frozenset[str]
) -> list[BoardSlice]:
    is_told = board.sight.is_clear or inside.isdisjoint(hidden_queries(board.release))
    members, parts = slices_of_release(board.release), []
    for part in offered:
        qids = members[part.name] & inside
        if len(qids) == part.n:
            parts.append(part)
        elif qids and is_told:
            n_families = n_families_of(board.release, qids)
            parts.append(BoardSlice(part.name, len(qids), n_families, part.is_registered))
    return parts


def _is_whole(board: Board, part: BoardSlice, inside: frozenset[str]) -> bool:
    return slices_of_release(board.release)[part.name] <= inside


def _means_inside(
    board: Board,
    rows: Sequence[BoardRow],
    parts: Sequence[BoardSlice],
    inside: frozenset[str],
) -> Stored:
    """Means of rows over what slices have in a split, from their values by query; kept.

    Of so few values as are ranked while a page waits.
    """
    release, measure = board.release, board.measure.name
    sets = {row.score_set.pk: row.score_set for row in rows if row.score_set.per_query}
    facts = repr((release.pk, measure, board.slice_name, sorted(sets)))
    key = f"heat-2-{sha256(facts.encode()).hexdigest()}"
    means: dict[int, dict[str, float]] | None = cache.get(key)
    if means is None:
        if sum(score_set.n_queries for score_set in sets.values()) > MOST_VALUES:
            return {}
        columns, qids = values_of(release, list(sets.values()), measure, inside)
        members = slices_of_release(release)
        means = {
            pk: _means(measure, dict(zip(qids, values, strict=True)), members)
            for pk, values in zip(sets, columns, strict=True)
        }
        cache.set(key, means, timeout=None)
    return {
        (pk, part.name): (board.sight.rounded(of.get(part.name)), None, None, part.n)
        for pk, of in means.items()
        for part in parts
    }


def _means(
    measure: str, values: Mapping[str, float], members: Mapping[str, Collection[str]]
) -> dict[str, float]:
    """What the values that are there come to over each slice; one that is none is left out."""
    means = {}
    for name, qids in members.items():
        inside = [values[qid] for qid in qids if qid in values and not isnan(values[qid])]
        if inside:
            means[name] = parse_measure(measure).over_all(inside)
    return means
