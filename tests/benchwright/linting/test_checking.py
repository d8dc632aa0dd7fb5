"""What is wrong in a file, to its last line, and what it holds."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.linting.checking import check, kind_of

GOOD_RUN = b"q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 a 1 1 t\n"
GOOD_QRELS = b"q1 0 a 2\nq1 0 b 0\nq2 0 a 0\nq2 0 c -1\n"


@pytest.fixture
def written(tmp_path):
    def write(content, name="file"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(content)
        return path

    return write


def told(report):
    return [(problem.line, problem.text) for problem in report.problems.found]


def warned(report):
    return [(problem.line, problem.text) for problem in report.problems.warnings]


def test_clean_run_has_only_facts(written):
    report = check(written(GOOD_RUN))

    assert (report.kind, told(report), warned(report)) == ("run", [], [])
    assert report.facts == {
        "queries": 2,
        "rows": 3,
        "results_per_query": {"least": 1, "median": 1, "most": 2},
        "tied_rows": 0,
        "queries_with_ties": 0,
        "tied_rows_at_32_bits": 0,
        "queries_not_in_score_order": 0,
        "is_in_blocks_of_queries": True,
        "tags": ["t"],
    }


def test_ties_and_order_are_counted(written):
    report = check(
        written(
            b"q1 Q0 a 1 1.0 t\nq1 Q0 b 1 1.0 t\nq1 Q0 c 1 1.00000000001 t\n"
            b"q2 Q0 a 1 1 t\nq1 Q0 d 1 0.5 t\n"
        )
    )

    facts = report.facts
    assert (facts["tied_rows"], facts["queries_with_ties"]) == (2, 1)
    assert facts["tied_rows_at_32_bits"] == 3
    assert facts["queries_not_in_score_order"] == 1
    assert facts["is_in_blocks_of_queries"] is False


def test_clean_qrels_have_only_facts(written):
    report = check(written(GOOD_QRELS))

    assert (report.kind, told(report), warned(report)) == ("qrels", [], [])
    assert report.facts == {
        "queries": 2,
        "rows": 4,
        "documents_per_query": {"least": 2, "median": 2, "most": 2},
        "grades": {"-1": 1, "0": 2, "2": 1},
        "queries_without_relevant": 1,
    }


def test_every_problem_of_a_long_file_is_told(written):
    lines = [b"q%d Q0 d 1 %s t" % (n, b"x" if n % 2 else b"1") for n in range(1, 1001)]

    report = check(written(b"\n".join(lines)), kind="run")

    assert [line for line, _ in told(report)] == list(range(1, 1001, 2))
    assert report.facts["rows"] == 500
    assert not report.is_cut


def test_reading_stops_at_the_limit(written):
    report = check(written(b"q Q0 d 1 x t\n" * 50), limit=7)

    assert (len(report.problems.found), report.is_cut) == (7, True)


def test_document_twice_is_found_in_queries_that_come_back(written):
    report = check(
        written(
            b"q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\nq2 Q0 a 1 9 t\nq1 Q0 a 3 7 t\n"
            b"q3 Q0 a 1 9 t\nq2 Q0 a 2 8 t\nq1 Q0 c 4 1 t\n"
        )
    )

    assert [(line, text.split(";")[0]) for line, text in told(report)] == [
        (4, "document 'a' of query 'q1' was in line 1 already"),
        (6, "document 'a' of query 'q2' was in line 3 already"),
    ]


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("abcde")), max_size=30))
def test_documents_twice_are_those_of_a_plain_count(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("runs") / "run"
    path.write_text("".join(f"{qid} Q0 {docid} 1 1 t\n" for qid, docid in pairs))
    first = {}
    expected = []
    for line, pair in enumerate(pairs, start=1):
        if first.setdefault(pair, line) != line:
            expected.append((line, f"was in line {first[pair]} already"))

    report = check(path, kind="run")

    rows = [(line, text) for line, text in told(report) if line]
    assert [line for line, _ in rows] == [line for line, _ in expected]
    assert all(words in text for (_, text), (_, words) in zip(rows, expected, strict=True))


@pytest.mark.parametrize(
    ("content", "kind", "expected"),
    [
        (b"", "run", "holds no result"),
        (b"# only\n", "qrels", "holds no grade"),
        (b"q 0 d 1.5\n", "qrels", "grade is '1.5'"),
        (b"q 0 d 1\nq 0 d 2\n", "qrels", "with grade 1 and here 2"),
        (b"q Q0 d 1\n", "run", "4 columns; expected 6"),
        (b"q\td\t1\n", "beir-qrels", "the header is missing"),
        (b'{"_id": 1, "text": "x"}\n', "corpus", "_id is the number 1"),
        (b'{"_id": "a", "text": "x"}\n' * 2, "corpus", "'a' was on line 1 already"),
        (b'{"_id": "a", "text": ""}\n', "queries", "text is empty"),
    ],
)
def test_each_kind_has_its_own_problems(written, content, kind, expected):
    assert expected in "\n".join(text for _, text in told(check(written(content), kind=kind)))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"q Q0 a 1 2 s\nq Q0 b 2 1 t\n", "has 2 tags ('s', 't'); expected one"),
        (b"q Q0 a 1 1 t\nq Q0 b 2 1 t\n", "1 query has one score for all results ('q')"),
        (b"q Q0 a 1 1\n", "The tag is missing"),
        (b"\xef\xbb\xbf" + GOOD_RUN, "byte order mark"),
    ],
)
def test_what_is_odd_is_only_warned_of(written, content, expected):
    report = check(written(content))

    assert told(report) == []
    assert expected in "\n".join(text for _, text in warned(report))


@pytest.mark.parametrize(
    ("content", "name", "kind"),
    [
        (GOOD_RUN, "x", "run"),
        (gzip.compress(GOOD_RUN, mtime=0), "x", "run"),
        (b"q1 Q0 broken\n" + GOOD_RUN, "x", "run"),
        (GOOD_QRELS, "x", "qrels"),
        (b"q1\t0\tx\n" + GOOD_QRELS, "x", "qrels"),
        (b"query-id\tcorpus-id\tscore\nq\td\t1\n", "x", "beir-qrels"),
        (b'{"_id": "a", "text": "x"}\n', "queries.jsonl", "queries"),
        (b'{"_id": "a", "text": "x"}\n', "corpus.jsonl", "corpus"),
        (b'{"q1": {"d1": 2.0}}', "x", "run"),
        (b"hello world\n", "x", None),
        (b"", "x", None),
    ],
)
def test_kind_is_told_by_the_first_lines(written, content, name, kind):
    assert kind_of(written(content, name)) == kind


def test_run_in_json_may_say_that_it_found_nothing(written):
    report = check(written(b'{"q1": {"a": 2.0, "b": 1.0}, "q2": {}}'))

    assert (report.kind, told(report)) == ("run", [])
    assert (report.facts["rows"], report.facts["answered_with_nothing"]) == (2, 1)


def test_files_of_three_columns_are_read_as_scoring_reads_them(written):
    run = check(written(b"q1\ta\t1\nq1\tb\tx\n"), kind="run")
    qrels = check(written(b"q1\ta\t1\nq1\tb\tx\n"), kind="qrels")

    assert [line for line, _ in told(run)] == [line for line, _ in told(qrels)] == [2]
    assert (run.facts["rows"], qrels.facts["rows"]) == (1, 1)
    assert "MS MARCO" in warned(run)[0][1]


def test_file_of_no_known_kind_is_a_problem(written):
    report = check(written(b"hello world\n"))

    assert report.kind == "unknown"
    assert "its first lines are none of run, qrels, beir" in told(report)[0][1]


def jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.fixture
def beir(written):
    """A folder in BEIR's layout without a problem."""
    written(jsonl({"_id": "d1", "title": "", "text": "x"}), "beir/corpus.jsonl")
    written(jsonl({"_id": "q1", "text": "y"}), "beir/queries.jsonl")
    path = written(b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", "beir/qrels/test.tsv")
    return path.parent.parent


def test_clean_folder_has_only_facts(beir):
    report = check(beir)

    assert (report.kind, told(report), warned(report)) == ("beir", [], [])
    assert (report.facts["documents"], report.facts["queries"]) == (1, 1)
    assert report.facts["splits"]["test"]["rows"] == 1


def test_ids_of_a_folder_must_belong_together(beir, written):
    written(b"query-id\tcorpus-id\tscore\nq1\td9\t1\nq9\td1\t1\n", "beir/qrels/dev.tsv")

    report = check(beir)

    assert [str(problem) for problem in report.problems.found] == [
        "qrels/dev.tsv:2: document 'd9' is not in corpus.jsonl; expected it there. Add it, or "
        "drop the line.",
        "qrels/dev.tsv:3: query 'q9' is not in queries.jsonl; expected it there. Add it, or "
        "drop the line.",
        "qrels/test.tsv:2: query q1 is judged in dev and in test. Keep it in one of them.",
    ]


def test_missing_files_of_a_folder_are_told(beir):
    (beir / "corpus.jsonl").unlink()
    (beir / "qrels" / "test.tsv").unlink()

    report = check(beir)

    assert [problem.file for problem in report.problems.found] == ["corpus.jsonl", "qrels"]


def test_what_readers_misread_is_told(beir, written):
    written(
        jsonl({"_id": "007", "text": "y"}, {"_id": "d1", "text": "y"}, {"_id": "q1", "text": "y"}),
        "beir/queries.jsonl",
    )
    written(b"query-id\tcorpus-id\tscore\nq1\td1\t-1\n", "beir/qrels/test.tsv")

    report = check(beir)

    problems, warnings = ([text for _, text in of(report)] for of in (told, warned))
    assert any("take it for the number 7" in text for text in problems)
    assert any("score is -1" in text for text in problems)
    assert any("1 query has the id of a document ('d1')" in text for text in warnings)


def test_folder_without_any_of_beirs_files_is_a_problem(tmp_path):
    report = check(tmp_path)

    assert "no corpus.jsonl, queries.jsonl or qrels/*.tsv found" in told(report)[0][1]
