"""Which documents to judge, and how many of them until runs are comparable."""

from itertools import pairwise
from math import log2

import pytest

from scoring.core.gating.comparable import judged_outcome
from scoring.core.gating.findings import Level
from scoring.core.gating.wanted import by_influence, wanted


def test_influence_by_hand():
    """q1 grades a:2, so the best DCG is 2; b is third and first: |1/2 - 1| / 2 = .25."""
    rows = by_influence(
        {"q1": ["a", "c", "b"]}, {"q1": ["b", "a", "c"]}, {"q1": {"a": 2}}, cutoff=3
    )

    assert [(query, docid) for query, docid, _ in rows] == [("q1", "b"), ("q1", "c")]
    assert rows[0][2] == pytest.approx(0.25)
    assert rows[1][2] == pytest.approx((1 / log2(3) - 0.5) / 2)


def test_grades_below_0_are_not_judged_and_queries_without_grades_not_asked():
    rows = by_influence({"q": ["a", "b"], "x": ["z"]}, {}, {"q": {"a": -1, "b": 0}}, cutoff=2)

    assert [(query, docid) for query, docid, _ in rows] == [("q", "a")]


def shares(rankings, grades, cutoff):
    found = []
    for ranking in rankings:
        each = [
            sum(d in grades[q] for d in ranking[q][:cutoff]) / len(ranking[q][:cutoff])
            for q in grades
            if ranking.get(q)
        ]
        found.append(sum(each) / len(each))
    return found


@pytest.mark.parametrize("is_sparse", [False, True])
def test_so_many_are_needed_and_not_one_less(is_sparse):
    first = {f"q{n}": [f"d{n + i}" for i in range(10)] for n in range(8)}
    second = {f"q{n}": [f"d{n + 3 * i}" for i in range(8)] for n in range(8)}
    grades = {f"q{n}": {f"d{n + i}": i % 2 for i in range(5)} for n in range(8)}
    found = wanted(first, second, grades, cutoff=10, is_sparse=is_sparse)

    levels = []
    for n in (found.needed - 1, found.needed):
        judged = {q: dict(of) for q, of in grades.items()}
        for query, docid in found.documents[:n]:
            judged[query][docid] = 0
        levels.append(judged_outcome(*shares([first, second], judged, 10), is_sparse=is_sparse)[1])
    assert levels[0] == Level.BAD
    assert levels[1] != Level.BAD


def test_the_most_influential_come_first():
    first = {"q": [f"d{i}" for i in range(10)]}
    second = {"q": [f"d{9 - i}" for i in range(10)]}
    rows = by_influence(first, second, {"q": {"d0": 1}}, cutoff=10)

    assert all(one[2] >= other[2] for one, other in pairwise(rows))
    assert len(rows) == 9


def test_where_all_is_judged_nothing_is_needed():
    found = wanted({"q": ["a"]}, {"q": ["b"]}, {"q": {"a": 1, "b": 0}}, cutoff=10)

    assert (found.documents, found.needed) == ((), 0)
