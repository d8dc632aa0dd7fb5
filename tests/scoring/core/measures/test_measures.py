"""Each measure by hand, on one ranking: grades 0 3 - 1 0 - 2 at ranks 1 to 7 (- is unjudged)."""

from math import isnan, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.core.errors import CutoffError, GradeTooLargeError, RelevanceThresholdError
from scoring.core.measures import (
    average_precision,
    bpref,
    gain,
    judged,
    parse_measure,
    reciprocal_rank,
)
from scoring.core.measures import set_at_cutoff as sets
from scoring.core.reading import Hit, Judged, QueryHits

FOUND = QueryHits("q", (Hit(1, 0), Hit(2, 3), Hit(4, 1), Hit(5, 0), Hit(7, 2)), n_retrieved=7)
# One relevant and one non-relevant document were never retrieved; one grade is below 0.
GRADES = Judged((0, 3, 1, 0, 2, 2, 0, -1))
NOTHING = QueryHits("q", (), n_retrieved=0)

DCG = 3 / log2(3) + 1 / log2(5) + 2 / log2(8)
IDEAL = 3 / log2(2) + 2 / log2(3) + 2 / log2(4) + 1 / log2(5)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DCG", DCG),
        ("DCG@4", 3 / log2(3) + 1 / log2(5)),
        ("DCG(dcg='exp-log2')", 7 / log2(3) + 1 / log2(5) + 3 / log2(8)),
        ("nDCG", DCG / IDEAL),
        ("nDCG@2", (3 / log2(3)) / (3 + 2 / log2(3))),
        ("nDCG(dcg='exp-log2')@2", (7 / log2(3)) / (7 + 3 / log2(3))),
        ("AP", (1 / 2 + 2 / 4 + 3 / 7) / 4),
        ("AP@4", (1 / 2 + 2 / 4) / 4),
        ("AP(rel=2)", (1 / 2 + 2 / 7) / 3),
        ("RR", 1 / 2),
        ("RR@1", 0.0),
        ("RR(rel=4)", 0.0),
        ("RR(rel=3)@2", 1 / 2),
        ("P@5", 2 / 5),
        ("P@10", 3 / 10),
        ("P(rel=2)@5", 1 / 5),
        ("R@4", 2 / 4),
        ("R(rel=2)@4", 1 / 3),
        ("Success@1", 0.0),
        ("Success@2", 1.0),
        ("Success(rel=3)@1", 0.0),
        ("Rprec", 2 / 4),
        ("Rprec(rel=2)", 1 / 3),
        # 4 relevant, 3 judged non-relevant; above the three found stand 1, 1 and 2 of these.
        ("bpref", (2 / 3 + 2 / 3 + 1 / 3) / 4),
        # 3 relevant, 4 judged non-relevant; above the two found stand 1 and 3.
        ("bpref(rel=2)", (2 / 3 + 0) / 3),
        ("Judged@3", 2 / 3),
        ("Judged@10", 5 / 7),
        ("Judged", 5 / 7),
        ("NumRet", 7),
        ("NumRel", 4),
        ("NumRel(rel=2)", 3),
        ("NumRelRet", 3),
        ("NumRelRet(rel=2)", 2),
        ("NumQ", 1),
    ],
)
def test_measure_equals_the_sum_done_by_hand(name, expected):
    assert parse_measure(name).value(FOUND, GRADES) == pytest.approx(expected)


SHARES = [
    *("nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@3", "AP", "AP@3", "AP(rel=2)", "RR", "RR@3", "P@3"),
    *("R@3", "Success@3", "Rprec", "bpref", "bpref(rel=2)", "Judged@3", "Judged"),
]


@pytest.mark.parametrize("name", [name for name in SHARES if not name.startswith("Judged")])
def test_query_that_found_nothing_or_has_nothing_relevant_counts_zero(name):
    measure = parse_measure(name)

    assert measure.value(NOTHING, GRADES) == 0.0
    assert measure.value(NOTHING, Judged((0, -1))) == 0.0
    assert measure.value(QueryHits("q", (Hit(1, 0),), 2), Judged((0, -1))) == 0.0


@pytest.mark.parametrize("name", ["Judged", "Judged@10"])
def test_judged_share_of_nothing_is_undefined(name):
    assert isnan(parse_measure(name).value(NOTHING, GRADES))


def test_bpref_without_a_judged_nonrelevant_document_is_one_per_relevant_one():
    found = QueryHits("q", (Hit(3, 1), Hit(9, 2)), n_retrieved=9)

    assert parse_measure("bpref").value(found, Judged((1, 2, -1))) == 1.0
    assert parse_measure("bpref").value(found, Judged((1, 2, 1, 1))) == 0.5


@pytest.mark.parametrize("name", SHARES)
def test_grade_below_zero_is_the_same_as_no_grade(name):
    measure = parse_measure(name)
    with_hit = QueryHits("q", (Hit(1, -1), Hit(2, 1), Hit(3, 0)), n_retrieved=3)
    without = QueryHits("q", (Hit(2, 1), Hit(3, 0)), n_retrieved=3)

    assert measure.value(with_hit, Judged((-1, 1, 0))) == measure.value(without, Judged((1, 0)))


@st.composite
def rankings(draw):
    """Grades of retrieved documents (None where unjudged) in rank order, and of the others."""
    retrieved = draw(st.lists(st.none() | st.integers(-1, 3), max_size=8))
    return retrieved, draw(st.lists(st.integers(-1, 3), max_size=4))


def hits_of(grades):
    judged = enumerate(grades, start=1)
    found = tuple(Hit(rank, g) for rank, g in judged if g is not None and g >= 0)
    return QueryHits("q", found, len(grades))


def judged_of(retrieved, others):
    return Judged(tuple(grade for grade in [*retrieved, *others] if grade is not None))


@pytest.mark.parametrize("name", SHARES)
@given(ranking=rankings())
def test_shares_are_between_zero_and_one(name, ranking):
    value = parse_measure(name).value(hits_of(ranking[0]), judged_of(*ranking))

    assert isnan(value) or 0 <= value <= 1 + 1e-12


@pytest.mark.parametrize("name", [n for n in SHARES if n not in ("P@3", "R@3", "AP@3")])
@given(grades=st.lists(st.integers(0, 3), max_size=8), top=st.integers(2, 3))
def test_ideal_ranking_is_one(name, grades, top):
    ideal = sorted([*grades, top], reverse=True)

    assert parse_measure(name).value(hits_of(ideal), Judged(tuple(ideal))) == pytest.approx(1)


@pytest.mark.parametrize("name", [*SHARES, "DCG", "NumRelRet"])
@given(ranking=rankings(), tail=st.integers(0, 5))
def test_unjudged_documents_after_the_last_hit_change_nothing_but_the_judged_share(
    name, ranking, tail
):
    retrieved, others = ranking
    measure, grades = parse_measure(name), judged_of(retrieved, others)

    value = measure.value(hits_of(retrieved), grades)
    longer = measure.value(hits_of([*retrieved, *[None] * tail]), grades)

    assert longer == value or name.startswith("Judged")


@pytest.mark.parametrize("name", [name for name in SHARES if not name.startswith("Judged")])
@given(ranking=rankings(), data=st.data())
def test_relevant_document_moved_up_past_a_nonrelevant_one_never_costs(name, ranking, data):
    retrieved, others = ranking
    worse = [*retrieved, 0, 3]
    place = data.draw(st.integers(0, len(worse) - 1))
    if (worse[place] or 0) > 0:
        return
    better = [*worse[:place], 3, *worse[place + 1 : -1], worse[place]]
    grades = judged_of(worse, others)
    measure = parse_measure(name)

    assert measure.value(hits_of(better), grades) >= measure.value(hits_of(worse), grades) - 1e-12


def test_grade_beyond_exponential_gain_is_refused_and_taken_by_linear_gain():
    found, grades = QueryHits("q", (Hit(1, 10**9),), 1), Judged((10**9,))

    assert parse_measure("nDCG").value(found, grades) == 1.0
    with pytest.raises(GradeTooLargeError, match="takes grades up to 1000"):
        parse_measure("nDCG(dcg='exp-log2')").value(found, grades)


@pytest.mark.parametrize("cutoff", [0, -1])
def test_cutoff_below_one_is_refused(cutoff):
    calls = [
        lambda: gain.ndcg([], [1], cutoff=cutoff),
        lambda: gain.discounted_gain([], cutoff=cutoff),
        lambda: average_precision.average_precision([], 1, cutoff=cutoff),
        lambda: reciprocal_rank.reciprocal_rank([], cutoff=cutoff),
        lambda: sets.precision([], cutoff=cutoff),
        lambda: sets.recall([], 1, cutoff=cutoff),
        lambda: sets.success([], cutoff=cutoff),
        lambda: judged.judged([], 1, cutoff=cutoff),
    ]
    for call in calls:
        with pytest.raises(CutoffError, match=f"cutoff is {cutoff}; expected"):
            call()


def test_relevance_threshold_below_one_is_refused():
    calls = [
        lambda: average_precision.average_precision([], 1, rel=0),
        lambda: reciprocal_rank.reciprocal_rank([], rel=0),
        lambda: sets.precision([], cutoff=1, rel=0),
        lambda: sets.r_precision([], 0, rel=0),
        lambda: bpref.bpref([], 1, 1, rel=0),
    ]
    for call in calls:
        with pytest.raises(RelevanceThresholdError, match="rel is 0; expected"):
            call()
