"""Documents that qrels do not list: unknown, or not relevant."""

import random
from math import isnan

import pytest

from benchwright import evaluate
from benchwright.comparison.comparability import Verdict, comparability
from benchwright.errors import UnknownUnlistedRuleError
from benchwright.evaluation.evaluating import evaluate_hits
from benchwright.evaluation.unjudged import bracket, scenarios, unjudged_ranks
from benchwright.formats.trec import RunRow
from benchwright.measures.families import FAMILIES
from benchwright.reading.hits import Judged, find_hits, with_unlisted

MEASURES = [
    *(
        "nDCG@10",
        "AP",
        "RR@10",
        "R@20",
        "P@10",
        "bpref",
        "GMbpref",
        "infAP",
        "RBP_res",
        "rbp_resid",
    ),
    *(
        "Judged@10",
        "Judged",
        "Hole@10",
        "unj@10",
        "NumUnjudgedRet",
        "NumNonrelRet",
        "RBP",
        "ERR@10",
    ),
    *("AP(judged_only=True)", "nDCG(judged_only=True)@10", "P(judged_only=True)@5", "Compat"),
]
DOCUMENTS = [f"d{number}".encode() for number in range(60)]


def _collection(seed: int):
    """Qrels that list some documents, the same with every other document as not relevant, a run."""
    rng = random.Random(seed)
    some, every, run = {}, {}, {}
    for qid in (b"a", b"b", b"c"):
        listed = rng.sample(DOCUMENTS, rng.randint(1, 9))
        some[qid] = {docid: rng.choice([0, 1, 1, 2]) for docid in listed} | {listed[0]: 1}
        every[qid] = {docid: some[qid].get(docid, 0) for docid in DOCUMENTS}
        result = rng.sample(DOCUMENTS, 40)
        run[qid] = [RunRow(1, qid, docid, float(rng.randint(1, 12))) for docid in result]
    return some, every, run


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ties", ["trec", "expected"])
def test_unlisted_as_not_relevant_equals_listing_every_other_document_with_0(seed, ties):
    some, every, run = _collection(seed)

    scores = evaluate(some, run, MEASURES, ties=ties, unlisted="not-relevant")
    listed = evaluate(every, run, MEASURES, ties=ties)

    assert scores.means == pytest.approx(listed.means, abs=1e-12)
    assert scores.judged_shares == dict.fromkeys(scores.judged_shares, 1.0)
    assert scores.rules["unlisted"] == "not-relevant"


def test_values_that_do_not_ask_who_was_judged_are_the_same_under_both_rules():
    some, _, run = _collection(0)
    names = [
        *("nDCG@10", "AP", "RR@10", "R@20", "P@10", "RBP", "ERR@10"),
        *("SetP", "SetF", "Rprec", "11pt_avg", "utility", "NumRelRet"),
    ]

    unknown = evaluate(some, run, names)
    complete = evaluate(some, run, names, unlisted="not-relevant")

    assert complete.per_query == unknown.per_query
    assert unknown.rules["unlisted"] == "unknown"


def test_every_family_that_reads_who_was_judged_asks_for_it_by_name():
    families = {name for name, of in FAMILIES.items() if "judged_hits" in of.needs}

    assert families == {
        *("bpref", "GMbpref", "infAP", "RBP_res", "rbp_resid", "Judged", "Hole", "unj"),
        *("NumNonrelRet", "NumUnjudgedRet"),
    }


def test_pair_listed_as_pooled_and_not_judged_stays_unjudged():
    run = {b"q": [RunRow(1, b"q", b"a", 3.0), RunRow(2, b"q", b"b", 2.0)]}

    scores = evaluate({b"q": {b"a": -1, b"c": 1}}, run, ["Judged@2"], unlisted="not-relevant")

    assert scores.means["Judged@2"] == 0.5


def test_query_that_found_nothing_has_no_judged_share_under_either_rule():
    judged = {b"q": Judged((1,), is_complete=True)}

    result = evaluate_hits(judged, {}, ["Judged@10"], allow_empty=True)

    assert isnan(result.means["Judged@10"])


def test_nothing_is_left_to_judge_where_unlisted_is_not_relevant():
    some, _, run = _collection(3)
    judged = {qid: Judged(tuple(of.values()), is_complete=True) for qid, of in some.items()}
    hits = find_hits(some, run)

    assert all(not unjudged_ranks(with_unlisted(hits[q], judged[q]), 10) for q in judged)
    low, high = bracket("P@10", judged, hits)
    assert low == high
    bounds = scenarios("nDCG@10", judged, hits)
    assert len({round(value, 12) for value in bounds}) == 1


def test_runs_on_complete_qrels_are_compared_freely_however_few_are_listed():
    some, _, run = _collection(5)
    other = {qid: rows[::-1][:30] for qid, rows in run.items()}

    shares = {
        name: evaluate(some, of, ["Judged@10"], unlisted="not-relevant").means["Judged@10"]
        for name, of in {"one": run, "other": other}.items()
    }

    assert comparability(shares).verdict is Verdict.FREE


def test_rule_that_is_none_is_refused_with_those_there_are():
    some, _, run = _collection(0)

    with pytest.raises(UnknownUnlistedRuleError, match=r"'no'.*unknown, not-relevant"):
        evaluate(some, run, ["AP"], unlisted="no")
