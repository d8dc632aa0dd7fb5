"""The kernel compiled by numba; imported only where numba is installed."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.sparse import csr_array

from scoring.core.retrieval.counting import Floats, Integers
from scoring.core.retrieval.found import Found

Numbers = npt.NDArray[np.integer]

# Documents whose scores are held by a thread at a time: 128 kB, so they stay in its own cache.
TILE = 1 << 14
MOST_THREADS = 8


def search(stretch: csr_array, weights: csr_array, k: int) -> list[Found]:
    """The k best columns of `stretch` (features x documents) for each row of `weights`."""
    n = weights.shape[0]
    columns, scores = np.empty((n, k), dtype=np.int64), np.empty((n, k))
    counts = np.zeros(n, dtype=np.int64)

    def work(first: int, step: int) -> None:
        _search_each(
            *(stretch.indptr, stretch.indices, stretch.data, stretch.shape[1]),
            *(weights.indptr, weights.indices, weights.data),
            *(columns, scores, counts, first, step),
        )

    if k >= 1:
        _in_threads(work, n)
    return [
        (columns[row, :found], scores[row, :found]) for row, found in enumerate(counts.tolist())
    ]


def _in_threads(work: Callable[[int, int], None], n: int) -> None:
    """Every thread takes every so-manieth query.

    Threads of Python's, for the kernel lets go of the interpreter: those of numba's own must not be
    started from two threads at once, nor before a fork.
    """
    n_threads = max(1, min(n, len(os.sched_getaffinity(0)), MOST_THREADS))
    if n_threads == 1:
        work(0, 1)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for done in [pool.submit(work, first, n_threads) for first in range(n_threads)]:
            done.result()


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled when first called; kept on disk where there is a folder that can be written."""
    try:
        return njit(function, cache=True, nogil=True)  # type: ignore[no-any-return]
    except RuntimeError:
        return njit(function, nogil=True)  # type: ignore[no-any-return]


@_compile
def _search_each(
    indptr: Numbers,
    indices: Numbers,
    data: Floats,
    n_documents: int,
    query_ends: Numbers,
    features: Numbers,
    weights: Floats,
    columns: Integers,
    scores: Floats,
    counts: Integers,
    first: int,
    step: int,
) -> None:
    """Queries `first`, `first + step` and so on."""
    tile = np.zeros(TILE)
    for row in range(first, len(query_ends) - 1, step):
        start, end = query_ends[row], query_ends[row + 1]
        counts[row] = _search_one(
            indptr,
            indices,
            data,
            n_documents,
            features[start:end],
            weights[start:end],
            tile,
            columns[row],
            scores[row],
        )


@_compile
def _search_one(
    indptr: Numbers,
    indices: Numbers,
    data: Floats,
    n_documents: int,
    features: Numbers,
    weights: Floats,
    tile: Floats,
    columns: Integers,
    scores: Floats,
) -> int:
    """Fill `columns` and `scores` with the best, in order; returns how many there are."""
    n_found = 0
    places = indptr[features].astype(np.int64)
    ends = indptr[features + 1].astype(np.int64)
    for first in range(0, n_documents, TILE):
        last = min(first + TILE, n_documents)
        is_touched = False
        for term in range(len(features)):
            place, end, weight = places[term], ends[term], weights[term]
            while place < end and indices[place] < last:
                tile[indices[place] - first] += weight * data[place]
                place += 1
            is_touched = is_touched or place > places[term]
            places[term] = place
        if is_touched:
            n_found = _keep_best(tile, first, last - first, columns, scores, n_found)
    _sort(columns, scores, n_found)
    return n_found


@_compile
def _keep_best(
    tile: Floats, first: int, n: int, columns: Integers, scores: Floats, n_found: int
) -> int:
    """Push what belongs to the best onto the heap, whose root is the worst; empties the tile.

    Documents come in the order in which ties are broken, so one that only equals the root is out.
    """
    k = len(columns)
    for place in range(n):
        score = tile[place]
        if score > 0:
            if n_found < k:
                _push(columns, scores, n_found, first + place, score)
                n_found += 1
            elif score > scores[0]:
                _replace_root(columns, scores, n_found, first + place, score)
        tile[place] = 0.0
    return n_found


@_compile
def _is_worse(score: float, column: int, other: float, other_column: int) -> bool:
    return score < other or (score == other and column > other_column)


@_compile
def _push(columns: Integers, scores: Floats, n: int, column: int, score: float) -> None:
    place = n
    while place > 0:
        parent = (place - 1) // 2
        if not _is_worse(score, column, scores[parent], columns[parent]):
            break
        scores[place], columns[place] = scores[parent], columns[parent]
        place = parent
    scores[place], columns[place] = score, column


@_compile
def _replace_root(columns: Integers, scores: Floats, n: int, column: int, score: float) -> None:
    place = 0
    while 2 * place + 1 < n:
        child = 2 * place + 1
        if child + 1 < n and _is_worse(
            scores[child + 1], columns[child + 1], scores[child], columns[child]
        ):
            child += 1
        if not _is_worse(scores[child], columns[child], score, column):
            break
        scores[place], columns[place] = scores[child], columns[child]
        place = child
    scores[place], columns[place] = score, column


@_compile
def _sort(columns: Integers, scores: Floats, n: int) -> None:
    """Take the worst from the heap to the end, again and again."""
    for end in range(n - 1, 0, -1):
        score, column = scores[end], columns[end]
        scores[end], columns[end] = scores[0], columns[0]
        _replace_root(columns, scores, end, column, score)
