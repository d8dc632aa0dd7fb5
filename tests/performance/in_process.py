"""Parts of the house timed in this process: searching, pooling, storing."""

import random
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.performance.timing import median_seconds, missing, report
from tests.performance.toy import size

WORDS = [f"word{n}" for n in range(20_000)]
SCALE = size(1, 100)  # of everything, the so manieth part


def made_texts(n: int, length: int, rng: random.Random) -> list[str]:
    weights = [1 / (rank + 10) for rank in range(len(WORDS))]
    return [" ".join(rng.choices(WORDS, weights, k=length)) for _ in range(n)]


def bench_retrieval() -> None:
    from benchwright.retrieval import build_index

    rng = random.Random(2)
    texts, queries = made_texts(50_000 // SCALE, 60, rng), made_texts(500 // SCALE, 6, rng)
    index = build_index("bm25", ((f"d{n}", text) for n, text in enumerate(texts)))
    asked = [(f"q{n}", text) for n, text in enumerate(queries)]
    contenders: dict[str, Callable[[], Any]] = {
        "benchwright": lambda: list(index.search(asked, k=100))
    }
    try:
        import bm25s
    except ImportError:
        pass
    else:
        peer = bm25s.BM25(k1=1.2, b=0.75)
        peer.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
        tokens = bm25s.tokenize(queries, stopwords=None, show_progress=False)
        contenders["bm25s (numpy)"] = lambda: peer.retrieve(tokens, k=100, show_progress=False)
    report(
        "BM25 search, 50,000 documents, 500 queries of 6 terms, top 100",
        median_seconds(contenders),
    )
    if len(contenders) == 1:
        missing("bm25s")


def bench_pooling() -> None:
    from benchwright.pools import DEPTH_K, Recipe, build_pool

    rng = random.Random(3)

    def ranking() -> Iterable[tuple[str, str, int]]:
        for q in range(1000 // SCALE):
            for rank in range(1, 101):
                yield f"q{q}", f"d{rng.randrange(400)}-{rank}", rank

    rankings = {f"run{n}": list(ranking()) for n in range(10)}
    recipe = Recipe(strategy=DEPTH_K, depth=100, seed=1)
    medians = median_seconds({"benchwright": lambda: build_pool(rankings, recipe)})
    report("Pool of 10 runs x 1,000 queries to depth 100", medians)


def bench_corpus() -> None:
    from benchwright.corpora.store import write_corpus
    from benchwright.errors import Problems
    from benchwright.formats.beir import CorpusRow

    texts = made_texts(1000, 100, random.Random(4))

    def rows() -> Iterable[CorpusRow]:
        return (CorpusRow(n, f"d{n}", "", texts[n % 1000]) for n in range(100_000 // SCALE))

    def write() -> None:
        with tempfile.TemporaryDirectory() as folder:
            write_corpus(rows(), directory=Path(folder), problems=Problems(), file="made")

    report("Storing 100,000 documents", median_seconds({"benchwright": write}))


def main() -> None:
    bench_retrieval()
    bench_pooling()
    bench_corpus()
