"""A run of seven million lines taken in, beside a plain polars read of the same file.

Each in a process of its own, whose peak is told. What a plain read does is less: it holds the whole
file, and checks, ranks and stores nothing.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.performance.made_collection import SIZES, made_files

SIZE = "L"
MEBI = 1 << 20
COLUMNS = ("qid", "q0", "docid", "rank", "score", "tag")


def _import(path: Path, folder: Path) -> int:
    from benchwright.errors import Problems
    from benchwright.files.sources import open_inflated
    from benchwright.runs.blocks import run_frames
    from benchwright.runs.store import write_run_frames

    problems = Problems()
    with open_inflated(path) as stream:
        frames = run_frames(stream, file=path.name, problems=problems)
        summary = write_run_frames(frames, directory=folder, problems=problems, file=path.name)
    return summary.n_rows


def _read(path: Path, folder: Path) -> int:
    import polars as pl

    frame = pl.read_csv(path, separator=" ", has_header=False, new_columns=COLUMNS)
    return len(frame)


PARTS = {"import": _import, "plain polars read": _read}


def _inside(name: str, path: str) -> None:
    with tempfile.TemporaryDirectory(prefix="benchwright-bench-") as folder:
        began = time.perf_counter()
        n_rows = PARTS[name](Path(path), Path(folder))
        seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"rows": n_rows, "seconds": seconds, "peak": peak}))


def main() -> list[str]:
    """Print and return a table of rows a second and of peaks."""
    with tempfile.TemporaryDirectory(prefix="benchwright-bench-") as folder:
        run = made_files(SIZE, Path(folder)).run
        size = run.stat().st_size / MEBI
        lines = [f"A run of {SIZES[SIZE]}: {size:,.0f} MiB.", ""]
        lines += ["| | seconds | rows a second | peak, MiB |", "|---|---|---|---|"]
        for name in PARTS:
            command = [sys.executable, "-m", "tests.performance.importing", name, str(run)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            report = json.loads(done.stdout)
            lines.append(
                f"| {name} | {report['seconds']:.1f} | {report['rows'] / report['seconds']:,.0f} "
                f"| {report['peak'] / MEBI:,.0f} |"
            )
    print("\n".join(lines))
    return lines


if __name__ == "__main__":
    _inside(*sys.argv[1:])
