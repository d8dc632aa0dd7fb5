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
    "in-process": ("pytrec-eval-terrier", "bm25s"),
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

Run = dict[str, Any]


def machine() -> str:
    """What the figures are from, without naming the machine."""
    python = platform.python_version()
    return f"Python {python}, {os.cpu_count()} cores, {platform.machine()}"


def versions(part: str) -> dict[str, str | None]:
    """Of each peer, or None where it is not installed."""
    found: dict[str, str | None] = {}
    for peer in PEERS.get(part, ()):
        try:
            found[peer] = version(peer)
        except PackageNotFoundError:
            found[peer] = None
    return found


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
    return f"Measured {run['date']}, {commit}, {run['machine']}, {load}; {against}."


def spread(runs: Sequence[Run]) -> Iterator[str]:
    """Least, median and most of each figure that differs between the runs.

    Rows are those of the newest run; an older one takes part in a row if it has the same words
    and sizes at that place, and another number.
    """
    newest = runs[-1]["lines"]
    alike = [run["lines"] for run in runs if len(run["lines"]) == len(newest)]
    head: list[str] = []
    rows = []
    for n, line in enumerate(newest):
        if not line.startswith("|"):
            head = []
            continue
        cells = _cells(line)
        head = head or cells
        others = [of for of in (_cells(lines[n]) for lines in alike) if of[0] == cells[0]]
        columns = list(zip(*(of for of in others if len(of) == len(cells)), strict=True))
        what = ", ".join(filter(None, (column[0] for column in columns if len(set(column)) == 1)))
        for name, column in zip(head, columns, strict=True):
            found = [float(m[0].replace(",", "")) for cell in column if (m := NUMBER.match(cell))]
            if len(set(column)) > 1 and len(found) == len(column):
                figures = " | ".join(f"{of(found):,.10g}" for of in (min, median, max))
                rows.append(f"| {what} | {name} | {len(found)} | {figures} |")
    if rows:
        yield from (
            "",
            "| over runs | | runs | least | median | most |",
            "|---|---|---:|---:|---:|---:|",
        )
        yield from rows


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def write_page(page: Path = PAGE, folder: Path = FOLDER) -> None:
    """Put what is kept of each part between its two marks in the page."""
    text = page.read_text("utf-8")
    for path in sorted(folder.glob("*.json")):
        runs = stored(path.stem, folder)
        begin, end = f"<!-- {path.stem}: made by make bench -->", f"<!-- end of {path.stem} -->"
        before, is_there, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        if is_there:
            lines = [*runs[-1]["lines"], *spread(runs), "", told(runs[-1])]
            text = "\n".join([before + begin, *lines, end + after])
    page.write_text(text, "utf-8")
