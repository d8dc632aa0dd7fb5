"""From counts to weights whose products over common features, summed, are the scores."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]
Weighting = Callable[[csr_array, Floats], csr_array]
"""Counts (texts x features) and the idf of each feature in, weights of the same shape out."""

K1 = 1.2
B = 0.75


def inverse_document_frequency(counts: csr_array) -> Floats:
    """ln(1 + (N - df + 0.5) / (df + 0.5)) of each feature; above 0 even where all texts have it."""
    n_documents, n_features = counts.shape
    frequency = np.bincount(counts.indices, minlength=n_features)
    idf: Floats = np.log1p((n_documents - frequency + 0.5) / (frequency + 0.5))
    return idf


def bm25_documents(counts: csr_array, idf: Floats) -> csr_array:
    """idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean length)), k1 = 1.2, b = 0.75.

    From Robertson & Zaragoza, Foundations and Trends in IR 3(4), 2009, with the idf above, which is
    never negative.
    """
    lengths = counts.sum(axis=1)
    mean_length = lengths.mean() if lengths.any() else 1.0
    slowing = K1 * (1 - B + B * lengths / mean_length)
    tf = counts.data
    saturated = tf * (K1 + 1) / (tf + np.repeat(slowing, np.diff(counts.indptr)))
    return _with_data(counts, saturated * idf[counts.indices])


def bm25_queries(counts: csr_array, idf: Floats) -> csr_array:
    """How often the query says it; the idf is in the documents already."""
    return counts


def cosine(counts: csr_array, idf: Floats) -> csr_array:
    """(1 + ln tf) * idf, each row divided by its Euclidean length; a row of zeros stays one."""
    weights = (1 + np.log(counts.data)) * idf[counts.indices]
    weighted = _with_data(counts, weights)
    lengths = np.sqrt(_with_data(counts, weights**2).sum(axis=1))
    lengths[lengths == 0] = 1.0
    return _with_data(weighted, weights / np.repeat(lengths, np.diff(counts.indptr)))


def _with_data(counts: csr_array, data: Floats) -> csr_array:
    return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
