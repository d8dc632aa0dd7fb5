"""Do more queries lose much than the scatter of this pair explains? Losses against mirrored wins.

With t the loss that counts and m = max(0, mean difference):

    L = #{d < -t}      W' = #{d > t + 2m}      c_f = L - W' inside family f
    p = P(sum of +-c_f >= sum of c_f) under independent signs of the families

W' mirrors the tail of losses at the candidate's own mean, so a general gain cannot hide losses, and
what both runs scatter around each other cancels itself. With each query its own family p is
P(Bin(L + W', 1/2) >= L). Counts make p exact without a draw; with weights it comes from sign flips.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from benchwright.statistics.families import FamilyOf, Floats, family_totals
from benchwright.statistics.paired import heads
from benchwright.statistics.signflip import sign_flip

Facts = NDArray[np.bool_]

ROUNDING = 1e-12
"""A loss of exactly 0.3 is computed as 0.1 - 0.4, which is a little more."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Queries that lose more than t (L), that win more than t, and that do so mirrored at the mean
    (W'); the share of losing ones, and p. A number of each for every column.
    """

    n: Floats
    lost: Floats
    won: Floats
    mirrored: Floats
    share: Floats
    p: Floats


def much_lost(
    differences: Floats,
    *,
    by: float,
    families: FamilyOf | None = None,
    weights: Floats | None = None,
    seed: int = 0,
) -> Losses:
    """Losses and mirrored wins of each column (queries x columns; NaN leaves a query out).

    p is 1 where nothing is lost. `weights`, one above 0 a query, count in the share, in the mean
    and in c_f; `seed` is of the flips that they need. No gate is weighted: where few queries hold
    most of the weight the mean is too unsure for W', and p errs (1 / rank over 200 queries: .15
    of pairs without a difference are below .05).

    Examples
    --------
    >>> found = much_lost(np.array([[-0.5], [-0.4], [-0.4], [0.1], [0.4]]), by=0.3)
    >>> found.lost.tolist(), found.mirrored.tolist(), found.p.tolist()
    ([3.0], [1.0], [0.3125])
    """
    defined = ~np.isnan(differences)
    every = defined * (1.0 if weights is None else weights[:, np.newaxis])
    total = every.sum(axis=0)
    means = np.nansum(differences * every, axis=0) / np.where(total > 0, total, 1)
    is_lost, is_won, is_mirrored = tails(differences, means, by=by)
    counts = is_lost.astype(np.float64) - is_mirrored
    if weights is None:
        p = flipped_p(family_totals(counts, families)[0])
    else:
        counts *= weights[:, np.newaxis]
        p = sign_flip(counts, families=families, alternative="greater", seed=seed)
    share = (is_lost * every).sum(axis=0) / np.where(total > 0, total, 1)
    n, lost, won, mirrored = (
        each.sum(axis=0).astype(np.float64) for each in (defined, is_lost, is_won, is_mirrored)
    )
    return Losses(n, lost, won, mirrored, share, np.where(lost > 0, p, 1.0))


def tails(differences: Floats, means: Floats, *, by: float) -> tuple[Facts, Facts, Facts]:
    """Which differences are losses of more than `by`, wins, and wins mirrored at the mean."""
    is_mirrored = differences > by + 2 * np.maximum(means, 0.0) + ROUNDING
    return differences < -by - ROUNDING, differences > by + ROUNDING, is_mirrored


def flipped_p(counts: Floats) -> Floats:
    """P(sum of +-c >= sum of c) of each column of whole numbers (families x columns), exactly.

    Examples
    --------
    Of +-2 +-1 one pattern in four reaches 3.

    >>> flipped_p(np.array([[2.0], [1.0]])).tolist()
    [0.25]
    """
    sizes = np.abs(counts)
    goals = counts.sum(axis=0)
    ones = (sizes == 1).sum(axis=0)
    p: Floats = heads((ones + goals) / 2, ones)
    for column in np.flatnonzero((sizes > 1).any(axis=0)):
        values, times = np.unique(sizes[:, column], return_counts=True)
        steps = tuple((int(c), int(k)) for c, k in zip(values, times, strict=True) if c)
        p[column] = _reached(steps, int(goals[column]))
    return p


@lru_cache(maxsize=4096)
def _reached(steps: tuple[tuple[int, int], ...], goal: int) -> float:
    """P(sum >= goal) where each (c, k) adds k times +c or -c: their distributions convolved."""
    share = np.ones(1)
    for c, k in steps:
        spaced = np.zeros(2 * c * k + 1)
        spaced[:: 2 * c] = scipy.stats.binom.pmf(np.arange(k + 1), k, 0.5)
        share = np.convolve(share, spaced)
    most = sum(c * k for c, k in steps)
    return float(min(share[max(0, goal + most) :].sum(), 1.0))
