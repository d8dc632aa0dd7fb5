"""What a board is told of its own uncertainty."""

import random

import numpy as np
import pytest
from scipy import stats

from benchwright import evaluate
from benchwright.comparison.comparing import compare
from benchwright.evaluation.uncertainty import (
    interval_of,
    mean_intervals,
    numbered,
    ranked,
    recipe,
    span_of,
    span_of_differences,
)
from benchwright.gates.bounds import Method, measured
from benchwright.measures.families import FAMILIES

QIDS = [f"q{number}" for number in range(40)]


def evaluation(seed: int, names: list[str]):
    """Random runs of 40 queries with one relevant document each."""
    rng = random.Random(seed)
    qrels = {qid: {"good": 1} for qid in QIDS}
    run = {
        qid: {docid: rng.random() for docid in ("good", "bad", "worse")}
        for qid in QIDS[: -1 if seed else None]
    }
    return evaluate(qrels, run, names)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_value_of_a_measure_is_outside_of_its_span(family):
    docids = [f"d{place}" for place in range(9)]
    qrels = {"q": {docid: place % 3 for place, docid in enumerate(docids[:7])}}
    run = {"q": {docid: float(place) for place, docid in enumerate(docids)}}
    name = f"{family}@2" if FAMILIES[family].cutoff == "needed" else family
    name = name.replace("IPrec@2", "IPrec@0.5")

    scores = evaluate(qrels, run, [name])

    low, high = span_of(name)
    (value,) = scores.per_query["q"].values()
    assert low <= value <= high


def test_interval_is_that_of_scipy():
    result = evaluation(0, ["RR"])
    values = np.array([of["RR"] for of in result.per_query.values()])

    low, high = mean_intervals(result, {})["RR"]

    theirs = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((theirs.low, theirs.high), rel=1e-12)


def test_the_same_values_and_families_have_one_interval_everywhere():
    """A board's, a run page's, a comparison's, a gate's, and those of equal weights."""
    result = evaluation(0, ["RR", "DCG@3"])
    families = {qid: place // 3 for place, qid in enumerate(QIDS)}
    ours = mean_intervals(result, families)

    runs = {"one": result, "other": evaluation(1, ["RR", "DCG@3"])}
    compared = {
        summary.measure: summary.interval
        for summary in compare(runs, families=families, n_flips=200, n_draws=100).summaries
        if summary.run == "one"
    }
    alone = {
        name: interval_of({qid: of[name] for qid, of in result.per_query.items()}, families)
        for name in ours
    }
    weighted = mean_intervals(result, families, dict.fromkeys(QIDS, 2.0))
    columns = np.array([[of[name] for name in ours] for of in result.per_query.values()])
    bounds = measured(columns, numbered(QIDS, families), Method("t"), alpha=0.025)
    gate = {name: (bound.lower, bound.upper) for name, bound in zip(ours, bounds, strict=True)}
    for name, ends in ours.items():
        assert ends == pytest.approx(compared[name], abs=1e-15)
        assert ends == pytest.approx(alone[name], abs=1e-15)
        assert ends == pytest.approx(weighted[name], abs=1e-15)
        assert ends == pytest.approx(gate[name], abs=1e-15)


def test_two_runs_differ_by_no_more_than_a_measure_spans():
    low, high = span_of_differences(["nDCG@10", "DCG", "my own"])

    assert (low.tolist(), high.tolist()) == ([-1, -np.inf, -np.inf], [1, np.inf, np.inf])


def test_ends_are_not_outside_of_what_a_measure_can_be():
    qrels = {qid: {"good": 1} for qid in QIDS[:3]}
    run = {qid: {"good" if qid != "q0" else "bad": 1.0} for qid in qrels}

    intervals = mean_intervals(evaluate(qrels, run, ["RR", "DCG", "yaap"]), {})

    assert intervals["RR"].high == 1
    assert intervals["RR"].low == intervals["DCG"].low == 0
    assert intervals["DCG"].high > 1
    assert intervals["yaap"].low < 0


def test_sums_and_geometric_means_have_no_interval():
    intervals = mean_intervals(evaluation(1, ["RR", "NumRet", "GMAP", "Judged@10"]), {})

    assert intervals.keys() == {"RR", "Judged@10"}


@pytest.mark.parametrize("families", [{}, {"q0": "one", "q1": "one"}], ids=["alone", "together"])
def test_fewer_than_two_families_have_no_interval(families):
    n = 2 if families else 1
    qrels = {qid: {"good": 1} for qid in QIDS[:n]}

    scores = evaluate(qrels, {qid: {"good": 1.0} for qid in qrels}, ["RR"])

    assert mean_intervals(scores, families) == {}


def test_interval_of_a_measure_does_not_depend_on_the_others():
    alone = mean_intervals(evaluation(2, ["RR"]), {})
    together = mean_intervals(evaluation(2, ["AP", "RR", "Judged@10"]), {})

    assert alone["RR"] == together["RR"]


def test_query_without_a_family_is_one_of_its_own():
    assert recipe(["a", "b", "c"], {"a": "x", "b": "x"}).n_families == 2
    assert recipe(["a", "b"], {}).n_families == 2


def test_one_run_stands_alone():
    assert ranked([[0.5, 0.7]], ["a", "b"], {}).standings == [(1, 1, 1)]
    assert ranked([], ["a", "b"], {}).standings == []


def test_equal_runs_share_every_rank_and_one_group():
    assert ranked([[0.1, 0.5, 0.9]] * 3, ["a", "b", "c"], {}).standings == [(1, 3, 1)] * 3


def test_families_widen_what_a_rank_may_be():
    """A run that is better on the 20 queries of one family, and worse on those of two others."""
    steady, moody = [0.5] * 60, [0.9] * 20 + [0.4] * 40
    qids = [f"q{number}" for number in range(60)]

    alone = ranked([steady, moody], qids, {}).standings
    together = ranked([steady, moody], qids, {qid: n // 20 for n, qid in enumerate(qids)}).standings

    assert [standing.tie_group for standing in together] == [1, 1]
    assert (together[0].best, together[0].worst) == (1, 2)
    assert alone[1].worst <= together[1].worst
