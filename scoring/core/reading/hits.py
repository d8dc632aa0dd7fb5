"""Hits: the judged documents that a run retrieved. No measure needs more of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

from scoring.core.reading.ranking import Scored, check_ties, ranked

Qid = TypeVar("Qid", bytes, str)


class Hit(NamedTuple):
    """One document of the qrels that was retrieved: its rank, from 1, and its grade.

    A grade below 0 is in the pool, but not judged.
    """

    rank: int
    grade: int


class TieGroup(NamedTuple):
    """Results of one score: the first of their ranks, and how many they are (at least 2)."""

    first: int
    size: int


@dataclass(frozen=True, slots=True)
class QueryHits(Generic[Qid]):
    """What a run found for one query: hits by ascending rank, and how many documents in all.

    `ties` are the groups of equal scores that hold a hit, by ascending rank; they are told only
    under the tie rule `expected`.
    """

    qid: Qid
    hits: tuple[Hit, ...]
    n_retrieved: int
    ties: tuple[TieGroup, ...] = ()


@dataclass(frozen=True)
class Judged:
    """The grades of one query, in any order. A grade below 0 is in the pool, but not judged."""

    grades: tuple[int, ...]

    @cached_property
    def ideal(self) -> tuple[int, ...]:
        """Every grade above 0, descending."""
        return tuple(sorted((grade for grade in self.grades if grade > 0), reverse=True))

    def n_relevant(self, rel: int = 1) -> int:
        """Documents of grade `rel` or more."""
        return sum(grade >= rel for grade in self.grades)

    def n_nonrelevant(self, rel: int = 1) -> int:
        """Documents judged, and below `rel`."""
        return sum(0 <= grade < rel for grade in self.grades)


def find_hits(
    qrels: Mapping[Qid, Mapping[bytes, int]],
    run: Mapping[Qid, Sequence[Scored]],
    *,
    ties: str = "trec",
    depth: int | None = None,
) -> dict[Qid, QueryHits[Qid]]:
    """The hits of every query that has grades and results; the others are left out.

    `depth` looks at that many results a query only, as trec_eval's `-M` does.

    Raises
    ------
    UnknownTieRuleError
        If `ties` is not a tie rule (see `ranked`).
    CutoffError
        If `depth` is below 1.
    ExpectedDepthError
        If there is a `depth` and `ties` is `expected`.
    """
    check_ties(ties, depth)
    found = {}
    for qid, grades in qrels.items():
        if rows := run.get(qid):
            results = ranked(rows, ties)[:depth]
            groups = _tie_groups(results, grades) if ties == "expected" else ()
            found[qid] = QueryHits(qid, _hits(results, grades), len(results), groups)
    return found


def _tie_groups(results: Sequence[Scored], grades: Mapping[bytes, int]) -> tuple[TieGroup, ...]:
    """The groups of equal scores that hold a hit; `results` in order of rank."""
    groups: list[TieGroup] = []
    first = 1
    for _, equal in groupby(results, key=lambda result: result.score):
        docids = [result.docid for result in equal]
        if len(docids) > 1 and any(docid in grades for docid in docids):
            groups.append(TieGroup(first, len(docids)))
        first += len(docids)
    return tuple(groups)


def _hits(results: Sequence[Scored], grades: Mapping[bytes, int]) -> tuple[Hit, ...]:
    return tuple(
        Hit(rank, grade)
        for rank, result in enumerate(results, start=1)
        if (grade := grades.get(result.docid)) is not None
    )
