"""What kernels search, and what they find."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from benchwright.retrieval.sparse.counting import Floats

Columns = npt.NDArray[np.int64]
Found = tuple[Columns, Floats]
"""Columns and scores of what one query finds, best first."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Postings of some documents: `matrix` is features x documents, the columns of a row ascending.

    `highest` is the highest weight of each feature, 0 where no document has it. `is_signed` says
    whether a weight is below 0.
    """

    matrix: csr_array
    highest: Floats
    is_signed: bool

    @classmethod
    def of(cls, documents: csr_array) -> "Stretch":
        """The postings of weighted documents (documents x features)."""
        matrix = _narrow(documents.astype(np.float64, copy=False).T.tocsr())
        matrix.sort_indices()
        highest = np.zeros(matrix.shape[0])
        full = np.diff(matrix.indptr) > 0
        if full.any():
            highest[full] = np.maximum.reduceat(matrix.data, matrix.indptr[:-1][full])
        is_signed = bool(matrix.nnz and matrix.data.min() < 0)
        return cls(matrix=matrix, highest=highest, is_signed=is_signed)

    @property
    def n_documents(self) -> int:
        """Documents, with or without a single feature."""
        return int(self.matrix.shape[1])


def _narrow(matrix: csr_array) -> csr_array:
    """The same with places of 32 bits where these are enough: search waits for memory."""
    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max:
        return matrix
    places = (matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return csr_array((matrix.data, *places), shape=matrix.shape)


def ordered(columns: Columns, scores: Floats, k: int) -> Found:
    """The k best: score descending, then column ascending."""
    if len(scores) > k:
        # Everything tied with the k-th stays in until the columns have decided.
        is_kept = scores >= np.partition(scores, len(scores) - k)[len(scores) - k]
        columns, scores = columns[is_kept], scores[is_kept]
    order = np.lexsort((columns, -scores))[:k]
    return columns[order], scores[order]
