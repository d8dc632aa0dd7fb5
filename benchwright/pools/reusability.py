"""How well judged pools treat a system that had no part in them: contributors are left out in turn.

Zobel (How reliable are the results of large-scale information retrieval experiments?, SIGIR 1998)
drops the judgments that one system alone brought and scores it again; Büttcher et al. (SIGIR 2007)
do so with whole groups. How far it falls is what a new system has to expect. A system of a new team
has no sibling in the pool: left out with a run are its team's others and its near copies.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, log2, nan
from typing import TypeAlias

import numpy as np

from benchwright.pools.run_groups import (
    Alike,
    Rankings,
    groups_of,
    near_copies,
    overlaps,
    plain_team,
)
from benchwright.statistics.descriptive import kendall_tau
from benchwright.statistics.families import Floats

Grades: TypeAlias = Mapping[str, Mapping[str, int]]

CUTOFF = 10
Group: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class LeftOut:
    """A system without the judgments that only its group contributed.

    `n_unique` of the judgments are those, `n_unique_relevant` of them have a grade above 0: both
    are the group's. `full` and `without` are its mean nDCG, `judged` the mean judged share of its
    first documents without them, `judged_full` with them. `tau` is Kendall's of the ranking of all
    systems then and now.
    """

    run: str
    group: Group
    n_unique: int
    n_unique_relevant: int
    full: float
    without: float
    judged_full: float
    judged: float
    rank_full: int
    rank: int
    tau: float

    @property
    def shift(self) -> float:
        return self.without - self.full


@dataclass(frozen=True)
class Reusability:
    """Every group left out once; `tau` compares the ranking by full values with that by `without`.

    `mean_shift` and `mean_judged` are means over groups, of the means of their members;
    `worst_shift` and `least_judged` are those of a system. Where there is one group in all, every
    number without it is NaN: nothing would be left of the pool.
    """

    systems: tuple[LeftOut, ...]
    groups: tuple[Group, ...]
    n_queries: int
    n_judged: int
    n_contributed: int
    cutoff: int

    @property
    def is_defined(self) -> bool:
        return len(self.groups) > 1

    @property
    def tau(self) -> float:
        if not self.is_defined:
            return nan
        full, without = zip(
            *((system.full, system.without) for system in self.systems), strict=True
        )
        return kendall_tau(full, without)

    @property
    def mean_shift(self) -> float:
        return self._over_groups([system.shift for system in self.systems])

    @property
    def worst_shift(self) -> float:
        return self._least([system.shift for system in self.systems])

    @property
    def mean_judged(self) -> float:
        return self._over_groups([system.judged for system in self.systems])

    @property
    def least_judged(self) -> float:
        return self._least([system.judged for system in self.systems])

    @property
    def n_unique(self) -> int:
        """Judgments that one group alone contributed, each group counted once."""
        return sum({system.group: system.n_unique for system in self.systems}.values())

    def _over_groups(self, values: Sequence[float]) -> float:
        names = [system.run for system in self.systems]
        return mean_over_groups(dict(zip(names, values, strict=True)), self.groups)

    def _least(self, values: Sequence[float]) -> float:
        known_values = [value for value in values if not isnan(value)]
        return min(known_values) if known_values and self.is_defined else nan


def mean_over_groups(values: Mapping[str, float], groups: Sequence[Group]) -> float:
    """The mean over groups of the mean of their members; NaN for one group, or without a value."""
    if len(groups) < 2:
        return nan
    known_values = [[values[run] for run in group if not isnan(values[run])] for group in groups]
    means = [sum(of) / len(of) for of in known_values if of]
    return sum(means) / len(means) if means else nan


@dataclass(frozen=True)
class Treatment:
    """What a new system has to expect: `by_group`, and `by_run` where each run is left out alone.

    `copies` are pairs of near copies; `across` those of them whose teams are not the same.
    """

    by_group: Reusability
    by_run: Reusability
    copies: tuple[Alike, ...]
    across: tuple[Alike, ...]

    @property
    def n_systems(self) -> int:
        """Runs that were pooled, those that rank the same counted once."""
        same = [pair for pair in self.copies if pair.is_same]
        return len(groups_of([system.run for system in self.by_run.systems], teams={}, copies=same))


def treatment_of(
    runs: Rankings,
    grades: Grades,
    *,
    pooled: Mapping[str, int],
    teams: Mapping[str, str] | None = None,
    cutoff: int = CUTOFF,
) -> Treatment:
    """Groups of the pooled runs left out, and each run alone beside it.

    Parameters
    ----------
    pooled
        To which depth each run was pooled; runs that were not are left away or have 0.
    teams
        The team of each run that has one.
    """
    held_out = {name: runs[name] for name in runs if pooled.get(name)}
    names = list(held_out)
    copies = near_copies(names, overlaps(held_out, list(grades)))
    team_of = teams or {}
    groups = groups_of(names, teams=team_of, copies=copies)
    by_group, by_run = (
        leave_out(runs, grades, pooled=pooled, groups=of, cutoff=cutoff)
        for of in (groups, [(name,) for name in names])
    )
    plain = {name: plain_team(team_of.get(name, "")) or name for name in names}
    across = [pair for pair in copies if plain[pair.run_a] != plain[pair.run_b]]
    return Treatment(by_group, by_run, tuple(copies), tuple(across))


def leave_out(
    runs: Rankings,
    grades: Grades,
    *,
    pooled: Mapping[str, int],
    groups: Iterable[Group],
    cutoff: int = CUTOFF,
) -> Reusability:
    """Each group of `pooled` runs (to the depth that each was pooled) left out of the judgments.

    A judgment is a group's own where no pooled system of another has the document that high; one
    that no pooled system has (a random control, labels from elsewhere) stays. All `runs` are
    ranked.

    Examples
    --------
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y"]}}
    >>> pooled, groups = {"a": 2, "b": 2}, [("a",), ("b",)]
    >>> found = leave_out(runs, {"q": {"x": 1, "y": 1}}, pooled=pooled, groups=groups)
    >>> [(one.run, one.n_unique, round(one.shift, 3)) for one in found.systems]
    [('a', 1, -0.369), ('b', 0, 0.0)]
    """
    names = list(runs)
    chosen = tuple(groups)
    place_of = {name: place for place, group in enumerate(chosen) for name in group}
    totals = _Totals.over(runs, grades, names, place_of, pooled, cutoff)
    full = totals.full / len(grades) if grades else totals.full
    without = totals.without / len(grades) if grades else totals.without
    ranks_full = _ranks(full)
    # Without the one group there is, no judgment of the pool is left: that says nothing.
    is_defined = len(chosen) > 1
    ranks = [_ranks(of) for of in without.T]
    taus = [kendall_tau(full, of) for of in without.T]
    systems = [
        LeftOut(
            run=name,
            group=chosen[place],
            n_unique=int(totals.n_unique[place]),
            n_unique_relevant=int(totals.n_relevant[place]),
            full=float(full[at]),
            without=float(without[at, place]) if is_defined else nan,
            judged_full=_mean(totals.shares[name], 0),
            judged=_mean(totals.shares[name], 1) if is_defined else nan,
            rank_full=ranks_full[at],
            rank=ranks[place][at] if is_defined else ranks_full[at],
            tau=taus[place] if is_defined else nan,
        )
        for at, name in enumerate(names)
        if (place := place_of.get(name)) is not None
    ]
    return Reusability(
        systems=tuple(systems),
        groups=chosen,
        n_queries=len(grades),
        n_judged=totals.n_judged,
        n_contributed=totals.n_contributed,
        cutoff=cutoff,
    )


def _ranks(means: Floats) -> list[int]:
    """1 for the highest; equal ones share the better rank."""
    return [1 + int(np.count_nonzero(means > mean + 1e-12)) for mean in means]


@dataclass
class _Totals:
    """Sums over the queries: nDCG of each run, and of each run without each group's own."""

    full: Floats
    without: Floats  # runs x groups
    n_unique: Floats
    n_relevant: Floats
    shares: dict[str, list[tuple[float, float]]]
    n_judged: int = 0
    n_contributed: int = 0

    @classmethod
    def over(
        cls,
        runs: Rankings,
        grades: Grades,
        names: list[str],
        place_of: Mapping[str, int],
        pooled: Mapping[str, int],
        cutoff: int,
    ) -> "_Totals":
        n, m = len(names), len(set(place_of.values()))
        shares: dict[str, list[tuple[float, float]]] = {name: [] for name in place_of}
        totals = cls(np.zeros(n), np.zeros((n, m)), np.zeros(m), np.zeros(m), shares)
        for qid, all_of in grades.items():
            judged = {docid: grade for docid, grade in all_of.items() if grade >= 0}
            owner = _owners(runs, qid, judged, place_of, pooled)
            totals.n_judged += len(judged)
            totals.n_contributed += len(owner)
            totals._add_values(runs, qid, judged, owner, names, cutoff)
            for name, place in place_of.items():
                top = runs[name].get(qid, ())[:cutoff]
                if top:
                    with_own = [docid for docid in top if docid in judged]
                    n_left = sum(owner.get(docid) != place for docid in with_own)
                    shares[name].append((len(with_own) / len(top), n_left / len(top)))
        return totals

    def _add_values(
        self,
        runs: Rankings,
        qid: str,
        judged: Mapping[str, int],
        owner: Mapping[str, int | None],
        names: list[str],
        cutoff: int,
    ) -> None:
        own = {docid: place for docid, place in owner.items() if place is not None}
        for docid, place in own.items():
            self.n_unique[place] += 1
            self.n_relevant[place] += judged[docid] > 0
        gains = np.zeros(len(names))
        lost = np.zeros(self.without.shape)
        for at, name in enumerate(names):
            for rank, docid in enumerate(runs[name].get(qid, ())[:cutoff], start=1):
                gain = max(judged.get(docid, 0), 0) / log2(rank + 1)
                gains[at] += gain
                if docid in own:
                    lost[at, own[docid]] += gain
        ideal = _ideal(judged.values(), cutoff)
        ideals = np.full(self.without.shape[1], ideal)
        for place in {place for docid, place in own.items() if judged[docid] > 0}:
            grades_left = [grade for docid, grade in judged.items() if own.get(docid) != place]
            ideals[place] = _ideal(grades_left, cutoff)
        if ideal:
            self.full += gains / ideal
            left_gains = gains[:, np.newaxis] - lost
            self.without += np.divide(
                left_gains, ideals, out=np.zeros_like(left_gains), where=ideals > 0
            )


def _owners(
    runs: Rankings,
    qid: str,
    judged: Mapping[str, int],
    place_of: Mapping[str, int],
    pooled: Mapping[str, int],
) -> dict[str, int | None]:
    """{judged document that was contributed: its only group, None where there are several}"""
    owner: dict[str, int | None] = {}
    for name, place in place_of.items():
        for docid in runs[name].get(qid, ())[: pooled[name]]:
            if docid in judged:
                owner[docid] = place if owner.get(docid, place) == place else None
    return owner


def _ideal(grades: Iterable[int], cutoff: int) -> float:
    best = sorted((grade for grade in grades if grade > 0), reverse=True)[:cutoff]
    return float(sum(grade / log2(rank + 1) for rank, grade in enumerate(best, start=1)))


def _mean(shares: list[tuple[float, float]], which: int) -> float:
    return sum(share[which] for share in shares) / len(shares) if shares else nan
