"""`python -m tests.mutants [AREA…] [--sample N] [--seed S]`, by `make mutants`.

What was found is kept in var/mutants by the text of each mutant: a run that was broken off goes on,
and a larger sample adds to a smaller one. Survivors without a reason are run again, for tests may
have come.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from math import ceil
from pathlib import Path

from tests.mutants.making import ROOT, Mutant, Place, mutant_at, places_in
from tests.mutants.page import has_reason, row, write_page
from tests.mutants.running import SURVIVED, Running

KEPT = ROOT / "var" / "mutants" / "results.jsonl"
WANTED = 0.95
# What is mutated, and what has to notice.
AREAS = {
    "measures": (
        ["benchwright/measures/*.py"],
        ["tests/benchwright/measures/test_measures.py", "tests/benchwright/measures"],
    ),
    "statistics": (
        [
            "benchwright/statistics/*.py",
            *(f"benchwright/comparison/{name}.py" for name in ("aligning", "outcome")),
        ],
        ["tests/benchwright/statistics", "tests/benchwright/comparison"],
    ),
    "gating": (
        ["benchwright/gates/*.py", "benchwright/gates/rehearsal/*.py"],
        ["tests/benchwright/gates"],
    ),
    "rules": (
        [f"benchwright/qrels/{name}.py" for name in ("rules", "dawid_skene", "events")],
        ["tests/benchwright/qrels/test_rules.py", "tests/benchwright/qrels/test_dawid_skene.py"],
    ),
    "splitting": (
        ["benchwright/splits/*.py"],
        [f"tests/benchwright/splits/test_{name}.py" for name in ("splitting", "balancing")],
    ),
    "reading": (["benchwright/reading/*.py"], ["tests/benchwright/reading"]),
    "claiming": (
        ["annotation/judging/services/claiming.py", "annotation/judging/services/exchanging.py"],
        [
            "tests/annotation/judging",
            "tests/annotation/pools/test_pool_people.py",
            "tests/annotation/guidelines/test_answering.py",
            "tests/annotation/labels/test_known_grades.py",
        ],
    ),
    "estimating": (
        ["benchwright/estimation/*.py", "benchwright/calibration/*.py"],
        ["tests/benchwright/estimation", "tests/benchwright/calibration"],
    ),
    "clicks": (["benchwright/clicks/*.py"], ["tests/benchwright/clicks"]),
    "sparing": (
        ["annotation/sparing/services.py", "annotation/queueing/services.py"],
        ["tests/annotation/sparing/test_sparing.py", "tests/annotation/queueing"],
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("areas", nargs="*", default=list(AREAS), help=", ".join(AREAS))
    parser.add_argument("--sample", type=int, default=0, help="mutants an area; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", help="files whose path has this in it")
    asked = parser.parse_args()
    own = tempfile.mkdtemp(prefix="benchwright-mutants-")
    os.environ |= {"HYPOTHESIS_STORAGE_DIRECTORY": f"{own}/found", "BENCHWRIGHT_DATA": own}
    _import_all_but_ours()
    kept = _kept()
    rows = []
    for area in asked.areas:
        places = [place for place in _places(area) if asked.only in str(place.path)]
        if asked.sample:
            random.Random(asked.seed).shuffle(places)
        n = asked.sample or len(places)
        chosen = list(islice(filter(None, map(mutant_at, places)), n))
        _run(area, chosen, kept, asked.workers)
        seed = str(asked.seed) if asked.sample else "all"
        rows.append(row(area, len(places), seed, chosen, kept))
        print(rows[-1][0], flush=True)
    if not asked.only:
        write_page([line for line, _ in rows], AREAS)
    return int(any(share < WANTED for _, share in rows))


def _places(area: str) -> Iterator[Place]:
    for pattern in AREAS[area][0]:
        for path in sorted(ROOT.glob(pattern)):
            yield from places_in(path)


def _import_all_but_ours() -> None:
    """What every test imports; our own modules must be new in each process."""
    import celery
    import dateutil.rrule
    import django.test
    import hypothesis.extra.numpy
    import numpy.testing
    import polars
    import psycopg
    import requests
    import scipy.sparse
    import scipy.stats
    import yaml

    del celery, dateutil, django, hypothesis, numpy, polars, psycopg, requests, scipy, yaml


def _tests(area: str, module: str) -> list[str]:
    """First what is likeliest to notice: its own examples, then the file that is named for it."""
    named = f"test_{module.rpartition('.')[2]}.py"
    files: list[Path] = []
    for part in AREAS[area][1]:
        path = ROOT / part
        files += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    place = ROOT / module.replace(".", "/")
    own = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    in_order = [own, *sorted(files, key=lambda path: path.name != named)]
    return [str(path) for path in dict.fromkeys(in_order)]


def _run(area: str, chosen: Sequence[Mutant], kept: dict[str, list[str]], n_workers: int) -> None:
    waiting = [
        mutant
        for mutant in chosen
        if mutant.key not in kept or (kept[mutant.key][-1] == SURVIVED and not has_reason(mutant))
    ]
    if not waiting:
        return
    seconds = 10 + 4 * _seconds_without(area, waiting[0].module)
    waiting.reverse()
    at_work: list[Running] = []
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a", encoding="utf-8") as out:
        while waiting or at_work:
            while waiting and len(at_work) < n_workers:
                mutant = waiting.pop()
                at_work.append(Running(mutant, _tests(area, mutant.module), seconds))
            for item in list(at_work):
                if (result := item.result()) is not None:
                    at_work.remove(item)
                    kept.setdefault(item.mutant.key, []).append(result)
                    out.write(json.dumps({"key": item.mutant.key, "found": result}) + "\n")
                    out.flush()
                    if result == SURVIVED:
                        print(f"  {item.mutant}", flush=True)
            time.sleep(0.02)


def _seconds_without(area: str, module: str) -> int:
    """Of the processor, for all tests of an area."""
    sound = Running(None, _tests(area, module), 3600)
    while (result := sound.result()) is None:
        time.sleep(0.1)
    if result != SURVIVED:
        raise SystemExit(f"{area}: its tests fail without any mutant")
    return ceil(sound.spent)


def _kept() -> dict[str, list[str]]:
    """Of each mutant's text what was found whenever its tests ran, the newest last."""
    runs: dict[str, list[str]] = {}
    if KEPT.exists():
        for line in map(json.loads, KEPT.read_text("utf-8").splitlines()):
            runs.setdefault(line["key"], []).append(line["found"])
    return runs


if __name__ == "__main__":
    sys.exit(main())
