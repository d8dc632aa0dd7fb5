"""A corpus of millions: imported, compared with a later snapshot, and one document of it found.

Each step is a process of its own, whose memory is told. `BENCH_DOCUMENTS` says how many documents;
a million unless given, of about 360 bytes.
"""

import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.performance.toy import size

N_DOCUMENTS = int(os.environ.get("BENCH_DOCUMENTS", size("1000000", "1000")))
N_LOOKED_UP = size(200, 10)
LIMIT_BYTES, LIMIT_MILLISECONDS = 1 << 30, size(50, 10_000)
FILE, STORED = "corpus.jsonl", "stored"


# --- each in a process of its own ----------------------------------------------------------------


def make(folder: Path) -> None:
    """Documents of 45 made-up words, in another order than that of their ids."""
    rng = random.Random(1)
    words = [f"w{rng.randrange(10**6):x}" for _ in range(20_000)]
    texts = [" ".join(rng.choices(words, k=45)) for _ in range(997)]
    with (folder / FILE).open("w", buffering=1 << 20) as out:
        for number in range(N_DOCUMENTS):
            n = number * 7919 % N_DOCUMENTS
            text = texts[number % 997]
            out.write(f'{{"_id": "doc{n}", "title": "Title {n}", "text": "{text}"}}\n')


def plain(folder: Path) -> None:
    """What polars takes to parse the file and look at every text, without keeping any."""
    import polars as pl

    lengths = pl.col("_id", "title", "text").str.len_bytes().cast(pl.Int64).sum()
    pl.scan_ndjson(folder / FILE).select(lengths).collect(engine="streaming")


def parse(folder: Path) -> None:
    """What Python's own parser takes for every line, its texts looked at and let go."""
    with (folder / FILE).open("rb") as lines:
        for row in map(json.loads, lines):
            len(row["_id"]) + len(row["title"]) + len(row["text"])


def import_it(folder: Path) -> None:
    from benchwright.corpora.store import write_corpus
    from benchwright.errors import Problems
    from benchwright.files.sources import open_lines
    from benchwright.formats.beir import corpus_rows

    problems = Problems()
    rows = corpus_rows(open_lines(folder / FILE), file=FILE, problems=problems)
    corpus = write_corpus(rows, directory=folder / STORED, problems=problems, file=FILE)
    if corpus.n_documents != N_DOCUMENTS:
        raise SystemExit(f"{corpus.n_documents} documents")


def compare(folder: Path) -> None:
    """Read the corpus beside itself: every document is looked at, and none differs."""
    from benchwright.corpora.snapshots import difference

    change = difference(_reader(folder), _reader(folder))
    if change.n_unchanged != N_DOCUMENTS:
        raise SystemExit(str(change))


def look_up(folder: Path) -> str:
    """Milliseconds of single look-ups, each of another document; the first opens the files."""
    rng = random.Random(3)
    wanted = [f"doc{rng.randrange(N_DOCUMENTS)}" for _ in range(N_LOOKED_UP)]
    reader, took = _reader(folder), []
    for docid in wanted:
        started = time.perf_counter()
        if reader.get([docid])[docid].title != f"Title {docid.removeprefix('doc')}":
            raise SystemExit(docid)
        took.append(1000 * (time.perf_counter() - started))
    return f"{took[0]} {statistics.median(took[1:])} {max(took[1:])}"


def _reader(folder: Path):
    from benchwright.corpora.store import INDEX_NAME, PARQUET_NAME, CorpusReader

    return CorpusReader(folder / STORED / PARQUET_NAME, folder / STORED / INDEX_NAME)


STEPS = {step.__name__: step for step in (make, plain, parse, import_it, compare, look_up)}


# --- told together -------------------------------------------------------------------------------


def run(step: str, folder: Path) -> tuple[float, float, int, str]:
    """Seconds on the clock, seconds of all its threads, peak bytes, and what the step printed."""
    words = [sys.executable, "-m", "tests.performance.corpora", step, str(folder)]
    started = time.perf_counter()
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    took = time.perf_counter() - started
    cpu, peak, *said = done.stdout.splitlines()
    return took, float(cpu), int(peak), "\n".join(said)


def _used() -> str:
    result = resource.getrusage(resource.RUSAGE_SELF)
    return f"{result.ru_utime + result.ru_stime}\n{result.ru_maxrss << 10}"


def main() -> list[str]:
    rows = []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        run("make", folder)
        size = (folder / FILE).stat().st_size
        for step, label in (
            ("plain", "polars parses the file"),
            ("parse", "Python's json parses the file"),
            ("import_it", "import: checked, sorted, indexed"),
            ("compare", "comparing two snapshots"),
        ):
            took, cpu, peak, _ = run(step, folder)
            rows.append(
                f"| {label} | {N_DOCUMENTS / took:,.0f} | {took:,.1f} | {cpu:,.1f} "
                f"| {peak / 2**20:,.0f} |"
            )
            print(rows[-1], flush=True)
            if step == "import_it" and peak > LIMIT_BYTES:
                raise SystemExit("the import takes more than 1 GiB")
        stored = sum(path.stat().st_size for path in (folder / STORED).iterdir())
        *_, words = run("look_up", folder)
    first, median, worst = (float(number) for number in words.split())
    if median > LIMIT_MILLISECONDS:
        raise SystemExit("a document takes more than 50 ms")
    text = (
        f"{N_DOCUMENTS:,} documents, {size / 1e9:.2f} GB of JSON lines, {stored / 1e9:.2f} GB "
        f"stored. One document of them: the first in {first:.0f} ms, the others in "
        f"{median:.1f} ms (median), {worst:.0f} ms at most."
    )
    print(text)
    head = ["| | rows/s | seconds | CPU seconds | peak MiB |", "|---|---|---|---|---|"]
    return [*head, *rows, "", text]


if __name__ == "__main__":
    if len(sys.argv) > 2:
        said = STEPS[sys.argv[1]](Path(sys.argv[2]))
        print(_used(), said or "", sep="\n")
    else:
        main()
