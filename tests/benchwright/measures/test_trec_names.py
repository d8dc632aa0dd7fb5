"""What trec_eval is asked for, and the lines it prints: order, names, formats."""

import pytest

from benchwright.errors import CutoffError, MeasureParameterError, UnknownMeasureError
from benchwright.measures import parse_measure, parse_measures
from benchwright.measures.average_precision import ELEVEN
from benchwright.measures.families import FAMILIES
from benchwright.measures.trec_names import TrecRow, relevance_string, trec_rows
from benchwright.measures.trec_table import NICKNAMES, TREC_MEASURES
from benchwright.reading import Hit


def names_of(*asked, **flags):
    return [row.name for row in trec_rows(asked, **flags)]


def test_without_a_measure_the_official_ones_are_printed():
    assert trec_rows([]) == trec_rows(["official"])
    assert names_of()[:6] == ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map"]


def test_order_is_that_of_trec_eval_whatever_the_order_asked_for():
    assert names_of("ndcg", "P.10,5", "map") == ["map", "P_5", "P_10", "ndcg"]


def test_measure_given_twice_has_its_first_parameters():
    assert names_of("P.5", "P.10", "P") == ["P_5"]
    assert names_of("P", "P.10") == ["P_10"]
    assert "P_7" in names_of("official", "P.7")


@pytest.mark.parametrize(
    ("asked", "printed"),
    [
        ("P.5,10", ["P_5", "P_10"]),
        ("iprec_at_recall..10,.5", ["iprec_at_recall_0.10", "iprec_at_recall_0.50"]),
        ("Rprec_mult.5.0,0.2", ["Rprec_mult_0.20", "Rprec_mult_5.00"]),
        ("utility.2,-1,0,0", ["utility_2,-1,0,0"]),
        ("11pt_avg..25,.5,.75", ["11pt_avg_.25,.5,.75"]),
        ("ndcg.1=3,2=9,4=4.5", ["ndcg_1=3,2=9,4=4.5"]),
        ("set_F.2.0", ["set_F_2.0"]),
        ("rbp.p=0.5", ["rbp_p=0.5"]),
        ("relstring.20", ["relstring_20"]),
        ("success", ["success_1", "success_5", "success_10"]),
        ("unj", ["unj_5", "unj_10", "unj_20"]),
        ("num_nonjudged_ret", ["num_nonjudged_ret"]),
    ],
)
def test_parameters_stand_in_the_printed_name_as_they_were_given(asked, printed):
    assert names_of(asked) == printed


def test_cutoffs_asked_for_without_any_are_those_of_trec_eval():
    def after(name):
        return [float(row.removeprefix(f"{name}_")) for row in names_of(name)]

    cutoffs = [5, 10, 15, 20, 30, 100, 200, 500, 1000]
    for name in ("P", "recall", "ndcg_cut", "map_cut", "relative_P"):
        assert after(name) == cutoffs
    assert after("iprec_at_recall") == [*ELEVEN] == [tenth / 10 for tenth in range(11)]
    assert after("Rprec_mult") == [fifth / 5 for fifth in range(1, 11)]


def test_flags_reach_the_measures_that_know_them():
    rows = {row.name: row for row in trec_rows(["all_trec"], level=2, n_documents=50)}

    assert str(rows["map"].measure) == "AP(rel=2)"
    assert str(rows["ndcg_cut_10"].measure) == "nDCG@10"
    assert str(rows["rbp"].measure) == "rbp"
    assert str(rows["utility"].measure) == "utility(n_documents=50,rel=2)"


def test_every_measure_of_ours_has_a_row_once():
    measures = [row.measure for row in trec_rows(TREC_MEASURES) if row.measure]

    assert len(set(measures)) == len(measures)
    assert set(NICKNAMES["all_trec"]) < set(TREC_MEASURES)
    assert parse_measures(["all_trec"]) == tuple(
        row.measure for row in trec_rows(["all_trec"]) if row.measure
    )


def test_every_printed_name_parses_to_its_measure():
    for row in trec_rows(TREC_MEASURES):
        if row.measure:
            assert parse_measure(row.name) == row.measure
            assert row.measure.trec_name == row.name


@pytest.mark.parametrize(
    ("row", "value", "line"),
    [
        (TrecRow("map", "value"), 0.12345, "map                   \tq1\t0.1235"),
        (TrecRow("utility", "value"), -287, "utility               \tq1\t-287.0000"),
        (TrecRow("num_ret", "count"), 1500.0, "num_ret               \tq1\t1500"),
        (TrecRow("runid", "run"), "bm25", "runid                 \tq1\tbm25"),
        (TrecRow("relstring", "string"), "10-", "relstring             \tq1\t'10-'"),
        (TrecRow("num_nonrel_judged_ret", "count"), 3.0, "num_nonrel_judged_ret \tq1\t3"),
    ],
)
def test_line_is_as_trec_eval_prints_it(row, value, line):
    assert row.line("q1", value) == line


def test_what_is_printed_of_a_query_and_of_all():
    rows = {row.name: row for row in trec_rows(["all_trec"])}

    assert {name for name, row in rows.items() if not row.is_per_query} == {
        *("runid", "num_q", "gm_map", "gm_bpref"),
    }
    assert {name for name, row in rows.items() if not row.is_in_summary} == {"relstring"}
    assert {name for name, row in rows.items() if row.kind == "count"} == {
        *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"),
    }
    assert {name for name, row in rows.items() if row.measure and row.measure.is_total} == {
        name for name, row in rows.items() if row.kind == "count"
    }


def test_geometric_means_are_those_of_trec_eval():
    geometric = {name for name, of in FAMILIES.items() if of.aggregation == "geometric"}

    assert geometric == {"GMAP", "GMbpref"}


@pytest.mark.parametrize("asked", ["maps", "prefs_simp", "map_avgjg", "ndcg_cut_10", ""])
def test_measure_that_trec_eval_does_not_have_is_refused(asked):
    with pytest.raises(UnknownMeasureError, match=f"'{asked}' is no measure"):
        trec_rows([asked])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("map.5", "'map': has the parameter '5'; expected none"),
        ("P.five", "cutoff is 'five'; expected a whole number"),
        ("ndcg.1,2", "gains is '1:,2:'; expected a gain for each grade"),
        ("utility.1,2", "weights is '[1,2]'; expected four numbers"),
        ("relstring.x", "'relstring': length is 'x'; expected a whole number"),
        ("iprec_at_recall.2", "recall is '2'; expected a recall from 0 to 1"),
    ],
)
def test_parameter_that_does_not_fit_is_refused(asked, message):
    with pytest.raises(MeasureParameterError) as caught:
        trec_rows([asked])

    assert message in str(caught.value)


def test_cutoff_of_zero_is_refused():
    with pytest.raises(CutoffError):
        trec_rows(["P.0"])


def test_relevance_string_tells_what_nobody_judged_from_what_was_not_drawn():
    hits = (Hit(1, 2), Hit(3, -1), Hit(4, 12), Hit(6, 0))

    assert relevance_string(hits, n_retrieved=6, length=10) == "2-.>-0"
    assert relevance_string(hits, n_retrieved=6, length=2) == "2-"
    assert relevance_string((), n_retrieved=0, length=10) == ""
