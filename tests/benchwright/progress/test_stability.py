"""The order of the runs under resampled labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from benchwright.progress.stability import LabelledEntry, ranking_stability
from tests.examples import examples

RUNS = ["a", "b", "c"]
ranks = st.dictionaries(st.sampled_from(RUNS), st.integers(1, 15), max_size=3)
entry = st.builds(LabelledEntry, query=st.integers(0, 4), grade=st.integers(0, 3), ranks=ranks)


def with_a_document_a_rank(entries):
    """The entries without the ranks at which a run has shown another document of the query."""
    taken = set()
    return [
        LabelledEntry(
            entry.query,
            entry.grade,
            {
                run: rank
                for run, rank in entry.ranks.items()
                if (place := (entry.query, run, rank)) not in taken and not taken.add(place)
            },
        )
        for entry in entries
    ]


labelled = st.lists(entry, min_size=1, max_size=40).map(with_a_document_a_rank)


def stability(entries, runs=RUNS, seed=1, draws=20):
    return ranking_stability(entries, runs, rng=np.random.default_rng(seed), draws=draws)


def test_scores_are_those_computed_by_hand():
    entries = [
        LabelledEntry(1, 3, {"a": 2}),
        LabelledEntry(1, 1, {"b": 1}),
        LabelledEntry(2, 0, {"a": 1, "b": 1}),
    ]

    scores = stability(entries, ["a", "b"]).scores

    ideal = 3 / np.log2(2) + 1 / np.log2(3)
    assert scores["a"] == pytest.approx(3 / np.log2(3) / ideal / 2)
    assert scores["b"] == pytest.approx(1 / ideal / 2)


def test_rank_below_the_cutoff_counts_for_nothing():
    entries = [LabelledEntry(1, 2, {"a": 10, "b": 11})]

    assert stability(entries, ["a", "b"]).scores["b"] == 0


def test_clear_order_of_many_labels_stands():
    entries = [
        LabelledEntry(query, 3 if place == 1 else 0, {"a": place, "b": 6 - place, "c": place + 4})
        for query in range(40)
        for place in range(1, 6)
    ]

    curve = stability(entries)

    assert (curve.tau, curve.low, curve.high) == (1, 1, 1)


def test_order_that_hangs_on_two_labels_falls():
    entries = [LabelledEntry(1, 1, {"a": 1, "b": 2}), LabelledEntry(2, 1, {"b": 1, "a": 3})]

    curve = stability(entries, ["a", "b"], draws=200)

    assert curve.low == curve.high == curve.tau == 1  # one label a query is always drawn
    pairs = [LabelledEntry(1, 2, {"a": 1}), LabelledEntry(1, 1, {"b": 1})]
    shaken = stability(pairs, ["a", "b"], draws=400)
    assert (shaken.low, shaken.high) == (-1, 1)
    # In one of four draws b's label is there alone.
    assert shaken.tau == pytest.approx(0.5, abs=0.1)


def test_bounds_are_quantiles_of_the_draws():
    """A run has one document, and scores as its grade is, if that is drawn."""
    grades, runs = np.arange(5, 0, -1), list("abcde")
    entries = [LabelledEntry(1, 5 - n, {run: 1}) for n, run in enumerate(runs)]

    curve = stability(entries, runs, seed=7, draws=30)

    rng = np.random.default_rng(7)
    drawn = [np.isin(range(5), (rng.random(5) * 5).astype(int)) for _ in range(30)]
    taus = np.sort(np.nan_to_num([kendalltau(grades, grades * kept).statistic for kept in drawn]))
    # 0.025 and 0.975 of 29 steps are 0.725 and 28.275.
    assert curve.low == pytest.approx(0.275 * taus[0] + 0.725 * taus[1])
    assert curve.high == pytest.approx(0.725 * taus[28] + 0.275 * taus[29])
    assert curve.tau == pytest.approx(taus.mean())


@pytest.mark.parametrize(
    ("entries", "runs"), [([], RUNS), ([LabelledEntry(1, 1, {"a": 1})], ["a"])]
)
def test_nothing_to_compare_is_none(entries, runs):
    assert stability(entries, runs) is None


def test_runs_that_score_alike_have_no_order():
    assert stability([LabelledEntry(1, 1, {"a": 1, "b": 1})], ["a", "b"]) is None


@settings(max_examples=examples(60))
@given(labelled)
def test_bounds_hold_and_the_seed_decides(entries):
    curve = stability(entries)

    if curve is not None:
        assert -1 <= curve.low <= curve.tau + 1e-12 and curve.tau <= curve.high + 1e-12 <= 1 + 1e-9
        assert all(0 <= score <= 1 + 1e-12 for score in curve.scores.values())
        assert stability(list(entries)) == curve
