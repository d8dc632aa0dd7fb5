"""The links between queries: equal keys, like wordings, close embeddings, shared documents."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from benchwright.families.clustering import numbered
from benchwright.families.embeddings import Embeddings, close_pairs
from benchwright.families.errors import ParaphraseExtraError
from benchwright.families.keys import bag_keys, exact_key
from benchwright.families.minhash import alike_pairs
from benchwright.families.similarity import similar_rows, similarities
from benchwright.families.vectors import Matrix, weighted_grams
from benchwright.matrices import static_vectors

# --- The links between queries: equal keys, like wordings, close embeddings, shared documents.

Progress = Callable[[str, int, int], None]
"""Told what is being done, how far it is, and of how much."""

Pairs = Sequence[tuple[int, int]]

_PRODUCTS_AT_A_TIME = 20_000_000


class Reason(StrEnum):
    """Why two queries may be wordings of one need; what does not rest on a measure comes first."""

    HAND = "hand"
    GIVEN = "given"
    EXACT = "exact"
    BAG = "bag"
    TEXT = "text"
    EMBEDDING = "embedding"
    RELEVANT = "relevant"


REASONS = list(Reason)


@dataclass(frozen=True, slots=True)
class QueryText:
    """A query, and the documents that are relevant to it where they are to count."""

    qid: str
    text: str
    positives: frozenset[str] = frozenset()


class Link(NamedTuple):
    """One reason for two queries to be wordings of one need; `a` comes before `b` by bytes."""

    a: str
    b: str
    reason: Reason
    similarity: float


def _places() -> Any:
    return np.empty(0, np.int64)


@dataclass
class LinkTable:
    """Links as parallel arrays: places of queries (a < b), the number of the reason, similarity."""

    a: Any = field(default_factory=_places)
    b: Any = field(default_factory=_places)
    reason: Any = field(default_factory=lambda: np.empty(0, np.int8))
    similarity: Any = field(default_factory=lambda: np.empty(0, np.float64))

    def add(self, a: Any, b: Any, reason: Reason, similarity: Any) -> None:
        a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
        number = np.full(a.size, REASONS.index(reason), np.int8)
        self.a = np.append(self.a, np.minimum(a, b))
        self.b = np.append(self.b, np.maximum(a, b))
        self.reason = np.append(self.reason, number)
        self.similarity = np.append(self.similarity, np.clip(similarity, 0.0, 1.0))

    def told(self, queries: Sequence[QueryText], places: Any) -> tuple[Link, ...]:
        """The links at `places`, in the order of their queries and reasons."""
        order = places[np.lexsort((self.reason[places], self.b[places], self.a[places]))]
        columns = (self.a, self.b, self.reason, self.similarity)
        rows = zip(*(column[order].tolist() for column in columns), strict=True)
        return tuple(
            Link(queries[a].qid, queries[b].qid, REASONS[reason], similarity)
            for a, b, reason, similarity in rows
        )


class Wordings:
    """Queries by what they say: a node is all queries of one exact key.

    Queries that a person told apart from another of the same key are nodes of their own.

    Attributes
    ----------
    node, first
        The node of each query, and the first query of each node.
    key
        The number of each query's exact key.
    rows
        The weighted grams of each node's text.
    """

    def __init__(self, queries: Sequence[QueryText], different: Pairs) -> None:
        self.key = _numbers(exact_key(query.text) for query in queries)
        whose = self.key.copy()
        for a, b in different:
            if self.key[a] == self.key[b]:
                whose[[a, b]] = len(queries) + a, len(queries) + b
        self.node = numbered(whose)
        self.first = np.unique(self.node, return_index=True)[1]
        self.texts = [queries[n].text for n in self.first]
        self.rows: Matrix = weighted_grams(self.texts)

    @property
    def n(self) -> int:
        return int(self.first.size)

    def said_otherwise(self, a: Any, b: Any) -> Any:
        """Whether the nodes a[i] and b[i] have different keys."""
        keys = self.key[self.first]
        return keys[a] != keys[b]


def _numbers(keys: Iterable[str]) -> Any:
    """The number of each key, from 0 in the order in which they first come."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def link_equal(links: LinkTable, wordings: Wordings) -> None:
    """Each query of a key with the first of them."""
    first = np.unique(wordings.key, return_index=True)[1][wordings.key]
    others = np.flatnonzero(first != np.arange(first.size))
    links.add(first[others], others, Reason.EXACT, np.ones(others.size))


def link_alike(
    links: LinkTable, wordings: Wordings, *, least: float, minhash_above: int, tell: Progress
) -> bool:
    """Wordings whose cosine is `least` or more; whether they were only sampled, by MinHash."""
    is_sampled = wordings.n > minhash_above
    comparing = partial(tell, "Comparing wordings")
    if is_sampled:
        a, b, similarity = alike_pairs(wordings.texts, wordings.rows, least - 1e-6, comparing)
    else:
        pairs = similar_rows(wordings.rows, threshold=least, on_progress=comparing)
        a, b, similarity = pairs.a, pairs.b, pairs.similarity
    differing = wordings.said_otherwise(a, b)
    a, b = wordings.first[a[differing]], wordings.first[b[differing]]
    links.add(a, b, Reason.TEXT, similarity[differing])
    return is_sampled


def link_bags(links: LinkTable, wordings: Wordings, language: str) -> None:
    """Each wording with the first of the same words, in whatever order and with whatever endings.

    The similarity is that of the texts: low where the order of the words changes much of them.
    """
    bag = _numbers(bag_keys(wordings.texts, language))
    a = np.unique(bag, return_index=True)[1][bag]
    b = np.flatnonzero((a != np.arange(a.size)) & wordings.said_otherwise(a, np.arange(a.size)))
    a = a[b]
    similarity = similarities(wordings.rows, a, b)
    links.add(wordings.first[a], wordings.first[b], Reason.BAG, similarity)


def link_close(
    links: LinkTable,
    queries: Sequence[QueryText],
    embeddings: Embeddings,
    *,
    least: float,
    tell: Progress,
) -> None:
    """Queries whose embeddings have a cosine of `least` or more."""
    row = {qid: n for n, qid in enumerate(embeddings.ids)}
    places = np.array([n for n, query in enumerate(queries) if query.qid in row], np.int64)
    vectors = embeddings.vectors[[row[queries[n].qid] for n in places]]
    a, b, similarity = close_pairs(
        vectors, least, lambda done, total: tell("Comparing embeddings", done, total)
    )
    links.add(places[a], places[b], Reason.EMBEDDING, similarity)


def link_answered_alike(
    links: LinkTable, queries: Sequence[QueryText], *, least: float, tell: Progress
) -> None:
    """Queries of which the same documents are relevant, by Jaccard."""
    if any(query.positives for query in queries):
        tell("Comparing relevant documents", 0, 1)
        a, b, jaccard = pairs_sharing_documents([query.positives for query in queries], least)
        links.add(a, b, Reason.RELEVANT, jaccard)


def pairs_sharing_documents(
    positives: Sequence[Collection[str]], threshold: float
) -> tuple[Any, Any, Any]:
    """Places a < b of queries, and the Jaccard of their relevant documents where it is enough.

    A query without relevant documents shares none.

    Examples
    --------
    >>> a, b, jaccard = pairs_sharing_documents([{"d1", "d2"}, {"d2"}, {"d3"}, set()], 0.5)
    >>> list(zip(a.tolist(), b.tolist(), jaccard.tolist()))
    [(0, 1, 0.5)]
    """
    sizes = np.array([len(documents) for documents in positives], dtype=np.int64)
    rows = _membership(positives, sizes)
    columns = rows.T.tocsr()
    n_steps = np.append(0, np.cumsum(np.diff(columns.indptr)[rows.indices]))[rows.indptr]
    blocks: list[tuple[Any, Any, Any]] = []
    start = 0
    while start < len(positives):
        stop = int(np.searchsorted(n_steps, n_steps[start] + _PRODUCTS_AT_A_TIME, "right")) - 1
        stop = min(max(stop, start + 1), len(positives))
        shared = (rows[start:stop] @ columns).tocoo()
        a, b = shared.coords[0].astype(np.int64) + start, shared.coords[1].astype(np.int64)
        jaccard = shared.data / (sizes[a] + sizes[b] - shared.data)
        is_enough = (a < b) & (jaccard >= threshold)
        blocks.append((a[is_enough], b[is_enough], jaccard[is_enough].astype(np.float64)))
        start = stop
    a, b, jaccard = (np.concatenate(part) for part in zip(*blocks, strict=True)) if blocks else (
        np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    )  # fmt: skip
    order = np.lexsort((b, a))
    return a[order], b[order], jaccard[order]


def _membership(positives: Sequence[Collection[str]], sizes: Any) -> Any:
    """A matrix of ones: queries by documents."""
    number: dict[str, int] = {}
    columns = [
        number.setdefault(document, len(number))
        for documents in positives
        for document in sorted(documents)
    ]
    starts = np.append(0, np.cumsum(sizes))
    ones = np.ones(len(columns), dtype=np.float64)
    shape = (len(positives), max(len(number), 1))
    return scipy.sparse.csr_array((ones, np.array(columns, dtype=np.int64), starts), shape=shape)


def link_known(links: LinkTable, known: Iterable[Link], place: dict[str, int]) -> None:
    """Links that are given, of queries that are there."""
    for link in known:
        if link.a in place and link.b in place and link.a != link.b:
            links.add([place[link.a]], [place[link.b]], link.reason, [link.similarity])


# --- Wordings that share a meaning and few letters: static vectors of their tokens, where they
# are.


def static_embeddings(queries: Sequence[QueryText]) -> Embeddings:
    """A vector for each query with a token that the model knows; the others have none.

    Raises
    ------
    ParaphraseExtraError
        If the extra `demo` is not installed.
    """
    if not static_vectors.is_installed():
        raise ParaphraseExtraError
    vectors = static_vectors.encode([query.text for query in queries])
    lengths = np.linalg.norm(vectors, axis=1)
    has_vector = np.flatnonzero(lengths > 0)
    ids = tuple(queries[n].qid for n in has_vector.tolist())
    return Embeddings(ids, vectors[has_vector] / lengths[has_vector, np.newaxis])
