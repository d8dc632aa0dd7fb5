"""Robustness of a difference, and the result lists beside each other."""

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.comparison.comparability import Verdict, comparability
from benchwright.comparison.robustness import (
    Outcome,
    Variant,
    contested_pairs,
    other_measures,
    robustness_grid,
    without,
)
from benchwright.comparison.side_by_side import side_by_side

QIDS = [f"q{n}" for n in range(30)]
BETTER = {qid: (0.5 + n / 100, 0.4 + n / 120) for n, qid in enumerate(QIDS)}


def base(values=None) -> Variant:
    return Variant("", "as released", "nDCG@10", BETTER if values is None else values)


def turned(values):
    return {qid: (reference, run) for qid, (run, reference) in values.items()}


def test_a_difference_stands_with_its_interval_and_verdict():
    grid = robustness_grid(base(), [])

    differences = np.array([run - reference for run, reference in BETTER.values()])
    assert grid.base.difference == pytest.approx(differences.mean())
    assert grid.base.outcome is Outcome.BETTER
    assert grid.base.low < grid.base.difference < grid.base.high
    assert grid.base.p < 0.001 and stats.ttest_1samp(differences, 0).pvalue < 0.001


def test_each_variant_survives_turns_or_is_not_recorded():
    level = {qid: (0.5, 0.5 + (-1) ** n * 0.001) for n, qid in enumerate(QIDS)}
    weak = {qid: (0.5 + (0.3 if n % 2 else -0.28), 0.5) for n, qid in enumerate(QIDS)}
    variants = [
        Variant("labels", "alike", "nDCG@10", BETTER),
        Variant("labels", "turned", "nDCG@10", turned(BETTER)),
        Variant("gain", "level", "nDCG@10", level),
        Variant("gain", "weak", "nDCG@10", weak),
        Variant("contested", "none", "nDCG@10", {}, "Not recorded."),
        Variant("depth", "one query", "nDCG@10", {"q0": (1.0, 0.0)}),
    ]

    grid = robustness_grid(base(), variants)

    seen = [
        (cell.name, cell.outcome.value, cell.has_same_sign, cell.survives) for cell in grid.cells
    ]
    assert seen == [
        ("alike", "better", True, True),
        ("turned", "worse", False, False),
        ("level", "not-shown", False, False),
        ("weak", "not-shown", True, False),
        ("none", "not-recorded", None, None),
        ("one query", "not-recorded", None, None),
    ]
    assert (grid.n_recorded, grid.n_surviving) == (4, 1)
    assert grid.cells[4].note == "Not recorded."


def test_a_query_without_a_value_is_left_out():
    values = {**BETTER, "more": (nan, 0.5)}

    assert robustness_grid(base(values), []).base.n_queries == len(QIDS)


def test_whole_families_are_flipped_together():
    """All queries of one family: there is one sign to flip, so nothing can be shown."""
    grid = robustness_grid(base(), [], families=dict.fromkeys(QIDS, "one"))

    assert grid.base.p == 1.0
    assert grid.base.outcome is Outcome.NOT_SHOWN


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("nDCG@10", ["nDCG(dcg='exp-log2')@10", "nDCG@9", "nDCG@11"]),
        ("RR@10", ["RR@9", "RR@11"]),
        ("P@1", ["P@2"]),
        ("AP", []),
        ("DCG(dcg='exp-log2')@5", ["DCG@5",
                                   "DCG(dcg='exp-log2')@4", "DCG(dcg='exp-log2')@6"]),
    ],
)  # fmt: skip
def test_gain_and_depth_vary_where_a_measure_has_them(measure, expected):
    assert [name for _, _, name in other_measures(measure)] == expected


GRADES = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3)
VIEWS = st.lists(st.dictionaries(st.sampled_from(["q1", "q2"]), GRADES, max_size=2), max_size=4)


@given(VIEWS)
def test_contested_is_what_two_people_grade_differently(views):
    brute = {
        (qid, docid)
        for view in views
        for other in views
        for qid in view.keys() & other.keys()
        for docid in view[qid].keys() & other[qid].keys()
        if view[qid][docid] != other[qid][docid]
    }

    assert contested_pairs(views) == brute


def test_without_pairs_a_query_may_have_nothing_left():
    grades = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}

    assert without(grades, {("q1", "a"), ("q2", "a")}) == {"q1": {"b": 0}}


# --- comparability -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1.0, 1.0, Verdict.FREE),
        (0.97, 0.95, Verdict.FREE),
        (0.95, 0.97000001, Verdict.PROVISIONAL),
        (0.949, 0.949, Verdict.PROVISIONAL),
        (0.80, 0.85, Verdict.PROVISIONAL),
        (0.95, 1.0, Verdict.PROVISIONAL),
        (0.949, 1.0, Verdict.NOT_COMPARABLE),
        (0.799, 0.8, Verdict.NOT_COMPARABLE),
        (nan, 1.0, Verdict.PROVISIONAL),
        (nan, nan, Verdict.PROVISIONAL),
    ],
)
def test_judged_shares_decide_how_far_runs_are_compared(one, other, expected):
    spread = comparability({"a": one, "b": other})
    assert spread.verdict is expected
    assert (spread.lowest == spread.highest) == isnan(one)  # of one alone, or of none


def test_unanswered_queries_make_it_provisional_and_never_better():
    shares = {"a": 0.5, "b": 0.9}

    assert comparability({"a": 1.0, "b": 1.0}, {"a": 0.99, "b": 1}).verdict is Verdict.PROVISIONAL
    assert comparability(shares, {"a": 0.99, "b": 1}).verdict is Verdict.NOT_COMPARABLE


def test_reasons_stand_in_the_order_of_the_runs():
    reasons = comparability(dict.fromkeys("hgfedcba", nan)).reasons

    assert [reason[0] for reason in reasons] == list("hgfedcba")


# --- side by side --------------------------------------------------------------------------------

LISTS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(LISTS, LISTS, st.integers(1, 8))
def test_places_moves_and_what_is_lacking_are_those_of_the_lists(one, other, depth):
    left, right = side_by_side({"one": one, "other": other}, {"a": 1, "b": -1}, depth=depth)

    assert [place.docid for place in left.places] == one[:depth]
    for place in right.places:
        expected = one.index(place.docid) - other.index(place.docid) if place.docid in one else None
        assert place.move == expected
        assert place.is_only_here == (place.docid not in one)
        assert place.grade == (1 if place.docid == "a" else None)
    assert {place.docid for place in left.lacking} == set(other[:depth]) - set(one[:depth])


def test_what_is_lacking_comes_by_grade_and_says_where_it_is_after_all():
    grades = {"x": 0, "y": 2}
    _, new = side_by_side({"old": ["x", "y", "z"], "new": ["a", "b", "c", "x"]}, grades, depth=3)

    assert [(place.docid, place.grade, place.elsewhere["new"]) for place in new.lacking] == [
        ("y", 2, None),
        ("x", 0, 4),
        ("z", None, None),
    ]
    assert new.n_judged == 0


def test_among_several_runs_a_lacking_document_stands_once_from_its_best_rank():
    columns = side_by_side({"a": ["x"], "b": ["y", "z"], "c": ["z", "y"]}, {}, depth=2)

    assert [(place.docid, place.rank) for place in columns[0].lacking] == [("y", 1), ("z", 1)]
    assert columns[1].places[0].elsewhere == {"a": None, "c": 2}


def test_run_that_leaves_one_query_of_ten_thousand_out_does_not_answer_all_of_them():
    reasons = comparability({"50%": 1.0, "b": 1.0}, {"50%": 0.9999, "b": 1}).reasons

    assert reasons == ("50% answers 99.99 % of the queries; the others count 0.",)
