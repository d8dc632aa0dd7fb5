"""What an approximate index loses against exact search of the same model.

recall@k is the mean over queries of |approximate first k and exact first k| / k. Documents whose
scores lie as near as rounding to that of rank k could as well have stood there: they count as found
(Aumüller, Bernhardsson and Faithfull, ANN-Benchmarks, 2020, do so with distances).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple, TypeAlias

USUAL_BASELINE = 0.95
"""Below this recall, an index is usually not taken into production."""

TOLERANCE = 1e-6


class Ranked(NamedTuple):
    docid: str
    score: float


Rows: TypeAlias = Mapping[str, Sequence[Ranked]]
"""{query: its documents, best first}."""


class QueryRecall(NamedTuple):
    """What one query keeps of its exact first k; `missed` are those lost, in exact order.

    `n_above` documents of the approximate run score above the exact run's rank k by more than the
    tolerance, and the exact run does not have them: then it was not exact, or another model.
    """

    qid: str
    recall: float
    missed: tuple[str, ...]
    n_above: int


@dataclass(frozen=True)
class AnnRecall:
    """recall@k of every query that the exact run answers, and what did not fit.

    `n_missing` of them the approximate run does not answer at all (recall 0), `n_extra` only it
    answers (left out). `n_short` have fewer than k exact documents: all of those are to be found.
    """

    k: int
    queries: tuple[QueryRecall, ...]
    n_missing: int
    n_extra: int
    n_short: int

    @property
    def mean(self) -> float:
        return mean_recall(self.queries)

    @property
    def n_above(self) -> int:
        return sum(query.n_above > 0 for query in self.queries)

    @property
    def n_perfect(self) -> int:
        return sum(query.recall == 1 for query in self.queries)

    def worst(self, n: int) -> list[QueryRecall]:
        """The queries that lose most, equal ones by the bytes of their ids."""
        return sorted(self.queries, key=lambda query: (query.recall, query.qid.encode()))[:n]

    def of(self, qids: Iterable[str]) -> list[QueryRecall]:
        """Those of a slice."""
        qids_wanted = set(qids)
        return [query for query in self.queries if query.qid in qids_wanted]


def mean_recall(queries: Sequence[QueryRecall]) -> float:
    """The mean, NaN of nothing."""
    return sum(query.recall for query in queries) / len(queries) if queries else nan


def ann_recall(
    exact: Rows, approximate: Rows, *, k: int, tolerance: float = TOLERANCE
) -> AnnRecall:
    """How much of the exact first `k` the approximate run keeps, query by query.

    `tolerance` is in units of the scores.

    Examples
    --------
    The exact run's ranks 2 and 3 are tied, so either may stand at rank 2.

    >>> exact = {"q": [Ranked("a", 3.0), Ranked("b", 2.0), Ranked("c", 2.0)]}
    >>> ann_recall(exact, {"q": [Ranked("a", 3.0), Ranked("c", 2.0)]}, k=2).mean
    1.0
    """
    queries = [
        _query_recall(qid, rows, approximate.get(qid, ()), k, tolerance)
        for qid, rows in exact.items()
        if rows
    ]
    return AnnRecall(
        k=k,
        queries=tuple(queries),
        n_missing=sum(not approximate.get(query.qid) for query in queries),
        n_extra=sum(not exact.get(qid) for qid in approximate),
        n_short=sum(len(exact[query.qid]) < k for query in queries),
    )


def _query_recall(
    qid: str, exact: Sequence[Ranked], approximate: Sequence[Ranked], k: int, tolerance: float
) -> QueryRecall:
    first = exact[:k]
    edge = first[-1].score
    score_of = {row.docid: row.score for row in exact}
    docids = [row.docid for row in first]
    scores = {row.docid: row.score for row in approximate[:k]}
    n_there = sum(docid in scores for docid in docids)
    others = scores.keys() - set(docids)
    n_tied = sum(abs(score_of.get(docid, scores[docid]) - edge) <= tolerance for docid in others)
    # What stands in for a document at the edge can replace no more than is missing there.
    n_at_edge = sum(row.docid not in scores and abs(row.score - edge) <= tolerance for row in first)
    missed = tuple(row.docid for row in first if row.docid not in scores)
    n_counted = n_there + min(n_tied, n_at_edge)
    above = [docid for docid in others - score_of.keys() if scores[docid] > edge + tolerance]
    is_whole = n_counted == len(docids)
    return QueryRecall(qid, n_counted / len(docids), () if is_whole else missed, len(above))
