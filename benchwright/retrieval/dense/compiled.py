"""The kernel compiled by numba; imported only where numba is installed.

The k best lower bounds of a query are a heap, so its floor rises with every document that is kept,
and what is below it is let go whenever there is no room for one more.
"""

import numpy as np
import numpy.typing as npt

from benchwright.matrices.products import Singles
from benchwright.retrieval.dense.embeddings import Doubles, Rows
from benchwright.retrieval.dense.keeping import Best, Kept
from benchwright.retrieval.dense.tiles import Tile
from benchwright.retrieval.sparse.compiled_heap import compiled


class CompiledKept(Kept):
    """As `Kept`; row q of `best_low` is a heap of the k best lower bounds, the least first."""

    def __init__(self, units: Doubles, *, k: int, best: Best) -> None:
        super().__init__(units, k=k, best=best)
        self.best_low: Doubles = np.full((len(units), k), -np.inf)

    def take(self, products: Singles, tile: Tile) -> None:
        n_columns = products.shape[1]
        least = self.least(tile)
        at = np.zeros(len(self.n), dtype=np.int64)
        while True:
            _take(products, least, tile.first, tile.scale, tile.margin, at, *self._state())
            stuck = np.flatnonzero(at < n_columns).tolist()
            if not stuck:
                return
            for query in stuck:
                # More than fit are as good as the k-th within the bounds: exact scores decide.
                self.settle(query)

    def let_go(self) -> None:
        _let_go(*self._state())

    def settle(self, query: int, more: Rows | None = None) -> None:
        super().settle(query, more)
        n = min(int(self.n[query]), self.k)
        # Ascending, and so a heap.
        self.best_low[query] = -np.inf
        self.best_low[query, self.k - n :] = self.low[query, :n][::-1]

    def _state(self) -> tuple[Rows, Rows, Doubles, Doubles, Doubles, Doubles]:
        return self.n, self.rows, self.low, self.high, self.best_low, self.floor


@compiled
def _take(
    products: Singles,
    least: Singles,
    first: int,
    scale: float,
    margin: float,
    at: Rows,
    n: Rows,
    rows: Rows,
    low: Doubles,
    high: Doubles,
    best_low: Doubles,
    floor: Doubles,
) -> None:
    """Keep of each query's products, from column `at` on, what is not below its floor.

    A query whose room is full of what may be among the best stops there: `at` says where.
    """
    n_columns = products.shape[1]
    reaching = np.zeros((n_columns + 7) // 8 * 8, dtype=np.uint8)
    glances = reaching.view(np.uint64)
    for query in range(len(n)):
        row, bar = products[query], least[query]
        for column in range(n_columns):  # no branch inside, so several are compared at once
            reaching[column] = row[column] >= bar
        start, at[query] = at[query], n_columns
        for glance in range(start // 8, len(glances)):
            if not glances[glance]:
                continue
            for column in range(max(start, 8 * glance), 8 * glance + 8):
                if not reaching[column]:
                    continue
                score = np.float64(row[column]) * scale
                if score + margin < floor[query]:
                    continue
                if n[query] == rows.shape[1]:
                    n[query] = _left(n[query], rows[query], low[query], high[query], floor[query])
                    if n[query] > rows.shape[1] // 2:
                        at[query] = column
                        break
                place = n[query]
                rows[query, place] = first + column
                low[query, place], high[query, place] = score - margin, score + margin
                n[query] = place + 1
                if score - margin > best_low[query, 0]:
                    _replace_least(best_low[query], score - margin)
                    floor[query] = max(floor[query], best_low[query, 0])
            if at[query] < n_columns:
                break


@compiled
def _let_go(
    n: Rows, rows: Rows, low: Doubles, high: Doubles, best_low: Doubles, floor: Doubles
) -> None:
    for query in range(len(n)):
        n[query] = _left(n[query], rows[query], low[query], high[query], floor[query])


@compiled
def _left(n: int, rows: Rows, low: Doubles, high: Doubles, floor: float) -> int:
    """Move what reaches the floor to the front; returns how many do."""
    n_left = 0
    for place in range(n):
        if high[place] >= floor:
            rows[n_left], low[n_left], high[n_left] = rows[place], low[place], high[place]
            n_left += 1
    return n_left


@compiled
def _replace_least(heap: Doubles, value: float) -> None:
    """Put `value` in the place of the least, which is the root."""
    place = 0
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap) and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@compiled
def dots(
    vectors: npt.NDArray[np.floating], others: npt.NDArray[np.floating], which: Rows
) -> Doubles:
    """As `kernels.dots`, to the last bit."""
    n_dimensions = vectors.shape[1]
    sums, products = np.empty(len(vectors)), np.empty(n_dimensions)
    for row in range(len(vectors)):
        vector, other = vectors[row], others[which[row]]
        for place in range(n_dimensions):
            products[place] = np.float64(vector[place]) * np.float64(other[place])
        n = n_dimensions
        while n > 1:
            half = (n + 1) // 2
            for place in range(n - half):
                products[place] += products[half + place]
            n = half
        sums[row] = products[0]
    return sums
