"""Exact search in postings: the documents of the highest sums of products, never a dense matrix.

The scores of one query over one stretch of documents are held at a time. Of equal scores the
document of the smaller column goes first; who makes postings puts the documents into the order in
which ties are to be broken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from benchwright.errors import CutoffError
from benchwright.retrieval.sparse.found import Found, Stretch, ordered
from benchwright.retrieval.sparse.kernels import Kernel, kernel_named

# Documents whose scores are held at a time, 8 bytes each; a copy or six of them is the worst case.
STRETCH = 1 << 20
# Queries done before results are handed on, and entries of results held meanwhile.
QUERIES = 128
ENTRIES = 1_000_000


@dataclass(frozen=True, slots=True)
class Postings:
    """Weighted documents by feature, in stretches of neighbours."""

    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, documents: csr_array, *, stretch: int = STRETCH) -> "Postings":
        """The postings of weighted documents (documents x features)."""
        starts = range(0, max(documents.shape[0], 1), stretch)
        return cls(tuple(Stretch.of(documents[start : start + stretch]) for start in starts))

    @property
    def n_documents(self) -> int:
        """Documents, with or without a single feature."""
        return sum(stretch.n_documents for stretch in self.stretches)

    def search(self, weights: csr_array, k: int, *, kernel: str | None = None) -> Iterator[Found]:
        """The k best columns of each row of `weights` (queries x features), and their scores.

        Only scores above 0 are results, so there may be fewer than `k`, or none. Products are added
        in the order of the columns of `weights`, one after the other, whatever the kernel; without
        a name, the quickest kernel there is.

        Raises
        ------
        CutoffError
            If `k` is below 1; raised by the call.
        KernelError
            If `kernel` is not installed or not ours.
        """
        if k < 1:
            raise CutoffError(cutoff=k)
        return self._found(weights.astype(np.float64, copy=False), k, kernel_named(kernel))

    def _found(self, weights: csr_array, k: int, kernel: Kernel) -> Iterator[Found]:
        n_results = min(k, max(self.n_documents, 1)) * len(self.stretches)
        step = max(1, min(QUERIES, ENTRIES // n_results))
        for start in range(0, weights.shape[0], step):
            block = weights[start : start + step]
            parts = [
                kernel(stretch, block, min(k, stretch.n_documents)) for stretch in self.stretches
            ]
            yield from parts[0] if len(parts) == 1 else self._merged(parts, k)

    def _merged(self, parts: Sequence[Sequence[Found]], k: int) -> Iterator[Found]:
        sizes = [stretch.n_documents for stretch in self.stretches]
        offsets = np.cumsum([0, *sizes[:-1]]).tolist()
        for parts_of in zip(*parts, strict=True):
            moved = [
                columns + offset for (columns, _), offset in zip(parts_of, offsets, strict=True)
            ]
            scores = np.concatenate([scores for _, scores in parts_of])
            yield ordered(np.concatenate(moved), scores, k)
