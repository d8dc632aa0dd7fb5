"""From files to eleven means, as whole processes in turns: ours, the twin, and the field's.

Every contender prints its means; they are compared before any time is reported, since a quicker
process that computes something else has won nothing.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from tests.performance.made_collection import SIZES, Made, made_files
from tests.performance.timing import missing
from tests.performance.toy import size as sized

PEERS = Path(__file__).parent / "peers"
# The measures of every contender, in this order; `peers/` has their names for them.
MEASURES = (
    "nDCG nDCG@10 nDCG@100 AP RR P@10 R@100 R@1000 Success@10 Rprec bpref".split()  # noqa: SIM905
)
OURS, TWIN = "benchwright", "benchwright, without the extension"
PYTREC_EVAL, IR_MEASURES, RANX = "pytrec_eval", "ir_measures", "ranx (compiled cache warm)"
# Not a contender: the least that reading can take, a file cut into fields and no more done with it.
FLOOR, FLOOR_ON_ALL = "fields cut in C, one thread", "fields cut in C, a thread a core"
ROUNDS = sized({"S": 15, "M": 11, "L": 3}, {"S": 1, "M": 1, "L": 1})
ROUNDS_OF_RANX = 3  # most of its time goes into loading what was compiled, whatever the size
# What was promised: at most this share of the peer's time, by size.
BOUNDS = {
    ("S", OURS, PYTREC_EVAL): 0.4,
    ("M", OURS, PYTREC_EVAL): 0.18,
    ("L", OURS, PYTREC_EVAL): 0.08,
    ("L", OURS, IR_MEASURES): 0.03,
    ("L", OURS, RANX): 0.04,
    ("M", TWIN, PYTREC_EVAL): 0.7,
    ("L", OURS, FLOOR_ON_ALL): 2,
}
MOST_MEMORY_AT_L = 350
AGREE_WITHIN = 5e-5  # the table of a contender may be rounded to four decimals


@dataclass
class Timed:
    """Seconds of each round, and the most memory any of them took, in MiB."""

    seconds: list[float] = field(default_factory=list)
    memory: float = 0.0
    means: dict[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def floors(made: Made) -> dict[str, list[str]]:
    """The commands that cut a run into fields, compiled here; they must find every row."""
    if (compiler := shutil.which("cc")) is None:
        missing(FLOOR)
        return {}
    tokenise = str(made.run.with_name("tokenise"))
    source = str(PEERS / "tokenise.c")
    subprocess.run([compiler, "-O2", "-pthread", "-o", tokenise, source], check=True)
    n_rows = sum(chunk.count(b"\n") for chunk in made.run.open("rb"))
    commands = {
        FLOOR: [tokenise, str(made.run), "1"],
        FLOOR_ON_ALL: [tokenise, str(made.run), str(os.cpu_count())],
    }
    for name, command in commands.items():
        rows = subprocess.run(command, check=True, capture_output=True).stdout.split()[0]
        if int(rows) != n_rows:
            raise SystemExit(f"{name} counted {int(rows):,} rows of {n_rows:,}")
    return commands


def contenders(qrels: Path, run: Path) -> dict[str, list[str]]:
    """The command of each contender."""
    chosen = [word for name in MEASURES for word in ("-m", name)]
    score = [str(Path(sys.executable).parent / "benchwright"), "score"]
    ours = [*score, str(qrels), str(run), *chosen, "--format", "tsv"]
    commands = {OURS: ours, TWIN: ours}
    for name, script in (
        (PYTREC_EVAL, "score_pytrec_eval.py"),
        (IR_MEASURES, "score_ir_measures.py"),
        (RANX, "score_ranx.py"),
    ):
        if find_spec(script.removeprefix("score_").removesuffix(".py")) is None:
            missing(name)
        else:
            commands[name] = [sys.executable, str(PEERS / script), str(qrels), str(run)]
    return commands


def timed_once(name: str, command: list[str], into: Timed) -> None:
    scanner = "twin" if name == TWIN else "extension"
    environment = {**os.environ, "BENCHWRIGHT_SCANNER": scanner}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or every start compiles what it imports
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.DEVNULL, env=environment
        )
        _, status, usage = os.wait4(process.pid, 0)
        into.seconds.append(time.perf_counter() - started)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{name} ended with {process.returncode}: {' '.join(command)}")
        into.memory = max(into.memory, usage.ru_maxrss / 1024)
        output.seek(0)
        into.means = means_in(output.read().decode())


def means_in(text: str) -> dict[str, float]:
    """The mean of each measure in what a contender printed: a line each, the measure's name in it.

    Ours is a table of run, measure and mean with columns after them; theirs are name and mean.
    """
    means = {}
    for line in text.splitlines():
        words = line.split()
        for name, value in pairwise(words):
            if name in MEASURES:
                means[name] = float(value)
    return means


def check_same(size: str, timed: Mapping[str, Timed]) -> None:
    """Compare the means of all contenders with pytrec_eval's.

    ir_measures ranks equal scores the other way round for RR, and ranx has an order of its own in
    queries of 16 documents and more: where scores tie, those two may differ, and it is printed.
    """
    reference = PYTREC_EVAL if PYTREC_EVAL in timed else TWIN
    wanted = timed[reference].means
    if set(wanted) != set(MEASURES):
        raise SystemExit(f"{reference} gave {sorted(wanted)}")
    for name, timing in timed.items():
        if name in (FLOOR, FLOOR_ON_ALL):
            continue
        differing = {
            measure: (timing.means.get(measure), value)
            for measure, value in wanted.items()
            if abs(timing.means.get(measure, -1.0) - value) > AGREE_WITHIN
        }
        if differing and name in (OURS, TWIN):
            raise SystemExit(f"{size}: {name} differs from {reference}: {differing}")
        if differing:
            print(f"  {name} differs from {reference} in {', '.join(sorted(differing))}")


def run_size(size: str, folder: Path) -> dict[str, Timed]:
    files = made_files(size, folder)
    commands = contenders(files.qrels, files.run) | floors(files)
    timed = {name: Timed() for name in commands}
    if RANX in commands:  # fills its compiled cache
        subprocess.run(commands[RANX], check=True, capture_output=True)
    for turn in range(ROUNDS[size]):
        for name, command in commands.items():
            if name != RANX or turn < ROUNDS_OF_RANX:
                timed_once(name, command, timed[name])
    check_same(size, timed)
    return timed


def rows(size: str, timed: Mapping[str, Timed]) -> Iterable[str]:
    """Lines of a Markdown table."""
    reference = timed[PYTREC_EVAL].median if PYTREC_EVAL in timed else float("nan")
    for name, timing in timed.items():
        ratio = timing.median / reference
        yield f"| {size} | {name} | {timing.median:.3f} | {ratio:.2f} | {timing.memory:.0f} |"


def verdicts(all_timed: Mapping[str, Mapping[str, Timed]]) -> Iterable[str]:
    for (size, ours, peer), bound in BOUNDS.items():
        if peer in all_timed.get(size, {}):
            ratio = all_timed[size][ours].median / all_timed[size][peer].median
            held = "holds" if ratio <= bound else "DOES NOT HOLD"
            yield f"{size}: {ours} takes {ratio:.3f}x of {peer} (bound {bound}): {held}"
    if "L" in all_timed:
        memory = all_timed["L"][OURS].memory
        held = "holds" if memory <= MOST_MEMORY_AT_L else "DOES NOT HOLD"
        yield f"L: peak memory {memory:.0f} MiB (bound {MOST_MEMORY_AT_L}): {held}"


def main(sizes: Iterable[str] = tuple(SIZES)) -> list[str]:
    """Time every size and print it; return the lines for docs/performance.md."""
    lines = [
        "| size | contender | seconds | of pytrec_eval's time | peak MiB |",
        "|---|---|---|---|---|",
    ]
    all_timed = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            print(f"\nFiles to eleven means, whole processes: {SIZES[size]}")
            all_timed[size] = run_size(size, Path(folder))
            table = list(rows(size, all_timed[size]))
            print("\n".join(table))
            lines += table
    bounds = list(verdicts(all_timed))
    print("\n" + "\n".join(bounds))
    return [*lines, "", *(f"- {line}" for line in bounds)]


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(SIZES))
