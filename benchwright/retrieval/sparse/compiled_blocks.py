"""The compiled kernel for many documents: part by part, each near the processor while it is added.

A part's scores are added up feature after feature, in the order of the features, then looked at and
forgotten; each feature's postings are gone through once, for its documents ascend. Once k documents
are found, only postings of features without which nobody gets past them are looked at (the bound of
MaxScore: Turtle & Flood, Information Processing & Management 31(6), 1995).
"""

import numpy as np
import numpy.typing as npt

from benchwright.retrieval.sparse.compiled_heap import compiled, keep, sort
from benchwright.retrieval.sparse.counting import Floats, Integers

Numbers = npt.NDArray[np.integer]

# Documents looked at in one glance.
GLANCE = 64
SMALLEST = 5e-324
# More than what sums in another order can differ by, relative to the sum.
SLACK = 1e-9


@compiled
def search_blocks(
    indptr: Numbers,
    indices: Numbers,
    data: Floats,
    highest: Floats,
    n_documents: int,
    size: int,
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
    """Queries `first`, `first + step` and so on, in parts of `size` documents."""
    sums = np.zeros(min(size, n_documents))
    for row in range(first, len(query_ends) - 1, step):
        terms = features[query_ends[row] : query_ends[row + 1]]
        query_weights = weights[query_ends[row] : query_ends[row + 1]]
        most = query_weights * highest[terms]
        order = np.argsort(-most)
        # What a feature and all that give less can give.
        weight_left = np.cumsum(most[order][::-1])[::-1]
        before, at, end, n = indptr[terms], indptr[terms], indptr[terms + 1], 0
        for start in range(0, n_documents, size):
            stop = min(start + size, n_documents)
            n_parts = (n_documents - start + size - 1) // size
            n_added = 0
            for term in range(len(terms)):
                before[term] = at[term]
                at[term] = _first_from(indices, at[term], end[term], stop, n_parts)
                places = slice(before[term], at[term])
                _add(indices[places], data[places], query_weights[term], start, sums)
                n_added += at[term] - before[term]
            if not n_added:
                continue
            part = sums[: stop - start]
            deciding = len(order)
            if not is_signed and n == len(columns[row]):
                deciding = _n_deciding(weight_left, scores[row][0])
            n_decide = 0
            for rank in range(deciding):
                n_decide += at[order[rank]] - before[order[rank]]
            if n_decide > len(part) // 2:
                n = best_of(part, start, columns[row], scores[row], n)
            else:
                for rank in range(deciding):
                    places = slice(before[order[rank]], at[order[rank]])
                    n = _best_among(indices[places], start, part, columns[row], scores[row], n)
            part[:] = 0.0
        sort(columns[row], scores[row], n)
        counts[row] = n


@compiled
def _n_deciding(weight_left: Floats, bar: float) -> int:
    """How many features, from the one that can give most, a document of `bar` must have one of."""
    n = len(weight_left)
    while n and bar > weight_left[n - 1] * (1 + SLACK):
        n -= 1
    return n


@compiled
def _best_among(
    indices: Numbers, start: int, sums: Floats, columns: Integers, scores: Floats, n: int
) -> int:
    """As `best_of`, of the documents of some postings; those that are kept are met no more."""
    k = len(columns)
    for column in indices:
        score = sums[column - start]
        if score > 0.0 and (n < k or score >= scores[0]):
            n = keep(columns, scores, n, column, score)
            sums[column - start] = 0.0
    return n


@compiled
def _first_from(indices: Numbers, at: int, end: int, document: int, n_parts: int) -> int:
    """The place of the first posting from `document` on, or `end`.

    Looked for around where it is if the documents of `n_parts` parts lie evenly.
    """
    reach = max(8, 2 * ((end - at) // n_parts))
    low, high = at, min(end, at + reach)
    while high < end and indices[high] < document:
        low, high = high, min(end, high + reach)
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < document:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _add(indices: Numbers, data: Floats, weight: float, start: int, sums: Floats) -> None:
    for place in range(len(indices)):
        sums[indices[place] - start] += weight * data[place]


@compiled
def best_of(sums: Floats, start: int, columns: Integers, scores: Floats, n: int) -> int:
    """Put the best of a part on the heap of `columns` and `scores`; returns how many it holds."""
    k = len(columns)
    for first in range(0, len(sums), GLANCE):
        glance = sums[first : first + GLANCE]
        bar = scores[0] if n == k else SMALLEST
        n_reaching = 0
        for place in range(len(glance)):  # no branch inside, so several are compared at once
            n_reaching += glance[place] >= bar
        if n_reaching:
            for place in range(len(glance)):
                score = glance[place]
                if score > 0.0 and (n < k or score >= scores[0]):
                    n = keep(columns, scores, n, start + first + place, score)
    return n
