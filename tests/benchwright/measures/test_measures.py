"""Each measure by hand, on one ranking: grades 0 3 - 1 0 - 2 at ranks 1 to 7 (- is unjudged)."""

import json
from math import isnan, log, log2
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright import evaluate_hits
from benchwright.errors import CutoffError, GradeTooLargeError, RelevanceThresholdError
from benchwright.measures import average_precision, gain, parse_measure, reciprocal_rank, sets
from benchwright.measures import incomplete as bpref
from benchwright.measures import incomplete as judged
from benchwright.reading import Hit, Judged, QueryHits

FOUND = QueryHits("q", (Hit(1, 0), Hit(2, 3), Hit(4, 1), Hit(5, 0), Hit(7, 2)), n_retrieved=7)
# One relevant and one non-relevant document were never retrieved; one grade is below 0.
GRADES = Judged((0, 3, 1, 0, 2, 2, 0, -1))
NOTHING = QueryHits("q", (), n_retrieved=0)

R = 4
DCG = 3 / log2(3) + 1 / log2(5) + 2 / log2(8)
IDEAL = 3 / log2(2) + 2 / log2(3) + 2 / log2(4) + 1 / log2(5)
# A reader is satisfied by grade 3, 2, 1 with 7/8, 3/8, 1/8.
ERR = 7 / 8 / 2 + 1 / 8 * 1 / 8 / 4 + 1 / 8 * 7 / 8 * 3 / 8 / 7
E = 0.00001
# What a document in both rankings counts at depths 1 to 7, with p = 0.5.
OVERLAP = [0.5 ** (depth - 1) / depth for depth in range(1, 8)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DCG", DCG),
        ("DCG@4", 3 / log2(3) + 1 / log2(5)),
        ("DCG(dcg='exp-log2')", 7 / log2(3) + 1 / log2(5) + 3 / log2(8)),
        ("nDCG", DCG / IDEAL),
        ("nDCG@2", (3 / log2(3)) / (3 + 2 / log2(3))),
        ("nDCG(dcg='exp-log2')@2", (7 / log2(3)) / (7 + 3 / log2(3))),
        ("AP", (1 / 2 + 2 / 4 + 3 / 7) / 4),
        ("AP@4", (1 / 2 + 2 / 4) / 4),
        ("AP(rel=2)", (1 / 2 + 2 / 7) / 3),
        ("RR", 1 / 2),
        ("RR@1", 0.0),
        ("RR(rel=4)", 0.0),
        ("RR(rel=3)@2", 1 / 2),
        ("P@5", 2 / 5),
        ("P@10", 3 / 10),
        ("P(rel=2)@5", 1 / 5),
        ("R@4", 2 / 4),
        ("R(rel=2)@4", 1 / 3),
        ("Success@1", 0.0),
        ("Success@2", 1.0),
        ("Success(rel=3)@1", 0.0),
        ("Rprec", 2 / 4),
        ("Rprec(rel=2)", 1 / 3),
        # 4 relevant, 3 judged non-relevant; above the three found stand 1, 1 and 2 of these.
        ("bpref", (2 / 3 + 2 / 3 + 1 / 3) / 4),
        # 3 relevant, 4 judged non-relevant; above the two found stand 1 and 3.
        ("bpref(rel=2)", (2 / 3 + 0) / 3),
        ("Judged@3", 2 / 3),
        ("Judged@10", 5 / 7),
        ("Judged", 5 / 7),
        ("NumRet", 7),
        ("NumRel", 4),
        ("NumRel(rel=2)", 3),
        ("NumRelRet", 3),
        ("NumRelRet(rel=2)", 2),
        ("NumQ", 1),
        ("NumNonrelRet", 2),
        ("NumUnjudgedRet", 2),
        ("nDCG(gains={1:5})@4", (3 / log2(3) + 5 / log2(5)) / (5 + 3 / log2(3) + 1 + 2 / log2(5))),
        ("DCG(gains={0:1,3:0,1:-1})@5", 1 - 1 / log2(5) + 1 / log2(6)),
        ("nDCG(judged_only=True)@3", (3 / log2(3) + 1 / 2) / (3 + 2 / log2(3) + 1)),
        ("IDCG", IDEAL),
        ("IDCG@2", 3 + 2 / log2(3)),
        ("IDCG(dcg='exp-log2')@1", 7),
        ("ERR", ERR),
        ("ERR@2", 7 / 16),
        ("ERR(max_rel=4)@2", 7 / 32),
        ("nERR@2", (7 / 16) / (7 / 8 + 1 / 8 * 3 / 8 / 2)),
        ("RBP", 0.2 * (0.8 + 0.8**3 / 3 + 0.8**6 * 2 / 3)),
        ("RBP@4", 0.2 * (0.8 + 0.8**3 / 3)),
        ("RBP(rel=2,p=0.5)", 0.5 * (0.5 + 0.5**6)),
        ("RBP(max_rel=6,p=0.5)@2", 0.5 * 0.5 / 2),
        ("RBP_res(p=0.5)", 1 - 0.5 * (1 + 0.5 + 0.5**3 + 0.5**4 + 0.5**6)),
        ("RBP_res@2", 0.8**2),
        ("rbp", 0.1 * (0.9 + 0.9**3 / 3 + 0.9**6 * 2 / 3)),
        ("rbp_resid", 0.1 * (0.9**2 + 0.9**5) + 0.9**7),
        # The ideal ranking is 3 2 2 1; the three found are in both rankings from depth 2, 4, 7 on.
        (
            "Compat(p=0.5)",
            (sum(OVERLAP[1:]) + sum(OVERLAP[3:]) + OVERLAP[6])
            / sum(sum(OVERLAP[start:]) for start in range(4)),
        ),
        (
            "Compat(p=0.5,normalize=False)",
            (sum(OVERLAP[1:]) + sum(OVERLAP[3:]) + OVERLAP[6]) / (2 - 0.5**6),
        ),
        (
            "infAP",
            (
                (1 / 2 + 1 / 2 * E / (1 + 2 * E))
                + (1 / 4 + 2 / 4 * (1 + E) / (2 + 2 * E))
                + (1 / 7 + 4 / 7 * (2 + E) / (4 + 2 * E))
            )
            / 4,
        ),
        ("yaap", log((2 + 3 / 7) / (1 + R - (1 + 3 / 7)))),
        ("GMAP", (1 / 2 + 2 / 4 + 3 / 7) / 4),
        ("GMbpref", (2 / 3 + 2 / 3 + 1 / 3) / 4),
        ("AP(judged_only=True)", (1 / 2 + 2 / 3 + 3 / 5) / 4),
        ("RR(judged_only=True,rel=2)@2", 1 / 2),
        ("P(judged_only=True)@3", 2 / 3),
        ("R(judged_only=True)@5", 3 / 4),
        ("Success(judged_only=True)@1", 0),
        ("R_cap@2", 1 / 2),
        ("R_cap@10", 3 / 4),
        ("F@4", 2 / 4),
        ("F(beta=2)@7", 3 * (3 / 7) * (3 / 4) / (2 * 3 / 7 + 3 / 4)),
        ("Rprec_mult@0.5", 1 / 2),
        ("Rprec_mult@2.0", 3 / 8),
        ("IPrec@0.0", 1 / 2),
        ("IPrec@0.6", 1 / 2),
        ("IPrec@0.7", 3 / 7),
        ("IPrec@1.0", 0),
        # Recalls of round(4x) documents: 0 0 1 1 2 2 2 3 3 are reached, 4 4 are not.
        ("11pt_avg", (7 * 1 / 2 + 2 * 3 / 7) / 11),
        ("11pt_avg(at=[0.5,0.75])", (1 / 2 + 3 / 7) / 2),
        ("binG", (1 / log2(3) + 1 / log2(4) + 1 / log2(6)) / 4),
        # The best ranking has gained 5, 8 and, at 1 a rank, 11; this one 3, 4 and 6.
        ("G", (3 / log2(4) + 1 / log2(6) + 2 / log2(7)) / 8),
        # The best ranking gains 1 also where there is less to gain: 5, 8 and 11, though 7.5 in all.
        ("G(gains={1:0.5})", (3 / log2(4) + 0.5 / log2(6.5) + 2 / log2(7.5)) / 7.5),
        (
            "ndcg_rel",
            (
                3 / log2(3) / (3 + 2 / log2(3))
                + (3 / log2(3) + 1 / log2(5)) / IDEAL
                # One at rank 7, and one that was not retrieved.
                + 2 * DCG / IDEAL
            )
            / 4,
        ),
        # At ranks 1, 3, 4, where the grades of the ideal ranking end, and at 7.
        (
            "Rndcg",
            (
                3 / log2(3) / (3 + 2 / log2(3) + 1)
                + (3 / log2(3) + 1 / log2(5)) / IDEAL
                + DCG / IDEAL
            )
            / 4,
        ),
        ("Rndcg(rel=4)", 0),
        ("SetP", 3 / 7),
        ("SetP(relative=True)", 3 / 4),
        ("SetP(rel=2)", 2 / 7),
        ("SetP(judged_only=True)", 3 / 5),
        ("SetR", 3 / 4),
        ("SetF", 2 * 3 / 7 * 3 / 4 / (3 / 7 + 3 / 4)),
        ("SetF(beta=2)", 3 * 3 / 7 * 3 / 4 / (2 * 3 / 7 + 3 / 4)),
        ("SetAP", 3 / 7 * 3 / 4),
        ("utility", 3 - 4),
        # 93 of the 100 are left out, and 1 of these is relevant.
        ("utility(weights=[1,-1,-2,0.5],n_documents=100)", 3 - 4 - 2 + 92 / 2),
        ("Hole@3", 1 / 3),
        ("Hole", 2 / 7),
        ("unj@3", 1 / 3),
        ("unj@10", 2 / 10),
    ],
)
def test_measure_equals_the_sum_done_by_hand(name, expected):
    assert parse_measure(name).value(FOUND, GRADES) == pytest.approx(expected)


SHARES = [
    *("nDCG", "nDCG@3", "nDCG(dcg='exp-log2')@3", "AP", "AP@3", "AP(rel=2)", "RR", "RR@3", "P@3"),
    *("R@3", "Success@3", "Rprec", "bpref", "bpref(rel=2)", "Judged@3", "Judged"),
    *("nDCG(gains={1:5,2:1})@3", "nDCG(judged_only=True)@3", "AP(judged_only=True)", "R_cap@3"),
    *("F@3", "F(beta=0.5)@3", "Rprec_mult@0.5", "IPrec@0.5", "11pt_avg", "RBP", "RBP@3", "rbp"),
    *("RBP(rel=2,p=0.5)", "ERR", "ERR@3", "nERR", "nERR@3", "Compat", "Compat(normalize=False)"),
    *("GMAP", "GMbpref", "SetP", "SetP(relative=True)", "SetR", "SetF", "SetF(beta=3)", "SetAP"),
    *("G", "binG", "ndcg_rel", "Rndcg", "unj@3", "RBP_res", "RBP_res@3", "rbp_resid"),
]
OF_JUDGMENTS = ("Judged", "unj", "RBP_res", "rbp_resid")
# Where the best there could be is 1: not with a cutoff, by persistence, or over a fixed number.
IDEAL_IS_ONE = [
    *(
        "nDCG",
        "nDCG@3",
        "nDCG(dcg='exp-log2')@3",
        "nDCG(gains={1:2,2:1,3:7})@3",
        "AP",
        "RR",
        "RR@3",
    ),
    *("AP(rel=2)", "Success@3", "Rprec", "Rprec_mult@0.5", "bpref", "bpref(rel=2)", "Judged@3"),
    *("Judged", "R_cap@3", "IPrec@1.0", "11pt_avg", "nERR", "nERR@3", "Compat", "SetR"),
    *("SetP(relative=True)", "G", "binG", "ndcg_rel", "Rndcg", "GMAP", "GMbpref"),
]
# A longer list is a worse set, and another depth to compare to.
OF_THE_WHOLE_LIST = ("Set", "Judged", "Rndcg", "Compat", "rbp_resid", "unj")


@pytest.mark.parametrize("name", [name for name in SHARES if not name.startswith(OF_JUDGMENTS)])
def test_query_that_found_nothing_or_has_nothing_relevant_counts_zero(name):
    measure = parse_measure(name)

    assert measure.value(NOTHING, GRADES) == 0.0
    assert measure.value(NOTHING, Judged((0, -1))) == 0.0
    assert measure.value(QueryHits("q", (Hit(1, 0),), 2), Judged((0, -1))) == 0.0


@pytest.mark.parametrize("name", ["Judged", "Judged@10"])
def test_judged_share_of_nothing_is_undefined(name):
    assert isnan(parse_measure(name).value(NOTHING, GRADES))


def test_bpref_without_a_judged_nonrelevant_document_is_one_per_relevant_one():
    query_hits = QueryHits("q", (Hit(3, 1), Hit(9, 2)), n_retrieved=9)

    assert parse_measure("bpref").value(query_hits, Judged((1, 2, -1))) == 1.0
    assert parse_measure("bpref").value(query_hits, Judged((1, 2, 1, 1))) == 0.5


@pytest.mark.parametrize("name", SHARES)
def test_grade_below_zero_is_the_same_as_no_grade(name):
    measure = parse_measure(name)
    with_hit = QueryHits("q", (Hit(1, -1), Hit(2, 1), Hit(3, 0)), n_retrieved=3)
    without = QueryHits("q", (Hit(2, 1), Hit(3, 0)), n_retrieved=3)

    assert measure.value(with_hit, Judged((-1, 1, 0))) == measure.value(without, Judged((1, 0)))


@st.composite
def rankings(draw):
    """Grades of retrieved documents (None where unjudged) in rank order, and of the others."""
    retrieved = draw(st.lists(st.none() | st.integers(-1, 3), max_size=8))
    return retrieved, draw(st.lists(st.integers(-1, 3), max_size=4))


def hits_of(grades):
    judged = enumerate(grades, start=1)
    result = tuple(Hit(rank, g) for rank, g in judged if g is not None and g >= 0)
    return QueryHits("q", result, len(grades))


def judged_of(retrieved, others):
    return Judged(tuple(grade for grade in [*retrieved, *others] if grade is not None))


@pytest.mark.parametrize("name", SHARES)
@settings(max_examples=25)
@given(ranking=rankings())
def test_shares_are_between_zero_and_one(name, ranking):
    value = parse_measure(name).value(hits_of(ranking[0]), judged_of(*ranking))

    assert isnan(value) or 0 <= value <= 1 + 1e-12


@pytest.mark.parametrize("name", IDEAL_IS_ONE)
@settings(max_examples=25)
@given(grades=st.lists(st.integers(0, 3), max_size=8), top=st.integers(2, 3))
def test_ideal_ranking_is_one(name, grades, top):
    measure = parse_measure(name)
    gains = dict(measure.option("gains") or ())
    ideal = sorted([*grades, top], key=lambda grade: gains.get(grade, grade), reverse=True)

    assert measure.value(hits_of(ideal), Judged(tuple(ideal))) == pytest.approx(1)


@pytest.mark.parametrize("name", [*SHARES, "DCG", "NumRelRet", "yaap", "infAP"])
@settings(max_examples=25)
@given(ranking=rankings(), tail=st.integers(0, 5))
def test_unjudged_documents_after_the_last_hit_change_nothing_but_measures_of_all(
    name, ranking, tail
):
    retrieved, others = ranking
    measure, grades = parse_measure(name), judged_of(retrieved, others)

    value = measure.value(hits_of(retrieved), grades)
    longer = measure.value(hits_of([*retrieved, *[None] * tail]), grades)

    assert longer == value or name.startswith(OF_THE_WHOLE_LIST)


@pytest.mark.parametrize("name", [n for n in SHARES if "@" in n and "judged_only" not in n])
@settings(max_examples=25)
@given(ranking=rankings(), tail=st.lists(st.sampled_from([0, None]), min_size=1, max_size=5))
def test_nonrelevant_tail_below_the_cutoff_changes_no_measure_with_a_cutoff(name, ranking, tail):
    retrieved, others = ranking
    retrieved = [*retrieved, *[0] * (3 - len(retrieved))]
    longer = [*retrieved, *tail]
    measure = parse_measure(name)

    value = measure.value(hits_of(retrieved), judged_of(retrieved, others))

    assert measure.value(hits_of(longer), judged_of(longer, others)) == value


@pytest.mark.parametrize(
    "name", [name for name in SHARES if not name.startswith((*OF_JUDGMENTS, "nDCG(gains"))]
)
@settings(max_examples=25)
@given(ranking=rankings(), data=st.data())
def test_relevant_document_moved_up_past_a_nonrelevant_one_never_costs(name, ranking, data):
    retrieved, others = ranking
    worse = [*retrieved, 0, 3]
    place = data.draw(st.integers(0, len(worse) - 1))
    if (worse[place] or 0) > 0:
        return
    better = [*worse[:place], 3, *worse[place + 1 : -1], worse[place]]
    grades = judged_of(worse, others)
    measure = parse_measure(name)

    assert measure.value(hits_of(better), grades) >= measure.value(hits_of(worse), grades) - 1e-12


PEERS = json.loads(Path(__file__).with_name("golden").joinpath("peers.json").read_text("utf-8"))


@pytest.mark.parametrize("name", PEERS["values"])
def test_value_is_that_of_other_programs(name):
    """See golden/make_peers.py. gdeval, which gives ERR, rounds to five decimals."""
    hits = {}
    for qid, scores in PEERS["run"].items():
        ranked = enumerate(sorted(scores, key=scores.get, reverse=True), start=1)
        grades = PEERS["qrels"][qid]
        result = tuple(Hit(rank, grades[docid]) for rank, docid in ranked if docid in grades)
        hits[qid] = QueryHits(qid, result, len(scores))
    judged = {qid: Judged(tuple(of.values())) for qid, of in PEERS["qrels"].items()}

    ours = evaluate_hits(judged, hits, [name]).per_query

    expected = PEERS["values"][name]
    # Accuracy is of queries that found something relevant.
    assert len(expected) >= (10 if name == "Accuracy" else 11)
    tolerance = 5.1e-6 if name.startswith("ERR") else 1e-8
    assert {qid: ours[qid][name] for qid in expected} == pytest.approx(expected, abs=tolerance)


def test_grade_beyond_exponential_gain_is_refused_and_taken_by_linear_gain():
    hits, grades = QueryHits("q", (Hit(1, 10**9),), 1), Judged((10**9,))

    assert parse_measure("nDCG").value(hits, grades) == 1.0
    with pytest.raises(GradeTooLargeError, match="takes grades up to 1000"):
        parse_measure("nDCG(dcg='exp-log2')").value(hits, grades)


@pytest.mark.parametrize("cutoff", [0, -1])
def test_cutoff_below_one_is_refused(cutoff):
    calls = [
        lambda: gain.ndcg([], [1], cutoff=cutoff),
        lambda: gain.discounted_gain([], cutoff=cutoff),
        lambda: average_precision.average_precision([], 1, cutoff=cutoff),
        lambda: reciprocal_rank.reciprocal_rank([], cutoff=cutoff),
        lambda: sets.precision([], cutoff=cutoff),
        lambda: sets.recall([], 1, cutoff=cutoff),
        lambda: sets.success([], cutoff=cutoff),
        lambda: judged.judged([], 1, cutoff=cutoff),
    ]
    for call in calls:
        with pytest.raises(CutoffError, match=f"cutoff is {cutoff}; expected"):
            call()


def test_relevance_threshold_below_one_is_refused():
    calls = [
        lambda: average_precision.average_precision([], 1, rel=0),
        lambda: reciprocal_rank.reciprocal_rank([], rel=0),
        lambda: sets.precision([], cutoff=1, rel=0),
        lambda: sets.r_precision([], 0, rel=0),
        lambda: bpref.bpref([], 1, 1, rel=0),
    ]
    for call in calls:
        with pytest.raises(RelevanceThresholdError, match="rel is 0; expected"):
            call()
