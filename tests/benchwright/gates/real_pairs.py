"""The whole default gate on pairs of real runs, whose queries are drawn with replacement.

A draw takes a collection with equal chance, then one of its pairs of the class, then n queries; six
slices are random subsets, drawn anew. Truly better are pairs whose mean is within a quarter of what
is asked and whose guard measures do not fall by .002 or more; where there are fewer than four, all
pairs of the class are moved there, guard measures centred.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from benchwright.gates.deciding import Verdict, verdicts
from benchwright.gates.policy import Policy
from benchwright.gates.rehearsal.making import Pair, Truth, made
from benchwright.gates.rehearsal.rehearsing import CLASSES, class_of
from tests.benchwright.gates.simulation import SHARES
from tests.benchwright.given_runs import COLLECTIONS, given_runs

FEWEST, NEAR_BY, MAY_FALL = 4, 0.25, 0.002
POLICY = Policy(slices=tuple(SHARES))
TRUTHS = ("swapped", 0.015, 0.03, 0.05, "harmed")


@dataclass(frozen=True, eq=False)
class Named:
    collection: str
    candidate: str
    baseline: str
    pair: Pair


@cache
def all_pairs() -> tuple[Named, ...]:
    return tuple(_all_pairs())


def _all_pairs() -> Iterator[Named]:
    for collection in COLLECTIONS:
        runs = given_runs(collection)
        for one, other in permutations(runs.names, 2):
            of = {name: runs.of(one, name) - runs.of(other, name) for name in runs.values}
            guards = np.stack([of[name] for name in POLICY.guard_rails.measures], axis=1)
            n = len(guards)
            # Harm falls on any query here; a rehearsal looks for those with something to lose.
            pair = Pair(of["nDCG@10"], guards, np.ones(n), np.zeros((n, 0), dtype=bool))
            yield Named(collection, one, other, pair)


def of_class(name: str) -> list[Named]:
    return [pair for pair in all_pairs() if class_of(pair.pair.sigma) == name]


def truly_better(name: str, by: float) -> list[Named]:
    """Those that are, as they are; none where there are too few."""
    result = better_by(name, by)
    return result if len(result) >= FEWEST else []


def better_by(name: str, by: float) -> list[Named]:
    return [
        pair
        for pair in of_class(name)
        if (1 - NEAR_BY) * by <= pair.pair.gain.mean() <= (1 + NEAR_BY) * by
        and (pair.pair.guards.mean(axis=0) >= -MAY_FALL).all()
    ]


def simulated(
    name: str, n: int, truth: str | float, *, n_made: int, seed: int = 1
) -> tuple[float, float, bool]:
    """Shares of pass and block of about so many comparisons, and whether pairs had to be moved."""
    better = truly_better(name, truth) if isinstance(truth, float) else []
    is_moved = isinstance(truth, float) and not better
    made_true = Truth(truth) if isinstance(truth, str) else Truth("as is")
    if is_moved:
        made_true = Truth("moved", truth)
    rng = np.random.default_rng([seed, CLASSES.index(name), n, TRUTHS.index(truth)])
    by_collection = []
    for collection in COLLECTIONS:
        pairs = [pair for pair in better or of_class(name) if pair.collection == collection]
        if pairs:
            by_collection.append(_shares(pairs, made_true, n, n_made // 2, rng))
    passed, blocked = np.mean(by_collection, axis=0)
    return float(passed), float(blocked), is_moved


def _shares(pairs: list[Named], truth: Truth, n: int, n_made: int, rng: np.random.Generator):
    """Of pass and block, over the pairs alike; more pairs than draws are drawn from."""
    if len(pairs) > n_made:
        pairs = [pairs[place] for place in rng.choice(len(pairs), n_made, replace=False)]
    results = [
        verdict
        for pair in pairs
        for outcomes in made(
            POLICY,
            pair.pair,
            truth,
            n_made=-(-n_made // len(pairs)),
            rng=rng,
            n_families=n,
            shares=tuple(SHARES.values()),
        )
        for verdict in verdicts(POLICY, outcomes)
    ]
    passed = sum(result in (Verdict.PASS, Verdict.PASS_STRICT) for result in results)
    return passed / len(results), results.count(Verdict.BLOCK) / len(results)
