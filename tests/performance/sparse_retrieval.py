"""Sparse search against bm25s, on one matrix of scores, in turns, in one process.

Both are given the very same BM25 weights and the very same terms of each query, so that only the
search is timed. bm25s holds them as 32-bit numbers, ours as 64-bit ones.
"""

import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from scoring.core.retrieval.counting import inverse_document_frequency
from scoring.core.retrieval.postings import Postings
from scoring.core.retrieval.weighting import Scale, bm25_documents

N_WORDS = 100_000
LENGTH = 60
N_QUERIES = 1000
K = 100
SIZES = (100_000, 1_000_000)
ROUNDS = 3

WANTED = {
    ("scipy", 6, 100_000): 6.0,
    ("scipy", 6, 1_000_000): 5.0,
    ("scipy", 30, 100_000): 1.0,
    ("scipy", 30, 1_000_000): 1.0,
    ("numba", 6, 100_000): 1.2,
    ("numba", 6, 1_000_000): 1.2,
}
MOST_MEMORY = 64.0


@dataclass(frozen=True, slots=True)
class Timing:
    """One way of searching: milliseconds a query, and the memory beyond the index, in MB."""

    milliseconds: float
    megabytes: float


def chances() -> np.ndarray:
    """How often each word is said: as in natural language, few words very often."""
    weights = 1 / (np.arange(N_WORDS) + 10)
    return weights / weights.sum()


def made_counts(n: int, rng: np.random.Generator) -> csr_array:
    """Documents x words, `LENGTH` words each; made in parts, for it is large."""
    upto = np.cumsum(chances())
    parts = []
    for start in range(0, n, 50_000):
        size = min(50_000, n - start)
        words = np.searchsorted(upto, rng.random(size * LENGTH)).clip(max=N_WORDS - 1)
        ends = np.arange(0, size * LENGTH + 1, LENGTH)
        ones = np.ones(len(words), dtype=np.int32)
        part = csr_array((ones, words.astype(np.int32), ends), shape=(size, N_WORDS))
        part.sum_duplicates()
        parts.append((part.data, part.indices, np.diff(part.indptr)))
    data, indices, lengths = (np.concatenate(column) for column in zip(*parts, strict=True))
    return csr_array((data, indices, np.concatenate([[0], np.cumsum(lengths)])), (n, N_WORDS))


def made_postings(n: int) -> Postings:
    counts = made_counts(n, np.random.default_rng(n))
    frequencies = np.bincount(counts.indices, minlength=N_WORDS)
    scale = Scale(idf=inverse_document_frequency(frequencies, n), mean_length=float(LENGTH))
    return Postings.of(bm25_documents(counts, scale))


def made_queries(n_terms: int) -> list[list[int]]:
    """Distinct words of each query, as often in demand as they are said."""
    rng = np.random.default_rng(n_terms)
    upto = np.cumsum(chances())
    queries = []
    for _ in range(N_QUERIES):
        words: dict[int, None] = {}
        while len(words) < n_terms:
            word = int(np.searchsorted(upto, rng.random()))
            words[min(word, N_WORDS - 1)] = None
        queries.append(sorted(words))
    return queries


def as_matrix(queries: list[list[int]]) -> csr_array:
    ends = np.cumsum([0, *map(len, queries)])
    words = np.concatenate(queries).astype(np.int32)
    return csr_array((np.ones(len(words)), words, ends), shape=(len(queries), N_WORDS))


def peer_of(postings: Postings, backend: str) -> Any:
    """bm25s with these weights for its own."""
    import bm25s

    matrix = postings.stretches[0].matrix
    peer = bm25s.BM25(backend=backend)
    peer.scores = {
        "data": matrix.data.astype(np.float32),
        "indices": matrix.indices.astype(np.int32),
        "indptr": matrix.indptr.astype(np.int32),
        "num_docs": matrix.shape[1],
    }
    peer.vocab_dict = {str(word): word for word in range(N_WORDS)}
    peer.unique_token_ids_set = set(range(N_WORDS))
    peer.nonoccurrence_array = None
    if backend == "numba":
        peer.activate_numba_scorer()
    return peer


def ours(postings: Postings, queries: csr_array, kernel: str) -> list[Any]:
    return list(postings.search(queries, K, kernel=kernel))


def theirs(peer: Any, queries: list[list[int]], backend: str) -> Any:
    return peer.retrieve(
        queries,
        k=K,
        show_progress=False,
        backend_selection=backend,
        n_threads=-1 if backend == "numba" else 0,
    )
