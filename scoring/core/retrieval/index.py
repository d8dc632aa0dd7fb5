"""An index in memory, and exact search in it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from scoring.core.errors import CutoffError
from scoring.core.retrieval.analysis import Expansion
from scoring.core.retrieval.counting import Vocabulary, count_known_features
from scoring.core.retrieval.weighting import Floats, Weighting

Result = tuple[str, list[tuple[str, float]]]
"""Query id, and document id and score of each result, best first."""

Progress = Callable[[int, int], None]
"""Called with the queries done so far and all of them."""

# Scores held at a time: 12 bytes each in the product, so about 24 MB.
BLOCK_ENTRIES = 2_000_000


@dataclass(frozen=True, slots=True)
class Index:
    """What search needs: `postings` is features x documents, `docids` names its columns.

    The columns are in descending order of the encoded ids, so that of two documents with equal
    scores the one with the smaller column goes first.
    """

    docids: tuple[str, ...]
    postings: csr_array
    vocabulary: Vocabulary
    idf: Floats
    expand: Expansion
    weigh_queries: Weighting

    def search(
        self,
        queries: Sequence[tuple[str, str]],
        *,
        k: int,
        progress: Progress | None = None,
        block_entries: int = BLOCK_ENTRIES,
    ) -> Iterator[Result]:
        """The k best documents of each query, in the order of the queries; exact.

        Only scores above 0 are results, so there may be fewer than `k`, or none. Order: score
        descending, then document id as bytes descending. `block_entries` bounds the scores held at
        a time (one query may exceed it) and never changes a result.

        Raises
        ------
        CutoffError
            If `k` or `block_entries` is below 1; raised by the call, not by the first result.
        """
        for number in (k, block_entries):
            if number < 1:
                raise CutoffError(cutoff=number)
        return self._results(queries, k, progress, block_entries)

    def retrieve(self, text: str, k: int = 10) -> list[tuple[str, float]]:
        """The `k` best documents of one query, as `search` finds them."""
        return self.retrieve_many([text], k)[0]

    def retrieve_many(self, texts: Sequence[str], k: int = 10) -> list[list[tuple[str, float]]]:
        """The `k` best documents of each query: quicker than one after the other."""
        return [found for _, found in self.search([("", text) for text in texts], k=k)]

    def _results(
        self,
        queries: Sequence[tuple[str, str]],
        k: int,
        progress: Progress | None,
        block_entries: int,
    ) -> Iterator[Result]:
        weights = self._query_weights([text for _, text in queries])
        for start, stop in _blocks(self._most_results(weights), block_entries):
            scores = (weights[start:stop] @ self.postings).tocsr()
            for row, (qid, _) in enumerate(queries[start:stop]):
                span = slice(scores.indptr[row], scores.indptr[row + 1])
                yield qid, self._best(scores.indices[span], scores.data[span], k)
            if progress:
                progress(stop, len(queries))

    def _query_weights(self, texts: Sequence[str]) -> csr_array:
        counts = count_known_features(texts, self.expand, self.vocabulary)
        return self.weigh_queries(counts, self.idf)

    def _most_results(self, weights: csr_array) -> npt.NDArray[np.int64]:
        """An upper bound of how many documents each query finds."""
        lengths = np.diff(self.postings.indptr)
        upto = np.concatenate([[0], np.cumsum(lengths[weights.indices])])
        found: npt.NDArray[np.int64] = upto[weights.indptr[1:]] - upto[weights.indptr[:-1]]
        return np.minimum(found, len(self.docids))

    def _best(
        self, columns: npt.NDArray[np.int64], scores: Floats, k: int
    ) -> list[tuple[str, float]]:
        positive = scores > 0
        columns, scores = columns[positive], scores[positive]
        if len(scores) > k:
            # Everything tied with the k-th stays in until ids have decided.
            last = np.partition(scores, len(scores) - k)[len(scores) - k]
            columns, scores = columns[scores >= last], scores[scores >= last]
        order = np.lexsort((columns, -scores))[:k]
        return [
            (self.docids[column], score)
            for column, score in zip(columns[order].tolist(), scores[order].tolist(), strict=True)
        ]


def _blocks(sizes: npt.NDArray[np.int64], limit: int) -> Iterator[tuple[int, int]]:
    """Spans of neighbours whose sizes add up to at most `limit`, or that are alone."""
    start, held = 0, 0
    for position, size in enumerate(sizes.tolist()):
        if position > start and held + size > limit:
            yield start, position
            start, held = position, 0
        held += size
    if start < len(sizes):
        yield start, len(sizes)
