"""From places to hits, ranks and reciprocal ranks, under a rule for ties.

With g candidates above the partner and e others tied with it, the partner stands at one of the
ranks g + 1 to g + e + 1. `expected` is the mean over them, each as likely; `optimistic` takes the
first and `pessimistic` the last. A model that maps everything to one point has k/n, 1 or 0.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchwright.contrastive.counting import Places
from benchwright.contrastive.errors import PairTiesError, TopKError

Floats: TypeAlias = NDArray[np.float64]

TIE_RULES = ("expected", "optimistic", "pessimistic")


def checked_ties(ties: str) -> str:
    """The rule itself; raises `PairTiesError` for one that is not ours."""
    if ties not in TIE_RULES:
        raise PairTiesError(ties=ties, known=", ".join(TIE_RULES))
    return ties


def checked_topk(topk: Any) -> Any:
    """The number itself; raises `TopKError` below 1."""
    # NaN is not below 1 either.
    if not topk >= 1:
        raise TopKError(topk=topk)
    return topk


def hits(places: Places, k: int, ties: str) -> Floats:
    """In which share of the orders of ties the partner is among the first `k`, of each query."""
    places_left = k - places.above
    if ties == "optimistic":
        return (places_left > 0).astype(np.float64)
    if ties == "pessimistic":
        return (places_left > places.tied).astype(np.float64)
    shares: Floats = np.clip(places_left / (places.tied + 1), 0.0, 1.0)
    return shares


def ranks(places: Places, ties: str) -> Floats:
    """The rank of each partner, from 1; half ranks occur where ties are `expected`."""
    share = {"expected": 0.5, "optimistic": 0.0, "pessimistic": 1.0}[ties]
    means: Floats = places.above + share * places.tied + 1.0
    return means


def reciprocal_ranks(places: Places, ties: str) -> Floats:
    """1/rank of each partner; under `expected` the mean of 1/rank over the orders of ties."""
    if ties != "expected" or not places.tied.any():
        return 1.0 / ranks(places, ties)
    last = places.above + places.tied + 1
    sums = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, last.max() + 1))])
    means = (sums[last] - sums[places.above]) / (places.tied + 1)
    # Without ties exactly 1/rank, not a difference of sums.
    reciprocals: Floats = np.where(places.tied == 0, 1.0 / last, means)
    return reciprocals
