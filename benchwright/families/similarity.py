"""Pairs of texts that are worded alike: all of them, without comparing each with each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from benchwright.families.errors import GroupingOptionError
from benchwright.families.vectors import Matrix, weighted_grams

Progress = Callable[[int, int], None]
"""Told how many texts are done, of how many."""

# Lower makes more of each row take part in the first product, and fewer pairs reach the second.
_REST = 0.75  # of the threshold
_PRODUCTS_AT_A_TIME = 10_000_000
_PAIRS_AT_A_TIME = 20_000
# So often at most rows that have had their turn are left out of the columns.
_TURNS = 50


@dataclass(frozen=True)
class SimilarPairs:
    """Places of the texts and their cosines, in the order of the places.

    Where texts were compared with themselves, each pair is there once, the earlier text first.
    """

    a: Any
    b: Any
    similarity: Any

    def __len__(self) -> int:
        return int(self.a.size)

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return zip(self.a.tolist(), self.b.tolist(), self.similarity.tolist(), strict=True)


def similar_pairs(
    texts_a: Sequence[str],
    texts_b: Sequence[str] | None = None,
    *,
    threshold: float,
    on_progress: Progress | None = None,
) -> SimilarPairs:
    """Every pair whose 4-grams of characters (TF-IDF) have a cosine of `threshold` or more.

    How rare a gram is, is counted over all texts given.

    Parameters
    ----------
    threshold
        Above 0, at most 1.

    Raises
    ------
    GroupingOptionError
        If the threshold is outside its range.

    Examples
    --------
    >>> found = similar_pairs(
    ...     ["do goldfish grow", "cost of a house"], ["do golddish grow"], threshold=0.5
    ... )
    >>> [(a, b, round(similarity, 2)) for a, b, similarity in found]
    [(0, 0, 0.61)]
    """
    if not 0 < threshold <= 1:
        expected = "above 0, at most 1"
        raise GroupingOptionError(name="threshold", value=threshold, expected=expected)
    if texts_b is None:
        rows = weighted_grams(texts_a)
        return similar_rows(rows, threshold=threshold, on_progress=on_progress)
    both = weighted_grams([*texts_a, *texts_b])
    rows, others = both[: len(texts_a)], both[len(texts_a) :]
    return similar_rows(rows, others, threshold=threshold, on_progress=on_progress)


def similarities(rows: Matrix, a: Any, b: Any, others: Matrix | None = None) -> Any:
    """The cosine of row `a[i]` with row `b[i]` (of `others`), for every i."""
    against = rows if others is None else others
    cosines = np.empty(a.size, dtype=np.float64)
    for start in range(0, a.size, _PAIRS_AT_A_TIME):
        part = slice(start, start + _PAIRS_AT_A_TIME)
        products = rows[a[part]].multiply(against[b[part]])
        cosines[part] = products.sum(axis=1)
    return np.clip(cosines, 0.0, 1.0)


def similar_rows(
    rows: Matrix,
    others: Matrix | None = None,
    *,
    threshold: float,
    on_progress: Progress | None = None,
) -> SimilarPairs:
    """As `similar_pairs`, of rows already weighted: with `others`, or each with those after it.

    A pair that reaches it must share a gram among those that both rows begin with, up to where
    what is left of a row has a length below `rest`: what comes later can add no more than that
    length. Such beginnings are short and of rare grams, so their product is sparse; and a pair
    whose beginnings give less than `threshold - rest` is out as well. What remains is computed in
    full.
    """
    rest = _REST * threshold
    begun = _beginnings(rows, rest)
    begun_others = begun if others is None else _beginnings(others, rest)
    columns = begun_others.T.tocsr()
    found_a, found_b, found_s = [], [], []
    first, right = 0, columns
    for start, stop in _blocks(begun, columns):
        # Of rows compared with themselves, those before the block have had their turn.
        if others is None and start - first >= rows.shape[0] / _TURNS:
            first, right = start, begun[start:].T.tocsr()
        product = begun[start:stop] @ right
        # Few of its values are near: rows are looked up for these alone.
        near = np.flatnonzero(product.data >= threshold - rest - 1e-5)
        a = np.searchsorted(product.indptr, near, side="right") - 1 + start
        b = product.indices[near].astype(np.int64) + first
        if others is None:
            a, b = a[a < b], b[a < b]
        similarity = similarities(rows, a, b, others)
        is_enough = similarity >= threshold - 1e-6
        order = np.lexsort((b[is_enough], a[is_enough]))
        found_a.append(a[is_enough][order])
        found_b.append(b[is_enough][order])
        found_s.append(similarity[is_enough][order])
        if on_progress:
            on_progress(stop, rows.shape[0])
    return SimilarPairs(
        _joined(found_a, np.int64), _joined(found_b, np.int64), _joined(found_s, np.float64)
    )


def _joined(parts: list[Any], dtype: Any) -> Any:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)


def _beginnings(rows: Matrix, rest: float) -> Matrix:
    """The rows without the end whose length stays below `rest`."""
    squares = rows.data.astype(np.float64) ** 2
    total = np.append(0.0, np.cumsum(squares))
    row_ends = np.repeat(total[rows.indptr[1:]], np.diff(rows.indptr))
    left = row_ends - total[:-1]  # from this gram on
    keep = left >= rest**2
    starts = np.append(0, np.cumsum(keep))[rows.indptr]
    return scipy.sparse.csr_array((rows.data[keep], rows.indices[keep], starts), shape=rows.shape)


def _blocks(begun: Matrix, columns: Matrix) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose product with the columns takes a bounded number of steps."""
    steps = np.diff(columns.indptr)[begun.indices]
    total = np.append(0, np.cumsum(steps))[begun.indptr]
    start, n = 0, begun.shape[0]
    while start < n:
        stop = int(np.searchsorted(total, total[start] + _PRODUCTS_AT_A_TIME, side="right")) - 1
        stop = min(max(stop, start + 1), n)
        yield start, stop
        start = stop
