"""What each order of judging would have found, had the labels come in that order.

The documents of a pool whose grades are known are judged once more, on paper, in each order: an
order that learns is told each label at once. A document without a grade is left out of the pool,
since nobody can say what its label would have been.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchwright.pools.adaptive import BURN_IN, MAXMEAN, MTF, AdaptiveEntry, arms_of
from benchwright.pools.building import build_pool
from benchwright.pools.entries import PoolEntry, Ranking
from benchwright.pools.order import queue_order
from benchwright.pools.recipe import LAYERED, RBP, RRF, Recipe

ORDERS = (LAYERED, RRF, RBP, MTF, MAXMEAN)

# Whether each judged document of a query is relevant.
Relevance = Mapping[str, Mapping[str, bool]]


@dataclass(frozen=True, slots=True)
class Curve:
    """Relevant documents found after 0, 1, 2, … labels of each query, summed over queries.

    A query whose documents are used up stays at what it found.
    """

    order: str
    n_found: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Simulation:
    """`n_relevant` counts those the pool could find, `n_known` those that are known at all."""

    curves: tuple[Curve, ...]
    n_queries: int
    n_judged: int
    n_unjudged: int
    n_relevant: int
    n_known: int

    def curve(self, order: str) -> Curve:
        return next(curve for curve in self.curves if curve.order == order)


def simulate(
    runs: Mapping[str, Ranking],
    relevance: Relevance,
    *,
    depth: int,
    seed: int = 0,
    burn_in: int = BURN_IN,
    orders: Sequence[str] = ORDERS,
) -> Simulation:
    """Return how many relevant documents each order has found after so many labels a query.

    Parameters
    ----------
    runs
        What each run retrieved. The pool is the union of the first `depth`.
    relevance
        Whether each judged document is relevant; only these queries are looked at.
    burn_in
        Ranks that an order which learns judges layer by layer before it begins.

    Raises
    ------
    ParameterError, PoolRunError, EmptyPoolError
        As `build_pool` does.
    """
    recipe = Recipe(depth=depth, seed=seed)
    pool = build_pool(runs, recipe, queries=relevance)
    judged = [entry for entry in pool.entries if entry.docid in relevance[entry.qid]]
    curves = tuple(
        Curve(order, _summed(_gains(judged, relevance, order, seed, burn_in))) for order in orders
    )
    n_known = sum(sum(grades.values()) for grades in relevance.values())
    return Simulation(
        curves=curves,
        n_queries=len({entry.qid for entry in judged}),
        n_judged=len(judged),
        n_unjudged=len(pool.entries) - len(judged),
        n_relevant=sum(relevance[entry.qid][entry.docid] for entry in judged),
        n_known=n_known,
    )


def _gains(
    judged: Sequence[PoolEntry], relevance: Relevance, order: str, seed: int, burn_in: int
) -> Iterator[list[bool]]:
    """Of each query, whether the first, second, … document that is judged is relevant."""
    static = LAYERED if order in (MTF, MAXMEAN) else order
    by_query: dict[str, list[PoolEntry]] = {}
    for entry in queue_order(judged, seed=seed, order=static):
        by_query.setdefault(entry.qid, []).append(entry)
    for qid, entries in by_query.items():
        if order == static:
            yield [relevance[qid][entry.docid] for entry in entries]
        else:
            yield list(_learnt(entries, relevance[qid], order, burn_in))


def _learnt(
    entries: Sequence[PoolEntry], relevant: Mapping[str, bool], order: str, burn_in: int
) -> Iterator[bool]:
    candidates = [
        AdaptiveEntry(place, entry.contributors, entry.best_rank or 0)
        for place, entry in enumerate(entries)
    ]
    arms = arms_of(order, candidates)
    for candidate in candidates:
        if candidate.best_rank <= burn_in:
            is_relevant = relevant[entries[candidate.key].docid]
            arms.tell(candidate.key, is_relevant)
            yield is_relevant
    while pulled := arms.pull():
        is_relevant = relevant[entries[pulled[0]].docid]
        arms.tell(pulled[0], is_relevant)
        yield is_relevant


def _summed(gains: Iterator[list[bool]]) -> tuple[int, ...]:
    at_label: list[int] = [0]
    for of_query in gains:
        at_label += [0] * (len(of_query) + 1 - len(at_label))
        for place, is_relevant in enumerate(of_query, start=1):
            at_label[place] += is_relevant
    total, sums = 0, []
    for gained in at_label:
        total += gained
        sums.append(total)
    return tuple(sums)
