"""Corner cases on which programs differ: each has one rule, and no value changes silently."""

from math import log2

import pytest

from benchwright import evaluate_hits
from benchwright.measures import parse_measure
from benchwright.measures.incomplete import condensed
from benchwright.reading import Hit, Judged, QueryHits, TieGroup

OF_ONE_QUERY = [
    *("nDCG", "nDCG@10", "AP", "RR", "P@5", "R@5", "R_cap@5", "F@5", "Success@5", "Rprec"),
    *("bpref", "infAP", "IPrec@0.5", "11pt_avg", "ERR", "nERR", "RBP", "Compat", "SetP", "SetR"),
    *("SetF", "SetAP", "G", "binG", "ndcg_rel", "Rndcg", "yaap", "SetP(relative=True)"),
    *("Rprec_mult@0.5", "rbp", "GMbpref"),
]


def query(*graded, n_retrieved=10):
    return QueryHits("q", tuple(Hit(*hit) for hit in graded), n_retrieved)


@pytest.mark.parametrize("name", OF_ONE_QUERY)
def test_query_without_a_relevant_document_stays_in_the_mean_with_0(name):
    hits = {"a": query((1, 1)), "b": query((1, 0))}
    judged = {"a": Judged((1,)), "b": Judged((0,))}

    both = evaluate_hits(judged, hits, [name])
    alone = evaluate_hits({"a": judged["a"]}, hits, [name])

    assert both.per_query["b"][name] == 0.0
    assert both.n_undefined[name] == 0
    if parse_measure(name).aggregation == "mean":
        assert both.means[name] == pytest.approx(alone.means[name] / 2)


@pytest.mark.parametrize("name", OF_ONE_QUERY)
def test_query_with_negative_grades_only_counts_0(name):
    """trec_eval 10 stops here."""
    assert parse_measure(name).value(query((1, -1)), Judged((-1, -1))) == 0.0


@pytest.mark.parametrize("name", ["SDCG(min_rel=-1)@3", "INST(min_rel=-1)", "BPM(min_rel=-1)@3"])
def test_grade_0_gains_nothing_whatever_the_lowest_grade(name):
    of_none, judged = query((2, 1)), Judged((0, 1))

    assert parse_measure(name).value(query((1, 0), (2, 1)), judged) == pytest.approx(
        parse_measure(name).value(of_none, judged)
    )


def test_what_complete_grades_do_not_list_is_judged_where_judged_documents_are_counted():
    hits = {"a": query((2, 1), n_retrieved=3), "b": query((1, 2), n_retrieved=2)}
    judged = {"a": Judged((1,), is_complete=True), "b": Judged((2,))}

    result = evaluate_hits(judged, hits, ["Judged@2", "Hole@2", "NumNonrelRet"])

    assert result.per_query == {
        "a": {"Judged@2": 1.0, "Hole@2": 0.0, "NumNonrelRet": 2.0},
        "b": {"Judged@2": 0.5, "Hole@2": 0.5, "NumNonrelRet": 0.0},
    }


def test_negative_grade_is_neither_relevant_nor_judged():
    """Judged@k of ir_measures and bpref of ranx take it as judged."""
    hits, grades = query((1, -1), (2, 1), n_retrieved=5), Judged((-1, 1, 0))

    values = {
        name: parse_measure(name).value(hits, grades)
        for name in ("DCG", "P@5", "bpref", "unj@5", "Judged@5", "NumRel", "SetR")
    }

    assert values == {
        "DCG": 1 / log2(3),
        "P@5": 1 / 5,
        "bpref": 1,
        "unj@5": 4 / 5,
        "Judged@5": 1 / 5,
        "NumRel": 1,
        "SetR": 1,
    }


def test_threshold_counts_in_all_but_gain():
    """ranx drops the grades below it from nDCG, too."""
    hits, grades = query((1, 1), (2, 2)), Judged((1, 2))
    level = {"rel": 2}

    values = {
        name: parse_measure(name).with_options(level).value(hits, grades)
        for name in ("P@2", "R@2", "AP", "RR", "bpref", "nDCG@10")
    }

    gain = (1 + 2 / log2(3)) / (2 + 1 / log2(3))
    assert values == pytest.approx(
        {"P@2": 1 / 2, "R@2": 1, "AP": 1 / 2, "RR": 1 / 2, "bpref": 0, "nDCG@10": gain}
    )


def test_unjudged_document_is_not_relevant_and_can_be_left_out():
    hits, grades = query((2, 1), n_retrieved=4), Judged((1, 0))

    assert parse_measure("P@2").value(hits, grades) == 1 / 2
    assert parse_measure("RR").value(hits, grades) == 1 / 2
    assert parse_measure("RR(judged_only=True)").value(hits, grades) == 1
    assert parse_measure("bpref").value(hits, grades) == 1


def test_unj_divides_by_the_cutoff_and_judged_by_what_was_retrieved():
    result = query((1, 0), n_retrieved=2)

    assert parse_measure("unj@10").value(result, Judged((0,))) == 1 / 10
    assert parse_measure("Judged@10").value(result, Judged((0,))) == 1 / 2
    assert parse_measure("Hole@10").value(result, Judged((0,))) == 1 / 2


def test_bpref_without_a_judged_nonrelevant_document_is_a_number():
    """NaN in ranx, and so is its mean over all queries."""
    hits = {"a": query((3, 1)), "b": query((1, 1), (2, 0))}

    result = evaluate_hits({"a": Judged((1,)), "b": Judged((1, 0))}, hits, ["bpref"])

    assert (result.means["bpref"], result.n_undefined["bpref"]) == (1.0, 0)


def test_exponential_gain_is_not_rounded():
    """ir_measures rounds each query to five decimals."""
    hits, grades = query((7, 2)), Judged((3, 2))

    value = parse_measure("nDCG(dcg='exp-log2')@10").value(hits, grades)

    assert value == pytest.approx((3 / log2(8)) / (7 + 3 / log2(3)), abs=1e-15)
    assert value != round(value, 5)


def test_rbp_has_one_value_for_graded_judgments():
    """trec_eval's depends on how it was compiled; ours on the highest grade of the scale."""
    hits, judged = {"a": query((1, 1)), "b": query((1, 2))}, {"a": Judged((1,)), "b": Judged((2,))}

    result = evaluate_hits(judged, hits, ["RBP(p=0.9)", "rbp"])

    assert [result.per_query[qid]["RBP(p=0.9)"] for qid in "ab"] == pytest.approx([0.05, 0.1])
    assert [result.per_query[qid]["rbp"] for qid in "ab"] == pytest.approx([0.1, 0.1])
    wider = evaluate_hits(judged, hits, ["RBP(p=0.9)", "ERR"], top_grade=4)
    assert wider.per_query["b"] == pytest.approx({"RBP(p=0.9)": 0.05, "ERR": 3 / 16})


def test_err_takes_the_scale_of_the_qrels_and_not_always_4():
    hits = {"a": query((1, 1)), "b": query((1, 0))}

    binary = evaluate_hits({"a": Judged((1,)), "b": Judged((0,))}, hits, ["ERR"])
    graded = evaluate_hits({"a": Judged((1,)), "b": Judged((3,))}, hits, ["ERR"])

    assert binary.per_query["a"]["ERR"] == 1 / 2
    assert graded.per_query["a"]["ERR"] == 1 / 8
    assert (binary.top_grade, graded.top_grade) == (1, 3)


def test_grade_beyond_the_scale_of_err_counts_as_its_top():
    assert parse_measure("ERR(max_rel=2)").value(query((1, 9)), Judged((9,))) == 3 / 4


def test_persistence_of_deep_rankings_neither_overflows_nor_falls_below_0():
    query_hits = QueryHits("q", tuple(Hit(rank, 0) for rank in range(1, 5001)), 5000)

    assert parse_measure("RBP_res").value(query_hits, Judged((0,))) == pytest.approx(0, abs=1e-12)
    assert parse_measure("RBP_res").value(query_hits, Judged((0,))) >= 0
    assert parse_measure("ERR").value(query((1, 5000)), Judged((5000,))) == 1.0


def test_condensed_list_keeps_ties_of_what_is_judged():
    query_hits = QueryHits(
        "q",
        (Hit(2, 1), Hit(3, -1), Hit(5, 0), Hit(6, 2), Hit(9, 1)),
        n_retrieved=12,
        ties=(TieGroup(1, 3), TieGroup(4, 4), TieGroup(8, 2)),
    )

    assert condensed(query_hits) == QueryHits(
        "q", (Hit(1, 1), Hit(2, 0), Hit(3, 2), Hit(4, 1)), 4, (TieGroup(2, 2),)
    )


def test_rbp_of_trec_eval_is_nothing_where_no_grade_is_above_zero():
    measure = parse_measure("rbp")

    assert measure.value(QueryHits(b"q", (Hit(1, 0),), 1), Judged((0,)), top_grade=3) == 0
