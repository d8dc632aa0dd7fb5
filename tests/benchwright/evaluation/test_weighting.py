"""Weighted means by hand, beside numpy's, and with equal weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright import evaluate, weighted_means
from benchwright.errors import NoWeightError, WeightError
from benchwright.evaluation.weighting import effective_size, weighted_name
from benchwright.statistics.bootstrap import bootstrap_interval
from benchwright.statistics.intervals import mean_interval

QRELS = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
RUN = {"1": {"a": 2.0}, "2": {"z": 2.0, "b": 1.0}, "3": {"z": 1.0}}


def found(measures=("RR",)):
    return evaluate(QRELS, RUN, measures)


def test_weighted_mean_is_that_by_hand():
    # Reciprocal ranks 1, 1/2 and 0: (10 * 1 + 5 * 0.5 + 1 * 0) / 16.
    weighted = weighted_means(found(), {"1": 10.0, "2": 5.0, "3": 1.0})

    assert weighted.means == {"RR (weighted)": 0.78125}
    assert (weighted.n_queries, weighted.n_undefined) == (3, {"RR (weighted)": 0})
    assert weighted.n_effective == pytest.approx(256 / 126)


def test_queries_without_weight_are_in_no_weighted_mean():
    weighted = weighted_means(found(), {"2": 3.0, "3": 1.0, "other": 9.0})

    assert (weighted.means, weighted.n_queries) == ({"RR (weighted)": 0.375}, 2)


def test_weights_of_other_queries_are_refused():
    with pytest.raises(NoWeightError, match="None of the 3 scored queries has a weight"):
        weighted_means(found(), {"7": 1.0})


@pytest.mark.parametrize("weight", [0, -1.0, float("nan"), float("inf"), "2", None], ids=repr)
def test_a_weight_that_is_no_number_above_0_is_refused(weight):
    with pytest.raises(WeightError, match=r"weight of query 2 is .*; expected a number above 0"):
        weighted_means(found(), {"1": 2.0, "2": weight})


def test_counts_are_not_weighted_and_geometric_means_are():
    weighted = weighted_means(found(["GMAP", "NumRet"]), {"1": 2.0, "2": 1.0, "3": 1.0})

    assert list(weighted.means) == ["GMAP (weighted)"]
    assert weighted.means["GMAP (weighted)"] == pytest.approx((1 * 1 * 0.5 * 1e-5) ** 0.25)


def test_undefined_values_are_left_out_of_the_weighted_mean():
    # Query 4 is answered with nothing, so it has no share of judged documents.
    evaluation = evaluate({**QRELS, "4": {"d": 1}}, {**RUN, "4": {}}, ["Judged@10"])

    weighted = weighted_means(evaluation, {"1": 1.0, "2": 2.0, "3": 1.0, "4": 100.0})

    assert weighted.means["Judged@10 (weighted)"] == pytest.approx((1 + 2 * 0.5 + 0) / 4)
    assert weighted.n_undefined["Judged@10 (weighted)"] == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(1e-3, 1e6)), min_size=2, max_size=20))
def test_weighted_mean_is_numpys(rows):
    qrels, run, weights = made([value for value, _ in rows])

    weighted = weighted_means(
        evaluate(qrels, run, ["AP"]), {qid: w for qid, (_, w) in zip(weights, rows, strict=True)}
    )

    per_query = evaluate(qrels, run, ["AP"]).per_query
    expected = np.average(
        [per_query[qid]["AP"] for qid in weights], weights=[weight for _, weight in rows]
    )
    assert weighted.means["AP (weighted)"] == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(1e-6, 1e9))
def test_equal_weights_give_the_plain_mean_exactly(values, weight):
    qrels, run, qids = made(values)
    evaluation = evaluate(qrels, run, ["AP", "nDCG@10", "GMAP"])

    weighted = weighted_means(evaluation, dict.fromkeys(qids, weight))

    assert {weighted_name(name): mean for name, mean in evaluation.means.items()} == weighted.means
    assert weighted.n_effective == pytest.approx(len(values))


def made(values):
    """Qrels and a run of as many queries, whose values differ."""
    qids = [f"q{number}" for number in range(len(values))]
    qrels = {qid: {"d": 1, "e": 1} for qid in qids}
    run = {
        qid: {f"x{rank}": 9.0 - rank for rank in range(int(value * 8))} | {"d": 0.5}
        for qid, value in zip(qids, values, strict=True)
    }
    return qrels, run, qids


@pytest.mark.parametrize("method", ["bca", "studentised", "percentile"])
def test_equal_weights_give_the_plain_interval_exactly(method):
    values = np.random.default_rng(3).random((40, 2))
    families = np.arange(40) // 2

    plain, weighted = (
        bootstrap_interval(values, families=families, weights=weights, method=method, n_draws=400)
        for weights in (None, np.full(40, 7.3))
    )

    assert np.array_equal(plain, weighted)


def test_interval_of_the_weighted_mean_covers_it_as_often_as_it_says():
    """200 samples of 80 queries from a population whose values rise with their weight."""
    rng = np.random.default_rng(11)
    weights = rng.pareto(3.0, 20_000) + 1
    values = np.clip(0.3 + 0.1 * np.log(weights) + rng.normal(0, 0.2, 20_000), 0, 1)
    truth, n_inside = np.average(values, weights=weights), 0
    for seed in range(200):
        drawn = np.random.default_rng(seed).choice(20_000, 80, replace=False)
        low, high = mean_interval(values[drawn, np.newaxis], weights=weights[drawn])[:, 0]
        n_inside += low <= truth <= high

    # 95 % of 200, with four standard errors of such a count.
    assert n_inside >= 190 - 4 * np.sqrt(200 * 0.95 * 0.05)


def test_a_weight_counts_as_so_many_copies_of_a_query():
    values = np.array([[0.2], [0.9], [0.4]])

    sums = bootstrap_interval(values, weights=np.array([2.0, 1.0, 1.0]), n_draws=2000)
    repeated = bootstrap_interval(
        values[[0, 0, 1, 2]], families=np.array([0, 0, 1, 2]), n_draws=2000
    )

    assert sums == pytest.approx(repeated)


def test_effective_size_is_kishs():
    assert effective_size([3.0, 1.0]) == pytest.approx(16 / 10)
