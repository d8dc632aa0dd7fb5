"""How often a gate is right, from made comparisons whose truth is known.

Query by query the difference is normal around its true mean. Six slices hold 5, 50, 20, 25, 10 and
40 % of the queries: the first of them (head), the last half (tail), and four drawn at random, so
that slices overlap as they do in benchmarks.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from scoring.core.gating.bounds import Method
from scoring.core.gating.evidence import Arm, Evidence, Mask
from scoring.core.gating.policy import GuardRails, Policy
from scoring.core.gating.verdict import Decision, Verdict, decide, verdict_of
from scoring.core.statistics.families import Floats

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


def simulated(
    cell: Cell,
    *,
    n_runs: int,
    seed: int,
    method: Method | None = None,
    policy: Policy | None = None,
) -> Shares:
    """Made comparisons through the gate as everybody uses it."""
    rng = np.random.default_rng(
        [seed, cell.n, round(1000 * cell.sigma), list(TRUTHS).index(cell.truth)]
    )
    method = method or Method("t")
    policy = policy or every_slice()
    passed = blocked = strict = 0
    verdicts: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    not_worse = replace(policy, goal="not_worse")
    for _ in range(n_runs):
        decision = decide(policy, made(cell, rng), method)
        of_slices = decision.checks["slices"].findings
        regresses = any(one.outcome == "regression" for one in of_slices)
        facts = decision.checks["overall"].findings[0].numbers
        is_passed = facts["is_improved"] and facts["is_enough"] and not regresses
        passed += is_passed
        blocked += regresses
        strict += is_passed and _is_strict(decision)
        verdicts[decision.verdict] += 1
        kept[verdict_of(not_worse, decision.checks)] += 1
    return Shares(
        n_runs,
        passed / n_runs,
        blocked / n_runs,
        strict / n_runs,
        verdicts=_shares(verdicts),
        kept=_shares(kept),
    )


def _shares(counts: Counter[str]) -> dict[str, float]:
    return {str(verdict): counts[verdict] / counts.total() for verdict in Verdict}


def _is_strict(decision: Decision) -> bool:
    shown = [one.outcome == "non-inferior" for one in decision.checks["slices"].findings]
    return all(shown)


def full_policy() -> Policy:
    """As gates are used, without guard rails, whose measures are not made up here."""
    rails = GuardRails(measures=(), worst_share=1.0)
    return Policy(slices=tuple(SHARES), guard_rails=rails)


def every_slice() -> Policy:
    """The same, where slices of any size decide."""
    return replace(full_policy(), smallest_slice=2)


def made(cell: Cell, rng: np.random.Generator) -> Evidence:
    """One comparison of two runs."""
    everywhere, instead = TRUTHS[cell.truth]
    masks = dict(_masks(cell.n, rng))
    means = np.full(cell.n, everywhere)
    for name, mean in instead.items():
        means[masks[name]] = mean
    base = np.full(cell.n, 0.5)
    return Evidence(
        queries=range_of(cell.n),
        baseline=_arm("baseline", base),
        candidate=_arm("candidate", base + rng.normal(means, cell.sigma)),
        slices=masks,
    )


def _masks(n: int, rng: np.random.Generator) -> Iterator[tuple[str, Mask]]:
    places = np.arange(n)
    for name, share in SHARES.items():
        size = round(share * n)
        if name == "head":
            yield name, places < size
        elif name == "tail":
            yield name, places >= n - size
        else:
            yield name, rng.permutation(n) < size


def range_of(n: int) -> list[str]:
    return [f"q{place}" for place in range(n)]


def _arm(name: str, values: Floats) -> Arm:
    return Arm(name, {MEASURE: values, JUDGED: np.ones(len(values))}, depth=10)
