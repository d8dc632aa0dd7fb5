"""What a set of queries can show of two runs, from the runs that are there or from an assumption.

Two runs' values on the same queries differ by something that scatters with a standard deviation of
its own, sigma; how small a difference of means is visible depends on it and on the number of
queries. Wordings of one need go up and down together: a family of three is worth less than three
queries, by the design effect 1 + (m - 1) rho (Kish, Survey Sampling, 1965), where m is the mean
size of the family that a query is in, and rho how much of the scatter a family has in common.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.descriptive import ROUNDING
from benchwright.statistics.families import FamilyOf, Floats
from benchwright.statistics.paired import standard_errors

# --- What a set of queries can show of two runs, from the runs that are there or from an
# assumption.

ASSUMED_SIGMA = 0.20
ASSUMED_SOURCE = (
    "between what pairs of runs show on two public collections by nDCG@10: a median of 0.17 on "
    "Cranfield (7 runs, 225 queries) and of 0.26 on TREC-COVID round 1 (24 runs, 30 queries)"
)
# Below so many families of several queries, what they have in common is not measured but feared.
FEWEST_FAMILIES = 10
# Below so many queries a standard deviation of their own says less than that of all.
FEWEST_QUERIES = 30

Mask: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Spread:
    """How differences of two runs scatter.

    `sigma` is the median over pairs of runs, `smallest` that of the two that are most alike, None
    where it is assumed. `rho` is how much wordings of one need have in common, from 0 to 1.
    """

    sigma: float
    rho: float
    n_pairs: int = 0
    n_queries: int = 0
    smallest: float | None = None

    @property
    def is_assumed(self) -> bool:
        return not self.n_pairs


ASSUMED = Spread(sigma=ASSUMED_SIGMA, rho=1.0)


def spread_of(values: Floats, families: FamilyOf | None = None) -> Spread | None:
    """The spread of runs' values (queries x runs), or None where no two runs differ.

    Queries without a value in one of the runs are left out; runs that are equal throughout are no
    pair.
    """
    whole = values[~np.isnan(values).any(axis=1)]
    numbers = families if families is None else families[~np.isnan(values).any(axis=1)]
    if len(whole) < 2 or whole.shape[1] < 2:
        return None
    pairs = list(combinations(range(whole.shape[1]), 2))
    differences = np.stack([whole[:, a] - whole[:, b] for a, b in pairs], axis=1)
    sigmas = differences.std(axis=0, ddof=1)
    is_pair = sigmas > ROUNDING
    if not is_pair.any():
        return None
    return Spread(
        sigma=float(np.median(sigmas[is_pair])),
        rho=_in_common(differences[:, is_pair], numbers),
        n_pairs=int(is_pair.sum()),
        n_queries=len(whole),
        smallest=float(sigmas[is_pair].min()),
    )


def _in_common(differences: Floats, families: FamilyOf | None) -> float:
    """What the members of a family have in common, from the errors with families and without."""
    if families is None:
        return 0.0
    sizes = np.unique(families, return_counts=True)[1]
    if np.count_nonzero(sizes > 1) < FEWEST_FAMILIES:
        return 1.0
    plain, clustered = standard_errors(differences), standard_errors(differences, families)
    effects = (clustered / plain) ** 2
    return float(np.clip((np.median(effects) - 1) / (mean_family(sizes) - 1), 0.0, 1.0))


def mean_family(sizes: Iterable[int]) -> float:
    """The mean, over queries, of the size of the family each is in; 1 where there is no query.

    Examples
    --------
    >>> mean_family([1, 1, 2])
    1.5
    """
    each = np.fromiter(sizes, dtype=np.float64)
    return float((each**2).sum() / each.sum()) if each.sum() else 1.0


def design_effect(families: Iterable[Hashable], rho: float) -> float:
    """How many queries of these families, one name for each query, are worth one on its own."""
    counts: dict[Hashable, int] = {}
    for family in families:
        counts[family] = counts.get(family, 0) + 1
    return 1 + (mean_family(counts.values()) - 1) * rho


def own_spread(values: Floats, mask: Mask, of_all: Spread) -> Spread:
    """The spread of some of the queries; that of all where they are too few to tell.

    Families are few inside a slice: what they have in common is that of all.
    """
    own = spread_of(values[mask]) if np.count_nonzero(mask) >= FEWEST_QUERIES else None
    return of_all if own is None else replace(own, rho=of_all.rho)


# --- What a number of queries can show, in words.


def reach_in_words(detectable: float | None, *, is_assumed: bool) -> str:
    """A sentence on the smallest difference that is found; empty where it is not known.

    Examples
    --------
    >>> reach_in_words(0.1, is_assumed=True)
    'Differences below 0.100 cannot be told from chance, as far as is known before two runs.'
    """
    if detectable is None:
        return ""
    how = ", as far as is known before two runs" if is_assumed else ""
    return f"Differences below {detectable:.3f} cannot be told from chance{how}."
