"""How many queries, how deep a pool, how many labels: what a budget shows, what a wish costs.

Two runs of `n` queries are told apart from `2.80 sigma / sqrt(n / effect)` on (`statistics.power`),
where the design effect says how many queries of a family are worth one on its own. A query costs
the documents of its pool, some of them labelled twice, at so many seconds a label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, isnan, nan

import numpy as np

from benchwright.pools.reusability import mean_over_groups
from benchwright.pools.run_groups import Rankings, groups_of, near_copies, overlaps
from benchwright.statistics.power import LARGEST, detectable_differences, queries_needed

SECONDS_PER_HOUR = 3600
CUTOFF = 10
DEEPEST = 100
# All of ten documents are computed as ten times a tenth, which is a little less than 1.
ROUNDING = 1e-9
SHOWN_DEPTHS = (5, 10, 20, 50, 100)
# Of systems nobody has run yet: a pool of s of them grows as s to this power (17 systems bring 6
# times the documents of one, 3 bring twice as many).
ASSUMED_EXPONENT = 0.66
ASSUMED_SYSTEMS = 3


@dataclass(frozen=True)
class Growth:
    """How pools grow with their depth, from 1 on.

    `documents[d - 1]` distinct documents a query are in the first d of the runs; `judged_of_new[d -
    1]` is the share of the first `cutoff` of a system that had no part in it which such a pool
    holds, NaN where that is not known. `is_assumed` says that no runs were there.
    """

    documents: tuple[float, ...]
    judged_of_new: tuple[float, ...]
    n_runs: int
    n_queries: int
    is_assumed: bool = False
    cutoff: int = CUTOFF

    @property
    def deepest(self) -> int:
        return len(self.documents)

    def documents_at(self, depth: int) -> float:
        """Beyond the deepest depth that is known: what is known there, in proportion."""
        if depth <= self.deepest:
            return self.documents[depth - 1]
        return self.documents[-1] * depth / self.deepest

    def judged_at(self, depth: int) -> float:
        return self.judged_of_new[min(depth, self.deepest) - 1]


def pool_growth(
    runs: Rankings,
    *,
    teams: Mapping[str, str] | None = None,
    deepest: int = DEEPEST,
    cutoff: int = CUTOFF,
) -> Growth:
    """The growth that runs show, over every query that one of them answers.

    A new system is each of the runs in turn, held out of the pool with its team's others and its
    near copies, as `reusability` does; it takes two such groups. `n_runs` counts runs that rank the
    same once.

    Examples
    --------
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
    >>> found = pool_growth(runs, deepest=2, cutoff=2)
    >>> found.documents, found.judged_of_new
    ((2.0, 3.0), (0.25, 0.5))
    """
    qids = sorted({qid for of in runs.values() for qid in of})
    copies = near_copies(list(runs), overlaps(runs, qids))
    groups = groups_of(runs, teams=teams or {}, copies=copies)
    group_of = {name: group for group in groups for name in group}
    documents = np.zeros(deepest)
    judged = {name: np.zeros(deepest) for name in runs}
    n_answered = dict.fromkeys(runs, 0)
    for qid in qids:
        ranks = _ranks(runs, qid, deepest)
        for ranks_of in ranks.values():
            documents[min(ranks_of)[0] - 1] += 1
        for name, of in runs.items():
            top = of.get(qid, ())[:cutoff]
            n_answered[name] += bool(top)
            for docid in top:
                ranks_of = ranks.get(docid, [])
                others = [rank for rank, who in ranks_of if who not in group_of[name]]
                if others:
                    judged[name][min(others) - 1] += 1 / len(top)
    shares = {name: np.cumsum(of) / (n_answered[name] or nan) for name, of in judged.items()}
    n = max(len(qids), 1)
    of_new = (
        mean_over_groups({name: float(of[at]) for name, of in shares.items()}, groups)
        for at in range(deepest)
    )
    same = [pair for pair in copies if pair.is_same]
    return Growth(
        documents=tuple((np.cumsum(documents) / n).tolist()),
        judged_of_new=tuple(of_new),
        n_runs=len(groups_of(runs, teams={}, copies=same)),
        n_queries=len(qids),
        cutoff=cutoff,
    )


def _ranks(runs: Rankings, qid: str, deepest: int) -> dict[str, list[tuple[int, str]]]:
    """{document: rank and run of each that has it in the first `deepest`} of a query."""
    ranks: dict[str, list[tuple[int, str]]] = {}
    for name, of in runs.items():
        for rank, docid in enumerate(of.get(qid, ())[:deepest], start=1):
            ranks.setdefault(docid, []).append((rank, name))
    return ranks


def assumed_growth(n_systems: int = ASSUMED_SYSTEMS, *, deepest: int = DEEPEST) -> Growth:
    """The growth to reckon with where there are no runs yet.

    Examples
    --------
    >>> round(assumed_growth(3).documents_at(10)), round(assumed_growth(17).documents_at(10))
    (21, 65)
    """
    each = n_systems**ASSUMED_EXPONENT
    return Growth(
        documents=tuple(depth * each for depth in range(1, deepest + 1)),
        judged_of_new=(nan,) * deepest,
        n_runs=n_systems,
        n_queries=0,
        is_assumed=True,
    )


@dataclass(frozen=True)
class Pilot:
    """What is known before labelling: scatter of differences, design effect, growth, pace.

    `overlap` is the share of documents that a second person labels too.
    """

    sigma: float
    effect: float
    growth: Growth
    seconds: float
    overlap: float

    def labels_per_query(self, depth: int) -> float:
        return self.growth.documents_at(depth) * (1 + self.overlap)

    def hours(self, labels: float) -> float:
        return labels * self.seconds / SECONDS_PER_HOUR

    def labels_in(self, hours: float) -> float:
        return hours * SECONDS_PER_HOUR / self.seconds


@dataclass(frozen=True)
class Plan:
    """So many queries, pooled so deep: what it costs, and the smallest difference it shows.

    `detectable` is infinite without queries, and where so few would miss any difference.
    `judged_of_new` as `Growth` has it.
    """

    n_queries: int
    depth: int
    documents_per_query: float
    labels: int
    hours: float
    detectable: float
    judged_of_new: float

    @property
    def has_holes(self) -> bool:
        """Whether even the pooled systems have unjudged documents within the measure's cutoff."""
        return self.depth < CUTOFF and not self.judged_of_new >= 1 - ROUNDING


def plan_of(pilot: Pilot, *, n_queries: int, depth: int) -> Plan:
    """What so many queries at this depth cost and show.

    Examples
    --------
    1,000 queries of 20 documents, every tenth labelled twice, at half a minute:

    >>> pilot = Pilot(0.2, 1.0, Growth((20.0,), (nan,), 3, 9), seconds=30, overlap=0.1)
    >>> found = plan_of(pilot, n_queries=1000, depth=1)
    >>> found.labels, round(found.hours, 1), round(found.detectable, 3)
    (22000, 183.3, 0.018)
    """
    labels = ceil(n_queries * pilot.labels_per_query(depth) - 1e-9)
    difference = (
        float(detectable_differences(pilot.sigma, n_queries / pilot.effect, largest=LARGEST))
        if n_queries
        else inf
    )
    return Plan(
        n_queries=n_queries,
        depth=depth,
        documents_per_query=pilot.growth.documents_at(depth),
        labels=labels,
        hours=pilot.hours(labels),
        detectable=difference,
        judged_of_new=pilot.growth.judged_at(depth),
    )


def plan_for_budget(pilot: Pilot, *, labels: float, depth: int) -> Plan:
    """As many queries as so many labels are enough for, at this depth."""
    n = floor(labels / pilot.labels_per_query(depth) + 1e-9)
    return plan_of(pilot, n_queries=n, depth=depth)


def plan_for_difference(pilot: Pilot, *, delta: float, depth: int) -> Plan:
    """The fewest queries that show a difference of `delta`, above 0, at this depth."""
    n = queries_needed(pilot.sigma, delta, effect=pilot.effect)
    return plan_of(pilot, n_queries=int(n), depth=depth)


def depths_allowed(
    pilot: Pilot, *, shallowest: int, judged: float | None = None, deepest: int = DEEPEST
) -> list[int]:
    """Depths from the shallowest on whose pools hold `judged` of a new system's first documents.

    Where that share is not known, no depth is turned down for it.
    """
    return [
        depth
        for depth in range(shallowest, max(deepest, shallowest) + 1)
        if judged is None
        or isnan(pilot.growth.judged_at(depth))
        or pilot.growth.judged_at(depth) >= judged - ROUNDING
    ]


def cheapest_plan(pilot: Pilot, *, delta: float, depths: Sequence[int]) -> Plan | None:
    """Of all depths, the plan for `delta` with the fewest labels; None without a depth."""
    plans = [plan_for_difference(pilot, delta=delta, depth=depth) for depth in depths]
    return min(plans, key=lambda plan: (plan.labels, plan.depth), default=None)


def best_plan(pilot: Pilot, *, labels: float, depths: Sequence[int]) -> Plan | None:
    """Of all depths, the plan within `labels` that shows the smallest difference.

    Of plans that show the same, the deepest: its pools treat new systems better. Where none shows
    anything, the one with the most queries.
    """
    plans = [plan_for_budget(pilot, labels=labels, depth=depth) for depth in depths]
    return min(
        plans, key=lambda plan: (plan.detectable, -plan.n_queries, -plan.depth), default=None
    )


@dataclass(frozen=True)
class SlicePlan:
    """What a plan shows of a slice: its share of the queries, and how many it lacks.

    `n_for_delta` queries of the slice show the wanted difference, `n_for_gate` that it lost no more
    than `MARGIN`.
    """

    name: str
    n_queries: int
    share: float
    sigma: float
    detectable: float
    n_for_delta: int
    n_for_gate: int

    @property
    def n_lacking(self) -> int:
        return max(0, self.n_for_delta - self.n_queries)

    @property
    def n_lacking_for_gate(self) -> int:
        return max(0, self.n_for_gate - self.n_queries)


MARGIN = 0.02


def slice_plan(
    name: str, *, n_queries: int, share: float, sigma: float, effect: float, delta: float
) -> SlicePlan:
    """The slice that has this share of `n_queries` queries drawn as they are now."""
    own = round(n_queries * share)
    detectable = float(detectable_differences(sigma, own / effect, largest=LARGEST)) if own else inf
    needed = queries_needed(sigma, delta, effect=effect)
    for_gate = queries_needed(sigma, MARGIN, effect=effect, two_sided=False)
    return SlicePlan(
        name=name,
        n_queries=own,
        share=share,
        sigma=sigma,
        detectable=detectable,
        n_for_delta=int(needed),
        n_for_gate=int(for_gate),
    )
