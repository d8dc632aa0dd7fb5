"""Dictionaries that the C extension scores: the same to the bit as measures in Python give."""

from collections import OrderedDict, defaultdict
from math import isnan, log2, nan
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright import evaluate
from benchwright.errors import BenchmarkError
from benchwright.evaluation.in_memory import KINDS, TIES, scored
from benchwright.measures.registry import parse_measures
from benchwright.reading import choosing
from tests.benchwright.reading.conftest import skip_without_extension

CUTOFFS = (1, 2, 3, 5, 1100)
NEEDED = ("P", "R", "R_cap", "Success")
MEASURES = [
    *(kind for kind in KINDS if kind not in NEEDED),
    *(f"{kind}@{k}" for kind in KINDS if kind not in ("Rprec", "bpref") for k in CUTOFFS),
    *(f"{kind}(rel=2)" for kind in ("AP", "RR", "Rprec", "bpref")),
    *(f"{kind}(rel=3)@2" for kind in ("AP", "RR", *NEEDED)),
]


@pytest.fixture(autouse=True)
def extension():
    skip_without_extension()


IDS = st.sampled_from(["a", "b", "ab", "é", "中", "𐍈", "\ufffd", "", "d10", "d9"])
SCORES = st.sampled_from([0.0, -0.0, 1.5, 1.5 + 1e-9, 2, -3, 1e300, float("inf"), float("-inf")])
GRADES = st.sampled_from([-2, -1, 0, 0, 1, 1, 2, 3, 999_999_999])


def nested(values):
    return st.dictionaries(IDS, st.dictionaries(IDS, values, max_size=10), max_size=5)


def told(monkeypatch, scanner, *asked, **rules):
    """What evaluate says under a scanner: every number, or the refusal."""
    with monkeypatch.context() as patched:
        patched.setenv(choosing.VARIABLE, scanner)
        try:
            evaluation = evaluate(*asked, **rules)
        except BenchmarkError as error:
            return f"{type(error).__name__}: {error}"
    return repr(evaluation)  # of NaN too, and of -0.0


@given(
    qrels=nested(GRADES),
    run=nested(SCORES),
    ties=st.sampled_from(TIES),
    missing=st.sampled_from(["zero", "skip"]),
    is_bytes=st.booleans(),
    allow_empty=st.booleans(),
)
def test_values_are_those_of_the_long_way(qrels, run, ties, missing, is_bytes, allow_empty):
    if is_bytes:
        qrels, run = (
            {q.encode(): {d.encode(): value for d, value in of.items()} for q, of in both.items()}
            for both in (qrels, run)
        )
    rules = {"ties": ties, "missing": missing, "allow_empty": allow_empty}
    with pytest.MonkeyPatch.context() as monkeypatch:
        quick = told(monkeypatch, "extension", qrels, run, MEASURES, **rules)
        assert quick == told(monkeypatch, "twin", qrels, run, MEASURES, **rules)


@pytest.mark.parametrize("n_scores", [3, 40, 100_000])
@pytest.mark.parametrize("ties", TIES)
def test_long_lists_with_ties_are_ranked_as_the_long_way_ranks(monkeypatch, ties, n_scores):
    rng = Random(n_scores)
    names = [f"d{rng.randrange(10**6)}é{n}" for n in range(1500)]
    run = {f"q{q}": {name: rng.randrange(n_scores) / 7 for name in names} for q in range(4)}
    qrels = {
        f"q{q}": {name: rng.randrange(-1, 4) for name in rng.sample(names, n)}
        for q, n in enumerate([5, 24, 25, 700])
    }
    measures = [*MEASURES, "nDCG@1024", "nDCG@1023", "AP@1000"]
    assert scored(qrels, run, parse_measures(measures), ties=ties, missing="zero")
    quick = told(monkeypatch, "extension", qrels, run, measures, ties=ties)
    assert quick == told(monkeypatch, "twin", qrels, run, measures, ties=ties)


def test_values_are_those_of_the_formulas():
    """Worked out once more, of one query by hand."""
    qrels = {"q": {"a": 2, "b": 0, "c": 1, "lost": 3, "pooled": -1}}
    run = {"q": {"b": 9.0, "a": 8.0, "x": 7.0, "c": 6.0}, "extra": {"a": 1.0}}
    names = ["nDCG@2", "nDCG", "DCG", "AP", "RR", "P@3", "R@4", "R_cap@2", "Rprec", "bpref"]
    evaluation = evaluate(qrels, run, [*names, "Success@1", "Judged", "AP(rel=2)"])
    dcg = 2 / log2(3) + 1 / log2(5)
    assert evaluation.per_query == {
        "q": {
            "nDCG@2": pytest.approx(2 / log2(3) / (3 + 2 / log2(3))),
            "nDCG": pytest.approx(dcg / (3 + 2 / log2(3) + 1 / 2)),
            "DCG": pytest.approx(dcg),
            "AP": pytest.approx((1 / 2 + 2 / 4) / 3),
            "RR": 1 / 2,
            "P@3": pytest.approx(1 / 3),
            "R@4": pytest.approx(2 / 3),
            "R_cap@2": 1 / 2,
            "Rprec": pytest.approx(1 / 3),
            "bpref": 0.0,
            "Success@1": 0.0,
            "Judged": 3 / 4,
            "AP(rel=2)": pytest.approx(1 / 2 / 2),
        }
    }
    assert (evaluation.n_queries, evaluation.n_missing, evaluation.n_extra) == (1, 0, 1)
    assert (evaluation.top_grade, evaluation.judged_shares["nDCG@2"]) == (3, 1.0)


ODD = {
    "a grade that is a truth": ({"q": {"d": True}}, {"q": {"d": 1.0}}),
    "a whole grade as a float": ({"q": {"d": 1.0}}, {"q": {"d": 1.0}}),
    "half a grade": ({"q": {"d": 0.5}}, {"q": {"d": 1.0}}),
    "a grade of ten digits": ({"q": {"d": 10**9}}, {"q": {"d": 1.0}}),
    "a grade beyond every integer of C": ({"q": {"d": 10**30}}, {"q": {"d": 1.0}}),
    "a score that is text": ({"q": {"d": 1}}, {"q": {"d": "1.0"}}),
    "a score beyond every float": ({"q": {"d": 1}}, {"q": {"d": 10**400}}),
    "no number": ({"q": {"d": 1}}, {"q": {"d": nan}}),
    "no number in a query without grades": ({"q": {"d": 1}}, {"q": {"d": 1.0}, "x": {"d": nan}}),
    "an id that is a number": ({"q": {7: 1}}, {"q": {"d": 1.0}}),
    "a query that is a number": ({"q": {"d": 1}}, {7: {"d": 1.0}}),
    "ids of both kinds": ({"q": {"d": 1}}, {b"q": {b"d": 1.0}}),
    "half a character": ({"q": {"\ud800": 1}}, {"q": {"d": 1.0}}),
    "half a character in a tie": ({"q": {"d": 1}}, {"q": {"d": 1.0, "\ud800": 1.0}}),
    "a byte that no text is": ({"q": {"\udcff": 1}}, {"q": {"\udcff": 1.0}}),
    "a query of half a character": ({"q": {"d": 1}}, {"q": {"d": 1.0}, "\ud800": {}}),
    "no documents": ({"q": 1}, {"q": {"d": 1.0}}),
    "pairs": ({"q": {"d": 1}}, {"q": [("d", 1.0), ("e", 2.0)]}),
    "a document twice": ({"q": {"d": 1}}, {"q": [("d", 1.0), ("d", 2.0)]}),
    "nothing judged": ({}, {"q": {"d": 1.0}}),
    "nothing found": ({"q": {"d": 1}}, {"q": {}}),
    "no query of both": ({"q": {"d": 1}}, {"r": {"d": 1.0}}),
    "an order of its own": ({"q": {"d": 1}}, OrderedDict(q=OrderedDict(d=1.0))),
    "no dictionary": ([], 7),
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_what_is_not_usual_is_taken_or_refused_as_the_long_way_does(monkeypatch, content):
    assert scored(*content, parse_measures(["AP"]), ties="trec", missing="zero") is None or (
        content in (ODD["nothing judged"], ODD["no query of both"])
    )
    quick = told(monkeypatch, "extension", *content, ["AP", "Judged@3"])
    assert quick == told(monkeypatch, "twin", *content, ["AP", "Judged@3"])


@pytest.mark.parametrize(
    "measure", ["ERR@10", "nDCG(dcg='exp-log2')@10", "P(judged_only=True)@5", "IPrec@0.1", "GMAP"]
)
def test_other_measures_go_the_long_way(monkeypatch, measure):
    qrels, run = {"q": {"a": 2, "b": 0}}, {"q": {"a": 1.0, "b": 2.0, "c": 3.0}}
    assert scored(qrels, run, parse_measures([measure]), ties="trec", missing="zero") is None
    quick = told(monkeypatch, "extension", qrels, run, ["AP", measure])
    assert quick == told(monkeypatch, "twin", qrels, run, ["AP", measure])


class Arrow:
    """A table of which nothing is known but that it gives itself as Arrow."""

    def __init__(self, frame):
        self.__arrow_c_stream__ = frame.__arrow_c_stream__


def test_columns_are_scored_as_dictionaries_are():
    rows = [("q1", "a", 1.0), ("q2", "a", 2.0), ("q1", "b", 3.0), ("q2", "é", 2.0)]
    frame = pl.DataFrame(rows, schema=["query", "document", "score"], orient="row")
    qrels = defaultdict(dict, {"q1": {"a": 1}, "q2": {"é": 1}})
    rules = {"ties": "trec", "missing": "zero"}
    measures = parse_measures(["RR"])
    for run in (frame, Arrow(frame), tuple(frame.get_columns())):
        values = scored(qrels, run, measures, **rules)
        assert values and values.per_query == {"q1": {"RR": 0.5}, "q2": {"RR": 1.0}}
    assert scored(qrels, pl.concat([frame, frame]), measures, **rules) is None  # which is refused
    assert "once a query" in told(
        pytest.MonkeyPatch(), "extension", qrels, pl.concat([frame] * 2), ["RR"]
    )


def test_sums_are_mended_as_newer_interpreters_mend_them():
    from benchwright.evaluation._mappings import score

    rng = Random(0)
    names = [f"d{n}" for n in range(400)]
    run = {"q": {name: float(-n) for n, name in enumerate(names)}}
    judged = {name: rng.randrange(4) for name in names}
    sums = {}
    for is_compensated in (False, True):
        answer = score({"q": judged}, run, (("DCG", 1, 0, 1),), 0, True, is_compensated)
        assert answer
        sums[is_compensated] = answer[0]["q"]["DCG"]
    terms = [grade / log2(rank + 1) for rank, grade in enumerate(judged.values(), start=1) if grade]
    plain = total = lost = 0.0
    for term in terms:
        plain += term
        after = total + term
        lost += (total - after) + term if abs(total) >= abs(term) else (term - after) + total
        total = after
    assert sums == {False: plain, True: total + lost}
    assert sums[False] != sums[True]


def test_asked_wrongly_it_says_so():
    from benchwright.evaluation._mappings import nested, score

    for row in [("AP", 99, 0, 1), ("AP", 2, 0, 0), ("P", 4, 0, 1), ("AP", -1, 0, 1)]:
        with pytest.raises(ValueError, match="KINDS"):
            score({}, {}, (row,), 0, True, False)
    with pytest.raises(ValueError, match="ties"):
        score({}, {}, (), 3, True, False)
    with pytest.raises(ValueError, match="length"):
        nested(["q"], ["d"], [])
    assert score([], {}, (), 0, True, False) is None
    assert nested(["q", 7], ["d", "d"], [1, 2]) is None


def test_nothing_is_kept_of_what_was_scored():
    """References are given back, of answers and of refusals."""
    import sys

    qrels, run = {"q": {"a": 12345}}, {"q": {"a": 1.25, "b": nan}}
    measures = parse_measures(["AP", "nDCG@5"])
    things = [qrels, run, run["q"], run["q"]["a"]]
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(50):
        assert scored(qrels, run, measures, ties="trec", missing="zero") is None
    run["q"]["b"] = 2.5
    for _ in range(50):
        values = scored(qrels, run, measures, ties="trec", missing="zero")
        assert values and not isnan(values.per_query["q"]["AP"])
    assert [sys.getrefcount(thing) for thing in things] == before
