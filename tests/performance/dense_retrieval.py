"""Exact search in vectors against faiss and usearch: one matrix, in turns, in one process.

All use every core. Memory is what a search takes beyond the matrices that are there before it, of
which faiss has one of its own; the pages of a mapped file (ours is also timed on one of 16-bit
numbers) are the matrix, and not beyond it.
"""

import ctypes
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from benchwright.retrieval.dense import DenseIndex, embeddings
from tests.performance.timing import missing
from tests.performance.toy import size

N_DOCUMENTS, N_QUERIES, N_DIMENSIONS, K = size((100_000, 1000, 384, 100), (500, 60, 16, 10))
ROUNDS = size(7, 1)
OURS = "benchwright, numba"
WANTED = {"faiss IndexFlatIP": 0.7, "usearch, exact": 4.0}
MOST_MEGABYTES = 64
CHECKED = 50
STATUS = Path("/proc/self/status")

Search = Callable[[], Any]


def made(n: int, seed: int) -> np.ndarray:
    """Vectors of length 1 in random directions, but for a share that all have in common."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, N_DIMENSIONS), dtype=np.float32)
    vectors += np.random.default_rng(0).standard_normal(N_DIMENSIONS, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def main(n_documents: int = N_DOCUMENTS, n_queries: int = N_QUERIES) -> list[str]:
    documents, queries = made(n_documents, 1), made(n_queries, 2)
    with tempfile.TemporaryDirectory() as folder:
        ways = dict(_ways(documents, queries, Path(folder)))
        for search in ways.values():
            search()  # what is loaded and compiled at the first search is not of the others
        best = {name: float("inf") for name in ways}
        for _ in range(ROUNDS):
            for name, search in ways.items():
                best[name] = min(best[name], _seconds(search))
        memory = {name: _megabytes(search) for name, search in ways.items()}
        apart, order = _agreement(ways[OURS](), documents, queries)
    lines = [
        "| search | ms a query | against ours | wanted | MB beyond the matrices |",
        "|---|---|---|---|---|",
        *(_line(name, best, memory, n_queries) for name in ways),
    ]
    text = (
        f"{n_documents:,} documents x {N_DIMENSIONS}, {n_queries:,} queries, k = {K}. Against "
        f"64-bit arithmetic ({CHECKED} queries): scores within {apart:.0e}, "
        f"{order} of {CHECKED} lists in the same order."
    )
    print("\n".join([*lines, text]))
    return [*lines, "", text]


def _ways(documents: np.ndarray, queries: np.ndarray, folder: Path) -> Iterator[tuple[str, Search]]:
    ids = [f"d{n}" for n in range(len(documents))]
    asked = embeddings([str(n) for n in range(len(queries))], queries)
    np.save(folder / "half.npy", documents.astype(np.float16))
    half = np.load(folder / "half.npy", mmap_mode="r")
    kept = embeddings(ids, documents)

    def ours(given: Any, similarity: str = "dot", kernel: str = "numba") -> Search:
        index = DenseIndex(given, similarity=similarity, kernel=kernel)
        return lambda: list(index.search_vectors(asked, k=K))

    yield OURS, ours(kept)
    yield "benchwright, numpy alone", ours(kept, kernel="numpy")
    yield "benchwright, cosine", ours(kept, similarity="cosine")
    yield "benchwright, mapped float16", ours(embeddings(ids, half))
    yield from _peers(documents, queries)


def _peers(documents: np.ndarray, queries: np.ndarray) -> Iterator[tuple[str, Search]]:
    try:
        import faiss
    except ImportError:
        missing("faiss-cpu")
    else:
        faiss.omp_set_num_threads(os.cpu_count() or 1)
        index = faiss.IndexFlatIP(N_DIMENSIONS)
        index.add(documents)
        yield "faiss IndexFlatIP", lambda: index.search(queries, K)
    try:
        from usearch.index import MetricKind, search
    except ImportError:
        missing("usearch")
    else:
        threads = os.cpu_count() or 1
        yield (
            "usearch, exact",
            lambda: search(documents, queries, K, MetricKind.IP, exact=True, threads=threads),
        )


def _line(name: str, best: dict[str, float], memory: dict[str, float], n: int) -> str:
    ratio = "" if name.startswith("benchwright") else f"{best[name] / best[OURS]:.2f}x"
    wanted = f"at least {WANTED[name]:g}x" if name in WANTED else ""
    if name == OURS:
        wanted = f"at most {MOST_MEGABYTES} MB"
    return f"| {name} | {1000 * best[name] / n:.2f} | {ratio} | {wanted} | {memory[name]:,.0f} |"


def _seconds(search: Search) -> float:
    started = time.perf_counter()
    kept = search()
    seconds = time.perf_counter() - started
    del kept
    return seconds


def _megabytes(search: Search) -> float:
    """The most memory of the process itself beyond what it had before, looked at every 2 ms."""
    ctypes.CDLL(None).malloc_trim(0)  # what was freed before is not there already
    before, most, over = _status("RssAnon"), 0.0, Event()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.002):
            most = max(most, _status("RssAnon") - before)

    watching = Thread(target=watch)
    watching.start()
    kept = search()
    over.set()
    watching.join()
    del kept
    return most


def _status(name: str) -> float:
    line = next(
        status_line
        for status_line in STATUS.read_text().splitlines()
        if status_line.startswith(name)
    )
    return int(line.split()[1]) / 1024


def _agreement(found: list[Any], documents: np.ndarray, queries: np.ndarray) -> tuple[float, int]:
    """The largest relative difference of a score from 64-bit arithmetic, and lists of its order."""
    wide = documents.astype(np.float64)
    apart, same = 0.0, 0
    for query, (_, results) in zip(queries[:CHECKED].astype(np.float64), found, strict=False):
        scores = wide @ query
        order = np.argsort(-scores, kind="stable")[:K]
        rows = [int(docid[1:]) for docid, _ in results]
        ours = np.array([score for _, score in results])
        apart = max(apart, float(np.abs(ours / scores[rows] - 1).max()))
        same += rows == order.tolist()
    return apart, same
