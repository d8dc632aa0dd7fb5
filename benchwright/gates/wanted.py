"""Which unjudged documents stand between two runs and a comparison.

The influence of a document on the difference of two runs' DCG is how differently they rank it,
over the best DCG of its query: Carterette, Allan and Sitaraman, Minimal test collections for
retrieval evaluation, SIGIR 2006.
"""

from collections.abc import Collection, Mapping, Sequence
from math import log2, nan
from typing import TypeAlias

from benchwright.comparison.completeness import ideal_gain
from benchwright.formats.unlisted import NOT_LISTED_GRADE, UNKNOWN
from benchwright.gates.comparable import judged_outcome
from benchwright.gates.evidence import Wanted
from benchwright.gates.findings import Level

Ranking: TypeAlias = Mapping[str, Sequence[str]]
"""Documents of each query, the best first."""

Grades: TypeAlias = Mapping[str, Mapping[str, int]]


def by_influence(
    baseline: Ranking, candidate: Ranking, grades: Grades, *, cutoff: int
) -> list[tuple[str, str, float]]:
    """Unjudged documents among the first `cutoff` of either run, the most influential first.

    Examples
    --------
    >>> by_influence({"q": ["a", "b"]}, {"q": ["b", "c"]}, {"q": {"a": 1}}, cutoff=2)[0][:2]
    ('q', 'c')
    """
    documents = []
    for query, of_query in grades.items():
        first = _gains(baseline.get(query, ()), cutoff)
        second = _gains(candidate.get(query, ()), cutoff)
        best = ideal_gain(list(of_query.values()), cutoff)
        judged = {docid for docid, grade in of_query.items() if grade >= 0}
        for docid in (first.keys() | second.keys()) - judged:
            weight = abs(first.get(docid, 0.0) - second.get(docid, 0.0)) / best
            documents.append((query, docid, weight))
    return sorted(documents, key=lambda row: (-row[2], row[0].encode(), row[1].encode()))


def _gains(ranked: Sequence[str], cutoff: int) -> dict[str, float]:
    return {docid: 1 / log2(rank + 1) for rank, docid in enumerate(ranked[:cutoff], start=1)}


def wanted(
    baseline: Ranking,
    candidate: Ranking,
    grades: Grades,
    *,
    cutoff: int,
    is_sparse: bool = False,
    order: Sequence[tuple[str, str]] | None = None,
    unlisted: int = NOT_LISTED_GRADE[UNKNOWN],
) -> Wanted:
    """The documents to judge, and how many of the first of them make the runs comparable.

    `order` puts them as somebody else has them; by influence where it is not given. `unlisted` is
    the grade of documents that have none, below 0 where nobody knows.
    """
    if order is None:
        rows = by_influence(baseline, candidate, grades, cutoff=cutoff)
        order = [
            (query, docid) for query, docid, _ in rows if grades[query].get(docid, unlisted) < 0
        ]
    shares = [_Share(ranking, grades, cutoff, unlisted) for ranking in (baseline, candidate)]
    needed = 0
    for query, docid in order:
        if _is_comparable(shares, is_sparse=is_sparse):
            break
        needed += 1
        for share in shares:
            share.judge(query, docid)
    return Wanted(tuple(order), needed)


def _is_comparable(shares: "Sequence[_Share]", *, is_sparse: bool) -> bool:
    first, second = (share.value for share in shares)
    return judged_outcome(first, second, is_sparse=is_sparse)[1] != Level.BAD


class _Share:
    """The mean share of judged documents of one run, as more and more of them are judged."""

    def __init__(self, ranking: Ranking, grades: Grades, cutoff: int, unlisted: int) -> None:
        self.top = {
            query: frozenset(ranking[query][:cutoff]) for query in grades if ranking.get(query)
        }
        judged = (_judged_share(top, grades[query], unlisted) for query, top in self.top.items())
        self.value = sum(judged) / len(self.top) if self.top else nan

    def judge(self, query: str, docid: str) -> None:
        top = self.top.get(query, frozenset())
        if docid in top:
            self.value += 1 / len(top) / len(self.top)


def _judged_share(top: Collection[str], grades: Mapping[str, int], unlisted: int) -> float:
    return sum(grades.get(docid, unlisted) >= 0 for docid in top) / len(top)
