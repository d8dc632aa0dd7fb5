"""Timings against peers, in one run: `make bench`, or `python -m tests.performance PART…`.

Whole processes from files to means, the statistics against scipy, simulations of error rates, and
parts of the house in this process. Peers come from the `bench` extra. What was found is
kept in results/, and docs/performance.md written from there; the word `page` alone only writes it.
`--toy` runs parts at sizes of seconds, in this process, to see that they work, and keeps nothing.
"""

import os
import subprocess
import sys
from importlib import import_module

from tests.performance.results import machine, store, write_page
from tests.performance.toy import TOY

# By module. Each is a process of its own, for the memory of a child is never told as less than that
# of the process that starts it.
PARTS = {
    "whole-process": "whole_process",
    "pooling": "pooling",
    "raw-export": "raw_export",
    "statistics": "statistics_bench",
    "simulation": "simulation",
    "gate": "gate_simulation",
    "machine-judges": "judge_simulation",
    "learned-estimate": "learned_simulation",
    "drawn-documents": "document_simulation",
    "in-memory": "in_memory",
    "in-process": "in_process",
    "growth": "growth",
    "judging": "judging",
    "importing": "importing",
    "exporting": "exporting",
    "families": "families",
    "splitting": "splitting",
    "corpora": "corpora",
    "large-site": "large_site",
    "boards": "boards",
    "board-readers": "board_readers",
    "run-pages": "run_pages",
    "scoring-service": "scoring_service",
    "burst": "burst",
    "flame": "flame",
    "idle-site": "idle_site",
    "sparse-retrieval": "sparse_retrieval",
    "dense-retrieval": "dense_retrieval",
    "shards": "shards",
    "contrastive": "contrastive",
    "contextual": "contextual",
    "campaigns": "campaigns",
}


def main(chosen: list[str]) -> None:
    if "--toy" in chosen:
        os.environ[TOY] = "yes"
        for part in chosen:
            if part != "--toy":
                lines_of(part)
        return
    parts = chosen or list(PARTS)
    if len(parts) > 1:
        for part in parts:
            subprocess.run([sys.executable, "-m", "tests.performance", part], check=True)
        return
    print(machine())
    (part,) = parts
    if part != "page":
        before = os.getloadavg()[0]
        if lines := lines_of(part):
            store(part, lines, load=(before, os.getloadavg()[0]))
    write_page()


def lines_of(part: str) -> list[str] | None:
    """What the part has for the page."""
    return import_module(f"tests.performance.{PARTS[part]}").main()  # type: ignore[no-any-return]


if __name__ == "__main__":
    main(sys.argv[1:])
