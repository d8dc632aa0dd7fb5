"""Families into splits of wanted sizes, with every stratum spread as evenly as can be.

Arrays in, arrays out; nothing here knows what a query is.
"""

import random
from collections import Counter
from collections.abc import Sequence
from statistics import median_low
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchwright.splits.types import SplitQuery

NONE, FEW, MANY = "none", "few", "many"
Stratum = tuple[str, str]


def densities(queries: Sequence[SplitQuery]) -> list[str]:
    """Each query's label density: no relevant document, few, or more than the median of the rest.

    >>> densities([SplitQuery(str(n), str(n), n_relevant=n) for n in (0, 1, 2, 9)])
    ['none', 'few', 'few', 'many']
    """
    counted = [query.n_relevant for query in queries if query.n_relevant]
    middle = median_low(counted) if counted else 0
    return [
        NONE if not query.n_relevant else FEW if query.n_relevant <= middle else MANY
        for query in queries
    ]


def strata_by_family(queries: Sequence[SplitQuery]) -> dict[str, Counter[Stratum]]:
    """{family: {(slice, density): queries}}; the slice "" holds every query."""
    strata: dict[str, Counter[Stratum]] = {}
    for query, density in zip(queries, densities(queries), strict=True):
        counted = strata.setdefault(query.family, Counter())
        counted.update((name, density) for name in ("", *dict.fromkeys(query.slices)))
    return strata


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_IMPROVEMENTS = 2000
CANDIDATES = 192
FRUITLESS = 40
"""So many draws in a row without an improvement end the search."""

TINY = 1e-9


class Balance:
    """Splits while they fill: what each holds of each stratum, and how far that is off.

    How far off is the sum over splits and strata of (held - target)² / target: a deviation counts
    as much in a small split or a rare stratum as its size warrants.
    """

    def __init__(self, contents: Floats, shares: Floats) -> None:
        """Take what families hold (families x strata, the first stratum is their size)."""
        self.contents = contents
        totals = contents.sum(axis=0)
        self.targets = shares[:, None] * totals[None, :]
        self.weights = 1 / np.maximum(self.targets, 1)
        # A split's size is what was asked for; it counts as much as all strata of one slice.
        self.off = -self.targets
        self.largest = contents[:, 0].max()

    def cost_of_adding(self, family: int) -> Floats:
        """How the sum changes if a family is added to each split."""
        contents = self.contents[family]
        cost: Floats = ((2 * self.off + contents) * contents * self.weights).sum(axis=1)
        return cost

    def add(self, family: int, split: int) -> None:
        self.off[split] += self.contents[family]

    def move(self, family: int, old: int, new: int) -> None:
        self.off[old] -= self.contents[family]
        self.off[new] += self.contents[family]


def balanced(contents: Floats, shares: Sequence[float], order: Sequence[int], seed: int) -> Ints:
    """The split of each family.

    Parameters
    ----------
    contents
        Families x strata: how many queries of each stratum a family has. The first column is the
        family's size, at least 1.
    shares
        What each split is to hold of all; above 0, adding up to 1.
    order
        The order in which families are given out.
    seed
        Of the random exchanges.

    Notes
    -----
    Greedy, then at most 2,000 improving exchanges, each the best of a random draw. Every split's
    size is within the size of the largest family of what its share asks for.
    """
    balance = Balance(contents, np.asarray(shares, dtype=np.float64))
    assigned = _greedy(balance, order)
    _repair(balance, assigned, order)
    if len(shares) > 1:
        _improve(balance, assigned, seed)
    return assigned


def _greedy(balance: Balance, order: Sequence[int]) -> Ints:
    assigned = np.zeros(len(balance.contents), dtype=np.int64)
    for family in order:
        # Sizes add up to what is wanted, so while a family is left some split lacks something.
        lacks = balance.off[:, 0] < -TINY
        cost = np.where(lacks, balance.cost_of_adding(family), np.inf)
        split = int(cost.argmin())
        balance.add(family, split)
        assigned[family] = split
    return assigned


def _repair(balance: Balance, assigned: Ints, order: Sequence[int]) -> None:
    """Move families until no split is off by more than the largest family.

    A split that lacks more than that is given the smallest family of the one most above its size;
    each such move brings both nearer to it, so this ends.
    """
    while True:
        sizes = balance.off[:, 0]
        least, most = int(sizes.argmin()), int(sizes.argmax())
        if max(-sizes[least], sizes[most]) <= balance.largest + TINY:
            return
        fullest = [family for family in order if assigned[family] == most]
        smallest = min(fullest, key=lambda family: balance.contents[family, 0])
        balance.move(smallest, most, least)
        assigned[smallest] = least


def _improve(balance: Balance, assigned: Ints, seed: int) -> None:
    """Exchange two families of different splits, or move one, as long as it helps."""
    draw = random.Random(seed)
    n_families, n_splits = balance.contents.shape[0], len(balance.targets)
    n_better = n_fruitless = 0
    while n_better < MOST_IMPROVEMENTS and n_fruitless < FRUITLESS:
        gives = _drawn(draw, n_families)
        takes = _drawn(draw, n_families)
        # Every fourth candidate gives and takes nothing back, to a split drawn for it.
        is_move = np.arange(CANDIDATES) % 4 == 0
        other = np.where(is_move, _drawn(draw, n_splits), assigned[takes])
        n_fruitless += 1
        if _exchange_best(balance, assigned, gives, takes, other, is_move):
            n_better, n_fruitless = n_better + 1, 0


def _drawn(draw: random.Random, below: int) -> Ints:
    # `random.Random.random` is the one draw whose sequence Python promises to keep.
    numbers = [int(draw.random() * below) for _ in range(CANDIDATES)]
    return np.array(numbers, dtype=np.int64)


def _exchange_best(
    balance: Balance, assigned: Ints, gives: Ints, takes: Ints, other: Ints, is_move: Any
) -> bool:
    """Carry out the one exchange of those drawn that helps most; False where none does."""
    here = assigned[gives]
    back = np.where(is_move[:, None], 0.0, balance.contents[takes])
    change = back - balance.contents[gives]
    off_here, off_there = balance.off[here], balance.off[other]
    cost = ((2 * off_here + change) * change * balance.weights[here]).sum(axis=1)
    cost += ((change - 2 * off_there) * change * balance.weights[other]).sum(axis=1)
    sizes = np.maximum(
        np.abs(off_here[:, 0] + change[:, 0]), np.abs(off_there[:, 0] - change[:, 0])
    )
    n_in_split = np.bincount(assigned, minlength=len(balance.off))
    would_empty = is_move & (n_in_split[here] == 1)
    is_wrong = (here == other) | (sizes > balance.largest + TINY) | would_empty
    cost = np.where(is_wrong, np.inf, cost)
    best = int(cost.argmin())
    if cost[best] >= -TINY:
        return False
    balance.move(int(gives[best]), int(here[best]), int(other[best]))
    assigned[gives[best]] = other[best]
    if not is_move[best]:
        balance.move(int(takes[best]), int(other[best]), int(here[best]))
        assigned[takes[best]] = here[best]
    return True
