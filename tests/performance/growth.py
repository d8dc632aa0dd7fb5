"""How time and memory grow: each heavy command over n, 10 n and 100 n of what it reads.

Every run is a process of its own, from files to files. What a process takes to start is taken off,
and the exponent is that of the last tenfold: 1 is a line, and above 1.1 it is told.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from math import log10
from pathlib import Path
from typing import NamedTuple

from tests.performance.toy import size

STEPS = size((1, 10, 100), (1, 2))
WORTH_TELLING = 1.1
WORDS = [f"word{n}" for n in range(20_000)]
SPREAD = [1 / (rank + 10) for rank in range(len(WORDS))]

Made = list[str]  # what follows `benchwright` on the command line


class Command(NamedTuple):
    """What is done, over how many of which things at first, and how its files are made."""

    name: str
    things: str
    n: int
    make: Callable[[int, Path], Made]


def main() -> list[str]:
    started = used_by(["--version"])
    lines = [
        "| command | of | n | processor, n | 10 n | 100 n | exponent "
        "| MiB, n | 10 n | 100 n | exponent |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for command in COMMANDS:
        seconds, peaks = [], []
        for step in STEPS:
            with tempfile.TemporaryDirectory() as folder:
                _make_elsewhere(command, command.n * step, Path(folder))
                words = json.loads((Path(folder) / "words.json").read_text("utf-8"))
                taken = used_by(words)
            seconds.append(max(taken.seconds - started.seconds, 0.001))
            peaks.append(taken.peak)
        above = [max(peak - started.peak, 1.0) for peak in peaks]
        in_time, in_memory = exponent(seconds), exponent(above)
        cells = [command.name, command.things, f"{command.n:,}"]
        cells += [*(f"{of:.2f} s" for of in seconds), f"{in_time:.2f}"]
        cells += [*(f"{of:,.0f}" for of in peaks), f"{in_memory:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
        remark = " above 1.1" if max(in_time, in_memory) > WORTH_TELLING else ""
        print(f"{command.name:<12} time {in_time:.2f}, memory {in_memory:.2f}{remark}", flush=True)
    return lines


def exponent(figures: Sequence[float]) -> float:
    """Of the last step: a figure that grows as n ** exponent."""
    return log10(figures[-1] / figures[-2]) / log10(STEPS[-1] / STEPS[-2])


class Taken(NamedTuple):
    seconds: float
    peak: float  # MiB


def used_by(words: Made) -> Taken:
    """Processor seconds and largest memory of a command, measured in a process that is small."""
    script = (
        "import json, resource, subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'benchwright.cli.start', *sys.argv[1:]],\n"
        "                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)\n"
        "of = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([of.ru_utime + of.ru_stime, of.ru_maxrss / 1024, done.returncode,\n"
        "                  done.stderr[-2000:]]))\n"
    )
    text = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True
    ).stdout
    seconds, peak, code, errors = json.loads(text)
    if code:
        print(f"benchwright {' '.join(words)} ended with {code}:\n{errors}")
        sys.exit(1)
    return Taken(seconds, peak)


def _make_elsewhere(command: Command, n: int, folder: Path) -> None:
    """Make the files in a process of its own, whose memory is not told as a child's."""
    if size(False, True):
        make(command.name, str(n), str(folder))
        return
    script = "import sys; from tests.performance import growth; growth.make(*sys.argv[1:])"
    root = Path(__file__).parents[2]
    words = [sys.executable, "-c", script, command.name, str(n), str(folder)]
    subprocess.run(words, check=True, cwd=root)


def make(name: str, n: str, folder: str) -> None:
    """The files of a command, and its words as `words.json`."""
    (command,) = (command for command in COMMANDS if command.name == name)
    words = command.make(int(n), Path(folder))
    (Path(folder) / "words.json").write_text(json.dumps(words), "utf-8")


# --- files -----------------------------------------------------------------------------------


def _run(path: Path, n_queries: int, depth: int, seed: int) -> str:
    rng = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for query in range(n_queries):
            for rank, document in enumerate(rng.sample(range(depth * 3), depth), start=1):
                file.write(f"q{query} Q0 d{document} {rank} {depth - rank}.5 r{seed}\n")
    return str(path)


def _qrels(path: Path, n_queries: int, depth: int) -> str:
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for query in range(n_queries):
            for document in rng.sample(range(depth * 3), 20):
                file.write(f"q{query} 0 d{document} {rng.randrange(3)}\n")
    return str(path)


def _text(rng: random.Random, n_words: int) -> str:
    return " ".join(rng.choices(WORDS, SPREAD, k=n_words))


def _queries(path: Path, n: int, *, seed: int = 0) -> str:
    """A third are other wordings of the one before."""
    rng, text = random.Random(seed), ""
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            text = f"{text} {rng.choice(WORDS)}" if number % 3 == 2 else _text(rng, 7)
            file.write(json.dumps({"_id": f"q{number}", "text": text}) + "\n")
    return str(path)


def _corpus(path: Path, n: int) -> str:
    rng = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            row = {"_id": f"d{number}", "title": _text(rng, 4), "text": _text(rng, 60)}
            file.write(json.dumps(row) + "\n")
    return str(path)


def _scored(n: int, folder: Path) -> Made:
    return ["score", _qrels(folder / "qrels", n, 100), _run(folder / "run", n, 100, 1)]


def _checked(n: int, folder: Path) -> Made:
    return ["check", _run(folder / "run", n, 100, 1)]


def _compared(n: int, folder: Path) -> Made:
    runs = [_run(folder / f"run{seed}", n, 20, seed) for seed in range(3)]
    return ["compare", _qrels(folder / "qrels", n, 20), *runs]


def _compared_runs(n: int, folder: Path) -> Made:
    runs = [_run(folder / f"run{seed}", 50, 20, seed) for seed in range(n)]
    return ["compare", _qrels(folder / "qrels", 50, 20), *runs, "--baseline", runs[0]]


def _pooled(n: int, folder: Path) -> Made:
    runs = [_run(folder / f"run{seed}", n, 50, seed) for seed in range(5)]
    return ["pool", *runs, "--depth", "50", "-o", str(folder / "pool.tsv")]


def _fused(n: int, folder: Path) -> Made:
    runs = [_run(folder / f"run{seed}", n, 50, seed) for seed in range(3)]
    return ["fuse", *runs, "-o", str(folder / "fused")]


def _grouped(n: int, folder: Path) -> Made:
    return ["families", _queries(folder / "queries.jsonl", n), "-o", str(folder / "families.tsv")]


def _split(n: int, folder: Path) -> Made:
    beir = folder / "beir"
    (beir / "qrels").mkdir(parents=True)
    _corpus(beir / "corpus.jsonl", 100)
    _queries(beir / "queries.jsonl", n)
    with (beir / "qrels" / "test.tsv").open("w", encoding="utf-8") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        file.writelines(f"q{query}\td{query % 100}\t1\n" for query in range(n))
    with (beir / "families.tsv").open("w", encoding="utf-8") as file:
        file.writelines(f"q{query}\tq{query - query % 3}\n" for query in range(n))
    return ["split", str(beir), "-o", str(folder / "out")]


def _sampled(n: int, folder: Path) -> Made:
    rng = random.Random(3)
    with (folder / "log.csv").open("w", encoding="utf-8") as file:
        file.write("query,count\n")
        file.writelines(f"{_text(rng, 5)},{rng.randrange(1, 50)}\n" for _ in range(n))
    return ["sample", str(folder / "log.csv"), "-n", "100", "-o", str(folder / "sample.jsonl")]


def _retrieved(n: int, folder: Path) -> Made:
    corpus, queries = _corpus(folder / "corpus.jsonl", n), _queries(folder / "q.jsonl", 50)
    return ["retrieve", corpus, queries, "-o", str(folder / "run")]


def _asked(n: int, folder: Path) -> Made:
    corpus, queries = _corpus(folder / "corpus.jsonl", 1000), _queries(folder / "q.jsonl", n)
    return ["retrieve", corpus, queries, "-o", str(folder / "run")]


COMMANDS = (
    Command("score", "queries x 100", size(1000, 5), _scored),
    Command("check", "queries x 100", size(200, 5), _checked),
    Command("compare", "queries x 20, 3 runs", size(100, 10), _compared),
    Command("compare runs", "runs of 50 x 20", size(4, 2), _compared_runs),
    Command("pool", "queries x 50, 5 runs", size(50, 5), _pooled),
    Command("fuse", "queries x 50, 3 runs", size(50, 5), _fused),
    Command("families", "queries", size(1000, 30), _grouped),
    Command("split", "queries", size(1000, 30), _split),
    Command("sample", "queries of a log", size(1000, 200), _sampled),
    Command("retrieve", "documents", size(1000, 50), _retrieved),
    Command("retrieve for", "queries over 1,000 documents", size(50, 5), _asked),
)
