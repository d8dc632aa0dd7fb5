"""Timings against peers, in one run: `make bench`, or `python -m tests.performance PART…`.

Whole processes from files to means, the statistics against scipy, simulations of error rates, and
parts of the house in this process. Peers come from the `bench` extra. The tables of
docs/performance.md are written anew for the parts that were run.
"""

import os
import platform
import subprocess
import sys
from importlib import import_module
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
# By module. Each is a process of its own, for the memory of a child is never told as less than that
# of the process that starts it.
PARTS = {
    "whole-process": "whole_process",
    "pooling": "pooling",
    "raw-export": "raw_export",
    "statistics": "statistics_bench",
    "simulation": "simulation",
    "gate": "gate_simulation",
    "in-process": "in_process",
    "judging": "judging",
    "importing": "importing",
    "exporting": "exporting",
    "families": "families",
    "splitting": "splitting",
    "corpora": "corpora",
    "large-site": "large_site",
    "boards": "boards",
    "run-pages": "run_pages",
    "scoring-service": "scoring_service",
    "sparse-retrieval": "sparse_retrieval",
    "dense-retrieval": "dense_retrieval",
    "shards": "shards",
    "contrastive": "contrastive",
    "contextual": "contextual",
}


def machine() -> str:
    """What the figures are from, without naming the machine."""
    python = platform.python_version()
    return f"Python {python}, {os.cpu_count()} cores, {platform.machine()}"


def write_page(tables: dict[str, list[str]]) -> None:
    """Put each part's lines between its two marks in the page."""
    text = PAGE.read_text("utf-8")
    for part, lines in {"machine": [machine()], **tables}.items():
        begin, end = f"<!-- {part}: made by make bench -->", f"<!-- end of {part} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = "\n".join([before + begin, *lines, end + after])
    PAGE.write_text(text, "utf-8")


def main(chosen: list[str]) -> None:
    parts = chosen or list(PARTS)
    if len(parts) > 1:
        for part in parts:
            subprocess.run([sys.executable, "-m", "tests.performance", part], check=True)
        return
    print(machine())
    (part,) = parts
    if lines := import_module(f"tests.performance.{PARTS[part]}").main():
        write_page({part: lines})


if __name__ == "__main__":
    main(sys.argv[1:])
