"""Exact scores of what a block of queries has kept, and the order of the best."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from benchwright.matrices.products import Singles
from benchwright.retrieval.dense.embeddings import Doubles, Embeddings, Rows, let_go
from benchwright.retrieval.dense.keeping import Kept
from benchwright.retrieval.dense.tiles import row_lengths

# Numbers of documents that are scored together: 4 MB of them.
SCORED_NUMBERS = 1 << 19


class Searched(Protocol):
    """What an index tells of its documents."""

    documents: Embeddings

    @property
    def is_cosine(self) -> bool: ...

    @property
    def places(self) -> Rows: ...


class Scorer:
    """Scores of a block of queries in 64 bits, each the same wherever query and document stand."""

    def __init__(
        self,
        index: Searched,
        queries: Doubles,
        k: int,
        dots: Callable[[Any, Any, Rows], Doubles],
    ) -> None:
        self.index = index
        self.queries = np.ascontiguousarray(queries)
        self.k = k
        self.dots = dots
        self.is_cosine = index.is_cosine
        lengths = row_lengths(self.queries)
        self.is_zero = lengths == 0
        self.lengths = np.where(self.is_zero, 1.0, lengths)

    @property
    def units(self) -> Doubles:
        """What a score is divided by to be that of the query's direction."""
        return np.ones_like(self.lengths) if self.is_cosine else self.lengths

    def directions(self) -> Singles:
        """The queries divided by their lengths, in 32 bits: the order of their results stays."""
        return (self.queries / self.lengths[:, np.newaxis]).astype(np.float32)

    def results(self, kept: Kept) -> Iterator[tuple[Rows, Doubles]]:
        """The k best rows of each query with their scores, best first."""
        for first, last in self._batches(kept.n):
            rows = np.concatenate([kept.rows_of(query) for query in range(first, last)])
            counts = kept.n[first:last]
            scores = self._scores(np.repeat(np.arange(first, last), counts), rows)
            for query, end in zip(range(first, last), np.cumsum(counts).tolist(), strict=True):
                part = slice(end - kept.n[query], end)
                yield (
                    self._of_zeros()
                    if self.is_zero[query]
                    else self._first(rows[part], scores[part])
                )

    def _batches(self, counts: Rows) -> Iterator[tuple[int, int]]:
        """Queries from one number to before another, about as many as are scored together."""
        ends = np.cumsum(counts)
        first = 0
        while first < len(counts):
            done = ends[first - 1] if first else 0
            last = int(np.searchsorted(ends, done + self._step, side="right"))
            last = max(first + 1, last)
            yield first, last
            first = last

    @property
    def _step(self) -> int:
        return max(1, SCORED_NUMBERS // max(1, int(self.queries.shape[1])))

    def best(self, query: int, rows: Rows) -> tuple[Rows, Doubles]:
        """The k best of some rows with their scores: by score, then by id."""
        return self._first(rows, self._scores(np.full(len(rows), query), rows))

    def _first(self, rows: Rows, scores: Doubles) -> tuple[Rows, Doubles]:
        order = np.argsort(-scores, kind="stable")
        first = scores[order[: self.k + 1]]
        if (first[1:] == first[:-1]).any():
            order = np.lexsort((self.index.places[rows], -scores))
        order = order[: self.k]
        return rows[order], scores[order]

    def _of_zeros(self) -> tuple[Rows, Doubles]:
        """All scores are 0, and ids alone decide."""
        first = np.argsort(self.index.places)[: self.k]
        return first, np.zeros(len(first))

    def _scores(self, which: Rows, rows: Rows) -> Doubles:
        """Of row `rows[i]` for query `which[i]`."""
        scores = np.empty(len(rows))
        for at in range(0, len(rows), self._step):
            part = slice(at, at + self._step)
            scores[part] = self._part(which[part], rows[part])
        return scores

    def _part(self, which: Rows, rows: Rows) -> Doubles:
        vectors = self.index.documents.vectors
        products = vectors[rows]
        let_go(vectors)
        if products.dtype.itemsize < 4:
            products = products.astype(np.float32)  # exact
        scores = self.dots(products, self.queries, which)
        if self.is_cosine:
            lengths = np.sqrt(self.dots(products, products, np.arange(len(products))))
            scores /= np.where(lengths > 0, lengths, 1.0) * self.lengths[which]
        return scores + 0.0  # no score is -0
