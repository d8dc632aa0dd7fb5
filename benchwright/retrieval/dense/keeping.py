"""For each query of a block, the documents that may still be among its k best.

A score is known at first within bounds: `low` and `high`. What is surely worse than k others is let
go; nothing else ever is, so what is left holds the k best whatever the bounds were.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from benchwright.matrices.products import Singles
from benchwright.retrieval.dense.embeddings import Doubles, Rows
from benchwright.retrieval.dense.tiles import Tile

Best = Callable[[int, Rows], tuple[Rows, Doubles]]
"""Of a query and rows of documents, the k best of them with their scores, best first."""

# Places for a query beside k: what a tile adds before the worse half is let go.
SPARE = 64
PER_RESULT = 3
# Floors are raised when so many documents were added, for each result that is asked for.
RAISED_AFTER = 0.5
# A score of 64 bits divided by a length is as near as this to what it was.
ROUNDED = 1e-15


def room_of(k: int) -> int:
    """How many documents are kept for a query at most."""
    return PER_RESULT * k + SPARE


class Kept:
    """What a block of queries keeps while the tiles pass.

    Columns `[: n[q]]` of row q are in use: row of the document, and the bounds of its score.
    `floor[q]` is the k-th best lower bound, so that a document whose upper bound is below it can
    not be among the k best. Bounds are of scores divided by `units[q]`.
    """

    def __init__(self, units: Doubles, *, k: int, best: Best) -> None:
        n_queries = len(units)
        shape = (n_queries, room_of(k))
        self.k = k
        self.best = best
        self.units = units
        self.n = np.zeros(n_queries, dtype=np.int64)
        self.rows = np.zeros(shape, dtype=np.int64)
        self.low: Doubles = np.full(shape, -np.inf)
        self.high: Doubles = np.full(shape, -np.inf)
        self.floor: Doubles = np.full(n_queries, -np.inf)
        self._n_added = 0

    def rows_of(self, query: int) -> Rows:
        return self.rows[query, : self.n[query]]

    def take(self, products: Singles, tile: Tile) -> None:
        """Keep of a tile what may be among the k best; `products` are queries x its documents."""
        reaching = products >= self.least(tile)[:, np.newaxis]
        if np.count_nonzero(reaching) > 2 * self.k * len(self.n):
            # Nearly all of it: the first tile, or documents that come in ascending order.
            self._raise_floors(products, tile)
            reaching = products >= self.least(tile)[:, np.newaxis]
        places = _true_places(reaching)
        if not len(places):
            return
        which, columns = np.divmod(places, products.shape[1])
        scores = products.ravel()[places].astype(np.float64) * tile.scale
        self._add(which, tile.first + columns, scores, tile.margin)

    def least(self, tile: Tile) -> Singles:
        """For each query the least product of the tile that is not surely too small."""
        with np.errstate(over="ignore"):
            least = ((self.floor - tile.margin) / tile.scale).astype(np.float32)
        lower: Singles = np.nextafter(least, np.float32(-np.inf))
        return lower

    def _raise_floors(self, products: Singles, tile: Tile) -> None:
        """The k-th best of the tile alone is a floor as well."""
        n_columns = products.shape[1]
        if n_columns < self.k:
            return
        at = n_columns - self.k
        last = np.partition(products, at, axis=1)[:, at].astype(np.float64) * tile.scale
        np.maximum(self.floor, last - tile.margin, out=self.floor)

    def _add(self, which: Rows, rows: Rows, scores: Doubles, margin: float) -> None:
        counts = np.bincount(which, minlength=len(self.n))
        if self._overflows(counts).any():
            self.let_go()
        crowded = self._overflows(counts)
        if crowded.any():
            # More than fit are as good as the k-th within the bounds: only exact scores decide.
            ends = np.cumsum(counts)
            for query in np.flatnonzero(crowded).tolist():
                self.settle(query, rows[ends[query] - counts[query] : ends[query]])
            counts[crowded] = 0
            is_free = ~crowded[which]
            which, rows, scores = which[is_free], rows[is_free], scores[is_free]
        self._append(which, rows, scores, margin, counts)
        if self._n_added > RAISED_AFTER * self.k * len(self.n):
            self._raise()

    def _overflows(self, counts: Rows) -> npt.NDArray[np.bool_]:
        over: npt.NDArray[np.bool_] = self.n + counts > self.rows.shape[1]
        return over

    def _append(
        self, which: Rows, rows: Rows, scores: Doubles, margin: float, counts: Rows
    ) -> None:
        """Put documents, sorted by query, behind those each query has."""
        slots = _numbered(which, counts) + self.n[which]
        self.rows[which, slots] = rows
        self.low[which, slots] = scores - margin
        self.high[which, slots] = scores + margin
        self.n += counts
        self._n_added += len(which)

    def _raise(self) -> int:
        """Raise the floors to what is known by now; returns the columns in use."""
        width, self._n_added = int(self.n.max(initial=0)), 0
        if width >= self.k:
            at = width - self.k
            last = np.partition(self.low[:, :width], at, axis=1)[:, at]
            np.maximum(self.floor, last, out=self.floor)
        return width

    def let_go(self) -> None:
        """Drop what is below the floors, raised to what is known by now."""
        width = self._raise()
        low, high = self.low[:, :width], self.high[:, :width]
        in_use = np.arange(width) < self.n[:, np.newaxis]
        which, columns = np.nonzero((high >= self.floor[:, np.newaxis]) & in_use)
        counts = np.bincount(which, minlength=len(self.n))
        entries = self.rows[which, columns], low[which, columns], high[which, columns]
        low[:], high[:] = -np.inf, -np.inf
        slots = _numbered(which, counts)
        self.rows[which, slots], self.low[which, slots], self.high[which, slots] = entries
        self.n = counts
        for query in np.flatnonzero(counts > self.rows.shape[1] // 2).tolist():
            self.settle(query)

    def settle(self, query: int, more: Rows | None = None) -> None:
        """Keep the k best of what a query has and of `more`, by their exact scores."""
        rows = self.rows_of(query)
        rows, scores = self.best(query, rows if more is None else np.concatenate([rows, more]))
        scores = scores / self.units[query]
        n = self.n[query] = len(rows)
        self.rows[query, :n] = rows
        for bound, side in ((self.low, -ROUNDED), (self.high, ROUNDED)):
            bound[query, :n], bound[query, n:] = scores + side * np.abs(scores), -np.inf
        if n >= self.k:
            self.floor[query] = max(self.floor[query], self.low[query, self.k - 1])


def _true_places(mask: npt.NDArray[np.bool_]) -> Rows:
    """Flat places of what is true, which is little: looked for eight at a time."""
    flat = mask.reshape(-1)
    if len(flat) % 8:
        return np.flatnonzero(flat)
    words = np.flatnonzero(flat.view(np.uint64))
    which, inside = np.nonzero(flat.reshape(-1, 8)[words])
    places: Rows = words[which] * 8 + inside
    return places


def _numbered(which: Rows, counts: Rows) -> Rows:
    """The number of each entry among those of its query, from 0; `which` is sorted."""
    starts = np.cumsum(counts) - counts
    numbers: Rows = np.arange(len(which)) - starts[which]
    return numbers
