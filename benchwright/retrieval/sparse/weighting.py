"""From counts to weights whose products over common features, summed, are the scores.

A weight depends on the counts of its own text and on the statistics of the corpus only, by
operations that give the same bits wherever a number stands in an array: a corpus in parts is
weighted as a whole one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from benchwright.retrieval.sparse.counting import Floats, Integers

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Scale:
    """What weights are measured by: the idf of each column, and BM25's mean length, k1 and b."""

    idf: Floats
    mean_length: float = 1.0
    k1: float = K1
    b: float = B

    def of_columns(self, columns: Integers) -> "Scale":
        """The same for some of the columns."""
        return replace(self, idf=self.idf[columns])


Weighting = Callable[[csr_array, Scale], csr_array]
"""Counts (texts x features, columns ascending in each row) in, weights of the same shape out."""


def bm25_documents(counts: csr_array, scale: Scale) -> csr_array:
    """idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length)).

    From Robertson & Zaragoza, Foundations and Trends in IR 3(4), 2009, with an idf that is never
    negative.
    """
    lengths = counts.sum(axis=1)
    slowing = scale.k1 * (1 - scale.b + scale.b * lengths / scale.mean_length)
    weights = counts.data.astype(np.float64)
    slowed = weights + np.repeat(slowing, np.diff(counts.indptr))
    weights *= scale.k1 + 1
    weights /= slowed
    weights *= scale.idf[counts.indices]
    return _with_data(counts, weights)


def bm25_queries(counts: csr_array, scale: Scale) -> csr_array:
    """How often the query says it; the idf is in the documents already."""
    return _with_data(counts, counts.data.astype(np.float64))


def cosine(counts: csr_array, scale: Scale) -> csr_array:
    """(1 + ln tf) * idf, each row divided by its Euclidean length; a row of zeros stays one."""
    weights = _damped(counts) * scale.idf[counts.indices]
    weighted = _with_data(counts, weights)
    # The product with ones adds in the order of the columns; numpy's own sum goes by length.
    lengths = np.sqrt(_with_data(counts, weights**2) @ np.ones(counts.shape[1]))
    lengths[lengths == 0] = 1.0
    return _with_data(weighted, weights / np.repeat(lengths, np.diff(counts.indptr)))


def _damped(counts: csr_array) -> Floats:
    """1 + ln tf, one logarithm for each distinct tf: `numpy.log` may differ by place."""
    distinct, places = np.unique(counts.data, return_inverse=True)
    table = np.array([1 + math.log(tf) for tf in distinct.tolist()], dtype=np.float64)
    damped: Floats = table[places]
    return damped


def _with_data(counts: csr_array, data: Floats) -> csr_array:
    return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
