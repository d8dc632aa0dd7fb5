import subprocess
import sys
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright import evaluate, evaluate_hits, read_qrels, read_run, weighted_means
from benchwright.errors import (
    EmptyQrelsError,
    EmptyRunError,
    NoCommonQueryError,
    UnknownMeasureError,
    UnknownMissingRuleError,
)
from benchwright.evaluation.evaluating import slice_means
from benchwright.formats.trec import RunRow
from benchwright.measures import parse_measure
from benchwright.reading import Hit, Judged, QueryHits, find_hits


def run_of(**queries):
    """A run of documents in rank order by query: `run_of(q=["d1", "d2"])`."""
    return {
        qid.encode(): [
            RunRow(0, qid.encode(), docid.encode(), -float(place))
            for place, docid in enumerate(docids)
        ]
        for qid, docids in queries.items()
    }


def qrels_of(**queries):
    return {
        qid.encode(): {docid.encode(): grade for docid, grade in grades.items()}
        for qid, grades in queries.items()
    }


QRELS = qrels_of(a={"d1": 1, "d2": 0}, b={"d1": 2}, c={"d9": 0})
RUN = run_of(a=["d1", "d3"], c=["d9"], x=["d1"], y=["d1"])


def test_tie_of_the_golden_case_puts_the_greater_id_first():
    qrels = {b"q": {b"d1": 3, b"d2": 1}}
    run = {b"q": [RunRow(1, b"q", b"d1", 1.0), RunRow(2, b"q", b"d2", 1.0)]}
    names = ["nDCG@10", "nDCG(dcg='exp-log2')@10", "RR"]

    tied = evaluate(qrels, run, names).means
    ascending = evaluate(qrels, run, names, ties="docid-asc").means

    assert [round(value, 4) for value in tied.values()] == [0.7967, 0.7098, 1.0]
    assert list(ascending.values()) == [1.0, 1.0, 1.0]


def test_measures_left_out_are_the_usual_ones_and_the_means_are_a_mapping():
    found = evaluate(QRELS, RUN)

    assert dict(found) == found.means
    assert ("mrr@10" in found, "RR@5" in found, "no measure" in found) == (True, False, False)
    assert list(found) == ["nDCG@10", "AP", "RR@10", "R@100", "P@10", "Judged@10"]
    assert dict(evaluate(QRELS, RUN, "map,P.5,10")).keys() == {"AP", "P@5", "P@10"}


def test_missing_query_counts_zero_and_both_counts_stand_beside_the_mean():
    result = evaluate(QRELS, RUN, ["AP", "NumRel", "NumRet", "NumQ"])

    assert result.means == {"AP": 1 / 3, "NumRel": 2, "NumRet": 3, "NumQ": 3}
    assert result.per_query[b"b"] == {"AP": 0.0, "NumRel": 1.0, "NumRet": 0.0, "NumQ": 1.0}
    assert (result.n_queries, result.n_missing, result.n_extra) == (3, 1, 2)


def test_missing_query_can_be_left_out_and_is_still_counted():
    result = evaluate(QRELS, RUN, ["AP", "NumQ"], missing="skip")

    assert result.means == {"AP": 1 / 2, "NumQ": 2}
    assert list(result.per_query) == [b"a", b"c"]
    assert (result.n_queries, result.n_missing, result.n_extra) == (2, 1, 2)


def test_query_with_an_empty_list_of_results_was_answered_with_nothing():
    result = evaluate(QRELS, {**RUN, b"b": [], b"z": []}, ["AP"], missing="skip")

    assert result.per_query[b"b"] == {"AP": 0.0}
    assert (result.n_missing, result.n_extra) == (0, 3)
    with pytest.raises(EmptyRunError):
        evaluate(QRELS, {b"b": []}, ["AP"])


def test_query_without_a_relevant_document_stays_in_the_mean():
    assert evaluate(qrels_of(a={"d1": 1}, c={"d9": 0}), RUN, ["RR"]).means == {"RR": 0.5}


def test_undefined_value_is_left_out_of_the_mean_and_counted():
    result = evaluate(QRELS, RUN, ["Judged@10", "AP"])

    assert isnan(result.per_query[b"b"]["Judged@10"])
    assert result.means["Judged@10"] == (1 / 2 + 1) / 2
    assert result.n_undefined == {"Judged@10": 1, "AP": 0}


def test_judged_share_stands_beside_each_mean_at_its_cutoff():
    result = evaluate(QRELS, RUN, ["P@1", "AP"])

    assert result.judged_shares == {"P@1": 1.0, "AP": (1 / 2 + 1) / 2}


def test_mean_over_nothing_is_undefined():
    result = evaluate(QRELS, {}, ["AP", "NumQ"], missing="skip", allow_empty=True)

    assert isnan(result.means["AP"])
    assert (result.means["NumQ"], result.n_queries, result.n_missing) == (0, 0, 3)


def test_depth_looks_at_the_first_results_only():
    qrels = qrels_of(a={"d3": 1})

    assert evaluate(qrels, RUN, ["R@10", "NumRet"], depth=1).means == {"R@10": 0, "NumRet": 1}
    assert evaluate(qrels, RUN, ["R@10", "NumRet"], depth=2).means == {"R@10": 1, "NumRet": 2}


def test_measure_asked_for_under_two_names_is_given_once():
    result = evaluate(QRELS, RUN, ["ndcg_cut_10", "nDCG@10", parse_measure("nDCG@10")])

    assert list(result.means) == ["nDCG@10"]


def test_empty_run_is_refused_unless_asked_for():
    with pytest.raises(EmptyRunError, match="holds no result"):
        evaluate(QRELS, {}, ["AP"])

    assert evaluate(QRELS, {}, ["AP"], allow_empty=True).means == {"AP": 0.0}


def test_empty_qrels_are_refused():
    with pytest.raises(EmptyQrelsError, match="hold no grade"):
        evaluate({}, RUN, ["AP"])


def test_no_common_query_shows_three_ids_of_each_side():
    qrels = qrels_of(q1={"d": 1}, q2={"d": 1}, q3={"d": 1}, q4={"d": 1})
    run = run_of(**{"01": ["d"], "02": ["d"]})

    with pytest.raises(NoCommonQueryError) as caught:
        evaluate(qrels, run, ["AP"])

    assert "the run has '01', '02', the qrels have 'q1', 'q2', 'q3'." in str(caught.value)


def test_unknown_rule_and_measure_are_refused():
    with pytest.raises(UnknownMissingRuleError, match="expected zero or skip"):
        evaluate(QRELS, RUN, ["AP"], missing="ignore")
    with pytest.raises(UnknownMeasureError):
        evaluate(QRELS, RUN, ["APP"])


def test_hits_found_earlier_give_the_same_evaluation():
    names = ["nDCG@10", "AP", "bpref", "Judged@10", "NumRet"]
    judged = {qid: Judged(tuple(grades.values())) for qid, grades in QRELS.items()}

    ours = evaluate_hits(judged, find_hits(QRELS, RUN), names)

    whole = evaluate(QRELS, RUN, names)
    assert repr(ours.per_query) == repr(whole.per_query)
    assert (ours.means, ours.judged_shares) == (whole.means, whole.judged_shares)
    assert (ours.n_queries, ours.n_missing, ours.n_extra) == (3, 1, 0)


def test_evaluation_is_equal_by_its_values_and_says_all_of_them():
    evaluation = evaluate(QRELS, RUN, ["AP"])

    copy = evaluation.replaced()
    other = evaluation.replaced(n_extra=7)

    assert copy == evaluation and copy is not evaluation
    assert (evaluation.n_extra, other.n_extra) == (2, 7) and other != evaluation
    assert repr(copy) == repr(evaluation) != repr(other)
    assert all(f"{name}=" in repr(evaluation) for name in evaluation.__slots__)


def test_slice_is_scored_from_all_hits_with_its_own_grades():
    hits = {"a": QueryHits("a", (Hit(1, 1),), 5), "b": QueryHits("b", (), 5)}

    result = evaluate_hits({"a": Judged((1,))}, hits, ["RR"])

    assert (result.means, result.n_queries, result.n_extra) == ({"RR": 1.0}, 1, 1)


def test_slice_that_the_run_lacks_is_refused_unless_asked_for():
    hits = {"a": QueryHits("a", (Hit(1, 1),), 5)}

    with pytest.raises(NoCommonQueryError):
        evaluate_hits({"b": Judged((1,))}, hits, ["RR"])
    assert evaluate_hits({"b": Judged((1,))}, hits, ["RR"], allow_empty=True).means == {"RR": 0.0}


def test_query_answered_with_nothing_is_not_missing_and_counts_zero():
    judged = {"a": Judged((1,)), "b": Judged((1,)), "c": Judged((1,))}
    hits = {"a": QueryHits("a", (Hit(1, 1),), 5), "b": QueryHits("b", (), 0)}
    names = ["RR", "Judged@10", "NumRet"]

    result = evaluate_hits(judged, hits, names)
    skipping = evaluate_hits(judged, hits, names, missing="skip")

    assert (result.n_queries, result.n_missing) == (3, 1)
    assert (result.means["RR"], result.n_undefined["Judged@10"]) == (1 / 3, 2)
    assert (skipping.n_queries, skipping.n_missing) == (2, 1)
    assert (skipping.means["RR"], skipping.n_undefined["Judged@10"]) == (1 / 2, 1)


def test_geometric_mean_takes_the_smallest_value_for_zero():
    hits = {"a": QueryHits("a", (Hit(1, 1),), 5), "b": QueryHits("b", (), 5)}

    result = evaluate_hits({"a": Judged((1,)), "b": Judged((1,))}, hits, ["GMAP", "AP"])

    assert result.means == pytest.approx({"GMAP": 0.00001**0.5, "AP": 0.5})
    assert result.per_query["b"] == {"GMAP": 0.0, "AP": 0.0}


def test_rules_and_scale_are_written_down():
    result = evaluate(QRELS, RUN, ["AP"], missing="skip", depth=3)

    assert result.rules == {
        "ties": "trec",
        "missing": "skip",
        "depth": 3,
        "unlisted": "unknown",
    }
    assert result.top_grade == 2
    assert evaluate(QRELS, RUN, ["AP"], top_grade=4).top_grade == 4


def test_names_that_stand_for_lists_are_taken_apart():
    assert list(evaluate(QRELS, RUN, ["P.5,10", "map"]).means) == ["P@5", "P@10", "AP"]


def test_slice_means_are_those_of_scoring_the_slice():
    judged = {qid: Judged((1, 2, 0)) for qid in "abcd"}
    hits = {
        "a": QueryHits("a", (Hit(1, 1),), 5),
        "b": QueryHits("b", (Hit(2, 2), Hit(3, 0)), 3),
        "c": QueryHits("c", (), 0),
    }
    names = ["nDCG@10", "GMAP", "NumRelRet", "Judged@10", "ERR"]
    slices = {"head": ["a", "b"], "tail": {"c", "d", "x"}, "none": ()}

    whole = evaluate_hits(judged, hits, names)
    result = slice_means(whole, slices)

    for name, qids in slices.items():
        part = {qid: judged[qid] for qid in judged if qid in qids}
        assert result[name].n_queries == len(part)
        if part:
            alone = evaluate_hits(part, hits, names, allow_empty=True)
            assert result[name].means == pytest.approx(alone.means, nan_ok=True)
            assert result[name].n_undefined == alone.n_undefined
    assert isnan(result["none"].means["ERR"])
    assert result["none"].means["NumRelRet"] == 0


def test_slice_means_can_count_a_query_by_its_weight():
    hits = {"a": QueryHits("a", (Hit(1, 1),), 5), "b": QueryHits("b", (Hit(2, 1),), 5)}
    whole = evaluate_hits(
        {"a": Judged((1,)), "b": Judged((1,))}, hits, ["RR", "GMAP", "NumRelRet", "Judged"]
    )

    weighted = slice_means(whole, {"all": ["a", "b", "a"]}, weights={"a": 3, "b": 1})["all"]

    assert weighted.n_queries == 2
    assert weighted.means == pytest.approx(
        {"RR": 3.5 / 4, "GMAP": 0.5**0.25, "NumRelRet": 2, "Judged": 1 / 5}
    )


def test_ids_that_are_text_name_the_queries_of_files(tmp_path):
    """Those are bytes there; slices, weights and families are written as text."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"ä{n} 0 d {n % 2}\n" for n in range(4)), "utf-8")
    run.write_text("".join(f"ä{n} Q0 d 1 1 t\n" for n in range(4)), "utf-8")
    whole = evaluate(str(qrels), str(run), ["RR"])
    weights = {"ä1": 3.0, "ä2": 1.0}

    assert slice_means(whole, {"odd": ["ä1", "ä3"]})["odd"].means == {"RR": 1.0}
    assert slice_means(whole, {"": [], "odd": {b"\xc3\xa41"}})["odd"].n_queries == 1
    assert slice_means(whole, {"both": ["ä1", "ä2"]}, weights=weights)["both"].means["RR"] == 0.75
    assert weighted_means(whole, weights).means == {"RR (weighted)": 0.75}
    one = dict.fromkeys(weights, "one family")
    assert weighted_means(whole, weights, families=one, has_intervals=True).intervals == {}
    assert evaluate(read_qrels(str(qrels)), read_run(str(run)), ["RR"]) == whole


def test_slice_means_of_weights_leave_out_queries_that_have_none():
    whole = evaluate(QRELS, RUN, ["RR"])
    one, *others = whole.per_query

    weighted = slice_means(whole, {"all": list(whole.per_query)}, weights={one: 2.0})["all"]

    assert others
    assert (weighted.n_queries, weighted.means["RR"]) == (1, whole.per_query[one]["RR"])


DOCIDS = st.lists(st.sampled_from([b"a", b"b", b"c", b"d", b"e", b"f"]), unique=True)


@given(docids=DOCIDS, scores=st.lists(st.integers(0, 2), min_size=6, max_size=6), data=st.data())
def test_order_of_the_lines_changes_nothing(docids, scores, data):
    rows = [RunRow(0, b"q", d, float(s)) for d, s in zip(docids, scores, strict=False)]
    qrels = {b"q": {b"a": 2, b"c": 1, b"e": 0}}
    names = ["nDCG@3", "AP", "bpref", "RR", "Judged@2"]

    alone = evaluate(qrels, {b"q": rows}, names, allow_empty=True)
    other = evaluate(qrels, {b"q": data.draw(st.permutations(rows))}, names, allow_empty=True)

    assert repr(alone.means) == repr(other.means)


def test_scoring_imports_neither_numpy_nor_django():
    heavy = "{'numpy', 'scipy', 'django', 'polars'}"
    code = f"import sys, benchwright; print(*{heavy} & {{*sys.modules}})"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""


GRADES = st.lists(st.integers(-1, 3), min_size=1, max_size=3)
RETRIEVED = st.lists(st.booleans(), min_size=3, max_size=3)


@given(st.lists(st.tuples(GRADES, RETRIEVED), min_size=2, max_size=12))
def test_queries_that_are_alike_have_the_values_each_has_alone(queries):
    judged = {f"q{n}": Judged(tuple(grades)) for n, (grades, _) in enumerate(queries)}
    results = {
        f"q{n}": QueryHits(
            f"q{n}",
            tuple(
                Hit(rank, grade)
                for rank, (grade, is_found) in enumerate(zip(grades, where), 1)  # noqa: B905
                if is_found
            ),
            3 + sum(where),
        )
        for n, (grades, where) in enumerate(queries)
    }
    measures = ["nDCG@2", "AP", "bpref", "Judged@5", "NumRet", "infAP"]

    together = evaluate_hits(judged, results, measures)

    for qid in judged:
        alone = evaluate_hits({qid: judged[qid]}, {qid: results[qid]}, measures, top_grade=3)
        assert together.per_query[qid] == alone.per_query[qid]
