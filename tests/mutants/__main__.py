"""`python -m tests.mutants [AREA…] [--sample N] [--seed S]`, by `make mutants`.

What was found is kept in var/mutants by the text of each mutant: a run that was broken off goes on,
and a larger sample adds to a smaller one. Survivors are run again, for tests may have come.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from tests.mutants.making import ROOT, Mutant, Place, mutant_at, places_in
from tests.mutants.running import KILLED, LATE, SURVIVED, Running

KEPT = ROOT / "var" / "mutants" / "results.jsonl"
REASONS = Path(__file__).parent / "reasons.json"
PAGE = ROOT / "docs" / "testing.md"
BEGIN, END = "<!-- mutants: made by make mutants -->", "<!-- end of mutants -->"
WANTED = 0.95
# What is mutated, and what has to notice.
AREAS = {
    "measures": (["scoring/core/measures/*.py"], ["tests/scoring/core/measures"]),
    "statistics": (["scoring/core/statistics/*.py"], ["tests/scoring/core/statistics"]),
    "gating": (["scoring/core/gating/*.py"], ["tests/scoring/core/gating"]),
    "rules": (
        ["annotation/core/rules/*.py"],
        ["tests/annotation/core/test_rules.py", "tests/annotation/core/test_dawid_skene.py"],
    ),
    "splitting": (
        ["benchmarks_app/core/splitting/*.py"],
        ["tests/benchmarks_app/core/test_splitting.py"],
    ),
    "reading": (["scoring/core/reading/*.py"], ["tests/scoring/core/reading"]),
    "claiming": (
        ["annotation/services/claiming.py", "annotation/services/exchanging.py"],
        ["tests/annotation/test_claiming.py", "tests/annotation/test_judging.py"],
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
        rows.append(_row(area, len(places), chosen, kept))
        print(rows[-1][0], flush=True)
    if not asked.only:
        _write_page(rows, asked.sample, asked.seed)
    return int(any(share < WANTED for _, share in rows))


def _places(area: str) -> Iterator[Place]:
    for pattern in AREAS[area][0]:
        for path in sorted(ROOT.glob(pattern)):
            yield from places_in(path)


def _import_all_but_ours() -> None:
    """What every test imports; our own modules must be new in each process."""
    import django.test
    import hypothesis.extra.numpy
    import numpy.testing
    import polars
    import scipy.sparse
    import scipy.stats

    del django, hypothesis, numpy, polars, scipy


def _tests(area: str, module: str) -> list[str]:
    """The file of tests that is named for the module first: it is the likeliest to notice."""
    named = f"test_{module.rpartition('.')[2]}.py"
    files: list[Path] = []
    for part in AREAS[area][1]:
        path = ROOT / part
        files += sorted(path.rglob("test_*.py")) if path.is_dir() else [path] * path.exists()
    return [str(path) for path in sorted(files, key=lambda path: path.name != named)]


def _run(area: str, chosen: Sequence[Mutant], kept: dict[str, str], n_workers: int) -> None:
    waiting = [mutant for mutant in chosen if kept.get(mutant.key, SURVIVED) == SURVIVED]
    if not waiting:
        return
    sound = Running(None, _tests(area, waiting[0].module), 3600)
    while (found := sound.result()) is None:
        time.sleep(0.1)
    if found != SURVIVED:
        raise SystemExit(f"{area}: its tests fail without any mutant")
    seconds = 30 + 4 * n_workers * (time.monotonic() - sound.began)
    waiting.reverse()
    at_work: list[Running] = []
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with KEPT.open("a", encoding="utf-8") as out:
        while waiting or at_work:
            while waiting and len(at_work) < n_workers:
                mutant = waiting.pop()
                at_work.append(Running(mutant, _tests(area, mutant.module), seconds))
            for one in list(at_work):
                if (found := one.result()) is not None:
                    at_work.remove(one)
                    kept[one.mutant.key] = found
                    out.write(json.dumps({"key": one.mutant.key, "found": found}) + "\n")
                    out.flush()
                    if found == SURVIVED:
                        print(f"  {_told(one.mutant)}", flush=True)
            time.sleep(0.02)


def _kept() -> dict[str, str]:
    if not KEPT.exists():
        return {}
    lines = map(json.loads, KEPT.read_text("utf-8").splitlines())
    return {line["key"]: line["found"] for line in lines}


def _told(mutant: Mutant) -> str:
    return f"{mutant.module}:{mutant.line}: {mutant.was}  ->  {mutant.now}"


def _row(
    area: str, n_all: int, chosen: Sequence[Mutant], kept: dict[str, str]
) -> tuple[str, float]:
    found = Counter(kept[mutant.key] for mutant in chosen)
    reasons = json.loads(REASONS.read_text("utf-8"))
    alive = [mutant for mutant in chosen if kept[mutant.key] == SURVIVED]
    n_same = sum(f"{mutant.module}: {mutant.was} -> {mutant.now}" in reasons for mutant in alive)
    n_counted = len(chosen) - n_same
    share = (found[KILLED] + found[LATE]) / n_counted if n_counted else 1.0
    numbers = (n_all, len(chosen), found[KILLED], found[LATE], n_same, len(alive) - n_same)
    return f"| {area} | {' | '.join(f'{n:,}' for n in numbers)} | {share:.1%} |", share


def _write_page(rows: Sequence[tuple[str, float]], sample: int, seed: int) -> None:
    head = (
        "| area | mutants | run | killed | ended late | survive with a reason | survive | noticed |"
    )
    how = (
        f"The last run: a sample of {sample:,} an area, seed {seed}." if sample else "All of them."
    )
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    stood, _, after = rest.partition(END)
    lines_of = {line.split(" | ")[0]: line for line in stood.splitlines() if line.startswith("| ")}
    lines_of |= {row.split(" | ")[0]: row for row, _ in rows}
    shown = [lines_of[f"| {area}"] for area in AREAS if f"| {area}" in lines_of]
    lines = [how, "", head, "|---|" + "---:|" * 7, *shown]
    PAGE.write_text("\n".join([before + BEGIN, *lines, END + after]), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
