"""How often a gate is right, from made comparisons whose truth is known.

Query by query the difference is normal around its true mean. Six slices hold 5, 50, 20, 25, 10 and
40 % of the queries: the first of them (head), the last half (tail), and four drawn at random, so
that slices overlap as they do in benchmarks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from scoring.core.gating.bounds import Method
from scoring.core.gating.checks import overall, slices
from scoring.core.gating.evidence import Arm, Evidence, Mask
from scoring.core.gating.findings import Check
from scoring.core.gating.policy import GuardRails, Policy
from scoring.core.gating.verdict import Verdict, decide, verdict_of
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
    outcomes = np.zeros(3)
    verdicts: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    not_worse = replace(policy, goal="not_worse")
    for _ in range(n_runs):
        decision = decide(policy, made(cell, rng), method)
        outcomes += by_slice_rules(decision.checks["overall"], decision.checks["slices"])
        verdicts[decision.verdict] += 1
        kept[verdict_of(not_worse, decision.checks)] += 1
    passed, blocked, strict = map(float, outcomes / n_runs)
    return Shares(n_runs, passed, blocked, strict, verdicts=_shares(verdicts), kept=_shares(kept))


def simulated_apart(
    cell: Cell, *, n_runs: int, seed: int, method: Method | None = None
) -> tuple[float, float, float]:
    """Passed, blocked and strict where slices and the whole are made of different queries.

    No real comparison is like this. The published table of these rules was made so: each slice has
    queries of its own, and the whole is drawn beside them around the mean of all slices by size,
    so that a slice which happens to look well says nothing of the whole.
    """
    rng = np.random.default_rng(
        [seed, cell.n, round(1000 * cell.sigma), list(TRUTHS).index(cell.truth), 1]
    )
    method, policy = method or Method("t"), every_slice()
    outcomes = np.zeros(3)
    for _ in range(n_runs):
        whole, parts = made_apart(cell, rng)
        outcomes += by_slice_rules(overall(policy, whole, method), slices(policy, parts, method))
    passed, blocked, strict = map(float, outcomes / n_runs)
    return passed, blocked, strict


def by_slice_rules(whole: Check, of_slices: Check) -> tuple[bool, bool, bool]:
    """Whether it improves by enough and no slice regresses; whether one does; whether it passes
    with every slice shown non-inferior."""
    outcomes = [one.outcome for one in of_slices.findings]
    facts, regresses = whole.findings[0].numbers, "regression" in outcomes
    is_passed = bool(facts["is_improved"] and facts["is_enough"] and not regresses)
    return is_passed, regresses, is_passed and set(outcomes) == {"non-inferior"}


def _shares(counts: Counter[str]) -> dict[str, float]:
    return {str(verdict): counts[verdict] / counts.total() for verdict in Verdict}


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
    return _evidence(rng.normal(means, cell.sigma), masks)


def made_apart(cell: Cell, rng: np.random.Generator) -> tuple[Evidence, Evidence]:
    """The whole, and the slices: queries of their own."""
    everywhere, instead = TRUTHS[cell.truth]
    sizes = [round(share * cell.n) for share in SHARES.values()]
    means = [instead.get(name, everywhere) for name in SHARES]
    mean = float(np.average(means, weights=sizes))
    number = np.repeat(np.arange(len(sizes)), sizes)
    masks = {name: number == place for place, name in enumerate(SHARES)}
    whole = _evidence(rng.normal(mean, cell.sigma, cell.n), {})
    return whole, _evidence(rng.normal(np.repeat(means, sizes), cell.sigma), masks)


def _evidence(differences: Floats, masks: Mapping[str, Mask]) -> Evidence:
    base = np.full(len(differences), 0.5)
    return Evidence(
        queries=range_of(len(differences)),
        baseline=_arm("baseline", base),
        candidate=_arm("candidate", base + differences),
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
