import inspect
from math import inf, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.errors import (
    CutoffError,
    MeasureParameterError,
    RelevanceThresholdError,
    ScoringError,
    UnknownMeasureError,
)
from benchwright.measures import Measure, parse_measure, parse_measures
from benchwright.measures.families import FAMILIES
from benchwright.reading import Judged, QueryHits
from tests.examples import examples


@pytest.mark.parametrize(
    ("name", "canonical", "trec_name"),
    [
        ("nDCG@10", "nDCG@10", "ndcg_cut_10"),
        ("ndcg_cut_10", "nDCG@10", "ndcg_cut_10"),
        ("ndcg_cut.10", "nDCG@10", "ndcg_cut_10"),
        ("ndcg", "nDCG", "ndcg"),
        ("NDCG@010", "nDCG@10", "ndcg_cut_10"),
        ('nDCG(dcg="exp-log2")@10', "nDCG(dcg='exp-log2')@10", None),
        ("nDCG(dcg=log2)@5", "nDCG@5", "ndcg_cut_5"),
        ("map", "AP", "map"),
        ("map_cut_100", "AP@100", "map_cut_100"),
        ("AP(rel=2)", "AP(rel=2)", None),
        ("recip_rank", "RR", "recip_rank"),
        ("MRR@10", "RR@10", None),
        ("P_10", "P@10", "P_10"),
        ("Precision@10", "P@10", "P_10"),
        ("recall_100", "R@100", "recall_100"),
        ("Recall@100", "R@100", "recall_100"),
        (" R( rel = 2 )@100", "R(rel=2)@100", None),
        ("R()@5", "R@5", "recall_5"),
        ("success_1", "Success@1", "success_1"),
        ("Rprec", "Rprec", "Rprec"),
        ("Bpref", "bpref", "bpref"),
        ("judged@10", "Judged@10", None),
        ("num_ret", "NumRet", "num_ret"),
        ("num_rel", "NumRel", "num_rel"),
        ("num_rel_ret", "NumRelRet", "num_rel_ret"),
        ("num_q", "NumQ", "num_q"),
        ("dcg", "DCG", "dcg"),
        ("ideal_dcg", "IDCG", "ideal_dcg"),
        ("NDCG@10", "nDCG@10", "ndcg_cut_10"),
        ("nDCG(gains={2: 3, 1: 1})@10", "nDCG(gains={1:1,2:3})@10", None),
        ("nDCG(gains={0:0.5,1:2})", "nDCG(gains={0:0.5,1:2})", "ndcg_0=0.5,1=2"),
        ("ndcg_1=3,2=9,4=4.5", "nDCG(gains={1:3,2:9,4:4.5})", "ndcg_1=3,2=9,4=4.5"),
        ("nDCG(judged_only=True)@10", "nDCG(judged_only=True)@10", None),
        ("nDCG(judged_only=False)@10", "nDCG@10", "ndcg_cut_10"),
        ("P(judged_only=True, rel=2)@10", "P(rel=2,judged_only=True)@10", None),
        ("AP@100", "AP@100", "map_cut_100"),
        ("RBP", "RBP", None),
        ("RBP(rel=2,p=0.8)", "RBP(rel=2)", None),
        ("RBP(rel=1,p=0.95)@20", "RBP(rel=1,p=0.95)@20", None),
        ("rbp", "rbp", "rbp"),
        ("rbp_p=0.5", "rbp(p=0.5)", "rbp_p=0.5"),
        ("rbp_resid_p=0.5", "rbp_resid(p=0.5)", "rbp_resid_p=0.5"),
        ("ERR@10", "ERR@10", None),
        ("ERR(max_rel=4)@20", "ERR(max_rel=4)@20", None),
        ("nERR@10", "nERR@10", None),
        ("Compat(p=0.8)", "Compat(p=0.8)", None),
        ("Compat(p=0.95)", "Compat", None),
        ("Compat(normalize=False)", "Compat(normalize=False)", None),
        ("infAP(rel=2)", "infAP(rel=2)", None),
        ("IPrec(rel=2)@0.5", "IPrec(rel=2)@0.5", None),
        ("IPrec@.1", "IPrec@0.1", "iprec_at_recall_0.10"),
        ("iprec_at_recall_0.10", "IPrec@0.1", "iprec_at_recall_0.10"),
        ("iprec_at_recall_1", "IPrec@1.0", "iprec_at_recall_1.00"),
        ("11pt_avg", "11pt_avg", "11pt_avg"),
        ("11pt_avg_.25,.5", "11pt_avg(at=[0.25,0.5])", "11pt_avg_0.25,0.5"),
        ("SetP", "SetP", "set_P"),
        ("SetRelP", "SetP(relative=True)", "set_relative_P"),
        ("SetP(relative=True)", "SetP(relative=True)", "set_relative_P"),
        ("set_relative_P", "SetP(relative=True)", "set_relative_P"),
        ("SetF(beta=0.5,rel=1)", "SetF(beta=0.5)", "set_F_0.5"),
        ("set_F_2", "SetF(beta=2.0)", "set_F_2"),
        ("SetAP(rel=2)", "SetAP(rel=2)", None),
        ("F1@5", "F@5", None),
        ("utility_2,-1,0,0", "utility(weights=[2,-1,0,0])", "utility_2,-1,0,0"),
        ("gm_map", "GMAP", "gm_map"),
        ("gm_bpref", "GMbpref", "gm_bpref"),
        ("R_cap@10", "R_cap@10", "relative_P_10"),
        ("Rprec_mult_0.20", "Rprec_mult@0.2", "Rprec_mult_0.20"),
        ("unj_5", "unj@5", "unj_5"),
        ("NumRet(rel=2)", "NumRelRet(rel=2)", None),
        ("NumRelRet", "NumRelRet", "num_rel_ret"),
        ("num_nonrel_judged_ret", "NumNonrelRet", "num_nonrel_judged_ret"),
    ],
)
def test_name_is_understood_and_has_one_canonical_form(name, canonical, trec_name):
    measure = parse_measure(name)

    assert str(measure) == canonical
    assert measure.trec_name == trec_name
    assert parse_measure(canonical) == measure


def test_canonical_name_of_every_family_parses_to_itself():
    for name, family in FAMILIES.items():
        cutoff = {"none": None, "cutoff": 7, "recall": 0.7, "multiple": 0.7}
        measure = Measure(name, cutoff["none" if family.cutoff == "none" else family.cutoff_as])
        assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize("name", FAMILIES)
def test_function_and_family_take_the_same_to_be_given(name):
    family = FAMILIES[name]
    taken = getattr(family.function, "__kwdefaults__", None) or {}

    shared = {option: family.options[option] for option in family.options if option in taken}

    assert shared == {option: taken[option] for option in shared}
    assert set(family.options) - {"max_rel", "judged_only"} <= {
        *taken,
        *inspect.signature(family.function).parameters,
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("NDCG@10,MRR@10", ["nDCG@10", "RR@10"]),
        ("P.5,10 map , ", ["P@5", "P@10", "AP"]),
        ("nDCG(gains={1:1,2:3})@10, 11pt_avg", ["nDCG(gains={1:1,2:3})@10", "11pt_avg"]),
        ("AP( rel = 2 ) hit_rate_at_5", ["AP(rel=2)", "Success@5"]),
        ("RBP(p=0.9, rel=2),set", ["RBP(rel=2,p=0.9)", *map(str, parse_measures("set"))]),
    ],
)
def test_several_names_in_one_text_are_told_apart(text, names):
    assert [str(measure) for measure in parse_measures(text)] == names


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 4)), min_size=1, max_size=8),
    st.sampled_from(["AP", "GMAP", "bpref", "GMbpref"]),
)
def test_weight_counts_as_so_many_queries_of_the_same_value(pairs, name):
    measure = Measure(name)
    values, weights = zip(*pairs, strict=True)
    repeated = [value for value, weight in pairs for _ in range(weight)]

    assert measure.over_all([*values, nan], [*weights, 7.5]) == pytest.approx(
        measure.over_all(repeated), rel=1e-12
    )
    assert measure.over_all(values, weights) == pytest.approx(measure.over_all(repeated), rel=1e-12)


def test_only_these_families_are_monotone():
    assert {name for name, family in FAMILIES.items() if family.is_monotone} == {
        *("P", "RR", "Success", "DCG", "SDCG", "RBP", "INSQ")
    }


def test_only_these_families_leave_zero_to_one():
    spans = {name: family.span for name, family in FAMILIES.items() if family.span != (0, 1)}

    counts = ("NumRet", "NumRel", "NumRelRet", "NumNonrelRet", "NumUnjudgedRet", "NumQ")
    assert spans == {
        **dict.fromkeys((*counts, "DCG", "IDCG"), (0, inf)),
        **dict.fromkeys(("utility", "yaap"), (-inf, inf)),
    }


@pytest.mark.parametrize(
    ("name", "span"),
    [
        ("AP", (0, 1)),
        ("DCG", (0, inf)),
        ("DCG(gains={1:0})", (0, inf)),
        ("nDCG(gains={1:-1,2:3})", (-inf, inf)),
        ("utility", (-inf, inf)),
    ],
)
def test_span_has_no_end_where_gains_may_be_below_zero(name, span):
    assert parse_measure(name).span == span


@pytest.mark.parametrize("name", ["AP", "GMAP", "NumRet"])
@pytest.mark.parametrize("values", [[], [0.25], [0.25, 0.5], [0.03, 0.84, 0.43]])
def test_equal_weights_are_no_weights(name, values):
    """To the last bit: weighted by .1 the last mean is another one."""
    measure = parse_measure(name)

    weighted = measure.over_all(values, [0.1] * len(values))

    assert weighted == pytest.approx(measure.over_all(values), rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("name", ["", "nDGC@10", "@10", "nDCG@10(rel=1)", "P@5,10 R", "map map"])
def test_unknown_name_is_refused_with_the_names_there_are(name):
    with pytest.raises((UnknownMeasureError, MeasureParameterError)) as caught:
        parse_measure(name)

    assert f"'{name}'" in str(caught.value)
    if isinstance(caught.value, UnknownMeasureError):
        assert "nDCG, DCG, IDCG, AP, RR, P, R," in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("P", "'P': has no cutoff; expected one. Write it after an @, such as @10."),
        ("R(rel=2)", "'R(rel=2)': has no cutoff"),
        ("Rprec@10", "'Rprec@10': takes no cutoff. Leave it out."),
        ("P@ten", "'P@ten': cutoff is 'ten'; expected a whole number"),
        ("P@5,10", "'P@5,10': cutoff is '5,10'; expected a whole number"),
        ("P@", "'P@': cutoff is ''; expected a whole number"),
        ("nDCG(rel=2)@10", "'nDCG(rel=2)@10': option is 'rel'; expected dcg, gains, judged_only."),
        ("NumQ(rel=2)", "option is 'rel'; expected no option."),
        ("AP(rel=two)", "rel is 'two'; expected a whole number."),
        ("nDCG(dcg=cubic)", "dcg is 'cubic'; expected log2 or exp-log2."),
        ("RBP(p=1)", "p is '1'; expected a number between 0 and 1."),
        ("Compat(p=nan)", "p is 'nan'; expected a number between 0 and 1."),
        ("SetF(beta=-1)", "beta is '-1'; expected a number of at least 0."),
        ("IPrec@1.5", "recall is '1.5'; expected a recall from 0 to 1, such as @0.5."),
        ("IPrec", "'IPrec': has no cutoff"),
        ("11pt_avg(at=[0.5,2])", "recall is '2'; expected a recall from 0 to 1"),
        ("nDCG(gains={1})", "gains is '{1}'; expected a gain for each grade, such as {1:1,2:3}."),
        ("nDCG(gains={-1:1})", "gains is '{-1:1}'; expected a gain for each grade"),
        ("P(judged_only=1)@5", "judged_only is '1'; expected True or False."),
        ("ERR(max_rel=0)", "max_rel is '0'; expected a whole number of at least 1."),
        ("utility(weights=[1,2])", "weights is '[1,2]'; expected four numbers"),
        ("P.5,10", "'P.5,10': stands for 2 measures; expected one."),
    ],
)
def test_parameter_that_does_not_fit_is_refused(name, message):
    with pytest.raises(MeasureParameterError) as caught:
        parse_measure(name)

    assert message in str(caught.value)


def test_cutoff_and_threshold_below_one_are_refused():
    with pytest.raises(CutoffError, match="is 0; expected"):
        parse_measure("nDCG@0")
    with pytest.raises(RelevanceThresholdError, match="is 0; expected"):
        parse_measure("AP(rel=0)")
    with pytest.raises(RelevanceThresholdError, match="is -1; expected"):
        parse_measure("AP(rel=-1)")


def test_measure_that_needs_a_cutoff_says_so_when_built_without_one():
    with pytest.raises(MeasureParameterError, match="'P': has no cutoff"):
        Measure("P").value(QueryHits("q", (), 0), Judged(()))


def test_lists_are_taken_apart_and_each_measure_is_given_once():
    measures = parse_measures(["P.5,10", "P@10", Measure("AP"), "map", "recall_5"])

    assert [str(measure) for measure in measures] == ["P@5", "P@10", "AP", "R@5"]


def test_names_of_sets_stand_for_all_their_measures():
    official = [str(measure) for measure in parse_measures(["official"])]

    assert official[:9] == [
        *("NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP", "Rprec", "bpref", "RR"),
    ]
    assert (len(official), len(parse_measures(["all_trec"]))) == (29, 98)


def test_options_are_added_where_the_family_takes_them():
    fields = {"rel": 2, "judged_only": True, "p": 0.5}

    changed = [
        str(parse_measure(name).with_options(fields)) for name in ("P@5", "nDCG", "RBP", "G")
    ]

    assert changed == [
        *("P(rel=2,judged_only=True)@5", "nDCG(judged_only=True)"),
        *("RBP(p=0.5,judged_only=True)", "G"),
    ]


def test_measure_of_no_parameter_is_itself_in_every_name_of_it():
    """Aliases lead to a family that there is, and no two families share one."""
    names = [alias for family in FAMILIES.values() for alias in family.aliases]

    assert len(set(names)) == len(names)
    for name, family in FAMILIES.items():
        for alias in family.aliases:
            suffix = {"none": "", "allowed": "", "needed": "@1"}[family.cutoff]
            assert parse_measure(alias + suffix).family == name


WORDS = [
    *FAMILIES,
    *(
        "(",
        ")",
        "@",
        "=",
        ",",
        "_",
        ".",
        "{1:0.1234567890123,2:1e3}",
        "[1,-1,0,0]",
        "[.5,1]",
        "rel",
    ),
    *(
        "judged_only",
        "True",
        "gains",
        "p",
        "beta",
        "at",
        "weights",
        "0.3",
        "10",
        "-1",
        "1e400",
        "²",
    ),
    *("ndcg_cut", "map", "rbp", "utility", "iprec_at_recall", "11pt_avg_", " ", "nan", "1_0"),
]


@settings(max_examples=examples(1500))
@given(words=st.lists(st.sampled_from(WORDS), max_size=7))
def test_any_name_is_a_measure_or_refused_and_a_canonical_one_stays_what_it_is(words):
    name = "".join(words)
    try:
        measure = parse_measure(name)
    except ScoringError as error:
        assert str(error)
        return

    assert parse_measure(str(measure)) == measure
    assert str(parse_measure(str(measure))) == str(measure)


@pytest.mark.parametrize("gain", ["0.1234567890123", "1e-7", "12345678.5", "3", "-2.5"])
def test_every_digit_of_a_gain_is_in_the_name(gain):
    measure = parse_measure(f"nDCG(gains={{1:{gain}}})")

    assert dict(measure.option("gains"))[1] == float(gain)
    assert parse_measure(str(measure)) == measure
    assert parse_measure(measure.trec_name) == measure
