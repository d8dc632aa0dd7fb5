"""How many queries to add to slices that are too small, and what that does to weighted means."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Addition:
    """Queries to add to one slice.

    `weight_before` and `weight_after` are the mean weights of its queries where the mean weight of
    all queries is 1: adding queries of a slice must not add to what the slice counts for.
    """

    name: str
    n_now: int
    n_wanted: int
    n_to_add: int
    share: float
    weight_before: float
    weight_after: float


@dataclass(frozen=True, slots=True)
class Plan:
    """What to add, the largest lack first.

    `n_effective` is how many equally weighted queries the weighted mean is worth afterwards.
    """

    additions: tuple[Addition, ...]
    n_now: int
    n_after: int
    n_effective: float


def oversampling_plan(
    slices: Mapping[str, Collection[str]],
    wanted: Mapping[str, int],
    queries: Sequence[str],
    weights: Mapping[str, float] | None = None,
) -> Plan:
    """How many queries of each slice to add so that each has as many as are wanted of it.

    Parameters
    ----------
    slices
        The members of the slices that may grow; one that needs nothing is passed over.
    wanted
        How many queries each should have.
    weights
        What the queries stand for; 1 each where none is given. A query without one has weight 1.

    Notes
    -----
    Queries added for one slice bring members of others with them, in the proportion in which those
    are among its members now; the largest lack is filled first. The new queries of a slice are
    drawn from the same population, so all its queries together keep the share of the total weight
    that the slice had. The effective number is Kish's, (sum w)^2 / sum w^2.

    Examples
    --------
    Of 100 queries 10 are head, and 40 are wanted:

    >>> queries = [str(n) for n in range(100)]
    >>> plan = oversampling_plan({"head": queries[:10]}, {"head": 40}, queries)
    >>> plan.additions[0].n_to_add, round(plan.additions[0].weight_after, 3), plan.n_after
    (30, 0.325, 130)
    """
    weight_of = weights or {}
    weight = np.array([weight_of.get(query, 1.0) for query in queries])
    masks = _masks(slices, queries)
    added, copies = _grown(masks, wanted, len(queries))
    n_after = len(queries) + sum(added.values())
    additions = tuple(
        _addition(name, n, wanted[name], weight, copies, masks[name]) for name, n in added.items()
    )
    squares = float((weight**2 / copies).sum())
    effective = float(weight.sum()) ** 2 / squares if squares else 0.0
    return Plan(additions, len(queries), n_after, effective)


def _masks(slices: Mapping[str, Collection[str]], queries: Sequence[str]) -> dict[str, Mask]:
    """Which of the queries are in each slice."""
    place = {query: number for number, query in enumerate(queries)}
    masks = {name: np.zeros(len(queries), dtype=bool) for name in slices}
    for name, members in slices.items():
        masks[name][[place[query] for query in members if query in place]] = True
    return masks


def _grown(
    masks: Mapping[str, Mask], wanted: Mapping[str, int], n_queries: int
) -> tuple[dict[str, int], Floats]:
    """What is added to each slice, and how many queries each of today's stands for then."""
    copies = np.ones(n_queries)
    added: dict[str, int] = {}
    while lacks := _lacks(masks, wanted, copies, added):
        name = max(lacks, key=lambda slice_name: (lacks[slice_name], slice_name))
        added[name] = lacks[name]
        copies[masks[name]] += lacks[name] / masks[name].sum()
    return added, copies


def _addition(
    name: str, n: int, n_wanted: int, weight: Floats, copies: Floats, mask: Mask
) -> Addition:
    inside, total = float(weight[mask].sum()), float(weight.sum())
    return Addition(
        name=name,
        n_now=int(mask.sum()),
        n_wanted=n_wanted,
        n_to_add=n,
        share=inside / total,
        weight_before=inside / float(mask.sum()) * len(weight) / total,
        weight_after=inside / float(copies[mask].sum()) * float(copies.sum()) / total,
    )


def _lacks(
    masks: Mapping[str, Mask], wanted: Mapping[str, int], copies: Floats, added: Mapping[str, int]
) -> dict[str, int]:
    """How many queries each slice still lacks; an empty one says nothing of what to add."""
    lacks = {
        name: int(np.ceil(wanted[name] - copies[mask].sum() - 1e-9))
        for name, mask in masks.items()
        if name in wanted and name not in added and mask.any()
    }
    return {name: n for name, n in lacks.items() if n > 0}
