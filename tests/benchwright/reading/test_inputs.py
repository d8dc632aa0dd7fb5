"""Qrels and runs in memory score as their files do, and are refused for what files are."""

from collections import namedtuple
from fractions import Fraction
from math import inf, isnan, nan
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright import Evaluation, evaluate, read_qrels, read_run
from benchwright.errors import ColumnsError, EmptyRunError, FileProblemsError
from benchwright.reading import find_hits
from benchwright.reading.memory import Result, hits_of, take_qrels, take_run
from tests.examples import examples

NAMES = ["nDCG@10", "AP", "RR", "R@2", "bpref", "Judged@10"]
QRELS = {"q1": {"d1": 3, "d2": 1, "d3": 0}, "q2": {"d4": 2, "d5": -1}, "ü": {"ä": 1}}
RUN = {"q1": {"d2": 2.0, "d9": 1.5, "d1": 1.0}, "ü": {"x": 0.5, "ä": 0.5}, "q7": {"d1": 1.0}}

GRADES = [(qid, docid, grade) for qid, of in QRELS.items() for docid, grade in of.items()]
SCORES = [(qid, docid, score) for qid, of in RUN.items() for docid, score in of.items()]
TrecQrel = namedtuple("TrecQrel", "query_id doc_id relevance iteration")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")


class ArrowOnly:
    """A table of a library that only exports itself, as pyarrow's and DuckDB's do."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__(requested_schema)


class PandasLike:
    """The part of a pandas frame that is used."""

    def __init__(self, **columns: list) -> None:
        self.columns = list(columns)
        self._columns = columns

    def __getitem__(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(to_list=lambda: self._columns[name])


def frame(rows: list, *names: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=list(names), orient="row")


def structured(rows: list, *names: str) -> np.ndarray:
    kinds = [(name, object if place < 2 else float) for place, name in enumerate(names)]
    return np.array(rows, dtype=kinds)


QRELS_FORMS = {
    "nested": QRELS,
    "nested bytes": {
        qid.encode(): {docid.encode(): grade for docid, grade in of.items()}
        for qid, of in QRELS.items()
    },
    "numpy grades": {q: {d: np.int64(g) for d, g in of.items()} for q, of in QRELS.items()},
    "whole floats": {q: {d: float(g) for d, g in of.items()} for q, of in QRELS.items()},
    "polars": frame(GRADES, "query_id", "doc_id", "relevance"),
    "polars as BEIR": frame(GRADES, "query-id", "corpus-id", "score"),
    "arrow": ArrowOnly(frame(GRADES, "qid", "docno", "label")),
    "structured": structured(GRADES, "qid", "docid", "rel"),
    "columns": tuple(zip(*GRADES, strict=True)),
    "arrays": tuple(np.array(column) for column in zip(*GRADES, strict=True)),
    "named tuples": [TrecQrel(*row, "0") for row in GRADES],
    "generator": (TrecQrel(*row, "0") for row in GRADES),
    "records": [dict(zip(("qid", "docid", "grade"), row, strict=True)) for row in GRADES],
    "triples": [list(row) for row in GRADES],
}
RUN_FORMS = {
    "nested": RUN,
    "nested bytes": {
        qid.encode(): {docid.encode(): score for docid, score in of.items()}
        for qid, of in RUN.items()
    },
    "pairs": {qid: list(of.items()) for qid, of in RUN.items()},
    "results": {
        qid: [Result(docid.encode(), score) for docid, score in of.items()]
        for qid, of in RUN.items()
    },
    "other numbers": {q: {d: Fraction(s) for d, s in of.items()} for q, of in RUN.items()},
    "numpy scores": {q: {d: np.float64(s) for d, s in of.items()} for q, of in RUN.items()},
    "polars": frame(SCORES, "q_id", "doc_id", "score"),
    "polars, lazy": frame(SCORES, "q_id", "doc_id", "score").lazy(),
    "polars categories": frame(SCORES, "qid", "docid", "score").cast({"qid": pl.Categorical}),
    "pandas": PandasLike(
        **dict(zip(("qid", "docno", "score"), map(list, zip(*SCORES, strict=True)), strict=True))
    ),
    "arrow": ArrowOnly(frame(SCORES, "topic", "corpus-id", "sim")),
    "structured": structured(SCORES, "query_id", "doc_id", "score"),
    "arrays": tuple(np.array(column) for column in zip(*SCORES, strict=True)),
    "named tuples": [ScoredDoc(*row) for row in SCORES],
    "interleaved": [SCORES[place] for place in (3, 0, 5, 1, 4, 2)],
}


def plain(evaluation: Evaluation) -> dict[str, dict[str, float | None]]:
    """Values by query id as text, None for NaN: what can be compared."""
    return {
        qid if isinstance(qid, str) else qid.decode(): {
            name: None if isnan(value) else value for name, value in values.items()
        }
        for qid, values in evaluation.per_query.items()
    }


@pytest.fixture(scope="module")
def from_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    qrels = "".join(f"{qid} 0 {docid} {grade}\n" for qid, docid, grade in GRADES)
    run = "".join(f"{qid} Q0 {docid} 0 {score!r} s\n" for qid, docid, score in SCORES)
    (folder / "qrels").write_text(qrels, "utf-8")
    (folder / "run").write_text(run, "utf-8")
    return folder


def test_forms_differ_from_each_other_in_the_scores_they_hold(from_files):
    """The comparison below could fail: these files score neither 0 nor 1."""
    means = evaluate(from_files / "qrels", from_files / "run", NAMES).means

    assert all(0 < mean < 1 for mean in means.values()), means


@pytest.mark.parametrize("form", QRELS_FORMS)
def test_qrels_of_every_form_score_as_their_file(form, from_files):
    expected = evaluate(from_files / "qrels", from_files / "run", NAMES)

    scores = evaluate(QRELS_FORMS[form], from_files / "run", NAMES)

    assert dict(scores.means) == dict(expected.means)
    assert plain(scores) == plain(expected)


@pytest.mark.parametrize("form", RUN_FORMS)
def test_run_of_every_form_scores_as_its_file(form, from_files):
    expected = evaluate(from_files / "qrels", from_files / "run", NAMES)

    scores = evaluate(from_files / "qrels", RUN_FORMS[form], NAMES)

    assert dict(scores.means) == dict(expected.means)
    counts = ("n_queries", "n_missing", "n_extra")
    assert [getattr(scores, name) for name in counts] == [3, 1, 1]


def test_what_is_read_from_files_is_taken_as_it_is(from_files):
    qrels, run = read_qrels(from_files / "qrels"), read_run(from_files / "run")

    assert take_qrels(qrels).content == qrels
    assert [[(row.docid, row.score) for row in rows] for rows in run.values()] == [
        list(rows) for rows in take_run(run).content.values()
    ]


@pytest.mark.parametrize(
    ("qrels", "run", "ids"),
    [
        (QRELS, RUN, ["q1", "q2", "ü"]),
        (QRELS_FORMS["nested bytes"], RUN_FORMS["nested bytes"], [b"q1", b"q2", "ü".encode()]),
        (QRELS_FORMS["nested bytes"], RUN, ["q1", "q2", "ü"]),
        (QRELS, RUN_FORMS["nested bytes"], ["q1", "q2", "ü"]),
    ],
    ids=["text", "bytes", "text run", "text qrels"],
)
def test_query_ids_come_back_as_they_were_given(qrels, run, ids):
    assert list(evaluate(qrels, run, ["AP"]).per_query) == ids


def test_id_that_is_no_utf_8_survives():
    name = b"\xff".decode("utf-8", "surrogateescape")

    assert list(evaluate({name: {"d": 1}}, {b"\xff": {b"d": 1.0}}, ["AP"]).per_query) == [name]


def test_query_with_an_empty_dict_was_answered_with_nothing():
    scores = evaluate(QRELS, {**RUN, "q2": {}}, ["AP", "NumRet"], missing="skip")

    assert scores.per_query["q2"] == {"AP": 0.0, "NumRet": 0.0}
    assert scores.n_missing == 0


def test_run_of_empty_queries_only_is_empty():
    with pytest.raises(EmptyRunError):
        evaluate(QRELS, {"q1": {}, "q2": {}}, ["AP"])


@pytest.mark.parametrize("score", [inf, -inf, -0.0, 10**300, True, Fraction(1, 3)])
def test_every_other_number_is_a_score(score):
    assert take_run({"q": {"d": score}}).content == {b"q": [(b"d", float(score))]}


REFUSED_RUNS = [
    ({"q1": {"d1": nan}}, "run['q1']['d1']: score is nan; expected a number"),
    ({"q1": {"d1": "0.5"}}, "run['q1']['d1']: score is '0.5'; expected a number"),
    ({"q1": {"d1": None}}, "run['q1']['d1']: score is None; expected a number"),
    ({"q1": {"d1": 10**400}}, "run['q1']['d1']: score is 1000"),
    ({"q1": {"d1": 1.0}, b"q1": {}}, "run[b'q1']: was there as text and as bytes"),
    ({"q1": {"d1": 1.0, b"d1": 1.0}}, "document 'd1' was at run['q1']['d1'] already"),
    ({"q1": {7: 1.0}}, "run['q1'][7]: document id is 7, int; expected text or bytes"),
    ({7: {"d1": 1.0}}, "run[7]: query id is 7, int; expected text or bytes"),
    ({"\ud800": {}}, r"run['\ud800']: query id is '\ud800', which is no Unicode text"),
    ({"q1": [("d1", 2.0), ("d1", 1.0)]}, "run['q1'][1]: document 'd1' was at run['q1'][0]"),
    ({"q1": "d1"}, "run['q1']: is 'd1'; expected {document: score} or a list of (document, score)"),
    ({"q1": [1.0]}, "run['q1']: is '[1.0]'; expected"),
    (
        [("q1", "d1", 1.0), ("q2", "d1", 1.0), ("q1", "d1", 2.0)],
        "run, row 2 (from 0): document 'd1' was at run, row 0 (from 0) already",
    ),
    ([("q1", "d1", 1.0), ("q1", "d2", nan)], "run, row 1 (from 0): score is nan"),
    (frame([("q", None, 2.0)], "qid", "docid", "score"), "row 0 (from 0): document id is None"),
    (frame([("q", "d", None)], "qid", "docid", "score"), "row 0 (from 0): score is None"),
    ((np.array([1]), np.array(["a"]), np.array([1.0])), "row 0 (from 0): query id is 1, int"),
]
REFUSED_QRELS = [
    ({"q1": {"d1": 0.5}}, "qrels['q1']['d1']: grade is 0.5; expected a whole number"),
    ({"q1": {"d1": nan}}, "qrels['q1']['d1']: grade is nan"),
    ({"q1": {"d1": inf}}, "qrels['q1']['d1']: grade is inf"),
    ({"q1": {"d1": "1"}}, "qrels['q1']['d1']: grade is '1'"),
    ({"q1": {"d1": 10**9}}, "expected a whole number of at most nine digits"),
    ([("q", "d", 1), ("q", "d", 2)], "qrels, row 1 (from 0): document 'd' was at qrels, row 0"),
]


@pytest.mark.parametrize(("run", "words"), REFUSED_RUNS, ids=[told for _, told in REFUSED_RUNS])
def test_run_that_a_file_would_be_refused_for_is_refused_with_its_place(run, words):
    with pytest.raises(FileProblemsError) as refusal:
        take_run(run)

    assert words in str(refusal.value)


@pytest.mark.parametrize(("qrels", "words"), REFUSED_QRELS, ids=[told for _, told in REFUSED_QRELS])
def test_qrels_that_a_file_would_be_refused_for_are_refused_with_their_place(qrels, words):
    with pytest.raises(FileProblemsError) as refusal:
        take_qrels(qrels)

    assert words in str(refusal.value)


def test_every_problem_is_told_at_once():
    with pytest.raises(FileProblemsError) as refusal:
        take_run({"q1": {"d1": nan, "d2": "x"}, "q2": {"d1": None}})

    assert len(refusal.value.problems) == 3


def test_same_grade_twice_is_one_grade():
    assert take_qrels([("q1", "d1", 1), ("q1", "d1", 1)]).content == {b"q1": {b"d1": 1}}


NO_TABLES = [
    (7, "The run is int; expected {query: {document: value}}, or a table"),
    ("no path here", "The run is str"),
    (frame([("q", "d")], "qid", "docid"), "has none of score, similarity, sim among its columns"),
    (frame([("q", "q", "d", 1)], "qid", "query_id", "docid", "score"), "'qid' and 'query_id'"),
    ((["q", "q"], ["d"], [1.0]), "has columns of 2, 1, 1 rows"),
    ([("q", "d")], "has \"('q', 'd')\" as its first row"),
    ([("q", "d", 1.0), ("q", "d")], "row 1 (from 0) is \"('q', 'd')\", unlike the rows before it"),
    ([{"qid": "q", "docid": "d", "score": 1.0}, {}], "row 1 (from 0) is '{}', unlike"),
]


@pytest.mark.parametrize(("given", "words"), NO_TABLES, ids=[told for _, told in NO_TABLES])
def test_what_is_no_table_is_refused_with_what_one_looks_like(given, words):
    with pytest.raises(ColumnsError) as refusal:
        take_run(given)

    assert words in str(refusal.value)


IDS = st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=3)
SCORED = st.dictionaries(IDS, st.sampled_from([0.0, 0.5, 1.0, 2.5]), max_size=6)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-1, 3), min_size=1), min_size=1),
    st.dictionaries(IDS, SCORED, min_size=1),
)
def test_nested_and_flat_forms_agree(qrels, run):
    flat = [(qid, docid, score) for qid, of in run.items() for docid, score in of.items()]
    answered = {qid: of for qid, of in run.items() if of}

    nested = evaluate(qrels, answered, NAMES, allow_empty=True)
    rows = evaluate(qrels, flat, NAMES, allow_empty=True)

    assert plain(nested) == plain(rows)
    assert (nested.n_missing, nested.n_extra) == (rows.n_missing, rows.n_extra)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.dictionaries(IDS, st.dictionaries(IDS, st.integers(-1, 3), min_size=1), min_size=1),
    st.dictionaries(IDS, st.dictionaries(IDS, st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9]))),
    st.sampled_from(["trec", "trec9", "docid-asc", "file"]),
    st.sampled_from([None, 1, 2]),
)
def test_hits_found_by_number_are_those_of_a_sorted_list(qrels, run, ties, depth):
    grades = take_qrels(qrels).content

    content = hits_of(run, grades, ties=ties, depth=depth).content

    by_sorting = find_hits(grades, take_run(run).content, ties=ties, depth=depth)
    assert {qid: rows for qid, rows in content.items() if qid in by_sorting} == by_sorting
    assert content.keys() == {qid.encode() for qid in run}
