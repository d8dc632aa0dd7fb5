"""Contrastive accuracy beside the published formula, with numpy and with torch, in turns.

Each call is a process of its own, so that what it takes of memory can be told. torch is no part of
`make bench`: where it is not installed, the table says so.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.performance.toy import size

PEER = Path(__file__).parent / "peers" / "contrastive_accuracy.py"
ROOT = Path(__file__).resolve().parents[2]
N_FEATURES = 128
# Rows, and how often: the whole matrix of similarities of 20,000 rows is 1.6 GB, its order 3.2 GB.
SIZES = size(((5_000, 3), (20_000, 1)), ((100, 1),))
LARGEST = size(100_000, 200)
KINDS = ("ours", "numpy", "torch")
# Times that of the peer, by rows.
GOALS = {(5_000, "numpy"): 4, (5_000, "torch"): 2, (20_000, "numpy"): 20, (20_000, "torch"): 3}
MOST_EXTRA_MB = 64
LARGEST_SECONDS, LARGEST_MB = 30, 256


class Taken(NamedTuple):
    score: float
    seconds: float
    busy: float
    extra_mb: float
    peak_mb: float


def main(sizes: Sequence[tuple[int, int]] = SIZES, largest: int = LARGEST) -> list[str]:
    lines = [
        "| rows x 128 | who | seconds | of processor | MB beyond matrices | MB in all | ours is |",
        "|---:|---|---:|---:|---:|---:|---|",
    ]
    kinds = [kind for kind in KINDS if kind != "torch" or find_spec("torch")]
    with tempfile.TemporaryDirectory() as folder:
        for n, turns in sizes:
            lines += _compared(Path(folder), n, turns, kinds)
        lines.append(_row(largest, "ours", _taken("ours", *_files(Path(folder), largest)), ""))
    lines += _said(kinds, largest)
    print("\n".join(lines))
    return lines


def _files(folder: Path, n: int) -> tuple[Path, Path]:
    rng = np.random.default_rng(n)
    z1 = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    z2 = z1 + 2 * rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    paths = folder / f"z1-{n}.npy", folder / f"z2-{n}.npy"
    for path, matrix in zip(paths, (z1, z2), strict=True):
        np.save(path, matrix)
    return paths


def _taken(kind: str, first: Path, second: Path, rounds: int = 1) -> Taken:
    done = subprocess.run(
        [sys.executable, str(PEER), kind, str(first), str(second), str(rounds)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return Taken(*map(float, done.stdout.split()))


def _compared(folder: Path, n: int, turns: int, kinds: Sequence[str]) -> Iterator[str]:
    """A row for each; the fastest of the turns, which are taken one after the other."""
    files = _files(folder, n)
    taken = [{kind: _taken(kind, *files) for kind in kinds} for _ in range(turns)]
    best = {
        kind: min((timing[kind] for timing in taken), key=lambda timing: timing.seconds)
        for kind in kinds
    }
    scores = {round(value.score, 4) for value in best.values()}
    if len(scores) > 1:
        message = f"{n} rows: the scores differ, {scores}"
        raise SystemExit(message)
    for kind, timing in best.items():
        ratio = timing.seconds / best["ours"].seconds
        goal = GOALS.get((n, kind))
        words = (
            "" if kind == "ours" else f"{ratio:.1f}x as fast" + (f" (goal {goal}x)" if goal else "")
        )
        yield _row(n, kind, timing, words)


def _row(n: int, kind: str, timing: Taken, ratio: str) -> str:
    times = f"{timing.seconds:.2f} | {timing.busy:.2f}"
    memory = f"{timing.extra_mb:,.0f} | {timing.peak_mb:,.0f}"
    return f"| {n:,} | {kind} | {times} | {memory} | {ratio} |"


def _said(kinds: Sequence[str], largest: int) -> list[str]:
    goals = (
        f"Goals: {MOST_EXTRA_MB} MB beyond the matrices; {largest:,} rows in {LARGEST_SECONDS} s "
        f"and {LARGEST_MB} MB with matrices, Python and numpy."
    )
    return ["", goals] + ([] if "torch" in kinds else ["", "torch: not installed."])


if __name__ == "__main__":
    main()
