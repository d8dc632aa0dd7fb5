"""Means over the orders of ties, against every order gone through."""

from itertools import permutations, product
from math import comb, isnan, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright import evaluate, evaluate_hits
from benchwright.errors import TooManyOrdersError
from benchwright.formats.trec import RunRow
from benchwright.measures import parse_measure
from benchwright.measures.expected import EXPECTED, UNORDERED
from benchwright.measures.families import FAMILIES
from benchwright.reading import Hit, Judged, QueryHits, TieGroup

MEASURES = [
    *("nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@3", "nDCG(gains={0:0.5,1:3,2:1})@4", "DCG@3"),
    *("DCG(judged_only=True)@3", "IDCG@3", "AP", "AP@3", "AP(rel=2)", "AP(judged_only=True)@2"),
    *("GMAP", "infAP", "infAP(rel=2)", "yaap", "RR", "RR@3", "RR(rel=2)@4", "P@1", "P@3"),
    *("P(judged_only=True)@2", "R@3", "R(rel=2)@3", "R_cap@3", "F@3", "F(beta=2)@3", "Success@1"),
    *("Success@3", "Success(rel=2)@3", "Rprec", "Rprec(rel=2)", "Rprec_mult@0.6"),
    *("Rprec_mult@2.0", "bpref", "bpref(rel=2)", "GMbpref", "IPrec@0.0", "IPrec@0.5"),
    *("IPrec(rel=2)@1.0", "11pt_avg", "binG", "G", "G(gains={0:1,1:2})", "ndcg_rel", "Rndcg"),
    *("Rndcg(gains={1:2,2:2})", "RBP", "RBP@2", "RBP(rel=2,p=0.5)", "RBP_res", "RBP_res@3", "rbp"),
    *("rbp_resid", "ERR", "ERR@2", "ERR(max_rel=4)@3", "nERR@3", "Compat", "Compat(p=0.5)"),
    *("Compat(p=0.8,normalize=False)", "SetP", "SetR", "SetF", "SetAP", "utility", "Judged"),
    *("SDCG@3", "SDCG(min_rel=1)@4", "BPM@3", "BPM(T=0.5)@4", "INSQ", "INST(T=2.0)", "NERR8@3"),
    *("NERR9@3", "NERR10", "NERR11", "Accuracy", "Accuracy(rel=2)@3"),
    *("Judged@2", "Hole@3", "unj@3", "NumRet", "NumRel", "NumRelRet", "NumNonrelRet"),
    *("NumUnjudgedRet", "NumQ"),
]


def test_every_family_takes_part():
    assert {parse_measure(name).family for name in MEASURES} == set(FAMILIES)
    assert {*EXPECTED, *UNORDERED} <= set(FAMILIES)


def query_of(ranking, tied=()):
    """Hits of the grades at ranks 1, 2, … (None where unjudged); `tied` holds (first, size)."""
    hits = (Hit(rank, g) for rank, g in enumerate(ranking, start=1) if g is not None)
    return QueryHits("q", tuple(hits), len(ranking), tuple(TieGroup(*group) for group in tied))


@st.composite
def tied_rankings(draw):
    """Blocks of grades that tie, and grades that were not retrieved."""
    grade = st.sampled_from([None, None, -1, 0, 0, 1, 1, 2, 3])
    blocks = draw(st.lists(st.lists(grade, min_size=1, max_size=4), max_size=3))
    return blocks, draw(st.lists(st.integers(-1, 3), max_size=2))


def ties_of(blocks):
    """What reading tells: the groups of two or more that hold a hit."""
    first = 1
    for block in blocks:
        if len(block) > 1 and any(g is not None for g in block):
            yield first, len(block)
        first += len(block)


@pytest.mark.parametrize("name", MEASURES)
@settings(max_examples=20)
@given(case=tied_rankings())
def test_mean_is_that_of_every_order_gone_through(name, case):
    blocks, others = case
    ranking = [grade for block in blocks for grade in block]
    judged = Judged(tuple(g for g in [*ranking, *others] if g is not None))
    measure = parse_measure(name)
    # Without a result the value is not a matter of order.
    allowed = {"allow_empty": True, "top_grade": 3}

    tied = {"q": query_of(ranking, ties_of(blocks))}
    expected = evaluate_hits({"q": judged}, tied, [measure], **allowed).per_query["q"][str(measure)]

    orders = product(*(set(permutations(block)) for block in blocks))
    values = [
        measure.value(query_of([g for block in order for g in block]), judged, top_grade=3)
        for order in orders
    ]
    assert expected == pytest.approx(sum(values) / len(values), abs=1e-9, nan_ok=True)


def test_tie_by_hand():
    """Three tie at ranks 1 to 3, one of them relevant."""
    query = query_of([None, 1, None], [(1, 3)])

    means = evaluate_hits({"q": Judged((1,))}, {"q": query}, ["RR", "AP", "P@1", "nDCG"]).means

    thirds = (1 + 1 / 2 + 1 / 3) / 3
    assert means == pytest.approx(
        {"RR": thirds, "AP": thirds, "P@1": 1 / 3, "nDCG": (1 + 1 / log2(3) + 1 / 2) / 3}
    )


@pytest.mark.parametrize("name", ["INSQ", "SDCG@1000"])
def test_more_relevant_documents_than_readers_see_may_tie(name):
    query = query_of([1] * 1_500, [(1, 1_500)])

    means = evaluate_hits({"q": Judged((1,) * 1_500)}, {"q": query}, [name]).means

    assert means[name] == pytest.approx(1)


def test_evaluate_takes_the_mean_of_both_orders_of_a_tie():
    qrels = {b"q": {b"d1": 3, b"d2": 1}}
    run = {b"q": [RunRow(1, b"q", b"d1", 1.0), RunRow(2, b"q", b"d2", 1.0)]}

    result = evaluate(qrels, run, ["nDCG@10", "P@1", "Judged@1"], ties="expected")

    worse = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    assert result.means == pytest.approx({"nDCG@10": (1 + worse) / 2, "P@1": 1, "Judged@1": 1})
    assert result.rules == {
        "ties": "expected",
        "missing": "zero",
        "depth": None,
        "unlisted": "unknown",
    }


def test_judged_share_beside_a_mean_is_expected_too():
    query = query_of([0, None], [(1, 2)])

    result = evaluate_hits({"q": Judged((0, 1))}, {"q": query}, ["P@1"])

    assert result.judged_shares == {"P@1": 0.5}


def test_whole_ranking_in_one_tie_is_quick():
    """1,000 documents of one score: no measure with a closed form goes through them one by one."""
    grades = [3, 2, 1, 0] * 25 + [None] * 900
    queries = {str(n): query_of(grades, [(1, 1000)]) for n in range(3)}
    names = [name for name in MEASURES if parse_measure(name).family in EXPECTED]
    names = [name for name in names if not name.startswith(("infAP", "IPrec", "11pt"))]

    means = evaluate_hits({qid: Judged((3, 2, 1, 0) * 25) for qid in queries}, queries, names).means

    assert means["P@3"] == pytest.approx(75 / 1000)
    assert not any(map(isnan, means.values()))


@pytest.mark.parametrize("name", ["ndcg_rel", "G", "yaap", "infAP", "IPrec@0.5", "11pt_avg"])
def test_too_many_orders_are_refused(name):
    query = QueryHits("q7", query_of([1, 0] * 50).hits, 1000, (TieGroup(1, 1000),))

    with pytest.raises(TooManyOrdersError) as caught:
        evaluate_hits({"q7": Judged((1, 0) * 50)}, {"q7": query}, [name])

    assert f"{parse_measure(name)} of query 'q7'" in str(caught.value)
    assert "expected fewer of one score" in str(caught.value)


def test_interpolated_precision_of_sixty_in_a_tie_is_worked_out():
    """More orders than could be gone through: 60 choose 6."""
    query = query_of([1] * 6 + [None] * 54, [(1, 60)])

    means = evaluate_hits({"q": Judged((1,) * 6)}, {"q": query}, ["IPrec@1.0", "IPrec@0.0"]).means

    # The last of six among 60 stands at rank r with (r - 1 choose 5) / (60 choose 6).
    last = [comb(rank - 1, 5) / comb(60, 6) * 6 / rank for rank in range(6, 61)]
    assert means["IPrec@1.0"] == pytest.approx(sum(last))
    assert means["IPrec@0.0"] > means["IPrec@1.0"]
