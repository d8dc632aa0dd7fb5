"""A release of a million documents and 100,000 grades exported, beside plain polars on the same.

Each in a process of its own, whose peak is told. The corpus is made as an import makes it; the
queries and grades are rows as a release has them. Plain polars holds the whole corpus and checks,
orders and numbers nothing.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.performance.toy import size

N_DOCUMENTS = size(1_000_000, 1_000)
N_QUERIES = size(2_000, 5)
PER_QUERY = 50
# About as long as a passage of MS MARCO: 56 words, 340 characters.
WORDS = 56
MEBI = 1 << 20
VOCABULARY = 20_000


class Query(NamedTuple):
    qid: str
    text: str
    metadata: dict


def _words() -> list[str]:
    rng = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(VOCABULARY)]


def make_corpus(folder: Path) -> None:
    """Write a corpus of a million passages, as an import leaves it."""
    from benchwright.corpora.store import write_corpus
    from benchwright.errors import Problems
    from benchwright.formats.beir import CorpusRow

    words, rng = _words(), random.Random(11)
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]

    def rows() -> Iterator[CorpusRow]:
        for start in range(0, N_DOCUMENTS, 1_000):
            drawn = rng.choices(words, weights, k=1_000 * WORDS)
            for n in range(1_000):
                text = " ".join(drawn[n * WORDS : (n + 1) * WORDS])
                yield CorpusRow(0, f"d{start + n:07d}", text[:20], text)

    write_corpus(rows(), directory=folder, problems=Problems(), file="made")


def _source(folder: Path):
    from benchwright.corpora.store import INDEX_NAME, PARQUET_NAME, CorpusReader
    from benchwright.formats.beir_writing import MetadataShape
    from benchwright.releases.source import ReleaseSource

    reader = CorpusReader(folder / PARQUET_NAME, folder / INDEX_NAME)

    def qrels(split: str) -> Iterator[tuple[str, str, int]]:
        for number in range(N_QUERIES):
            rng = random.Random(number)
            drawn = sorted(rng.sample(range(N_DOCUMENTS), PER_QUERY))
            for docid in drawn:
                yield f"q{number:05d}", f"d{docid:07d}", rng.randint(0, 3)

    return ReleaseSource(
        slug="made",
        version="1.0.0",
        title="Made",
        description="",
        unit="passage",
        lang="en",
        licence="",
        citation="",
        threshold=1,
        grades=(),
        splits=("test",),
        hidden=(),
        queries=lambda: (Query(f"q{n:05d}", f"what is {n}", {}) for n in range(N_QUERIES)),
        query_shape=MetadataShape(),
        qrels=qrels,
        documents=reader.iterate,
        document_shape=MetadataShape(),
    )


def _export(name: str, folder: Path, work: Path) -> None:
    from benchwright.exports import EXPORTERS
    from benchwright.exports.exporter import zipped

    with (work / "export.zip").open("wb") as out:
        out.writelines(zipped(EXPORTERS[name], _source(folder), work))


def _lint(name: str, folder: Path, work: Path) -> None:
    from benchwright.linting import lint

    lint(_source(folder))


def _plain(name: str, folder: Path, work: Path) -> None:
    import polars as pl

    from benchwright.corpora.store import PARQUET_NAME

    frame = pl.read_parquet(folder / PARQUET_NAME)
    if name == "ndjson":
        frame.write_ndjson(work / "plain.jsonl")
    else:
        frame.write_parquet(work / "plain.parquet")


PARTS = {
    "BEIR zip": (_export, "beir"),
    "Hub zip": (_export, "hub"),
    "ir_datasets zip": (_export, "ir-datasets"),
    "linter, every format": (_lint, ""),
    "plain polars, JSON lines": (_plain, "ndjson"),
    "plain polars, Parquet": (_plain, "parquet"),
}


def _inside(part: str, folder: str) -> None:
    do, name = PARTS[part]
    with tempfile.TemporaryDirectory(prefix="benchwright-bench-", dir=folder) as work:
        began, before = time.perf_counter(), time.process_time()
        do(name, Path(folder), Path(work))
        seconds, busy = time.perf_counter() - began, time.process_time() - before
        sizes = [path.stat().st_size for path in Path(work).iterdir() if path.is_file()]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "busy": busy, "peak": peak, "bytes": sum(sizes)}))


def main() -> list[str]:
    """Print and return a table of documents a second and of peaks."""
    with tempfile.TemporaryDirectory(prefix="benchwright-bench-") as folder:
        subprocess.run([sys.executable, "-m", __name__, "make", folder], check=True)
        lines = [
            f"A release of {N_DOCUMENTS:,} documents of {WORDS} words and "
            f"{N_QUERIES * PER_QUERY:,} grades.",
            "",
            "| | seconds | CPU seconds | documents a second | MiB written | peak, MiB |",
            "|---|---|---|---|---|---|",
        ]
        for part in PARTS:
            done = subprocess.run(
                [sys.executable, "-m", __name__, part, folder],
                check=True,
                capture_output=True,
                text=True,
            )
            report = json.loads(done.stdout)
            rate = N_DOCUMENTS / report["seconds"]
            lines.append(
                f"| {part} | {report['seconds']:.1f} | {report['busy']:.1f} | {rate:,.0f} | "
                f"{report['bytes'] / MEBI:,.0f} | {report['peak'] / MEBI:,.0f} |"
            )
            print(lines[-1], flush=True)
    return lines


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make_corpus(Path(sys.argv[2]))
    else:
        _inside(sys.argv[1], sys.argv[2])
