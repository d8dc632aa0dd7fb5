"""The kernel compiled by numba; imported only where numba is installed.

The scores of a query are added up feature after feature, in the order of the features. Then its
postings are gone through from the feature that can give most to the one that can give least, and no
further than to where k documents have more than all that is left can give: a document met only
there cannot be among the best (the bound of MaxScore: Turtle & Flood, Information Processing &
Management 31(6), 1995).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from benchwright.matrices.cores import MOST_THREADS, n_cores
from benchwright.retrieval.sparse.compiled_blocks import SLACK, best_of, search_blocks
from benchwright.retrieval.sparse.compiled_heap import compiled, keep, sort
from benchwright.retrieval.sparse.counting import Floats, Integers
from benchwright.retrieval.sparse.found import Found, Stretch

Numbers = npt.NDArray[np.integer]

# Queries that take longer than starting a thread.
WORTH_A_THREAD = 8
# A thread holds the score of each document of a stretch: 48 MB in all.
MOST_DOCUMENTS = 6_000_000
# Documents whose scores no longer stay near the processor: these are added up part by part.
MANY_DOCUMENTS = 1 << 18
# Of such a part: 256 kB of scores.
PART = 1 << 15


def search(stretch: Stretch, weights: csr_array, k: int) -> list[Found]:
    """The k best columns of `stretch` for each row of `weights` (queries x features)."""
    n, matrix = weights.shape[0], stretch.matrix
    columns, scores = np.empty((n, k), dtype=np.int64), np.empty((n, k))
    counts = np.zeros(n, dtype=np.int64)
    is_signed = stretch.is_signed or bool(weights.nnz and weights.data.min() < 0)

    postings = (matrix.indptr, matrix.indices, matrix.data, stretch.highest)
    queries = (weights.indptr, weights.indices, weights.data)

    def work(first: int, step: int) -> None:
        arguments = (*queries, is_signed, columns, scores, counts, first, step)
        if stretch.n_documents > MANY_DOCUMENTS:
            search_blocks(*postings, stretch.n_documents, PART, *arguments)
        else:
            _search_each(*postings, stretch.n_documents, *arguments)

    if k >= 1:
        _in_threads(work, min(n // WORTH_A_THREAD, MOST_DOCUMENTS // stretch.n_documents))
    return [
        (columns[row, :n_found], scores[row, :n_found])
        for row, n_found in enumerate(counts.tolist())
    ]


def _in_threads(work: Callable[[int, int], None], most: int) -> None:
    """Every thread takes every so-manieth query.

    Threads of Python's, for the kernel lets go of the interpreter: those of numba's own must not be
    started from two threads at once, nor before a fork.
    """
    n_threads = max(1, min(most, n_cores(), MOST_THREADS))
    if n_threads == 1:
        work(0, 1)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for done in [pool.submit(work, first, n_threads) for first in range(n_threads)]:
            done.result()


@compiled
def _search_each(
    indptr: Numbers,
    indices: Numbers,
    data: Floats,
    highest: Floats,
    n_documents: int,
    query_ends: Numbers,
    features: Numbers,
    weights: Floats,
    is_signed: bool,
    columns: Integers,
    scores: Floats,
    counts: Integers,
    first: int,
    step: int,
) -> None:
    """Queries `first`, `first + step` and so on; between two of them `sums` is all zeros."""
    sums = np.zeros(n_documents)
    for row in range(first, len(query_ends) - 1, step):
        start, end = query_ends[row], query_ends[row + 1]
        terms, query_weights = features[start:end], weights[start:end]
        n_postings = 0
        for term in range(len(terms)):
            places = slice(indptr[terms[term]], indptr[terms[term] + 1])
            _add(indices[places], data[places], query_weights[term], sums)
            n_postings += places.stop - places.start
        most = query_weights * highest[terms]
        n = _best(indptr, indices, terms, most, is_signed, sums, columns[row], scores[row])
        sort(columns[row], scores[row], n)
        counts[row] = n
        _empty(indptr, indices, terms, n_postings, sums)


@compiled
def _add(indices: Numbers, data: Floats, weight: float, sums: Floats) -> None:
    for place in range(len(indices)):
        sums[indices[place]] += weight * data[place]


@compiled
def _best(
    indptr: Numbers,
    indices: Numbers,
    features: Numbers,
    most: Floats,
    is_signed: bool,
    sums: Floats,
    columns: Integers,
    scores: Floats,
) -> int:
    """Put the best on the heap of `columns` and `scores`; returns how many there are.

    `most` is what each feature can give at most, unless a weight is below 0.
    """
    n, k = 0, len(columns)
    order = np.argsort(most)
    # From the least on: what the features up to here can give.
    weight_left = np.cumsum(most[order])
    n_left = np.cumsum((indptr[features + 1] - indptr[features])[order])
    for rank in range(len(order) - 1, -1, -1):
        if not is_signed and n == k and scores[0] > weight_left[rank] * (1 + SLACK):
            break
        if n_left[rank] > len(sums):
            n = best_of(sums, 0, columns, scores, n)
            break
        feature = features[order[rank]]
        for place in range(indptr[feature], indptr[feature + 1]):
            column = indices[place]
            score = sums[column]
            if score > 0.0 and (n < k or score >= scores[0]):
                n = keep(columns, scores, n, column, score)
                sums[column] = 0.0  # it is not met again with another feature
    return n


@compiled
def _empty(
    indptr: Numbers, indices: Numbers, features: Numbers, n_postings: int, sums: Floats
) -> None:
    """Zeros again, at the cost of the postings where they are few."""
    if n_postings > len(sums) // 2:
        sums[:] = 0.0
        return
    for feature in features:
        for place in range(indptr[feature], indptr[feature + 1]):
            sums[indices[place]] = 0.0
