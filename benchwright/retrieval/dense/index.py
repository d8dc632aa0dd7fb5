"""Exact search in vectors: every query with every document, a block by a tile at a time.

Products are taken in 32 bits, with a proven bound of their error; whatever may be among the k best
within that bound is scored again in 64 bits, by a sum whose order depends on nothing but the number
of dimensions. So equal vectors have equal scores, wherever they stand, and ties are real ones.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat, starmap
from typing import Any

import numpy as np

from benchwright.errors import CutoffError
from benchwright.files.encodings import as_bytes
from benchwright.matrices.cores import n_cores, worked_on_all_cores
from benchwright.retrieval.dense.embeddings import (
    Doubles,
    Embeddings,
    Rows,
    embeddings,
    refuse_bad_rows,
    refuse_misfit,
    refuse_unknown,
)
from benchwright.retrieval.dense.keeping import room_of
from benchwright.retrieval.dense.kernels import Kernel, kernel_for, kernel_named
from benchwright.retrieval.dense.scorer import Scorer, Searched
from benchwright.retrieval.dense.tiles import Tile, tiles_of
from benchwright.retrieval.errors import NoEncoderError
from benchwright.retrieval.searching import Progress, Result
from benchwright.retrieval.sparse.kernels import NUMBA

Encode = Callable[[Sequence[str]], Any]
"""Texts in, one row of numbers for each out."""

# What is held at a time, as counts of numbers: 8 MB of products, as much of each of two tiles, 4 MB
# of a block, and 24 MB of documents that may be results.
PRODUCTS = 1 << 21
TILE_NUMBERS = 1 << 21
BLOCK_NUMBERS = 1 << 20
KEPT_ENTRIES = 1 << 20
MOST_QUERIES, MOST_DOCUMENTS = 1024, 2048
ENCODED_TOGETHER = 1024
# Queries that take longer than handing a tile to a thread.
WORTH_A_THREAD = 32


class Part:
    """Some queries on their way through the documents; parts can go at the same time."""

    def __init__(
        self, index: Searched, vectors: Doubles, *, k: int, kernel: Kernel, n_documents: int
    ) -> None:
        self._scorer = Scorer(index, vectors, k, kernel.dots)
        self._kept = kernel.kept(self._scorer.units, k=k, best=self._scorer.best)
        self._kept.floor[self._scorer.is_zero] = np.inf  # all scores are 0, and ids alone decide
        self._directions = self._scorer.directions()
        self._held = np.empty(len(vectors) * n_documents, dtype=np.float32)

    def take(self, tile: Tile) -> None:
        """Keep of a tile of at most `n_documents` what may be among the k best."""
        shape = len(self._directions), len(tile.vectors)
        products = self._held[: shape[0] * shape[1]].reshape(shape)
        np.matmul(self._directions, tile.vectors.T, out=products)
        self._kept.take(products, tile)

    def results(self) -> list[tuple[Rows, Doubles]]:
        """Of each query the k best rows with their scores, best first; after the last tile."""
        self._kept.let_go()
        return list(self._scorer.results(self._kept))


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


def _between(least: int, number: int, most: int) -> int:
    return max(least, min(number, most))


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
    kernel
        `numpy` or `numba`, which is in the extra `fast`; without one, what is quicker for the size
        of the search and installed. It changes the speed and nothing else.

    Raises
    ------
    UnknownSimilarityError
        If it is neither.
    KernelError
        If there is no such kernel, or it is not installed.
    """

    def __init__(
        self,
        documents: Embeddings,
        *,
        similarity: str = "dot",
        encode: Encode | None = None,
        kernel: str | None = None,
    ) -> None:
        refuse_unknown(similarity)
        if kernel is not None:
            kernel_named(kernel)
        self.documents = documents
        self.similarity = similarity
        self.encode = encode
        self.kernel = kernel

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
            ranked = self.search_vectors(encoded, k=k, progress=tell)
            for (qid, _), (_, results) in zip(part, ranked, strict=True):
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
            results = self._block(queries.vectors[part], k, tell)
            yield from zip(queries.ids[part], results, strict=True)

    def _block(self, vectors: Any, k: int, progress: Progress) -> Iterator[list[tuple[str, float]]]:
        if not k:
            progress(len(vectors), len(vectors))
            return iter([[] for _ in range(len(vectors))])
        n_rows = Plan.of(k=k, n_dimensions=self.documents.n_dimensions).n_documents
        parts = self._parts(np.asarray(vectors, dtype=np.float64), k, n_rows)
        with worked_on_all_cores() if len(parts) > 1 else nullcontext(map) as at_once:
            taking: Iterator[None] = iter(())
            for tile in tiles_of(self.documents, n_rows=n_rows, is_cosine=self.is_cosine):
                # The parts are done with one tile before the next, which is made meanwhile.
                list(taking)
                progress(int(tile.first / len(self.documents) * len(vectors)), len(vectors))
                taking = at_once(Part.take, parts, repeat(tile))
            list(taking)
            progress(len(vectors), len(vectors))
            results = chain.from_iterable(list(at_once(Part.results, parts)))
        return starmap(self._named, results)

    def _parts(self, vectors: Doubles, k: int, n_documents: int) -> list[Part]:
        """One for each core, where the kernel lets go of the interpreter."""
        name = self.kernel or kernel_for(len(vectors) * len(self.documents))
        most = min(n_cores(), len(vectors) // WORTH_A_THREAD) if name == NUMBA else 1
        return [
            Part(self, block, k=k, kernel=kernel_named(name), n_documents=n_documents)
            for block in np.array_split(vectors, max(1, most))
        ]

    @property
    def is_cosine(self) -> bool:
        return self.similarity == "cosine"

    def _named(self, rows: Rows, scores: Doubles) -> list[tuple[str, float]]:
        ids = map(self.documents.ids.__getitem__, rows.tolist())
        return list(zip(ids, scores.tolist(), strict=True))

    @cached_property
    def places(self) -> Rows:
        """The place of each row by its id as bytes, descending: who goes first in a tie."""
        keys = [as_bytes(id_) for id_ in self.documents.ids]
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=True)
        places = np.empty(len(keys), dtype=np.int64)
        places[order] = np.arange(len(keys))
        return places


def _from(start: int, total: int, progress: Progress | None) -> Progress:
    """Progress of a part that begins at `start`, told as that of the whole."""
    if progress is None:
        return lambda done, of: None
    return lambda done, of: progress(start + done, total)


def _refuse_cutoff(k: int) -> None:
    if k < 1:
        raise CutoffError(cutoff=k)
