import gzip
import zipfile
from pathlib import Path

import pytest

from benchwright.errors import FileProblemsError, MissingFileError, Problems
from benchwright.formats.beir import (
    CorpusRow,
    QrelRow,
    QueryRow,
    corpus_rows,
    open_beir,
    qrel_rows,
    query_rows,
)

TINY = Path(__file__).parents[3] / "fixtures" / "tiny_benchmark"
HEADER = b"query-id\tcorpus-id\tscore\n"


def read(reader, data):
    """Return the rows of a file, its problems and its warnings as `(line, text)`."""
    problems = Problems()
    lines = data.splitlines(keepends=True)
    rows = list(reader(iter(lines), file="f", problems=problems))
    results = [(problem.line, problem.text) for problem in problems.found]
    return rows, results, [(problem.line, problem.text) for problem in problems.warnings]


def zipped(path, top):
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(TINY.rglob("*.*")):
            archive.write(file, top + file.relative_to(TINY).as_posix())
    return path


def gzipped(folder):
    for file in TINY.rglob("*.*"):
        target = folder / f"{file.relative_to(TINY)}.gz"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(file.read_bytes()))
    return folder


@pytest.mark.parametrize("shape", ["folder", "zip", "zip with top folder", "gz"])
def test_the_tiny_benchmark_reads_alike_from_folder_zip_and_gz(tmp_path, shape):
    path = {
        "folder": lambda: TINY,
        "zip": lambda: zipped(tmp_path / "x.zip", ""),
        "zip with top folder": lambda: zipped(tmp_path / "x.zip", "tiny/"),
        "gz": lambda: gzipped(tmp_path),
    }[shape]()
    problems = Problems()

    with open_beir(path) as beir:
        documents = list(beir.corpus_rows(problems))
        queries = list(beir.queries_rows(problems))
        splits = {name: list(beir.qrels_rows(name, problems)) for name in beir.qrels_splits()}

    assert problems.found == problems.warnings == []
    assert (
        documents[5].text
        == "Before\u2028after a line separator, and before\u0085after a next-line."
    )
    assert (documents[0].docid, documents[2].title, len(documents)) == ("123", "", 8)
    assert queries[3] == QueryRow(4, "q-quote", 'what does "proof" mean\tin baking', {"lang": "en"})
    assert {name: len(rows) for name, rows in splits.items()} == {"dev": 4, "test": 7}
    assert splits["test"][1] == QrelRow(3, "1", "d-empty-title", 3)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"_id": 7, "text": "x"}', '_id is the number 7; expected a string: write "_id": "7"'),
        (b'{"_id": null, "text": "x"}', "_id is null; expected a string"),
        (b'{"_id": true, "text": "x"}', "_id is true; expected a string"),
        (b'{"text": "x"}', 'has no "_id"'),
        (b'{"_id": "a b", "text": "x"}', "white space (U+0020)"),
        (b'{"_id": "a", "text": null}', "text is null"),
        (b'{"_id": "a", "text": ["x"]}', "text is not a string"),
        (b'{"_id": "a"}', 'has no "text"'),
        (b'{"_id": "a", "text": "x", "title": 3}', "title is not a string (3)"),
        (b'{"_id": "a", "text": "x", "metadata": "y"}', "metadata is not an object"),
        (b'{"_id": "a", "text": "x", "metadata": {"n": NaN}}', "NaN is not a JSON number"),
        (b'{"_id": "a", "text": "x", "metadata": {"n": 1e999}}', "number too large"),
        (b'{"_id": "a", "text": "x\\u0000"}', "text holds a NUL character"),
        (b'{"_id": "a", "text": "x", "m": {"k": ["\\u0000"]}}', "metadata holds a NUL character"),
        (b'{"_id": "a", "text": "\\ud83d"}', "lone surrogate"),
        (b'{"_id": "a", "text": "x", "m": "\\ud83d"}', "metadata holds half a character"),
        (b'{"_id": "a", "text": "\xff"}', "is not UTF-8"),
        (b'[{"_id": "a", "text": "x"}]', "JSON but not an object"),
        (b"[", "one object a line"),
        (b'{"_id": "a", "text": "x"', "is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"", "the line is blank"),
        (b"  \t", "the line is blank"),
    ],
)
def test_a_line_that_is_no_document_is_told_with_its_number_and_left_out(line, words):
    good = b'{"_id": "good", "text": "x"}\n'

    rows, problems, _ = read(corpus_rows, good + line + b"\n" + good)

    assert [row.line for row in rows] == [1, 3]
    assert [number for number, _ in problems] == [2]
    assert words in problems[0][1]


def test_unknown_fields_are_kept_in_metadata_and_none_is_lost():
    line = b'{"_id": "a", "text": "x", "url": "u", "k": 1, "metadata": {"k": 2}}\n'

    rows, problems, _ = read(corpus_rows, line)

    assert problems == []
    assert rows == [CorpusRow(1, "a", "", "x", {"k": 2, "url": "u", "top_level_k": 1})]


def test_text_that_only_looks_like_an_escaped_nul_is_kept():
    rows, problems, _ = read(corpus_rows, b'{"_id": "a", "text": "x", "m": "\\\\u0000"}\n')

    assert problems == []
    assert rows[0].metadata == {"m": "\\u0000"}


def test_null_title_and_null_metadata_are_empty_ones():
    rows, _, _ = read(corpus_rows, b'{"_id": "a", "title": null, "text": "", "metadata": null}\n')

    assert rows == [CorpusRow(1, "a")]


def test_a_byte_order_mark_is_left_out_and_told():
    rows, problems, warnings = read(corpus_rows, b'\xef\xbb\xbf{"_id": "a", "text": "x"}\r\n')

    assert (len(rows), problems) == (1, [])
    assert "byte order mark" in warnings[0][1]


def test_a_second_query_of_one_id_is_told_with_the_line_of_the_first():
    rows, problems, _ = read(query_rows, b'{"_id": "q", "text": "x"}\n' * 2)

    assert len(rows) == 1
    assert problems == [(2, "query q was on line 1 already; keep one of the two")]


def test_a_query_without_words_is_refused():
    assert "text is empty" in read(query_rows, b'{"_id": "q", "text": " "}\n')[1][0][1]


def test_a_missing_header_is_told_because_the_first_judgment_would_be_lost():
    rows, problems, _ = read(qrel_rows, b"q1\td1\t1\nq1\td2\t0\n")

    assert [line for line, _ in problems] == [1]
    assert "the header is missing" in problems[0][1]
    assert "would lose it" in problems[0][1]
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"q1\td1\t0.5", "score is '0.5'; expected a whole number"),
        (b"q1\td1\tyes", "score is 'yes'"),
        (b"q1\td1\t", "score is ''"),
        (b"q1\td1\t 1", "score is ' 1'"),
        (b"q1\td1\t1_0", "score is '1_0'"),
        ("q1\td1\t٣".encode(), "score is '٣'"),
        (b"q1\td1\t128", "grades go from -127 to 127"),
        (b"q1\td1", "found 2 columns"),
        (b"q1\td1\t1\tx", "TREC qrels are imported as TREC"),
        (b"q1 0 d1 1", "TREC qrels are imported as TREC"),
        (b"q1 d1 1", "one TAB, not by spaces"),
        (b"q1,d1,1", "one TAB, not by commas"),
        (b"\td1\t1", "the id is empty"),
        (b"q1\td 1\t1", "white space"),
        (b'"q1"\td1\t1', "begins with a quote"),
        (b"q\xff\td1\t1", "is not UTF-8"),
        (b"", "the line is blank"),
    ],
)
def test_a_line_that_is_no_judgment_is_told_with_its_number(line, words):
    rows, problems, _ = read(qrel_rows, HEADER + line + b"\nq9\td9\t1\n")

    assert rows == [QrelRow(3, "q9", "d9", 1)]
    assert [number for number, _ in problems] == [2]
    assert words in problems[0][1]


def test_the_header_must_have_three_columns():
    _, problems, _ = read(qrel_rows, b"query-id,corpus-id,score\nq9\td9\t1\n")

    assert problems == [
        (
            1,
            "expected the header query-id<TAB>corpus-id<TAB>score; "
            "columns are separated by one TAB, not by commas",
        )
    ]


def test_an_empty_qrels_file_is_told():
    assert "is empty" in read(qrel_rows, b"")[1][0][1]


def test_a_pair_twice_is_a_problem_where_grades_differ_and_a_warning_where_not():
    rows, problems, warnings = read(qrel_rows, HEADER + b"q\ta\t1\nq\tb\t2\nq\ta\t1\nq\tb\t0\n")

    assert [row.line for row in rows] == [2, 3]
    assert problems == [(5, "query q, document b has grade 0 here and 2 on line 3; keep one")]
    assert warnings == [(4, "query q, document a stood on line 2 with the same grade")]


def test_negative_grades_are_read_as_they_are():
    assert read(qrel_rows, HEADER + b"q\ta\t-1\n")[0] == [QrelRow(2, "q", "a", -1)]


def test_all_problems_up_to_the_limit_come_together():
    problems = Problems(limit=3)

    with pytest.raises(FileProblemsError) as raised:
        list(corpus_rows(iter([b"{\n"] * 9), file="corpus.jsonl", problems=problems))

    assert [problem.line for problem in raised.value.problems] == [1, 2, 3]


def test_a_folder_without_any_of_the_files_says_what_it_holds(tmp_path):
    (tmp_path / "documents.json").write_text("[]")

    with pytest.raises(MissingFileError, match=r"no corpus\.jsonl.*It holds: documents\.json"):
        open_beir(tmp_path)


def test_a_missing_corpus_is_told_when_it_is_asked_for(tmp_path):
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "x"}\n')

    beir = open_beir(tmp_path)

    assert len(list(beir.queries_rows(Problems()))) == 1
    with pytest.raises(MissingFileError, match=r"no corpus\.jsonl found"):
        beir.corpus_rows(Problems())
    with pytest.raises(MissingFileError, match=r"no qrels/test\.tsv found"):
        beir.qrels_rows("test", Problems())
