"""Exact search in vectors: every query with every document, a block by a tile at a time.

Products are taken in 32 bits, with a proven bound of their error; whatever may be among the k best
within that bound is scored again in 64 bits, by a sum whose order depends on nothing but the number
of dimensions. So equal vectors have equal scores, wherever they stand, and ties are real ones.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scoring.core.errors import CutoffError
from scoring.core.retrieval.dense.embeddings import (
    Doubles,
    Embeddings,
    embeddings,
    let_go,
    refuse_bad_rows,
    refuse_misfit,
    refuse_unknown,
)
from scoring.core.retrieval.dense.keeping import Kept, Rows, room_of
from scoring.core.retrieval.dense.tiles import Singles, Tile, row_lengths, tiles_of
from scoring.core.retrieval.errors import NoEncoderError
from scoring.core.retrieval.searching import Progress, Result, id_bytes

Encode = Callable[[Sequence[str]], Any]
"""Texts in, one row of numbers for each out."""

# What is held at a time, as counts of numbers: 4 MB of products, as much of a tile and of a block,
# and 24 MB of documents that may be results.
PRODUCTS = 1 << 20
TILE_NUMBERS = 1 << 20
BLOCK_NUMBERS = 1 << 20
KEPT_ENTRIES = 1 << 20
MOST_QUERIES, MOST_DOCUMENTS = 1024, 1024
SCORED_NUMBERS = 1 << 19
ENCODED_TOGETHER = 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """How many queries are a block, and how many documents a tile."""

    n_queries: int
    n_documents: int

    @classmethod
    def of(cls, *, k: int, n_dimensions: int) -> "Plan":
        wide = max(1, n_dimensions)
        n_documents = _between(64, TILE_NUMBERS // wide, MOST_DOCUMENTS)
        most = min(BLOCK_NUMBERS // wide, PRODUCTS // n_documents, KEPT_ENTRIES // room_of(k))
        return cls(_between(1, most, MOST_QUERIES), n_documents)


def _between(least: int, wanted: int, most: int) -> int:
    return max(least, min(wanted, most))


class DenseIndex:
    """Documents as vectors, searched exactly.

    Parameters
    ----------
    documents
        Their vectors with ids; they may be mapped from a file, of which only a tile is read at a
        time.
    similarity
        `dot` (the product) or `cosine` (that of both divided by their lengths; a vector of zeros
        has a cosine of 0 with everything).
    encode
        What makes vectors of texts, where texts are to be searched.

    Raises
    ------
    UnknownSimilarityError
        If it is neither.
    """

    def __init__(
        self, documents: Embeddings, *, similarity: str = "dot", encode: Encode | None = None
    ) -> None:
        refuse_unknown(similarity)
        self.documents = documents
        self.similarity = similarity
        self.encode = encode

    def search(
        self,
        queries: Sequence[tuple[str, str]],
        *,
        k: int,
        progress: Progress | None = None,
    ) -> Iterator[Result]:
        """The k best documents of each query (id, text), in the order of the queries.

        Raises
        ------
        NoEncoderError, CutoffError
            By the call; the others by the first result, as `search_vectors` does.
        """
        if self.encode is None:
            raise NoEncoderError
        _refuse_cutoff(k)
        return self._encoded_results(queries, self.encode, k, progress)

    def _encoded_results(
        self,
        queries: Sequence[tuple[str, str]],
        encode: Encode,
        k: int,
        progress: Progress | None,
    ) -> Iterator[Result]:
        for start in range(0, len(queries), ENCODED_TOGETHER):
            part = queries[start : start + ENCODED_TOGETHER]
            vectors = np.asarray(encode([text for _, text in part]))
            # Queries are numbered: the ids of a caller need not be different.
            numbers = [str(number) for number in range(len(part))]
            encoded = embeddings(numbers, vectors, name="the encoded queries")
            tell = _from(start, len(queries), progress)
            found = self.search_vectors(encoded, k=k, progress=tell)
            for (qid, _), (_, results) in zip(part, found, strict=True):
                yield qid, results

    def retrieve(self, text: str, k: int = 10) -> list[tuple[str, float]]:
        """The `k` best documents of one text."""
        return next(iter(self.search([("", text)], k=k)))[1]

    def search_vectors(
        self, queries: Embeddings, *, k: int, progress: Progress | None = None
    ) -> Iterator[Result]:
        """The k best documents of each query, in the order of the queries; exact.

        Every document has a score, also one below 0: there are as many results as documents, or k.
        Order: score descending, then document id as bytes descending.

        Parameters
        ----------
        progress
            Called after each tile with the queries done so far, parts of them added up.

        Raises
        ------
        CutoffError
            If `k` is below 1.
        EmbeddingDimensionsError
            If queries and documents have not the same number.
        EmbeddingValueError
            If a number is NaN, infinite or beyond 32 bits; of queries by the call, of documents
            before the first result.

        Notes
        -----
        Beside the vectors at most about 60 MB are held, whatever their number; more where one
        document has thousands of dimensions, or k is above 100,000.
        """
        _refuse_cutoff(k)
        refuse_misfit(queries, self.documents)
        refuse_bad_rows(queries)
        return self._results(queries, k, progress)

    def _results(self, queries: Embeddings, k: int, progress: Progress | None) -> Iterator[Result]:
        k = min(k, len(self.documents))
        step = Plan.of(k=k, n_dimensions=queries.n_dimensions).n_queries if k else 1
        for start in range(0, len(queries), step):
            part = slice(start, start + step)
            tell = _from(start, len(queries), progress)
            found = self._block(queries.vectors[part], k, tell)
            yield from zip(queries.ids[part], found, strict=True)

    def _block(self, vectors: Any, k: int, progress: Progress) -> Iterator[list[tuple[str, float]]]:
        if not k:
            progress(len(vectors), len(vectors))
            return iter([[] for _ in range(len(vectors))])
        scorer = Scorer(self, np.asarray(vectors, dtype=np.float64), k)
        kept = Kept(scorer.units, k=k, best=scorer.best)
        kept.floor[scorer.is_zero] = np.inf  # all scores are 0, and ids alone decide
        for tile, products in self._products(scorer.directions(), k):
            kept.take(products, tile)
            done = (tile.first + len(tile.vectors)) / len(self.documents)
            progress(int(done * len(vectors)), len(vectors))
        kept.let_go()
        return (self._named(*scorer.results(query, kept)) for query in range(len(vectors)))

    def _products(self, directions: Singles, k: int) -> Iterator[tuple[Tile, Singles]]:
        """Each tile with the products of all queries with its documents; held until the next."""
        n_queries, n_dimensions = directions.shape
        n_rows = Plan.of(k=k, n_dimensions=n_dimensions).n_documents
        held = np.empty(n_queries * n_rows, dtype=np.float32)
        is_cosine = self.similarity == "cosine"
        for tile in tiles_of(self.documents, n_rows=n_rows, is_cosine=is_cosine):
            n = len(tile.vectors)
            products = held[: n_queries * n].reshape(n_queries, n)
            yield tile, np.matmul(directions, tile.vectors.T, out=products)

    def _named(self, rows: Rows, scores: Doubles) -> list[tuple[str, float]]:
        ids = map(self.documents.ids.__getitem__, rows.tolist())
        return list(zip(ids, scores.tolist(), strict=True))

    @cached_property
    def places(self) -> Rows:
        """The place of each row by its id as bytes, descending: who goes first in a tie."""
        keys = [id_bytes(one) for one in self.documents.ids]
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
        places = np.empty(len(keys), dtype=np.int64)
        places[order] = np.arange(len(keys))
        return places


class Scorer:
    """Scores of a block of queries in 64 bits, each the same wherever query and document stand."""

    def __init__(self, index: DenseIndex, queries: Doubles, k: int) -> None:
        self.index = index
        self.queries = np.ascontiguousarray(queries)
        self.k = k
        self.is_cosine = index.similarity == "cosine"
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

    def results(self, query: int, kept: Kept) -> tuple[Rows, Doubles]:
        """The k best rows of a query with their scores, best first."""
        if self.is_zero[query]:
            first = np.argsort(self.index.places)[: self.k]
            return first, np.zeros(len(first))
        return self.best(query, kept.rows_of(query))

    def best(self, query: int, rows: Rows) -> tuple[Rows, Doubles]:
        """The k best of some rows with their scores: by score, then by id."""
        scores = self._scores(query, rows)
        order = np.argsort(-scores, kind="stable")
        first = scores[order[: self.k + 1]]
        if (first[1:] == first[:-1]).any():
            order = np.lexsort((self.index.places[rows], -scores))
        order = order[: self.k]
        return rows[order], scores[order]

    def _scores(self, query: int, rows: Rows) -> Doubles:
        step = max(1, SCORED_NUMBERS // max(1, self.queries.shape[1]))
        parts = [self._part(query, rows[at : at + step]) for at in range(0, len(rows), step)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _part(self, query: int, rows: Rows) -> Doubles:
        vectors = self.index.documents.vectors
        wide = np.ascontiguousarray(vectors[rows], dtype=np.float64)
        let_go(vectors)
        # Not a matrix product: that adds in another order at the edges of its blocks.
        scores: Doubles = np.einsum("ij,j->i", wide, self.queries[query])
        if self.is_cosine:
            lengths = row_lengths(wide)
            scores /= np.where(lengths > 0, lengths, 1.0) * self.lengths[query]
        return scores + 0.0  # no score is -0


def _from(start: int, total: int, progress: Progress | None) -> Progress:
    """Progress of a part that begins at `start`, told as that of the whole."""
    if progress is None:
        return lambda done, of: None
    return lambda done, of: progress(start + done, total)


def _refuse_cutoff(k: int) -> None:
    if k < 1:
        raise CutoffError(cutoff=k)
