import gzip
import math

import pytest

from benchwright.errors import (
    CutoffError,
    FileProblemsError,
    MissingFileError,
    Problems,
    UnknownTieRuleError,
)
from benchwright.formats.trec import RunRow
from benchwright.reading import Hit, Judged, QueryHits, find_hits, ranked, read_qrels, read_run
from benchwright.reading.hits import judged_by, with_unlisted
from benchwright.reading.shapes import read_ranking


def row(docid, score):
    return RunRow(0, b"q", docid, score)


TIED = [row(b"d1", 1.0), row(b"z", 2.0), row(b"d10", 1.0), row(b"\xc3\xa9", 1.0), row(b"d2", 1.0)]


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("trec", [b"z", b"\xc3\xa9", b"d2", b"d10", b"d1"]),
        ("trec9", [b"z", b"\xc3\xa9", b"d2", b"d10", b"d1"]),
        ("docid-asc", [b"z", b"d1", b"d10", b"d2", b"\xc3\xa9"]),
        ("file", [b"z", b"d1", b"d10", b"\xc3\xa9", b"d2"]),
    ],
)
def test_rule_decides_where_scores_are_equal(ties, order):
    assert [result.docid for result in ranked(TIED, ties)] == order


def test_document_without_a_grade_is_unjudged_until_grades_are_said_to_be_complete():
    hits, judged = QueryHits("q", (Hit(2, 1),), 3), Judged((1,))

    assert with_unlisted(hits, judged) == hits
    (complete,) = judged_by({"q": judged}, "not-relevant").values()
    assert [hit.grade for hit in with_unlisted(hits, complete).hits] == [0, 1, 0]
    assert judged_by({"q": judged}, "unknown") == {"q": judged}


def test_rows_of_a_ranking_are_numbered_as_lines_of_their_file():
    lines = [b"q1\td1\t1\n", b"q1\td2\t2\n"]

    def rows(**values):
        return [
            (hits.line, hits.docid, hits.score)
            for hits in read_ranking(lines, file="run", problems=Problems(), **values)
        ]

    assert rows() == [(1, b"d1", -1.0), (2, b"d2", -2.0)]
    assert rows(first=5) == [(5, b"d1", -1.0), (6, b"d2", -2.0)]


def test_scores_equal_as_32_bit_floats_tie_only_under_the_rule_of_trec_eval_9():
    rows = [row(b"a", 0.100000001), row(b"b", 0.1)]

    assert [result.docid for result in ranked(rows)] == [b"a", b"b"]
    assert [result.docid for result in ranked(rows, "trec9")] == [b"b", b"a"]


@pytest.mark.parametrize("ties", ["trec", "trec9", "docid-asc", "file"])
def test_infinite_and_huge_scores_are_ordered_and_both_zeros_tie(ties):
    rows = [row(b"c", -math.inf), row(b"b", 0.0), row(b"b2", -0.0), row(b"a", 1e300)]

    order = [result.docid for result in ranked([*rows, row(b"top", math.inf)], ties)]

    # At 32 bits 1e300 is infinite, so "top" is first by its id.
    assert (order[0], order[1], order[4]) == (b"top", b"a", b"c")
    assert order[2:4] == ([b"b2", b"b"] if ties.startswith("trec") else [b"b", b"b2"])


def test_unknown_tie_rule_is_refused_with_the_rules_there_are():
    with pytest.raises(UnknownTieRuleError, match="trec, trec9, docid-asc, file"):
        ranked([], "random")


def test_hits_are_the_documents_of_the_qrels_with_their_ranks():
    run = {b"q": [row(b"a", 4), row(b"b", 3), row(b"c", 2), row(b"d", 1)], b"extra": TIED}
    qrels = {b"q": {b"b": 2, b"c": -1, b"d": 0, b"x": 3}, b"missing": {b"a": 1}}

    assert find_hits(qrels, run) == {b"q": QueryHits(b"q", (Hit(2, 2), Hit(3, -1), Hit(4, 0)), 4)}
    assert find_hits(qrels, run, depth=2) == {b"q": QueryHits(b"q", (Hit(2, 2),), 2)}


def test_depth_below_one_is_refused():
    with pytest.raises(CutoffError, match="is 0; expected"):
        find_hits({}, {}, depth=0)


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_files_are_loaded_plain_or_compressed_whatever_their_name(tmp_path, packed):
    run, qrels = tmp_path / "run", tmp_path / "qrels.txt"
    run.write_bytes(packed(b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n"))
    qrels.write_bytes(packed(b"# ours\n1 0 a 2\n\n2 0 \xff -1\n"))

    loaded = read_run(run)

    assert {qid: [result.docid for result in rows] for qid, rows in loaded.items()} == {
        b"1": [b"a", b"b"],
        b"2": [b"a"],
    }
    assert read_qrels(qrels) == {b"1": {b"a": 2}, b"2": {b"\xff": -1}}


def test_document_that_is_twice_in_a_query_of_a_run_is_refused_with_both_lines(tmp_path):
    run = tmp_path / "my.run"
    run.write_bytes(b"1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 a 2 1 t\n")

    with pytest.raises(FileProblemsError) as caught:
        read_run(run)

    assert str(caught.value) == (
        "my.run:3: document 'a' of query '1' was in line 1 already; expected it once a query. "
        "Drop one of the two."
    )


def test_document_with_two_grades_is_refused_with_both_lines(tmp_path):
    qrels = tmp_path / "my.qrels"
    qrels.write_bytes(b"1 0 a 2\n1 0 b 1\n1 0 a 1\n")

    with pytest.raises(FileProblemsError) as caught:
        read_qrels(qrels)

    assert str(caught.value) == (
        "my.qrels:3: document 'a' of query '1' was in line 1 already, with grade 2 and here 1; "
        "expected one grade. Drop one of the two."
    )


def test_document_with_the_same_grade_twice_is_only_warned_of(tmp_path):
    qrels, problems = tmp_path / "my.qrels", Problems()
    qrels.write_bytes(b"1 0 a 2\n1 0 a 2\n")

    assert read_qrels(qrels, problems=problems) == {b"1": {b"a": 2}}
    assert "was in line 1 already, with the same grade" in str(problems.warnings[0])


def test_all_bad_lines_of_a_file_are_told_together(tmp_path):
    run = tmp_path / "my.run"
    run.write_bytes(b"1 Q0 a 1 x t\n1 Q0 b 1 2 t\n1 Q0\n")

    with pytest.raises(FileProblemsError) as caught:
        read_run(run)

    assert [problem.line for problem in caught.value.problems] == [1, 3]


def test_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(MissingFileError, match="no file found"):
        read_run(tmp_path / "nothing")
