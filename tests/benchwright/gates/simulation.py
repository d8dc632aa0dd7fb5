"""How often a gate is right, from made comparisons whose truth is known.

Query by query the difference is normal around its true mean. Six slices hold 5, 50, 20, 25, 10 and
40 % of the queries: the first of them (head), the last half (tail), and four drawn at random, so
that slices overlap as they do in benchmarks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from benchwright.gates.bounds import Method
from benchwright.gates.deciding import Kind, Verdict, outcomes_of, verdicts
from benchwright.gates.evidence import Arm, Evidence
from benchwright.gates.policy import GuardRails, Policy
from benchwright.gates.rehearsal.making import CHUNK, Drawn, Masks, tests_of
from benchwright.gates.verdict import decide
from benchwright.statistics.families import Floats

SHARES = {"head": 0.05, "tail": 0.5, "c": 0.2, "d": 0.25, "e": 0.1, "f": 0.4}
MEASURE, JUDGED = "nDCG@10", "Judged@10"

# True mean difference: everywhere, and in one slice instead.
TRUTHS = {
    "better": (0.02, {}),
    "tail lost": (0.03, {"tail": -0.03}),
    "head lost": (0.03, {"head": -0.05}),
    "no change": (0.0, {}),
}
SIZES = (
    *((300, 0.10), (300, 0.20), (1_000, 0.10), (1_000, 0.15), (1_000, 0.20)),
    *((3_000, 0.15), (3_000, 0.20), (5_000, 0.20)),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting: how many queries, how much they scatter, and what is true."""

    n: int
    sigma: float
    truth: str


@dataclass(frozen=True, slots=True)
class Shares:
    """How often each came out, of `n` made comparisons.

    `passed` and `blocked` are of the slice rules alone: improved by enough and no slice regresses;
    a slice regresses. `strict` is how often it passed with every slice shown non-inferior.
    `verdicts` are the whole gate's by the policy's goal, `kept` those by the goal `not_worse`.
    """

    n: int
    passed: float
    blocked: float
    strict: float
    verdicts: dict[str, float]
    kept: dict[str, float]


def cells() -> Iterator[Cell]:
    for n, sigma in SIZES:
        for truth in TRUTHS:
            yield Cell(n, sigma, truth)


def simulated(cell: Cell, *, n_runs: int, seed: int, policy: Policy | None = None) -> Shares:
    """Made comparisons through what decides, by Student's t."""
    rng, policy = generator(cell, seed), policy or every_slice()
    sums, counts, kept = np.zeros(3), Counter[str](), Counter[str]()
    width = max(1, CHUNK // cell.n)
    for at in range(0, n_runs, width):
        k = min(width, n_runs - at)
        gain, masks = made(cell, k, rng)
        drawn = Drawn(np.arange(k * cell.n), None, cell.n, k)
        tests = tests_of(policy, drawn, gain, gain[np.newaxis][:0], masks)
        outcomes = outcomes_of(policy, tests)
        regresses = outcomes.blocks[np.array(tests.kinds) == Kind.SLICE].any(axis=0)
        improves = outcomes.is_improved & outcomes.is_enough & ~regresses
        sums += [improves.sum(), regresses.sum(), (improves & outcomes.is_strict).sum()]
        counts.update(verdicts(policy, outcomes).tolist())
        kept.update(verdicts(replace(policy, goal="not_worse"), outcomes).tolist())
    passed, blocked, strict = map(float, sums / n_runs)
    return Shares(n_runs, passed, blocked, strict, shares_of(counts), shares_of(kept))


def decided(cell: Cell, *, n_runs: int, seed: int, method: Method) -> dict[str, float]:
    """Verdicts of the same comparisons one by one, by any method."""
    rng, policy = generator(cell, seed), full_policy()
    counts: Counter[str] = Counter()
    gain, masks = made(cell, n_runs, rng)
    for number in range(n_runs):
        part = slice(number * cell.n, (number + 1) * cell.n)
        of = dict(zip(SHARES, masks[:, part], strict=True))
        counts[decide(policy, evidence(gain[part], of), method).verdict] += 1
    return shares_of(counts)


def generator(cell: Cell, seed: int) -> np.random.Generator:
    return np.random.default_rng(
        [seed, cell.n, round(1000 * cell.sigma), list(TRUTHS).index(cell.truth)]
    )


def shares_of(counts: Mapping[str, int]) -> dict[str, float]:
    """How often each verdict came out."""
    total = sum(counts.values())
    return {str(verdict): counts.get(verdict, 0) / total for verdict in Verdict}


def full_policy() -> Policy:
    """As gates are used, without guard measures, which are not made up here."""
    return Policy(slices=tuple(SHARES), guard_rails=GuardRails(measures=()))


def every_slice() -> Policy:
    """The same, where slices of any size decide."""
    return replace(full_policy(), smallest_slice=2)


def made(cell: Cell, k: int, rng: np.random.Generator) -> tuple[Floats, Masks]:
    """Differences of k comparisons, one after the other, and their slices (slices x queries)."""
    everywhere, instead = TRUTHS[cell.truth]
    masks = np.stack([_mask(name, cell.n, k, rng).ravel() for name in SHARES])
    means = np.full(k * cell.n, everywhere)
    for name, mean in instead.items():
        means[masks[list(SHARES).index(name)]] = mean
    return rng.normal(means, cell.sigma), masks


def _mask(name: str, n: int, k: int, rng: np.random.Generator) -> Masks:
    size, places = round(SHARES[name] * n), np.arange(n)
    rows = np.tile(places >= n - size if name == "tail" else places < size, (k, 1))
    return rows if name in ("head", "tail") else rng.permuted(rows, axis=1)


def evidence(differences: Floats, masks: Mapping[str, Masks]) -> Evidence:
    """One comparison of two runs."""
    base = np.full(len(differences), 0.5)
    return Evidence(
        queries=[f"q{place}" for place in range(len(differences))],
        baseline=_arm("baseline", base),
        candidate=_arm("candidate", base + differences),
        slices=masks,
    )


def _arm(name: str, values: Floats) -> Arm:
    return Arm(name, {MEASURE: values, JUDGED: np.ones(len(values))}, depth=10)
