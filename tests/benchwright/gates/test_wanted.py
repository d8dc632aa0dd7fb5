"""Which documents to judge, and how many of them until runs are comparable."""

from itertools import pairwise
from math import log2

import pytest

from benchwright.gates.comparable import judged_outcome
from benchwright.gates.findings import Level
from benchwright.gates.wanted import by_influence, wanted


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
    results = []
    for ranking in rankings:
        each = [
            sum(d in grades[q] for d in ranking[q][:cutoff]) / len(ranking[q][:cutoff])
            for q in grades
            if ranking.get(q)
        ]
        results.append(sum(each) / len(each))
    return results


@pytest.mark.parametrize("is_sparse", [False, True])
def test_so_many_are_needed_and_not_one_less(is_sparse):
    first = {f"q{n}": [f"d{n + i}" for i in range(10)] for n in range(8)}
    second = {f"q{n}": [f"d{n + 3 * i}" for i in range(8)] for n in range(8)}
    grades = {f"q{n}": {f"d{n + i}": i % 2 for i in range(5)} for n in range(8)}
    pairs_wanted = wanted(first, second, grades, cutoff=10, is_sparse=is_sparse)

    levels = []
    for n in (pairs_wanted.needed - 1, pairs_wanted.needed):
        judged = {q: dict(of) for q, of in grades.items()}
        for query, docid in pairs_wanted.documents[:n]:
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
    pairs_wanted = wanted({"q": ["a"]}, {"q": ["b"]}, {"q": {"a": 1, "b": 0}}, cutoff=10)

    assert (pairs_wanted.documents, pairs_wanted.needed) == ((), 0)


def test_a_query_without_a_relevant_document_weighs_as_one_whose_best_dcg_is_1():
    rows = by_influence({"q": ["a", "b"]}, {"q": ["b"]}, {"q": {"c": 0}}, cutoff=2)

    assert rows == [("q", "a", pytest.approx(1.0)), ("q", "b", pytest.approx(1 - 1 / log2(3)))]


def test_the_best_dcg_is_of_as_many_relevant_documents_as_the_measure_sees():
    """Of grades 3, 2 and 1 the first two: 3 + 2 / log2(3)."""
    grades = {"q": {"x": 1, "y": 3, "z": 2, "o": 0}}

    ((_, _, weight),) = by_influence({"q": ["a"]}, {}, grades, cutoff=2)

    assert weight == pytest.approx(1 / (3 + 2 / log2(3)))


def test_documents_of_one_influence_stand_by_the_bytes_of_their_names():
    grades = {"b": {"x": 1}, "a": {"x": 1}}
    first = {"a": ["é", "z"], "b": ["z"]}
    second = {"a": ["z", "é"], "b": ["y"]}

    rows = by_influence(first, second, grades, cutoff=2)

    assert [(query, docid) for query, docid, _ in rows] == [
        *(("b", "y"), ("b", "z"), ("a", "z"), ("a", "é"))
    ]


def test_an_order_of_somebody_else_is_kept_and_counted_as_it_stands():
    first, second = {"q": ["a", "b"]}, {"q": ["c", "d"]}
    order = [("q", "d"), ("q", "z"), ("q", "c"), ("q", "b"), ("q", "a")]

    pairs_wanted = wanted(first, second, {"q": {"x": 1}}, cutoff=2, order=order)

    assert (list(pairs_wanted.documents), pairs_wanted.needed) == (order, 5)
    # Of the first run all is judged: the runs are alike once c is, the second in this order.
    half = {"q": {"a": 0, "b": 0, "d": 0}}
    assert wanted(first, second, half, cutoff=2, order=[order[1], order[2]] * 2).needed == 2


def test_where_a_run_answers_nothing_no_judgment_helps():
    pairs_wanted = wanted({"q": ["a", "b"]}, {"q": []}, {"q": {"x": 1}}, cutoff=2)

    assert (len(pairs_wanted.documents), pairs_wanted.needed) == (2, 2)


def test_queries_that_a_run_does_not_answer_are_left_out_of_its_share():
    """One of two answers is judged in each: 1 of q1 for the first, 1 of both for the second."""
    grades = {"q1": {"a": 1}, "q2": {"a": 1}}
    pairs_wanted = wanted({"q1": ["a"]}, {"q1": ["a"], "q2": ["a"]}, grades, cutoff=10)

    assert pairs_wanted.needed == 0
    short = wanted({"q1": ["a"]}, {"q1": ["a"], "q2": ["b"]}, grades, cutoff=10)
    assert (short.documents, short.needed) == ((("q2", "b"),), 1)


def test_only_what_is_looked_at_is_asked_for():
    grades = {"q": {"a": 1}}
    pairs_wanted = wanted({"q": ["a", "b", "c"]}, {"q": ["a", "d"]}, grades, cutoff=2)

    assert {docid for _, docid in pairs_wanted.documents} == {"b", "d"}
    assert wanted({"q": ["a", "b"]}, {"q": ["a", "d"]}, grades, cutoff=1).documents == ()


@pytest.mark.parametrize(("unlisted", "n"), [(-1, 2), (0, 0)])
def test_unlisted_documents_are_asked_for_where_nobody_knows_them(unlisted, n):
    pairs_wanted = wanted({"q": ["b"]}, {"q": ["c"]}, {"q": {"a": 1}}, cutoff=2, unlisted=unlisted)

    assert (len(pairs_wanted.documents), pairs_wanted.needed) == (n, n)
