"""Results against qrels in one call, by hand and against what the pitfalls would make of them."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from benchwright.errors import CutoffError, MeasureParameterError
from benchwright.retrieval.errors import EncoderError, IdTypeError, QueriesDifferError
from benchwright.retrieval.evaluating import evaluate_retrieval, significances

RESULTS = {"q1": [("d1", 2.0), ("d2", 1.0)], "q2": [("d3", 1.0)], "q3": []}
GRADES = {"q1": {"d2": 3, "d9": 1}, "q2": {"d3": 1}, "q3": {"d5": 1}}


def codes(scores):
    return [finding.code for finding in scores.findings]


def test_measures_equal_those_done_by_hand():
    scores = evaluate_retrieval(RESULTS, GRADES, k_values=[1, 2])

    # q1: grade 3 at rank 2 of grades 3 and 1; q2 perfect; q3 answered with nothing.
    ndcg = (7 / math.log2(3)) / (7 + 1 / math.log2(3))
    assert dict(scores) == {
        "nDCG(dcg='exp-log2')@1": pytest.approx((0 + 1 + 0) / 3),
        "nDCG(dcg='exp-log2')@2": pytest.approx((ndcg + 1 + 0) / 3),
        "Recall@1": pytest.approx((0 + 1 + 0) / 3),
        "Recall@2": pytest.approx((0.5 + 1 + 0) / 3),
        "MAP": pytest.approx((0.25 + 1 + 0) / 3),
        "MRR": pytest.approx((0.5 + 1 + 0) / 3),
    }
    assert scores.n_queries == 3


def test_results_may_be_scores_by_document():
    run = {qid: dict(reversed(rows)) for qid, rows in RESULTS.items()}

    scores = evaluate_retrieval(run, GRADES, baseline=run)

    assert scores == evaluate_retrieval(RESULTS, GRADES)
    assert "unsorted-results" not in codes(scores)


def test_gain_may_be_linear_and_is_spelled_out_either_way():
    scores = evaluate_retrieval(RESULTS, GRADES, k_values=[2], gain="linear")

    ndcg = (3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert scores["nDCG@2"] == pytest.approx((ndcg + 1) / 3)
    assert "gain grade, discount log2(rank + 1)" in scores.meanings["nDCG@2"]
    exponential = evaluate_retrieval(RESULTS, GRADES, k_values=[2]).meanings
    assert "gain 2^grade - 1" in exponential["nDCG(dcg='exp-log2')@2"]


def test_cutoffs_are_those_of_the_field_unless_given():
    assert [name for name in evaluate_retrieval(RESULTS, GRADES) if "Recall" in name] == [
        "Recall@1",
        "Recall@5",
        "Recall@10",
        "Recall@100",
    ]


def test_slices_have_their_means_and_sizes():
    scores = evaluate_retrieval(RESULTS, GRADES, [1], slices={"easy": ["q2"], "none": ["q8"]})

    assert scores.slices["easy"]["MRR"] == 1.0
    assert scores.slices["easy"]["n_queries"] == 1
    assert scores.slices["none"]["n_queries"] == 0
    assert math.isnan(scores.slices["none"]["MRR"])
    assert scores.per_query["q1"]["MRR"] == 0.5


def test_everything_fits_into_json():
    scores = evaluate_retrieval(RESULTS, GRADES, baseline={"q1": [("d2", 1.0)]})

    assert json.loads(json.dumps(scores.as_dict()))["means"]["MRR"] == scores["MRR"]


def test_unknown_gain_and_cutoff_below_one_are_refused():
    with pytest.raises(MeasureParameterError, match="expected exponential or linear"):
        evaluate_retrieval(RESULTS, GRADES, gain="square")
    with pytest.raises(CutoffError):
        evaluate_retrieval(RESULTS, GRADES, [0])


# --- significance --------------------------------------------------------------------------------


def per_query(values):
    return {f"q{number}": {"a": a, "b": b} for number, (a, b) in enumerate(values)}


def test_p_of_the_t_test_is_scipys_and_corrected_over_the_measures():
    rng = np.random.default_rng(5)
    first, second = rng.random((40, 2)), rng.random((40, 2))
    second[:, 1] += 0.4

    a, b = significances(per_query(second), per_query(first))

    p = [stats.ttest_rel(second[:, place], first[:, place]).pvalue for place in (0, 1)]
    assert [a.p_t, b.p_t] == pytest.approx(p)
    assert b.p_adjusted == pytest.approx(2 * p[1])  # Holm: the smaller p times the two measures
    assert a.p_adjusted == pytest.approx(p[0])
    assert (a.is_significant, b.is_significant) == (False, True)
    assert b.low < b.difference < b.high
    assert b.difference == pytest.approx((second - first)[:, 1].mean())
    assert b.p_flip == pytest.approx(b.p_t, abs=0.01)


def test_baseline_is_compared_on_the_queries_of_the_qrels():
    scores = evaluate_retrieval(RESULTS, GRADES, [1], baseline={"q1": [("d2", 1.0)]})

    results = {test.measure: test for test in scores.significance}
    assert list(results) == list(scores)
    assert results["MRR"].difference == pytest.approx((0.5 + 1 + 0) / 3 - (1 + 0 + 0) / 3)
    assert results["MRR"].n_queries == 3


def test_one_query_says_nothing_about_a_difference():
    scores = evaluate_retrieval({"q": [("d", 1.0)]}, {"q": {"d": 1}}, baseline={"q": [("e", 1.0)]})

    assert scores.significance == ()


# --- pitfalls ------------------------------------------------------------------------------------


def test_results_and_qrels_of_different_splits_are_refused_with_counts_and_ids():
    with pytest.raises(QueriesDifferError, match=r"3 queries with results .* the 2 of the qrels"):
        evaluate_retrieval(RESULTS, {"dev1": {"d1": 1}, "dev2": {"d1": 1}})


def test_queries_on_one_side_only_are_told_with_counts():
    scores = evaluate_retrieval({**RESULTS, "q9": []}, {**GRADES, "q4": {"d1": 1}})

    results = {finding.code: finding for finding in scores.findings}
    assert "1 of the 4 queries of the qrels has no results" in (
        results["queries-without-results"].message
    )
    assert results["queries-without-grades"].where == "queries 'q9'"
    assert scores["MRR"] == pytest.approx((0.5 + 1 + 0 + 0) / 4)


def test_ids_of_two_types_are_refused_instead_of_never_matching():
    with pytest.raises(IdTypeError, match=r"ids are int in the qrels .* so 7 would never match"):
        evaluate_retrieval({"q": [("7", 1.0)]}, {"q": {7: 1}})
    with pytest.raises(IdTypeError, match="int in the results"):
        evaluate_retrieval({1: [("7", 1.0)]}, {"1": {"7": 1}})


def test_ids_that_are_numbers_on_both_sides_are_taken_as_text_and_told():
    scores = evaluate_retrieval({1: [(7, 1.0)]}, {1: {7: 1}})

    assert (scores["MRR"], codes(scores)) == (1.0, ["ids-were-numbers"])


def test_unsorted_results_are_sorted_and_told():
    scores = evaluate_retrieval({"q": [("d1", 1.0), ("d2", 2.0)]}, {"q": {"d2": 1}})

    assert (scores["MRR"], codes(scores)) == (1.0, ["unsorted-results"])


def test_equal_scores_go_by_descending_id_whatever_their_order():
    for order in (["d1", "d2"], ["d2", "d1"]):
        results = {"q": [(docid, 1.0) for docid in order]}
        assert evaluate_retrieval(results, {"q": {"d2": 1}})["MRR"] == 1.0


def test_grade_zero_is_judged_and_never_relevant():
    grades = {"q1": {"d1": 0, "d2": 1, "d8": 0}}

    scores = evaluate_retrieval({"q1": RESULTS["q1"]}, grades, [1, 2])

    assert (scores["Recall@1"], scores["Recall@2"]) == (0.0, 1.0)
    assert codes(scores) == ["judged-not-relevant"]
    assert scores.findings[0].n == 2


def test_queries_without_a_relevant_document_are_told():
    scores = evaluate_retrieval(RESULTS, {**GRADES, "q2": {"d3": 0}})

    assert "queries-without-relevant" in codes(scores)


def test_documents_that_the_corpus_lacks_are_counted():
    scores = evaluate_retrieval(RESULTS, GRADES, corpus=["d1", "d2", "d3"])

    [finding] = scores.findings
    assert (finding.code, finding.n) == ("truncated-corpus", 2)
    assert "2 of them relevant" in finding.message


def test_matrix_of_scores_is_refused_with_its_size():
    with pytest.raises(EncoderError, match=r"a matrix of 1000 x 1000 scores, 8 MB"):
        evaluate_retrieval(np.zeros((1000, 1000)), GRADES)
