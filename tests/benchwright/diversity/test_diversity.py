"""Measures by subtopic: as ndeval has them on random queries and on real runs, and by hand."""

import json
from math import log2
from pathlib import Path

import pytest

from benchwright.diversity.measures import (
    NAMES,
    best_ranking,
    evaluate_subtopics,
    novelty_gains,
    parse_diversity,
    read_subtopic_qrels,
)
from benchwright.diversity.scoring import SubtopicScorer
from benchwright.errors import (
    CutoffError,
    FileProblemsError,
    MeasureParameterError,
    UnknownMeasureError,
)
from benchwright.evaluation.scorecards import Files, Rules
from benchwright.measures import parse_measure
from benchwright.reading import read_qrels, read_run
from benchwright.reading.ranking import ranked
from tests.benchwright.measures.golden.make_diversity_of_real_runs import MEASURES, by_next_topics
from tests.benchwright.measures.golden.make_diversity_of_real_runs import QRELS as QRELS_OF
from tests.benchwright.realdata import data_folder

GOLDEN = Path(__file__).parents[1] / "measures" / "golden" / "diversity.json"
PEER = json.loads(GOLDEN.read_text("utf-8"))
QRELS = {"q": {"1": {"a": 1, "b": 1}, "2": {"a": 1, "c": 0}}}


def test_best_list_takes_the_last_by_id_of_what_gains_the_same():
    """Two of c and d are d0 and d4: their d4 goes before d3, which after it gains as much as d2."""
    subtopics = {"d1": "a", "d2": "ac", "d3": "bd", "d4": "cd", "d0": "cd"}
    documents = {docid: frozenset(of) for docid, of in subtopics.items()}

    ranking = best_ranking(documents, 5, alpha=0.5)

    assert ranking == [documents[docid] for docid in ("d4", "d3", "d2", "d1", "d0")]
    assert novelty_gains(ranking, 0.5) == [2.0, 1.5, 1.5, 0.5, 0.5]


@pytest.mark.parametrize("name", PEER["values"])
def test_value_is_that_of_ndeval(name):
    scores = evaluate_subtopics(PEER["qrels"], PEER["run"], [name])

    ours = {qid: values[str(parse_diversity(name))] for qid, values in scores.per_query.items()}
    assert ours == pytest.approx(PEER["values"][name], abs=2e-9)


@pytest.mark.data
@pytest.mark.parametrize("collection", QRELS_OF)
def test_means_of_real_runs_are_those_of_ndeval(collection):
    peer = json.loads((GOLDEN.parent / "diversity_of_real_runs.json").read_text("utf-8"))["means"]
    folder = data_folder(collection)
    grades = by_next_topics(read_qrels(folder / QRELS_OF[collection]))

    runs = sorted((folder / "runs").iterdir())
    # Of many runs ten, far apart: what one more tells, these have told.
    for path in runs[:: -(-len(runs) // 10)]:
        run = {
            qid.decode(): [(row.docid.decode(), row.score) for row in rows]
            for qid, rows in read_run(path).items()
        }
        means = evaluate_subtopics(grades, run, MEASURES).means
        assert list(means.values()) == pytest.approx(peer[path.stem], abs=2e-9), path.stem


@pytest.mark.data
def test_scanned_files_have_the_values_of_results_in_memory(tmp_path):
    """With the order of ids where scores are equal, and grades from 2 on, as both were asked."""
    folder = data_folder("trec_covid_round1")
    grades = by_next_topics(read_qrels(folder / QRELS_OF["trec_covid_round1"]))
    file = tmp_path / "qrels.diversity"
    file.write_text(
        "".join(
            f"{qid} {subtopic} {docid} {grade}\n"
            for qid, of in grades.items()
            for subtopic, documents in of.items()
            for docid, grade in documents.items()
        )
    )
    for name in ("BITEM_BL.gz", "run1.gz"):
        rows_of = read_run(folder / "runs" / name)
        run = {
            qid.decode(): [
                (row.docid.decode(), -place)
                for place, row in enumerate(ranked(rows, "docid-asc"), start=1)
            ]
            for qid, rows in rows_of.items()
        }
        card = SubtopicScorer(Files(file), Rules(measures=MEASURES, ties="docid-asc")).score(
            folder / "runs" / name
        )
        results = {qid.decode(): values for qid, values in card.overall.per_query.items()}
        assert results == evaluate_subtopics(grades, run, MEASURES).per_query


@pytest.mark.parametrize(
    ("name", "expected"),
    [("alpha_nDCG@2", 1.1070681006323602), ("nERR_IA@2", 12 / 11), ("nNRBP", 0.96)],
)
def test_of_documents_that_gain_alike_the_best_list_takes_the_last_as_ndeval_does(name, expected):
    """By the document z, after which none gains 2: so a list can be better than the best."""
    qrels = {"q": {"1": {"z": 1, "b": 1}, "2": {"z": 1, "a": 1}, "3": {"a": 1}, "4": {"b": 1}}}

    scores = evaluate_subtopics(qrels, {"q": {"a": 2.0, "b": 1.0}}, [name])

    assert scores.means[name] == pytest.approx(expected, abs=1e-12)


def test_every_measure_is_compared_with_ndeval():
    assert {parse_diversity(name).family for name in PEER["values"]} == set(NAMES)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("alpha_nDCG@2", (1 + 1.5 / log2(3)) / (2 + 0.5 / log2(3))),
        ("ERR_IA@1", 1 / 2),
        ("P_IA@2", 3 / 4),
        ("STREC@1", 1 / 2),
        ("AP_IA", (1 + 1 / 2) / 2),
    ],
)
def test_measure_equals_the_sum_done_by_hand(name, expected):
    scores = evaluate_subtopics(QRELS, {"q": {"b": 2.0, "a": 1.0}}, [name])

    assert list(scores.means.values()) == [pytest.approx(expected)]


def test_query_the_run_lacks_counts_zero_and_one_without_relevant_documents_not_at_all():
    qrels = {**QRELS, "none": {"1": {"a": 0}}, "lacking": {"1": {"a": 1}}}

    scores = evaluate_subtopics(qrels, {"q": [("a", 1.0)]}, ["P_IA@1"])

    assert scores.per_query == {"q": {"P_IA@1": 1.0}, "lacking": {"P_IA@1": 0.0}}
    assert scores.means == {"P_IA@1": 0.5}


def test_file_of_qrels_by_subtopic_is_read(tmp_path):
    path = tmp_path / "qrels.diversity"
    path.write_text("q 1 a 1\nq 1 b 1\nq 2 a 1\n\nq 2 c 0\n")

    assert read_subtopic_qrels(path) == QRELS


def test_ids_may_be_any_bytes(tmp_path):
    path = tmp_path / "qrels.diversity"
    path.write_bytes(b"q 1 d\xe9 1\n")
    run = {"q": [(b"d\xe9".decode(errors="surrogateescape"), 1.0), ("e", 1.0)]}

    assert evaluate_subtopics(path, run, ["P_IA@1"]).means == {"P_IA@1": 0.0}
    assert evaluate_subtopics(path, run, ["StRecall@2"]).means == {"StRecall@2": 1.0}


def test_grades_are_whole_numbers_as_those_of_any_qrels(tmp_path):
    path = tmp_path / "qrels.diversity"
    path.write_text("q 1 a 2.0\nq 1 b 1_0\nq 1 c \u0661\nq 1 d 1.5\n")

    with pytest.raises(FileProblemsError) as caught:
        read_subtopic_qrels(path)

    assert [line.split()[0] for line in str(caught.value).splitlines()] == [
        "qrels.diversity:2:",
        "qrels.diversity:3:",
        "qrels.diversity:4:",
    ]


def test_line_that_is_none_is_named(tmp_path):
    path = tmp_path / "qrels.diversity"
    path.write_text("q 1 a 1\nq 1 b\nq 2 a high\n")

    with pytest.raises(FileProblemsError) as caught:
        read_subtopic_qrels(path)

    assert "qrels.diversity:2: the line is 'q 1 b'; expected query, subtopic" in str(caught.value)
    assert "qrels.diversity:3" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("alpha_nDCG", MeasureParameterError, "has no cutoff"),
        ("NRBP@10", MeasureParameterError, "takes no cutoff"),
        ("ERR_IA(alpha=1)@5", MeasureParameterError, "expected rel from 1"),
        ("ERR_IA(rel=x)@5", MeasureParameterError, "expected rel from 1"),
        ("ERR_IA(beta=.5)@5", MeasureParameterError, "from 1, alpha from 0 to below 1.$"),
        ("P_IA(alpha=.5)@5", MeasureParameterError, "expected rel from 1.$"),
        ("StRecall(alpha=.5)@5", MeasureParameterError, "expected rel from 1.$"),
        ("NRBP(beta=1)", MeasureParameterError, "alpha from 0 .*, beta from 0 to below 1"),
        ("P_IA@x", MeasureParameterError, "cutoff is 'x'"),
        ("P_IA@\u00b2", MeasureParameterError, "expected a number"),
        ("P_IA@0", CutoffError, "0"),
        ("nDCG@10", UnknownMeasureError, "alpha_nDCG"),
    ],
)
def test_name_of_no_measure_by_subtopic_is_refused(name, error, words):
    with pytest.raises(error, match=words):
        parse_diversity(name)


@pytest.mark.parametrize(
    "name", ["alpha_nDCG@20", "\u03b1_nDCG@5", "ERR_IA(rel=2)@10", "NRBP", "STREC@5"]
)
def test_measure_by_subtopic_among_the_others_says_what_it_needs(name):
    with pytest.raises(MeasureParameterError, match="needs qrels by subtopic"):
        parse_measure(name)
