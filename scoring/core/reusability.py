"""How well judged pools treat a system that had no part in them: each contributor is left out once.

Zobel (How reliable are the results of large-scale information retrieval experiments?, SIGIR 1998)
drops the judgments that one system alone brought and scores it again; Büttcher et al. (SIGIR 2007)
do so with whole groups. How far it falls is what a new system has to expect.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2, nan
from typing import TypeAlias

import numpy as np

from benchmarks_app.core.statistics import kendall_tau
from scoring.core.statistics.families import Floats

Rankings: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""{run: {query: its documents, best first}}."""
Grades: TypeAlias = Mapping[str, Mapping[str, int]]

CUTOFF = 10


@dataclass(frozen=True)
class LeftOut:
    """A system without the judgments that it alone contributed.

    `n_unique` of the judgments are those, `n_unique_relevant` of them have a grade above 0. `full`
    and `without` are its mean nDCG, `judged` the mean judged share of its first documents without
    them, `judged_full` with them. `tau` is Kendall's of the ranking of all systems then and now.
    """

    run: str
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
    """Every system left out once; `tau` compares the ranking by full values with that by `without`.

    `mean_shift`, `worst_shift`, `mean_judged` and `least_judged` are over the systems.
    """

    systems: tuple[LeftOut, ...]
    tau: float
    n_queries: int
    n_judged: int
    n_contributed: int
    cutoff: int

    @property
    def mean_shift(self) -> float:
        return float(np.mean([one.shift for one in self.systems])) if self.systems else nan

    @property
    def worst_shift(self) -> float:
        return min((one.shift for one in self.systems), default=nan)

    @property
    def mean_judged(self) -> float:
        return float(np.nanmean([one.judged for one in self.systems])) if self.systems else nan

    @property
    def least_judged(self) -> float:
        return min((one.judged for one in self.systems), default=nan)


def leave_one_out(
    runs: Rankings, grades: Grades, *, pooled: Mapping[str, int], cutoff: int = CUTOFF
) -> Reusability:
    """Each of `pooled` (a run and the depth to which it was pooled) left out of the judgments once.

    A judgment is a system's own where no other pooled system has the document that high; one that
    no pooled system has (a random control, labels from elsewhere) stays. All `runs` are ranked.

    Examples
    --------
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y"]}}
    >>> found = leave_one_out(runs, {"q": {"x": 1, "y": 1}}, pooled={"a": 2, "b": 2})
    >>> [(one.run, one.n_unique, round(one.shift, 3)) for one in found.systems]
    [('a', 1, -0.369), ('b', 0, 0.0)]
    """
    names = list(runs)
    held_out = [name for name in names if pooled.get(name)]
    totals = _Totals.over(runs, grades, names, held_out, pooled, cutoff)
    full = totals.full / len(grades) if grades else totals.full
    without = totals.without / len(grades) if grades else totals.without
    ranks_full = _ranks(full)
    own = [float(without[names.index(name), place]) for place, name in enumerate(held_out)]
    systems = []
    for place, name in enumerate(held_out):
        at = names.index(name)
        systems.append(
            LeftOut(
                run=name,
                n_unique=int(totals.n_unique[place]),
                n_unique_relevant=int(totals.n_relevant[place]),
                full=float(full[at]),
                without=own[place],
                judged_full=totals.judged_full[place],
                judged=totals.judged[place],
                rank_full=ranks_full[at],
                rank=_ranks(without[:, place])[at],
                tau=kendall_tau(full, without[:, place]),
            )
        )
    return Reusability(
        systems=tuple(systems),
        tau=kendall_tau(np.array([one.full for one in systems]), np.array(own)),
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
    """Sums over the queries: nDCG of each run, and of each run without each held out one's own."""

    full: Floats
    without: Floats  # runs x held out
    n_unique: Floats
    n_relevant: Floats
    judged_full: list[float]
    judged: list[float]
    n_judged: int = 0
    n_contributed: int = 0

    @classmethod
    def over(
        cls,
        runs: Rankings,
        grades: Grades,
        names: list[str],
        held_out: list[str],
        pooled: Mapping[str, int],
        cutoff: int,
    ) -> "_Totals":
        n, m = len(names), len(held_out)
        found = cls(np.zeros(n), np.zeros((n, m)), np.zeros(m), np.zeros(m), [], [])
        shares: list[list[tuple[float, float]]] = [[] for _ in held_out]
        for qid, all_of in grades.items():
            judged = {docid: grade for docid, grade in all_of.items() if grade >= 0}
            owner = _owners(runs, qid, judged, held_out, pooled)
            found.n_judged += len(judged)
            found.n_contributed += len(owner)
            found._add_values(runs, qid, judged, owner, names, cutoff)
            for place, name in enumerate(held_out):
                top = runs[name].get(qid, ())[:cutoff]
                if top:
                    with_own = [docid for docid in top if docid in judged]
                    n_left = sum(owner.get(docid) != place for docid in with_own)
                    shares[place].append((len(with_own) / len(top), n_left / len(top)))
        found.judged_full = [_mean(of, 0) for of in shares]
        found.judged = [_mean(of, 1) for of in shares]
        return found

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
            left = [grade for docid, grade in judged.items() if own.get(docid) != place]
            ideals[place] = _ideal(left, cutoff)
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
    held_out: list[str],
    pooled: Mapping[str, int],
) -> dict[str, int | None]:
    """{judged document that was contributed: its only contributor, None where there are several}"""
    owner: dict[str, int | None] = {}
    for place, name in enumerate(held_out):
        for docid in runs[name].get(qid, ())[: pooled[name]]:
            if docid in judged:
                owner[docid] = None if docid in owner else place
    return owner


def _ideal(grades: Iterable[int], cutoff: int) -> float:
    best = sorted((grade for grade in grades if grade > 0), reverse=True)[:cutoff]
    return float(sum(grade / log2(rank + 1) for rank, grade in enumerate(best, start=1)))


def _mean(shares: list[tuple[float, float]], which: int) -> float:
    return sum(share[which] for share in shares) / len(shares) if shares else nan
