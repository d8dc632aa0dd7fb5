"""Unjudged documents in the order in which judging them says most about the runs."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log2
from typing import NamedTuple, TypeAlias

from benchmarks_app.core.unlisted import NOT_LISTED_GRADE, UNKNOWN

Ranking: TypeAlias = Mapping[str, Sequence[str]]
"""{query: its documents, best first}."""
Grades: TypeAlias = Mapping[str, Mapping[str, int]]


class Candidate(NamedTuple):
    """A document without a grade, and its rank in each of the runs (None below the cutoff)."""

    qid: str
    docid: str
    ranks: tuple[int | None, ...]


class Worth(NamedTuple):
    """A document worth judging: `priority` counts from 1, the most worth it first.

    `influence` is how much a relevant document at these ranks moves the difference of the runs on
    its query (or the value of the one run there is), times `probability`, that it is relevant.
    """

    qid: str
    docid: str
    priority: int
    influence: float
    probability: float = 0.0
    ranks: tuple[int | None, ...] = ()


def discount(rank: int | None, cutoff: int) -> float:
    """What a rank counts for: 1/log2(rank + 1) down to the cutoff, 0 below it and for no rank.

    Examples
    --------
    >>> discount(1, 10), discount(3, 10), discount(11, 10), discount(None, 10)
    (1.0, 0.5, 0.0, 0.0)
    """
    return 1 / log2(rank + 1) if rank is not None and rank <= cutoff else 0.0


def ideal_gain(grades: Sequence[int], cutoff: int) -> float:
    """The DCG of the best ranking of these grades; 1 where none is above 0.

    There a single relevant document would be all there is, and its own gain divides it.

    Examples
    --------
    >>> ideal_gain([0, 2, 1], 1), ideal_gain([0, 0], 10)
    (2.0, 1.0)
    """
    best = sorted((grade for grade in grades if grade > 0), reverse=True)[:cutoff]
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(best, start=1)) or 1.0


def unjudged_documents(
    runs: Sequence[Ranking],
    grades: Grades,
    *,
    cutoff: int,
    only: frozenset[str] | None = None,
    unlisted: int = NOT_LISTED_GRADE[UNKNOWN],
) -> list[Candidate]:
    """Documents in the first `cutoff` of a run that have no grade, of the queries that are graded.

    A grade below 0 is a pair that was pooled and not judged; `unlisted` is the grade of documents
    that have none, 0 where these are known not to be relevant. In the order of query, then of the
    best rank, then of the document's id.
    """
    found = []
    for qid in sorted(grades if only is None else only & grades.keys(), key=str.encode):
        judged = grades[qid]
        ranks: dict[str, list[int | None]] = {}
        for place, run in enumerate(runs):
            for rank, docid in enumerate(run.get(qid, ())[:cutoff], start=1):
                if judged.get(docid, unlisted) < 0:
                    ranks.setdefault(docid, [None] * len(runs))[place] = rank
        found += sorted(
            (Candidate(qid, docid, tuple(of)) for docid, of in ranks.items()), key=_best_first
        )
    return found


def _best_first(one: Candidate) -> tuple[int, bytes]:
    return min(rank for rank in one.ranks if rank is not None), one.docid.encode()


def worth_in_order(
    candidates: Sequence[Candidate],
    probabilities: Sequence[float],
    grades: Grades,
    *,
    cutoff: int,
) -> list[Worth]:
    """The candidates by influence, the largest first; what is 0 is left out.

    Two runs that have a document at the same rank gain alike from it: it says nothing about their
    difference, however relevant it is. Equal influences stand as the candidates do.
    """
    ideal = {
        qid: ideal_gain(list(grades[qid].values()), cutoff) for qid in {c.qid for c in candidates}
    }
    told = [
        (_moved(one.ranks, cutoff) / ideal[one.qid] * probability, one, probability)
        for one, probability in zip(candidates, probabilities, strict=True)
    ]
    ordered = sorted((row for row in told if row[0] > 0), key=lambda row: -row[0])
    return [
        Worth(one.qid, one.docid, place, influence, probability, one.ranks)
        for place, (influence, one, probability) in enumerate(ordered, start=1)
    ]


def _moved(ranks: Sequence[int | None], cutoff: int) -> float:
    """By how much a relevant document moves the differences of all pairs of runs, in DCG."""
    counts = [discount(rank, cutoff) for rank in ranks]
    if len(counts) == 1:
        return counts[0]
    return sum(abs(one - other) for one, other in combinations(counts, 2))
