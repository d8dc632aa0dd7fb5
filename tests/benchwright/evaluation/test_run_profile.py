"""What one run is like: counted by hand, and each pattern where its rule says."""

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.evaluation.profiles import (
    BANDS,
    Profile,
    band_labels,
    cumulative,
    grade_ranks,
    histogram,
    patterns,
)
from benchwright.reading.hits import Hit, Judged, QueryHits

VALUES = st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=60)


@given(VALUES)
def test_bins_hold_every_value_once_and_end_at_all_of_them(values):
    bins = histogram([*values, nan])
    counts, edges = np.histogram(values, bins=20, range=(0, 1))

    assert sum(bar.n for bar in bins) == len(values)
    assert bins[-1].share_up_to == 1
    assert np.allclose([bar.low for bar in bins], edges[:-1])
    assert max(abs(bar.n - n) for bar, n in zip(bins, counts, strict=True)) <= len(values)


def test_bins_are_as_counted_by_hand():
    bins = histogram([0, 0.049, 0.05, 0.5, 1.0, nan])

    assert {bar.low: bar.n for bar in bins if bar.n} == {0.0: 2, 0.05: 1, 0.5: 1, 0.95: 1}
    assert histogram([nan]) == []
    assert histogram([-1.0, 3.0])[0].low == -1
    assert histogram([-1.0, 3.0])[-1].high == 3


@given(VALUES)
def test_cumulative_share_is_that_of_values_no_higher(values):
    for step in cumulative(values):
        assert step.share == pytest.approx(np.mean(np.array(values) <= step.value))


def test_documents_of_each_grade_are_counted_in_their_bands():
    judged = {"a": Judged((2, 2, 1, 0, -1)), "b": Judged((2,))}
    hits = {
        "a": QueryHits("a", (Hit(1, 2), Hit(2, -1), Hit(6, 1), Hit(1001, 2)), 2000),
        "withheld": QueryHits("withheld", (Hit(1, 2),), 3),
    }

    high, middle, low = grade_ranks(judged, hits)

    assert (high.grade, high.n_judged, high.n_found, high.n_not_found) == (2, 3, 2, 1)
    assert high.counts == (1, 0, 0, 0, 0, 0, 0, 0, 1)
    assert middle.counts.index(1) == BANDS.index(10)
    assert (low.grade, low.n_judged, low.n_found) == (0, 1, 0)
    assert band_labels() == [
        "1", "2-3", "4-5", "6-10", "11-20", "21-50", "51-100", "101-1000", "1001+",
    ]  # fmt: skip


def profile(n: int = 30, **columns) -> Profile:
    """A run that is good in everything, but for `columns`."""
    plain = {
        "ndcg": 0.8,
        "reciprocal_rank": 0.8,
        "recall": 0.85,
        "condensed_ndcg": 0.8,
        "judged": 1.0,
    }
    rng = np.random.default_rng(3)
    noise = rng.uniform(-0.02, 0.02, n)
    values = {
        name: columns.get(name, [value + moved for moved in noise]) for name, value in plain.items()
    }
    n_relevant = columns.get("n_relevant", [3] * n)
    return Profile(
        qids=[f"q{place}" for place in range(n)], families={}, n_relevant=n_relevant, **values
    )


def level(ndcg: float, reciprocal_rank: float) -> dict[str, list[float]]:
    """Columns in which all queries are alike."""
    return {
        "ndcg": [ndcg] * 30,
        "condensed_ndcg": [ndcg] * 30,
        "reciprocal_rank": [reciprocal_rank] * 30,
    }


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        (level(0.3, 0.3), "rerank"),
        (level(0.66, 1.0), "finds-one"),
        ({"recall": [0.3, 0.4] * 15}, "low-coverage"),
        ({"recall": [0.0] * 3 + [0.9] * 27}, "fails"),
        ({"condensed_ndcg": [0.9] * 30, "judged": [0.6] * 30}, "unjudged"),
    ],
)
def test_each_pattern_is_found_where_its_numbers_are(columns, code):
    (pattern,) = patterns(profile(**columns))

    assert pattern.code == code
    assert pattern.evidence
    assert all(arm.n == 30 for arm in pattern.evidence)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {**level(0.66, 1.0), "n_relevant": [1] * 30},  # nothing else was to be found
        {"recall": [0.0] * 2 + [0.9] * 28},  # two queries are too few
        {"condensed_ndcg": [0.9] * 30, "judged": [0.96] * 30},
        level(0.66, 0.8),  # below the gap
    ],
)
def test_no_pattern_is_found_where_a_number_is_short_of_its_rule(columns):
    assert patterns(profile(**columns)) == []


def test_gap_that_its_interval_does_not_support_is_no_pattern():
    plain = {"ndcg": [0.7] * 12, "judged": [0.6] * 12}
    everywhere = profile(12, condensed_ndcg=[0.725] * 12, **plain)
    once = profile(12, condensed_ndcg=[1.0] + [0.7] * 11, **plain)  # the same mean

    assert [pattern.code for pattern in patterns(everywhere)] == ["unjudged"]
    assert patterns(once) == []


def test_few_queries_have_no_pattern():
    assert patterns(profile(9, recall=[0.0] * 9)) == []


def test_evidence_is_the_mean_and_its_interval():
    (pattern,) = patterns(profile(recall=[0.3, 0.4] * 15))
    (recall,) = pattern.evidence

    assert recall.value == pytest.approx(0.35)
    assert recall.low < 0.35 < recall.high < 0.4


def test_no_interval_of_a_share_is_beyond_1():
    result = patterns(profile(10, recall=[1.0] * 9 + [0.9], ndcg=[0.0] * 10))
    (recall,) = [arm for of in result for arm in of.evidence if arm.label == "Recall@100"]

    assert recall.high == 1
