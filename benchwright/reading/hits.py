"""Hits: the judged documents that a run retrieved. No measure needs more of a run."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

from benchwright.errors import UnknownUnlistedRuleError
from benchwright.formats.unlisted import NOT_RELEVANT, UNLISTED
from benchwright.reading.ranking import Scored, check_ties, ranked

Qid = TypeVar("Qid", bytes, str)


class Hit(NamedTuple):
    """One document of the qrels that was retrieved: its rank, from 1, and its grade.

    A grade below 0 is in the pool, but not judged.
    """

    rank: int
    grade: int


@lru_cache(maxsize=1 << 14)
def hit_at(rank: int, grade: int) -> Hit:
    """The hit of a rank and a grade: one object, however many queries have it.

    Examples
    --------
    >>> hit_at(1, 2) is hit_at(1, 2)
    True
    """
    return Hit(rank, grade)


class TieGroup(NamedTuple):
    """Results of one score: the first of their ranks, and how many they are (at least 2)."""

    first: int
    size: int


class QueryHits(NamedTuple, Generic[Qid]):
    """What a run found for one query: hits by ascending rank, and how many documents in all.

    `ties` are the groups of equal scores that hold a hit, by ascending rank; they are told only
    under the tie rule `expected`.
    """

    qid: Qid
    hits: tuple[Hit, ...]
    n_retrieved: int
    ties: tuple[TieGroup, ...] = ()


class Judged(NamedTuple):
    """The grades of one query, in any order. A grade below 0 is in the pool, but not judged.

    A document without a grade is not judged either, unless the grades are `is_complete`: then it is
    known not to be relevant (see `with_unlisted`).
    """

    grades: tuple[int, ...]
    is_complete: bool = False


def judged_by(judged: Mapping[Qid, Judged], unlisted: str) -> Mapping[Qid, Judged]:
    """The grades of each query under a rule: unlisted documents are `unknown` or `not-relevant`.

    Raises
    ------
    UnknownUnlistedRuleError
        If `unlisted` is none of the two.
    """
    if unlisted not in UNLISTED:
        raise UnknownUnlistedRuleError(unlisted=unlisted, known=", ".join(UNLISTED))
    if unlisted != NOT_RELEVANT:
        return judged
    return {qid: of._replace(is_complete=True) for qid, of in judged.items()}


def with_unlisted(found: QueryHits[Qid], judged: Judged) -> QueryHits[Qid]:
    """The hits, and where the grades are complete a hit of grade 0 for what they do not list.

    The one place that decides whether a document without a grade is judged; who looks for judged
    documents looks here.

    Examples
    --------
    >>> with_unlisted(QueryHits("q", (Hit(2, 1),), 3), Judged((1,), is_complete=True)).hits
    (Hit(rank=1, grade=0), Hit(rank=2, grade=1), Hit(rank=3, grade=0))
    """
    if not judged.is_complete:
        return found
    hits = list(_not_relevant(1 << found.n_retrieved.bit_length())[: found.n_retrieved])
    for hit in found.hits:
        hits[hit.rank - 1] = hit
    return QueryHits(found.qid, tuple(hits), found.n_retrieved, found.ties)


@lru_cache
def _not_relevant(n: int) -> tuple[Hit, ...]:
    """Hits of grade 0 at the first ranks, shared by all queries."""
    return tuple(Hit(rank, 0) for rank in range(1, n + 1))


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
    hits = {}
    for qid, grades in qrels.items():
        if rows := run.get(qid):
            results = ranked(rows, ties)[:depth]
            groups = _tie_groups(results, grades) if ties == "expected" else ()
            hits[qid] = QueryHits(qid, _hits(results, grades), len(results), groups)
    return hits


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
