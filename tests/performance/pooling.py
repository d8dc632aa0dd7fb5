"""A pool of many deep runs as a person makes it: `benchwright pool`, from files to a file.

50 runs of 1,000 queries to rank 100, each noisy in its own measure about one order of 1,500
documents a query.
"""

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.performance.toy import size

N_RUNS, N_QUERIES, DEPTH, N_DOCUMENTS = size((50, 1000, 100, 1500), (3, 5, 10, 50))
LIMIT_SECONDS, LIMIT_BYTES = 20, 1 << 30
ROUNDS = 2


def made_runs(folder: Path) -> list[Path]:
    """TREC run files; a seeded draw, so the pool's digest is known."""
    import numpy as np

    rng = np.random.default_rng(5)
    order = np.arange(N_DOCUMENTS, dtype=float)
    paths = []
    for run in range(N_RUNS):
        lines = []
        for query in range(N_QUERIES):
            noisy = order + rng.normal(0, 150 + 10 * run, N_DOCUMENTS)
            top = np.argsort(noisy, kind="stable")[:DEPTH]
            lines += [
                f"q{query} Q0 doc{query * 37 + document:07d} {rank} {1000 - rank * 0.731:.4f} r\n"
                for rank, document in enumerate(top.tolist(), start=1)
            ]
        paths.append(folder / f"run{run:02d}")
        paths[-1].write_text("".join(lines))
    return paths


def timed(words: list[str]) -> tuple[float, float]:
    """Seconds of the whole process on the clock, and of all its threads together."""
    before, started = _used(), time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started, _used() - before


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def main() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        _make_elsewhere(folder)
        output = Path(folder) / "pool.tsv"
        runs = [str(path) for path in sorted(Path(folder).glob("run*"))]
        program = [sys.executable, "-m", "benchwright.cli.start"]
        words = [*program, "pool", *runs, "--depth", str(DEPTH), "-o", str(output)]
        times = [timed(words) for _ in range(ROUNDS)]
        n_bytes = output.stat().st_size
        digest = hashlib.sha256(output.read_bytes()).hexdigest()
        n_entries = sum(1 for _ in output.open("rb")) - 2
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    seconds, busy = min(times)
    print(f"\nPool of {N_RUNS} runs x {N_QUERIES:,} queries to depth {DEPTH}, whole process")
    print(f"  {n_entries:,} documents, {n_bytes / 1e6:.0f} MB written, sha256 {digest[:16]}")
    print(f"  {seconds:.1f} s ({busy:.1f} s of processor), limit {LIMIT_SECONDS} s")
    print(f"  {peak / 2**20:,.0f} MiB at most, limit {LIMIT_BYTES >> 20:,} MiB")
    if seconds > LIMIT_SECONDS or peak > LIMIT_BYTES:
        print("  over the limit")
        sys.exit(1)
    return [
        "| runs x queries x depth | documents | seconds | of processor | peak MiB |",
        "|---|---|---|---|---|",
        f"| {N_RUNS} x {N_QUERIES:,} x {DEPTH} | {n_entries:,} | {seconds:.1f} | {busy:.1f} "
        f"| {peak / 2**20:,.0f} |",
        f"| wanted: under | | {LIMIT_SECONDS} | | {LIMIT_BYTES >> 20:,} |",
    ]


def _make_elsewhere(folder: str) -> None:
    """Make the files in a process that is smaller than a pool, so that its memory is not told."""
    script = "import sys; from tests.performance.pooling import made_runs, Path"
    making_runs = f"{script}; made_runs(Path(sys.argv[1]))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", making_runs, folder], check=True, env=environment)


if __name__ == "__main__":
    main()
