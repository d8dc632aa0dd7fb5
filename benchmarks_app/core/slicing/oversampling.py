"""How many queries to add to slices that are too small, and what that does to weighted means."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np


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
    given = weights or {}
    weight = np.array([given.get(query, 1.0) for query in queries])
    place = {query: number for number, query in enumerate(queries)}
    masks = {name: np.zeros(len(queries), dtype=bool) for name in slices}
    for name, members in slices.items():
        masks[name][[place[query] for query in members if query in place]] = True
    # How many queries each of today's stands for once its slices have grown.
    copies = np.ones(len(queries))
    added: dict[str, int] = {}
    while lacks := _lacks(masks, wanted, copies, added):
        name = max(lacks, key=lambda one: (lacks[one], one))
        mask = masks[name]
        added[name] = lacks[name]
        copies[mask] += lacks[name] / mask.sum()
    shared = weight / copies
    n_after = len(queries) + sum(added.values())
    scale = n_after / weight.sum() if len(queries) else 1.0
    additions = tuple(
        Addition(
            name=name,
            n_now=int(masks[name].sum()),
            n_wanted=wanted[name],
            n_to_add=n,
            share=float(weight[masks[name]].sum() / weight.sum()),
            weight_before=float(weight[masks[name]].mean() * len(queries) / weight.sum()),
            weight_after=float(weight[masks[name]].sum() / copies[masks[name]].sum() * scale),
        )
        for name, n in added.items()
    )
    squares = float((copies * shared**2).sum())
    effective = float(weight.sum()) ** 2 / squares if squares else 0.0
    return Plan(additions, len(queries), n_after, effective)


def _lacks(
    masks: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]],
    wanted: Mapping[str, int],
    copies: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    added: Mapping[str, int],
) -> dict[str, int]:
    """How many queries each slice still lacks; an empty one says nothing of what to add."""
    found = {
        name: int(np.ceil(wanted[name] - copies[mask].sum() - 1e-9))
        for name, mask in masks.items()
        if name in wanted and name not in added and mask.any()
    }
    return {name: n for name, n in found.items() if n > 0}
