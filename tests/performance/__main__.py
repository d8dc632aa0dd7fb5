"""Timings against peers, in one run: `make bench`, or `python -m tests.performance PART…`.

Whole processes from files to means, the statistics against scipy, simulations of error rates, and
parts of the house in this process. Peers come from the `bench` extra. With all parts run, the
tables of docs/performance.md are written anew.
"""

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from tests.performance import in_process, simulation, statistics_bench, whole_process

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
PARTS: dict[str, Callable[[], list[str] | None]] = {
    "whole-process": whole_process.main,
    "statistics": statistics_bench.main,
    "simulation": simulation.main,
    "in-process": in_process.main,
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
    print(machine())
    tables = {part: lines for part in chosen or PARTS if (lines := PARTS[part]())}
    if not chosen:
        write_page(tables)


if __name__ == "__main__":
    main(sys.argv[1:])
