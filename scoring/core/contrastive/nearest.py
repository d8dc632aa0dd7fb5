"""The most similar row that is not the partner."""

import numpy as np
from numpy.typing import NDArray

from benchmarks_app.core.matrices.products import exact_products
from scoring.core.contrastive.pairs import Pair, Side

Rows = NDArray[np.intp]


def nearest_others(pair: Pair, rows: Rows) -> tuple[Rows, Rows]:
    """The most similar candidate of some rows, each way; of equal ones the first.

    The partner itself counts only where there is no other row.
    """
    forward = _nearest(pair.first, pair.second, rows, pair.tile_height)
    return forward, _nearest(pair.second, pair.first, rows, pair.tile_height)


def _nearest(queries: Side, candidates: Side, rows: Rows, height: int) -> Rows:
    best = np.full(len(rows), -np.inf)
    found = rows.copy()
    asked = queries.picked(rows)
    for start in range(0, len(candidates.matrix) if len(rows) else 0, height):
        similarities = exact_products(asked, candidates.tile(start, height))
        similarities[:, len(candidates.matrix) - start :] = -np.inf
        _forget_partners(similarities, rows - start)
        first = similarities.argmax(axis=1)
        similarity = similarities[np.arange(len(rows)), first]
        is_better = similarity > best
        best[is_better] = similarity[is_better]
        found[is_better] = first[is_better] + start
    return found


def _forget_partners(similarities: NDArray[np.float64], columns: Rows) -> None:
    inside = np.flatnonzero((columns >= 0) & (columns < similarities.shape[1]))
    similarities[inside, columns[inside]] = -np.inf
