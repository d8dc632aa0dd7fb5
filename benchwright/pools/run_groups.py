"""Which runs a pool owes to one and the same system: those of a team, and near copies.

A document that only a run and its near copy have was contributed once, whoever sent the copy.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from benchwright.statistics.families import Floats

Rankings: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
"""{run: {query: its documents, best first}}."""

DEPTH = 100
PERSISTENCE = 0.9
# Different teams' runs reach .51, variants of one system .84 and more (docs/completeness.md).
NEAR_COPY = 0.80
# Rankings that are the same sum up to 1 but for the order of additions.
SAME = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Alike:
    """Two runs whose mean RBO says that one is a near copy of the other."""

    run_a: str
    run_b: str
    rbo: float

    @property
    def is_same(self) -> bool:
        return self.rbo >= SAME


def overlaps(runs: Rankings, qids: Collection[str], *, depth: int = DEPTH) -> Floats:
    """Mean rank-biased overlap of each two runs, runs x runs in their order; NaN without a query.

    A query that one of the two does not answer counts 0; one that neither answers tells nothing.

    Notes
    -----
    (1 - p) sum(p^(d-1) A_d, d = 1..D) + A_D p^D with p = 0.9 and D = min(depth, both lengths): the
    extrapolated RBO of Webber, Moffat & Zobel (TOIS 28(4), 2010) of the ranks that both have.
    A document at ranks a and b counts in every A_d = |shared| / d from d = max(a, b) on.

    Examples
    --------
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["x", "z"]}}
    >>> round(float(overlaps(runs, ["q"])[0, 1]), 3)
    0.55
    """
    total, n_told = np.zeros((2, len(runs), len(runs)))
    for qid in qids:
        lists = [of.get(qid, ())[:depth] for of in runs.values()]
        total += _of_query(lists, depth)
        is_answered = np.array([bool(of) for of in lists])
        n_told += is_answered[:, np.newaxis] | is_answered
    with np.errstate(invalid="ignore"):
        means: Floats = total / n_told
    return means


def _of_query(lists: Sequence[Sequence[str]], depth: int) -> Floats:
    at = np.arange(1, depth + 1)
    # What a document that both have by rank m adds, but for the end: (1-p) sum(p^(d-1)/d, d = m..).
    steps = (1 - PERSISTENCE) * PERSISTENCE ** (at - 1) / at
    before = np.concatenate(([0.0], np.cumsum(steps)))
    ends = np.concatenate(([0.0], PERSISTENCE**at / at))
    lengths = np.array([len(docids) for docids in lists])
    numbers: dict[str, int] = {}
    rows = [[numbers.setdefault(docid, len(numbers)) for docid in of] for of in lists]
    absent = depth + 1
    ranks = np.full((len(numbers), len(lists)), absent)
    for run, row in enumerate(rows):
        ranks[row, run] = at[: len(row)]
    overlap = np.zeros((len(lists), len(lists)))
    for run, row in enumerate(rows):
        if not row:
            continue
        shortest = np.minimum(lengths, len(row))
        deeper = np.maximum(ranks[row], at[: len(row), np.newaxis])
        gain = before[shortest] + ends[shortest] - before[np.minimum(deeper, absent) - 1]
        overlap[run] = np.where(deeper <= shortest, gain, 0.0).sum(axis=0)
    return overlap


def near_copies(names: Sequence[str], overlap: Floats, *, least: float = NEAR_COPY) -> list[Alike]:
    """Pairs of runs that overlap by `least` or more, in the order of the names."""
    return [
        Alike(names[a], names[b], float(overlap[a, b]))
        for a, b in combinations(range(len(names)), 2)
        if overlap[a, b] >= least
    ]


def groups_of(
    names: Iterable[str], *, teams: Mapping[str, str], copies: Iterable[Alike]
) -> list[tuple[str, ...]]:
    """The runs by what binds them: one team, or near copies; directly or through others.

    `teams` has the team of each run that has one; names that differ in case, blanks or punctuation
    are one team.

    Examples
    --------
    >>> groups_of(["a", "b", "c"], teams={"a": "Uni X", "c": "uni-x"}, copies=[])
    [('a', 'c'), ('b',)]
    """
    root = {name: name for name in names}

    def top(name: str) -> str:
        while root[name] != name:
            name = root[name]
        return name

    first: dict[str, str] = {}
    for name in root:
        if team := plain_team(teams.get(name, "")):
            root[name] = first.setdefault(team, name)
    for pair in copies:
        root[top(pair.run_b)] = top(pair.run_a)
    groups: dict[str, list[str]] = {}
    for name in root:
        groups.setdefault(top(name), []).append(name)
    return [tuple(of) for of in groups.values()]


def plain_team(name: str) -> str:
    """A team's name without what people write differently.

    >>> plain_team(" Technion-MEDMM") == plain_team("technion medmm")
    True
    """
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name)).casefold()
