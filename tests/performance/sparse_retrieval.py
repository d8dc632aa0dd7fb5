"""Sparse search against bm25s, on one matrix of scores, in turns, in one process.

Both are given the very same BM25 weights and the very same terms of each query, so that only the
search is timed. bm25s holds them as 32-bit numbers, ours as 64-bit ones.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchwright.retrieval.sparse.counting import inverse_document_frequency
from benchwright.retrieval.sparse.postings import Postings
from benchwright.retrieval.sparse.weighting import Scale, bm25_documents
from tests.performance.results import ONLY
from tests.performance.toy import size

N_WORDS = size(100_000, 2_000)
LENGTH = 60
N_QUERIES = size(1000, 40)
K = 100
SIZES = size((100_000, 1_000_000), (1_000,))
if one_size := os.environ.get(ONLY):
    SIZES = (int(one_size),)
ROUNDS = size(3, 1)

# By kernel and terms of a query: the peer, and how many times quicker than it we want to be.
PEERS = {"scipy": "bm25s, numpy", "numba": "bm25s, numba"}
WANTED = {
    ("scipy", 6): {100_000: 6.0, 1_000_000: 5.0},
    ("scipy", 30): {100_000: 1.0, 1_000_000: 1.0},
    ("numba", 6): {100_000: 1.2, 1_000_000: 1.2},
}
MOST_MEGABYTES = 64.0


@dataclass(slots=True)
class Timing:
    """The least disturbed round: milliseconds a query; and the most memory beyond the index."""

    milliseconds: float = float("inf")
    megabytes: float = 0.0


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


def main(sizes: tuple[int, ...] = SIZES, rounds: int = ROUNDS) -> list[str]:
    lines = [
        "| documents | terms | search | ms a query | as quick as the peer | beyond the index |",
        "|---|---|---|---|---|---|",
    ]
    for n in sizes:
        postings = made_postings(n)
        for n_terms in (6, 30):
            timings = timed(postings, made_queries(n_terms), rounds)
            lines += [line(n, n_terms, name, timings) for name in timings]
            print(*lines[-len(timings) :], sep="\n", flush=True)
    result = quality() if find_spec("bm25s") else ["bm25s: not installed."]
    return [*lines, "", *result]


def timed(postings: Postings, queries: list[list[int]], rounds: int) -> dict[str, Timing]:
    """Each way of searching, in turns; all must find the same scores."""
    matrix = as_matrix(queries)
    ways: dict[str, Callable[[int], Any]] = {}
    for kernel in ("scipy", "numba"):
        ways[kernel] = lambda n, kernel=kernel: ours(postings, matrix[:n], kernel)
        try:
            peer = peer_of(postings, PEERS[kernel].split(", ")[1])
        except ImportError:
            continue
        backend = PEERS[kernel].split(", ")[1]
        ways[PEERS[kernel]] = lambda n, peer=peer, backend=backend: theirs(
            peer, queries[:n], backend
        )
    for way in ways.values():
        way(32)  # compiled, and the caches warm
    timings = {name: Timing() for name in ways}
    first: dict[str, Any] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            seconds, megabytes, first[name] = measured(lambda way=way: way(len(queries)))
            timing = timings[name]
            timing.milliseconds = min(timing.milliseconds, 1000 * seconds / len(queries))
            timing.megabytes = max(timing.megabytes, megabytes)
    refuse_differences(first)
    return timings


def refuse_differences(found: dict[str, Any]) -> None:
    """Ours are equal to the last bit; those of the peer, in 32 bits, to 1e-5."""
    for (columns, scores), (others, same) in zip(found["scipy"], found["numba"], strict=True):
        assert (columns == others).all()
        assert (scores == same).all()
    for name in set(found) & set(PEERS.values()):
        for (_, scores), theirs in zip(found["scipy"], found[name][1], strict=True):
            np.testing.assert_allclose(theirs[: len(scores)], scores, rtol=1e-5)


def line(n: int, n_terms: int, name: str, timings: dict[str, Timing]) -> str:
    timing, peer = timings[name], timings.get(PEERS.get(name, ""))
    text = ""
    if peer is not None:
        ratio = peer.milliseconds / timing.milliseconds
        wanted = WANTED.get((name, n_terms), {}).get(n)
        text = f"{ratio:.1f}x"
        text += f", wanted {wanted:g}x: {verdict(ratio >= wanted)}" if wanted else ""
    memory = f"{timing.megabytes:.0f} MB"
    if name in PEERS:
        memory += f", wanted {MOST_MEGABYTES:g}: {verdict(timing.megabytes <= MOST_MEGABYTES)}"
    label = f"benchwright, {name}" if name in PEERS else name
    return f"| {n:,} | {n_terms} | {label} | {timing.milliseconds:.3f} | {text} | {memory} |"


def measured(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds, the most megabytes beyond those before, and what came back."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
    before = status("VmRSS")
    started = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - started
    return seconds, status("VmHWM") - before, result


def status(name: str) -> float:
    """A line of the process's status, in MB."""
    for row in Path("/proc/self/status").read_text().splitlines():
        if row.startswith(f"{name}:"):
            return int(row.split()[1]) * 1024 / 1e6
    return float("nan")


# --- the same effectiveness ----------------------------------------------------------------------


def quality() -> Iterator[str]:
    """nDCG@10 of BM25 on real collections, ours beside that of bm25s with our words and stems."""
    from benchwright.retrieval import build_index
    from benchwright.retrieval.evaluating import evaluate_retrieval
    from tests.benchwright.retrieval.real_collections import COLLECTIONS

    yield "| collection | documents | queries | benchwright | bm25s | apart | wanted |"
    yield "|---|---|---|---|---|---|---|"
    for name, load in COLLECTIONS.items():
        collection = load()
        index = build_index("bm25-stem", collection.documents)
        mine = dict(index.search(collection.queries, k=K))
        result = [
            evaluate_retrieval(results, collection.grades, [10], gain="linear")["nDCG@10"]
            for results in (mine, found_by_peer(collection))
        ]
        apart = abs(result[0] - result[1])
        sizes = f"{len(collection.documents):,} | {len(collection.queries):,}"
        text = f"{result[0]:.4f} | {result[1]:.4f} | {apart:.4f} | < 0.01: {verdict(apart < 0.01)}"
        yield f"| {name} | {sizes} | {text} |"


def found_by_peer(collection: Any) -> dict[str, list[tuple[str, float]]]:
    import bm25s

    peer = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    peer.index([stemmed(text) for _, text in collection.documents], show_progress=False)
    ids = [docid for docid, _ in collection.documents]
    asked = [stemmed(text) for _, text in collection.queries]
    rows, scores = peer.retrieve(asked, k=min(K, len(ids)), show_progress=False)
    return {
        qid: [(ids[row], float(score)) for row, score in zip(*found, strict=True) if score > 0]
        for (qid, _), *found in zip(collection.queries, rows, scores, strict=True)
    }


def stemmed(text: str) -> list[str]:
    from benchwright.retrieval.sparse.analysis import stem_features, words_of

    return [feature for features in stem_features("en")(words_of(text)) for feature in features]


def verdict(is_met: bool) -> str:
    return "met" if is_met else "missed"
