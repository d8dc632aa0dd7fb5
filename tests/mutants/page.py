"""What was found, as a row an area of docs/testing.md; the rows of other areas stay."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.mutants.making import ROOT, Mutant
from tests.mutants.running import KILLED, LATE, SURVIVED

PAGE = ROOT / "docs" / "testing.md"
REASONS = Path(__file__).parent / "reasons.json"
BEGIN, END = "<!-- mutants: made by make mutants -->", "<!-- end of mutants -->"
COLUMNS = (
    *("area", "places", "run", "seed", "killed", "ended late", "survive with a reason", "survive"),
    *("noticed", "noticed at first", "date"),
)


def row(
    area: str,
    n_places: int,
    seed: str,
    mutants: Sequence[Mutant],
    runs: Mapping[str, Sequence[str]],
) -> tuple[str, float]:
    """The line of an area, and which share of its mutants is noticed: those with a reason are left
    out. `runs` has what was found of each mutant, the newest last.
    """
    newest = Counter(runs[mutant.key][-1] for mutant in mutants)
    n_first = sum(runs[mutant.key][0] != SURVIVED for mutant in mutants)
    n_same = sum(has_reason(mutant) and runs[mutant.key][-1] == SURVIVED for mutant in mutants)
    n_counted = len(mutants) - n_same
    share = (newest[KILLED] + newest[LATE]) / n_counted if n_counted else 1.0
    first = n_first / n_counted if n_counted else 1.0
    cells = (
        *(area, f"{n_places:,}", f"{len(mutants):,}", seed),
        *(f"{n:,}" for n in (newest[KILLED], newest[LATE], n_same, newest[SURVIVED] - n_same)),
        *(f"{share:.1%}", f"{first:.1%}", time.strftime("%Y-%m-%d", time.gmtime())),
    )
    return f"| {' | '.join(cells)} |", share


def has_reason(mutant: Mutant) -> bool:
    reasons = json.loads(REASONS.read_text("utf-8"))
    return f"{mutant.module}: {mutant.was} -> {mutant.now}" in reasons


def write_page(rows: Iterable[str], areas: Iterable[str]) -> None:
    """Put rows in the place of those of the same areas, in the order of `areas`."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    table, _, after = rest.partition(END)
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    line_of = {line.split(" | ")[0]: line for line in [*lines, *rows]}
    kept = [line_of[f"| {area}"] for area in areas if f"| {area}" in line_of]
    head = [f"| {' | '.join(COLUMNS)} |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    PAGE.write_text("\n".join([before + BEGIN, *head, *kept, END + after]), "utf-8")
