import pytest

from scoring.core.errors import (
    CutoffError,
    MeasureParameterError,
    RelevanceThresholdError,
    UnknownMeasureError,
)
from scoring.core.measures import Measure, parse_measure
from scoring.core.measures.registry import FAMILIES
from scoring.core.reading import Judged, QueryHits


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
