"""How often a gate is right: made comparisons through the code that decides, by size and scatter.

Made differences, and pairs of the runs that come with the data, with tests of Student's t; some of
them again with sign flips. Writes the tables of docs/gate.md. `python -m tests.performance gate`.
"""

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchwright.gates.bounds import Method
from benchwright.gates.policy import DEFAULTS
from tests.benchwright.gates import real_pairs
from tests.benchwright.gates.simulation import (
    SHARES,
    SIZES,
    TRUTHS,
    Cell,
    Shares,
    decided,
    every_slice,
    full_policy,
    simulated,
)
from tests.performance.toy import TOY, size

PAGE = Path(__file__).parents[2] / "docs" / "gate.md"
RUNS, SEED = size(2_000, 5), 1
FLIPPED, FLIPPED_RUNS, DRAWS = ((300, 0.10), (1_000, 0.20)), size(100, 5), size(1_000, 100)
HEADS = {
    "better": "truly +.02 everywhere",
    "tail lost": "+.03, but tail -.03",
    "head lost": "+.03, but head -.05",
    "no change": "no change at all",
}
PASSING = ("pass", "pass_strict")
REAL_SIZES = (100, 300, 1_000)
REAL_CLASSES = {
    "near": "near, sigma < .10",
    "related": "related, .10 to .20",
    "unrelated": "unrelated, > .20",
}
REAL_HEADS = {
    "swapped": "no change",
    0.015: "+.015",
    0.03: "+.03",
    0.05: "+.05",
    "harmed": "planted harm",
}


def found_in(cell: Cell, n_runs: int) -> tuple[Shares, Shares]:
    """By the slice rules, where slices of any size decide, and as gates are used."""
    any_size = simulated(cell, n_runs=n_runs, seed=SEED, policy=every_slice())
    if cell.n * min(SHARES.values()) >= DEFAULTS.smallest_slice:
        return any_size, any_size  # no slice is too small, so nothing differs
    return any_size, simulated(cell, n_runs=n_runs, seed=SEED, policy=full_policy())


def slice_rules(found: Shares) -> str:
    return " / ".join(map(share, (found.passed, found.blocked, found.strict)))


def whole_gate(of: Mapping[str, float]) -> str:
    """Pass (strict or not), block, hold, inconclusive."""
    parts = (sum(of[name] for name in PASSING), of["block"], of["hold"], of["inconclusive"])
    return " / ".join(map(share, parts))


def flipped(n_runs: int) -> Iterator[list[str]]:
    """Both ways on the same made comparisons."""
    for n, sigma in FLIPPED:
        for truth in TRUTHS:
            cell = Cell(n, sigma, truth)
            ways = (Method("t"), Method("signflip", n_draws=DRAWS))
            results = [decided(cell, n_runs=n_runs, seed=SEED, method=way) for way in ways]
            yield [f"{n:,}, {sigma:.2f}, {HEADS[truth]}", *map(whole_gate, results)]


def share(value: float) -> str:
    """As tables have it: .05, 1.0.

    Examples
    --------
    >>> share(0.054), share(0.999)
    ('.05', '1.0')
    """
    text = f"{value:.2f}"
    return "1.0" if text == "1.00" else text[1:]


def table(columns: list[str], body: Iterable[list[str]]) -> list[str]:
    lines = [columns, ["---"] * len(columns), *body]
    return [f"| {' | '.join(line)} |" for line in lines]


def tables(n_runs: int) -> dict[str, list[str]]:
    columns = ["queries, sigma", *HEADS.values()]
    rules, whole, kept = [], [], []
    for n, sigma in SIZES:
        results = [found_in(Cell(n, sigma, truth), n_runs) for truth in TRUTHS]
        name = f"{n:,}, {sigma:.2f}"
        rules.append([name, *(slice_rules(plain) for plain, _ in results)])
        whole.append([name, *(whole_gate(gate.verdicts) for _, gate in results)])
        kept.append([name, *(whole_gate(gate.kept) for _, gate in results)])
    made = {"slice-rules": rules, "whole-gate": whole, "not-worse": kept}
    return {name: [said(n_runs), "", *table(columns, body)] for name, body in made.items()}


def real(n_runs: int) -> dict[str, list[str]]:
    """The whole default gate on pairs of the given runs: pass / block."""
    columns = ["pairs", "n", *REAL_HEADS.values()]
    rows = []
    for name, words in REAL_CLASSES.items():
        for n in REAL_SIZES:
            cells = []
            for truth in REAL_HEADS:
                passed, blocked, is_moved = real_pairs.simulated(name, n, truth, n_made=n_runs)
                cells.append(f"{share(passed)} / {share(blocked)}{'*' if is_moved else ''}")
            rows.append([words, f"{n:,}", *cells])
    return {"real-pairs": [said(n_runs), "", *table(columns, rows)]}


def both_ways(n_runs: int) -> dict[str, list[str]]:
    columns = ["queries, sigma, truth", "by t", "by sign flips"]
    return {"sign-flips": [said(n_runs), "", *table(columns, flipped(n_runs))]}


def said(n_runs: int) -> str:
    """How sure a share is; the error is largest at one half."""
    return (
        f"{n_runs:,} comparisons a cell, a standard error of at most {(0.25 / n_runs) ** 0.5:.3f}:"
    )


def write_page(found: dict[str, list[str]]) -> None:
    """Put each table between its two marks in the page."""
    if TOY in os.environ:
        return
    text = PAGE.read_text("utf-8")
    for name, lines in found.items():
        begin, end = f"<!-- {name}: made by gate_simulation -->", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = "\n".join([before + begin, *lines, end + after])
    PAGE.write_text(text, "utf-8")


def main(n_runs: int = RUNS) -> None:
    """Write the tables, and print them."""
    for part in (real, tables, both_ways):
        result = part(min(n_runs, FLIPPED_RUNS) if part is both_ways else n_runs)
        for lines in result.values():
            print("\n".join([*lines, ""]), flush=True)
        write_page(result)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    main(parser.parse_args().runs)
