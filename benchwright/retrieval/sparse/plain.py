"""The kernel that needs only numpy and scipy."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from benchwright.retrieval.sparse.counting import Floats
from benchwright.retrieval.sparse.found import Found, Stretch, ordered

try:
    # Not public, but what a sparse matrix times a vector calls: it adds without a copy. Where a
    # future scipy moves it, numpy does the same more slowly.
    from scipy.sparse._sparsetools import csc_matvec
except ImportError:  # pragma: no cover
    csc_matvec = None

# Documents that share a place in the table of maxima.
GROUP = 64
# A query with fewer postings than a tenth of the documents is cheaper by its postings.
FEW = 10


def search(stretch: Stretch, weights: csr_array, k: int) -> list[Found]:
    """The k best columns of `stretch` for each row of `weights` (queries x features)."""
    if k < 1:  # a stretch without documents
        return [(np.empty(0, dtype=np.int64), np.empty(0))] * weights.shape[0]
    adder = _Adder.of(stretch.matrix, k)
    spans = zip(weights.indptr[:-1].tolist(), weights.indptr[1:].tolist(), strict=True)
    return [
        adder.best(weights.indices[start:end], weights.data[start:end], k) for start, end in spans
    ]


@dataclass(slots=True)
class _Adder:
    """Adds up the scores of one query; `scores` is all zeros between two of them.

    `scores` is a table of `width` columns whose rows lie one after the other, so that the maximum
    of each column, a group of documents, is found at the speed of memory.
    """

    matrix: csr_array
    scores: Floats
    width: int

    @classmethod
    def of(cls, matrix: csr_array, k: int) -> "_Adder":
        n = matrix.shape[1]
        # Groups must be many more than k, or their maxima would bound nothing.
        height = max(1, min(GROUP, n // (8 * k)))
        width = -(-n // height)
        return cls(matrix=matrix, scores=np.zeros(height * width), width=width)

    def best(self, features: npt.NDArray[np.integer], weights: Floats, k: int) -> Found:
        """The k best columns and their scores, best first."""
        for place, feature in enumerate(features.tolist()):
            self._add(feature, weights[place : place + 1])
        n_postings = int((self.matrix.indptr[features + 1] - self.matrix.indptr[features]).sum())
        if n_postings * FEW < len(self.scores):
            columns, scores = self._taken(features.tolist())
        else:
            columns, scores = self._above_bound(k)
            self.scores.fill(0)
        return ordered(columns, scores, k)

    def _add(self, feature: int, weight: Floats) -> None:
        ends = self.matrix.indptr[feature : feature + 2]
        indices, data = self.matrix.indices, self.matrix.data
        if csc_matvec is not None:
            csc_matvec(len(self.scores), 1, ends, indices, data, weight, self.scores)
        else:
            start, end = ends.tolist()
            # A document is in the postings of a feature once, so nothing is added to twice.
            self.scores[indices[start:end]] += weight * data[start:end]

    def _taken(self, features: list[int]) -> Found:
        """The documents with a score above 0, whose places are zeros again."""
        columns, scores = [np.empty(0, dtype=np.int64)], [np.empty(0)]
        for feature in features:
            start, end = self.matrix.indptr[feature : feature + 2].tolist()
            places = self.matrix.indices[start:end]
            values = self.scores[places]
            # A document is taken with its first feature: for its others its score is 0.
            self.scores[places] = 0
            positive = values > 0
            columns.append(places[positive])
            scores.append(values[positive])
        return np.concatenate(columns), np.concatenate(scores)

    def _above_bound(self, k: int) -> Found:
        """Documents whose scores reach what k documents surely reach; the k best among them."""
        table = self.scores.reshape(-1, self.width)
        maxima = table.max(axis=0)
        bound = _highest(maxima, k)
        if bound <= 0:
            columns = np.flatnonzero(self.scores > 0)
            return columns, self.scores[columns]
        groups = np.flatnonzero(maxima >= bound)
        part = table[:, groups]
        rows, places = np.nonzero(part >= bound)
        return rows * self.width + groups[places], part[rows, places]


def _highest(values: Floats, k: int) -> float:
    """The k-th highest; 0 where there are fewer."""
    n = len(values)
    return float(np.partition(values, n - k)[n - k]) if n >= k else 0.0
