"""Brackets and scenarios, by hand, and against every way to judge what is not judged."""

import random
from itertools import product
from math import isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import EmptyRunError, NoBracketError
from benchwright.evaluation.unjudged import (
    bracket,
    grade_weights,
    scenarios,
    unjudged_ranks,
)
from benchwright.measures import parse_measure
from benchwright.reading import Hit, Judged, QueryHits

# Grade 1 at rank 1, grade 0 at ranks 2 to 9, nobody judged rank 10; the scale goes to 3.
GOLDEN_HITS = {"q": QueryHits("q", (Hit(1, 1), *(Hit(rank, 0) for rank in range(2, 10))), 10)}
GOLDEN_JUDGED = {"q": Judged((1, *[0] * 8))}

MONOTONE = [
    *("P@3", "P(rel=2)@2", "RR", "RR@2", "Success@3", "DCG", "DCG(dcg='exp-log2')@3"),
    *("DCG(gains={1:1,2:1,3:5})@3", "RBP", "RBP@3", "RBP(rel=2,p=0.5)"),
]


def test_golden_case_shows_that_ndcg_has_no_bracket():
    """More relevant documents, and a lower value."""
    bounds = scenarios("nDCG@10", GOLDEN_JUDGED, GOLDEN_HITS, top_grade=3)

    assert bounds.raw == 1.0
    assert bounds.condensed == 1.0
    assert bounds.all_relevant == pytest.approx(0.514, abs=5e-4)
    assert bounds.all_relevant <= bounds.drawn_low < bounds.drawn_high == 1.0


def test_drawn_ends_hold_nine_means_in_ten(monkeypatch):
    means = [n / 100 for n in range(100, -1, -1)]
    monkeypatch.setattr("benchwright.evaluation.unjudged._draws", lambda *_: means)

    bounds = scenarios("nDCG@10", GOLDEN_JUDGED, GOLDEN_HITS)

    assert (bounds.drawn_low, bounds.drawn_high) == pytest.approx((0.05, 0.95))


def test_bracket_by_hand():
    # Of ranks 1 to 4, 2 is relevant, 3 is not, and the others are not judged.
    hits = {"q": QueryHits("q", (Hit(2, 1), Hit(3, 0), Hit(4, -1)), 4)}
    judged = {"q": Judged((1, 0, -1, 2))}

    results = {name: bracket(name, judged, hits) for name in ("P@4", "RR", "Success@1", "DCG@1")}

    assert results == {
        "P@4": (1 / 4, 3 / 4),
        "RR": (1 / 2, 1),
        "Success@1": (0, 1),
        "DCG@1": (0, 2),
    }
    # Half of the scale at rank 2; the top of it at ranks 1 and 4, and below.
    low = 0.2 * 0.5 * 0.8
    assert bracket("RBP", judged, hits) == pytest.approx((low, low + 1 - 0.2 * (0.8 + 0.8**2)))
    # Down to rank 2 there is only rank 1 to gain.
    assert bracket("RBP@2", judged, hits) == pytest.approx((low, low + 0.2))


@pytest.mark.parametrize(
    "name",
    [
        *("nDCG@10", "AP", "R@10", "R_cap@10", "F@10", "Rprec", "bpref", "Judged@10", "Compat"),
        *(
            "P(judged_only=True)@10",
            "DCG(gains={1:3,2:1})",
            "DCG(gains={2:0})",
            "ERR@10",
            "infAP",
            "rbp",
        ),
    ],
)
def test_measure_that_can_fall_has_no_bracket(name):
    with pytest.raises(NoBracketError, match="Ask for scenarios instead") as caught:
        bracket(name, GOLDEN_JUDGED, GOLDEN_HITS)

    assert str(parse_measure(name)) in str(caught.value)


def test_gain_that_falls_within_the_scale_has_no_bracket():
    """Grade 3 is worth 5 here, and grade 4 is worth 4."""
    assert bracket("DCG(gains={3:5})", GOLDEN_JUDGED, GOLDEN_HITS, top_grade=3).low == 1.0

    with pytest.raises(NoBracketError):
        bracket("DCG(gains={3:5})", GOLDEN_JUDGED, GOLDEN_HITS, top_grade=4)


@st.composite
def judged_rankings(draw):
    ranking = draw(st.lists(st.sampled_from([None, None, -1, 0, 1, 3]), min_size=1, max_size=5))
    return ranking, draw(st.lists(st.integers(-1, 3), min_size=1, max_size=2))


@pytest.mark.parametrize("name", MONOTONE)
@settings(max_examples=40)
@given(case=judged_rankings())
def test_no_way_to_judge_leaves_the_bracket_and_some_reach_its_ends(name, case):
    ranking, others = case
    measure = parse_measure(name)
    hits = {"q": query_of(ranking)}
    judged = {"q": Judged((*(g for g in ranking if g is not None), *others))}

    result = bracket(measure, judged, hits, top_grade=3)

    choices = [range(4) if g is None or g < 0 else [g] for g in ranking]
    values = [
        measure.value(query_of(chosen), Judged(tuple(chosen)), top_grade=3)
        for chosen in product(*choices)
    ]
    assert result.low == pytest.approx(min(values))
    if name in ("RBP", "RBP(rel=2,p=0.5)"):
        below = measure.option("p") ** len(ranking)
        assert result.high == pytest.approx(max(values) + below)
    else:
        assert result.high == pytest.approx(max(values))


def query_of(ranking):
    hits = (Hit(rank, g) for rank, g in enumerate(ranking, start=1) if g is not None)
    return QueryHits("q", tuple(hits), len(ranking))


def test_ranks_below_the_cutoff_are_left_as_they_are():
    """A thousand unjudged documents at the end do not make the top ten look worse."""
    deep = {"q": QueryHits("q", GOLDEN_HITS["q"].hits, 1000)}

    short = scenarios("nDCG@10", GOLDEN_JUDGED, GOLDEN_HITS, top_grade=3)

    assert scenarios("nDCG@10", GOLDEN_JUDGED, deep, top_grade=3) == short


def test_same_seed_draws_the_same_and_another_one_differs():
    hits = {str(n): query_of([1, None, 0, None, 2, None]) for n in range(8)}
    judged = dict.fromkeys(hits, Judged((1, 0, 2)))

    one = scenarios("AP", judged, hits, seed=1)

    assert scenarios("AP", judged, hits, seed=1) == one
    assert scenarios("AP", judged, hits, seed=2) != one
    assert one.drawn_low < one.drawn_high
    undrawn = scenarios("AP", judged, hits, n_draws=0)
    assert undrawn[:3] == one[:3]
    assert isnan(undrawn.drawn_low)
    assert isnan(undrawn.drawn_high)


def test_without_unjudged_documents_every_scenario_is_the_value():
    hits = {"q": query_of([0, 2, 1])}

    assert set(scenarios("nDCG", {"q": Judged((0, 2, 1))}, hits)) == {
        scenarios("nDCG", {"q": Judged((0, 2, 1))}, hits).raw
    }


def test_missing_query_counts_in_every_scenario_as_the_rule_says():
    judged = {"a": Judged((1,)), "b": Judged((1,))}
    hits = {"a": query_of([1])}

    assert scenarios("RR", judged, hits) == (0.5,) * 5
    assert scenarios("RR", judged, hits, missing="skip") == (1.0,) * 5
    with pytest.raises(EmptyRunError):
        scenarios("RR", judged, {})


def test_grades_are_as_probable_as_at_like_ranks():
    """Rank 1 is always relevant here, ranks 2 and 3 never are, rank 4 was never judged."""
    hits = {str(n): query_of([2, 0, 0, None]) for n in range(50)}

    levels, weights = grade_weights(hits, top_grade=3)

    # Of 150 documents a third has grade 2; half a document stands for each of the three grades.
    prior = [5 * 100.5 / 151.5, 5 * 50.5 / 151.5, 5 * 0.5 / 151.5]
    assert levels == [0, 2, 3]
    assert weights[1] == pytest.approx([prior[0], 50 + prior[1], prior[2]])
    assert weights[2] == pytest.approx([100 + prior[0], prior[1], prior[2]])
    assert weights[0] == pytest.approx(prior)
    assert 3 not in weights


def test_drawn_range_holds_what_the_true_grades_give():
    """Grades hidden at random: of 60 ranges of 90 %, 54 are expected to hold the true mean."""
    rng = random.Random(7)
    held = 0
    for run in range(60):
        ranking = {
            str(q): [int(rng.random() < 0.6 / rank**0.5) for rank in range(1, 11)]
            for q in range(25)
        }
        seen = {
            q: [g if rng.random() < 0.6 else None for g in grades] for q, grades in ranking.items()
        }
        hits = {q: query_of(grades) for q, grades in seen.items()}
        judged = {q: Judged(tuple(g for g in of if g is not None)) for q, of in seen.items()}
        bounds = scenarios("P@10", judged, hits, n_draws=60, seed=run)
        truth = sum(map(sum, ranking.values())) / 250
        held += bounds.drawn_low <= truth <= bounds.drawn_high

    assert 48 <= held <= 59


def test_unjudged_ranks_of_nothing_are_none():
    assert unjudged_ranks(QueryHits("q", (), 0), cutoff=10) == []
