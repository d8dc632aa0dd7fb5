"""What the parts returned, kept by run: docs/performance.md is made of it, and of nothing else.

A run is the lines of a part's tables, the versions of its peers, date, commit, what kind of machine
it was and how busy; `results/<part>.json` keeps the last few, the newest last.
"""

import json
import os
import platform
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
FOLDER = Path(__file__).parent / "results"
KEPT = 5
# The distributions a part is held against, or leans on where it is fastest.
PEERS = {
    "whole-process": ("pytrec-eval-terrier", "ir-measures", "ranx"),
    "statistics": ("scipy",),
    "in-memory": ("pytrec-eval-terrier", "ranx", "polars"),
    "in-process": ("bm25s",),
    "importing": ("polars",),
    "exporting": ("polars",),
    "families": ("datasketch",),
    "splitting": ("scikit-learn",),
    "corpora": ("polars",),
    "sparse-retrieval": ("bm25s", "numba", "scipy"),
    "dense-retrieval": ("faiss-cpu", "usearch", "numba"),
    "contrastive": ("numpy", "torch"),
    "contextual": ("deepeval",),
}
NUMBER = re.compile(r"^\d[\d,]*(\.\d+)?")

# Of the sizes of a part, this one; a part that knows the word says so.
ONLY = "BENCH_ONLY"

Run = dict[str, Any]
Cells = tuple[str, ...]


def machine() -> str:
    """What the figures are from, without naming the machine."""
    python = platform.python_version()
    return f"Python {python}, {os.cpu_count()} cores, {platform.machine()}"


def versions(part: str) -> dict[str, str | None]:
    """Of each peer, or None where it is not installed."""
    results: dict[str, str | None] = {}
    for peer in PEERS.get(part, ()):
        try:
            results[peer] = version(peer)
        except PackageNotFoundError:
            results[peer] = None
    return results


def stored(part: str, folder: Path = FOLDER) -> list[Run]:
    """The runs of a part that are kept, the newest last."""
    path = folder / f"{part}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def store(
    part: str, lines: Sequence[str], folder: Path = FOLDER, *, load: tuple[float, float]
) -> None:
    """Add a run of today to those of the part; `load` is the average when it began and ended."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=PAGE.parent, capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    run: Run = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit or None,
        "machine": machine(),
        "load": [round(average, 1) for average in load],
        "versions": versions(part),
        "only": os.environ.get(ONLY),
        "lines": list(lines),
    }
    runs = [*stored(part, folder), run][-KEPT:]
    folder.mkdir(exist_ok=True)
    text = json.dumps(runs, indent=1, ensure_ascii=False)
    (folder / f"{part}.json").write_text(text + "\n", "utf-8")


def told(run: Run) -> str:
    """When, of what and against what: a sentence below the tables."""
    peers = run["versions"]
    if peers is None:
        against = "versions not recorded"
    else:
        each = [f"{peer} {number or 'not installed'}" for peer, number in peers.items()]
        against = ", ".join(each) or "no peer"
    commit = f"commit {run['commit']}" if run["commit"] else "commit not recorded"
    began, ended = run.get("load") or (None, None)
    load = "load not recorded" if began is None else f"load {began} before it, {ended} at its end"
    when = f"{run['date']} ({run['only']} only)" if run.get("only") else run["date"]
    return f"Measured {when}, {commit}, {run['machine']}, {load}; {against}."


def shown(runs: Sequence[Run]) -> Run:
    """The newest run of all sizes; those of one are only in the range."""
    return ([run for run in runs if not run.get("only")] or runs)[-1]


def spread(runs: Sequence[Run]) -> Iterator[str]:
    """Least, median and most of each figure that differs between the runs.

    Rows are those of the run that is shown. A row of another run is the same one if its leading
    cells are: as few of them as tell the rows of the table apart.
    """
    results: list[str] = []
    for head, rows in _tables(shown(runs)):
        others = [row for run in runs for its, body in _tables(run) if its == head for row in body]
        widths = range(1, len(head))
        n_keys = next((n for n in widths if len({*(row[:n] for row in rows)}) == len(rows)), 1)
        for row in rows:
            alike = [other for other in others if other[:n_keys] == row[:n_keys]]
            what = ", ".join(filter(None, row[:n_keys]))
            results += _spread_of(what, head[n_keys:], [other[n_keys:] for other in alike])
    if results:
        yield from (
            "",
            "| over runs | | runs | least | median | most |",
            "|---|---|---:|---:|---:|---:|",
        )
        yield from results


def _spread_of(what: str, names: Cells, rows: Sequence[Cells]) -> Iterator[str]:
    for name, column in zip(names, zip(*rows, strict=False), strict=False):
        figures = [float(m[0].replace(",", "")) for cell in column if (m := NUMBER.match(cell))]
        if len(set(column)) > 1 and len(figures) == len(column):
            text = " | ".join(f"{of(figures):,.10g}" for of in (min, median, max))
            yield f"| {what} | {name} | {len(figures)} | {text} |"


def _tables(run: Run) -> Iterator[tuple[Cells, list[Cells]]]:
    """The head and the rows of each table."""
    for is_table, lines in groupby(run["lines"], key=lambda line: line.startswith("|")):
        if is_table:
            head, _, *rows = (tuple(map(str.strip, line.strip("|").split("|"))) for line in lines)
            yield head, rows


def write_page(page: Path = PAGE, folder: Path = FOLDER) -> None:
    """Put what is kept of each part between its two marks in the page."""
    text = page.read_text("utf-8")
    for path in sorted(folder.glob("*.json")):
        runs = stored(path.stem, folder)
        begin, end = f"<!-- {path.stem}: made by make bench -->", f"<!-- end of {path.stem} -->"
        before, is_there, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        if is_there:
            newest = shown(runs)
            others = [f"- In the range: {told(run)}" for run in runs if run is not newest]
            lines = [
                *newest["lines"],
                *spread(runs),
                "",
                told(newest),
                *([""] if others else []),
                *others,
            ]
            text = "\n".join([before + begin, *lines, end + after])
    page.write_text(text, "utf-8")
