"""Tables whose columns are mapped: what becomes of a row, and what is said of a bad one."""

import io
import operator
from datetime import date

import polars as pl
import pytest

from benchwright.errors import ArchiveError, FileProblemsError, Problems
from benchwright.files.inputs import FileInput
from benchwright.formats import mapped, pairs, passages
from benchwright.formats.errors import MappingError
from benchwright.formats.mapping import EVERY_ROW, Content, checked, guessed, parsed
from benchwright.formats.tables import head_of, layout_of, parquet_rows, records
from benchwright.logs.tables import open_table
from benchwright.runs.blocks import run_frames

READERS = {
    "documents": mapped.document_rows,
    "queries": mapped.query_rows,
    "qrels": mapped.qrel_rows,
    "run": mapped.run_rows,
}


def read(tmp_path, what: str, content: bytes | pl.DataFrame, mapping: dict | None = None, **more):
    """Rows and (line, problem) of a table."""
    path = tmp_path / "f"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content.write_parquet(path)
    source = FileInput(path)
    layout = layout_of(source, head_of(source), tmp_path)
    problems = Problems()
    read_records = records(source, layout, folder=tmp_path, problems=problems)
    by_place = {"id": "column 1", "text": "column 2"}
    result = mapping or guessed(Content(what), layout.columns) or by_place
    rows = list(READERS[what](read_records, result, file="f", problems=problems, **more))
    return rows, [(problem.line, problem.text) for problem in problems.found]


def test_how_nul_is_written_is_no_nul(tmp_path):
    [row], problems = read(tmp_path, "documents", rb'{"id": "d1", "text": "x", "by": "\\u0000"}')

    assert (row.metadata, problems) == ({"by": r"\u0000"}, [])


def test_a_text_of_a_megabyte_stands_in_one_cell(tmp_path):
    [row], problems = read(tmp_path, "documents", b'id,text\nd1,"' + b"a" * (1 << 20) + b'"\n')

    assert (len(row.text), problems) == (1 << 20, [])


def test_every_column_of_a_document_finds_its_place(tmp_path):
    content = b"doc_id;title;abstract;url;parent;year\r\nd1;T;a;http://x;p1;1999\r\n"

    [row], problems = read(tmp_path, "documents", content)

    assert problems == []
    assert (row.line, row.docid, row.title, row.text, row.parent) == (2, "d1", "T", "a", "p1")
    assert row.metadata == {"url": "http://x", "parent_id": "p1", "year": "1999"}


def test_parquet_values_that_can_mean_one_thing_only_are_taken(tmp_path):
    table = pl.DataFrame(
        {
            "id": [7, 8],
            "text": [["One.", "Two."], None],
            "seen": [date(2024, 5, 1), None],
            "score": [0.5, float("nan")],
        }
    )

    rows, problems = read(tmp_path, "documents", table)

    assert problems == []
    assert [(row.line, row.docid, row.text) for row in rows] == [
        (1, "7", "One. Two."),
        (2, "8", ""),
    ]
    assert rows[0].metadata == {"seen": "2024-05-01", "score": 0.5}
    assert rows[1].metadata == {}


def test_all_that_is_said_of_a_query_is_read(tmp_path):
    content = (
        b'{"qid": "q1", "query": "how", "first_seen": "2024-01-02", "last_seen": "2024-05-06", '
        b'"frequency": 7, "clicks": {"d1": 3}, "tags": ["a", "b"], "family": "f", "team": "web"}\n'
    )

    [row], problems = read(tmp_path, "queries", content, lang="de")

    assert problems == []
    assert (row.first_seen, row.last_seen, row.frequency) == ("2024-01-02", "2024-05-06", 7)
    assert (row.clicks, row.family, row.lang) == ({"d1": 3}, "f", "de")
    assert row.metadata == {"team": "web", "tags": ["a", "b"]}


@pytest.mark.parametrize("above", [b"\n", b" \r\n\n", b"sep=,\r\n", b"\xef\xbb\xbfSEP=,\n"])
def test_the_header_may_stand_below_blank_lines_and_what_excel_is_told(tmp_path, above):
    rows, problems = read(tmp_path, "queries", above + b"qid,text\nq1,a\n")
    _, of_header = read(
        tmp_path, "queries", above + b"qid,qid\nq1,a\n", {"id": "qid", "text": "qid"}
    )

    assert ([row.qid for row in rows], problems) == (["q1"], [])
    assert [line for line, _ in of_header] == [above.count(b"\n") + 1]


def test_first_line_of_excel_is_no_row_where_there_is_no_header(tmp_path):
    rows, problems = read(tmp_path, "queries", b"sep=;\n7;how long\n8;how wide\n")

    assert ([(row.qid, row.text) for row in rows], problems) == (
        [("7", "how long"), ("8", "how wide")],
        [],
    )


def test_times_asked_may_be_written_as_7_0(tmp_path):
    of_table, _ = read(tmp_path, "queries", b"qid,text,frequency\nq1,a,7.0\nq2,b,\n")
    of_parquet, _ = read(
        tmp_path, "queries", pl.DataFrame({"qid": ["q1"], "text": ["a"], "frequency": [7.0]})
    )

    assert [row.frequency for row in of_table] == [7, None]
    assert [row.frequency for row in of_parquet] == [7]


def test_grades_may_be_written_as_1_0_and_are_1_where_somebody_says_so_of_every_row(tmp_path):
    rows, problems = read(tmp_path, "qrels", b"query_id,docid,relevance\nq,d,1.0\nq,e,-2\n")
    fields = {"query": "query_id", "document": "docid", "grade": EVERY_ROW}
    plain, _ = read(tmp_path, "qrels", b"query_id,docid\nq,d\n", fields)

    assert problems == []
    assert [row.grade for row in rows] == [1, -2]
    assert [row.grade for row in plain] == [1]


@pytest.mark.parametrize(
    "content",
    [
        b"query_id,doc_id,Rating\nq,d,2\nq,e,0\n",
        b"queryId;docId;relevanceScore\r\nq;d;2.0\r\nq;e;0.0\r\n",
        b"qid\tdocno\trelevance_score\nq\td\t2.\nq\te\t0\n",
        b'"query_id","doc_id","value"\n"q","d","2"\n"q","e","0"\n',
        b"Query-ID,Doc ID,gain\nq,d,+2\nq,e,-0\n",
        b"\xef\xbb\xbftopic,document,is relevant\nq,d,2.000000e+00\nq,e,0\n",
        b'{"query_id": "q", "doc_id": "d", "relevant": 2.0}\n'
        b'{"query_id": "q", "doc_id": "e", "relevant": 0}\n',
    ],
)
def test_a_column_of_grades_is_known_however_it_is_called_and_written(tmp_path, content):
    rows, problems = read(tmp_path, "qrels", content)

    assert problems == []
    assert [(row.qid, row.docid, row.grade) for row in rows] == [("q", "d", 2), ("q", "e", 0)]


@pytest.mark.parametrize("cell", ["0.5", "2,0", "1_0", "\u0661", "", "nan", "1.0000000000000001"])
def test_a_grade_is_refused_rather_than_rounded(tmp_path, cell):
    _, problems = read(tmp_path, "qrels", f"qid;docid;rating\nq;d;{cell}\n".encode())

    [(line, words)] = problems
    assert line == 2
    assert "expected a whole number" in words


def test_truth_values_are_1_and_0_and_that_is_said(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"qid,docid,is_relevant\nq,d,True\nq,e,false\n")
    layout = layout_of(FileInput(path), head_of(FileInput(path)), tmp_path)
    problems = Problems()

    numbered = records(FileInput(path), layout, folder=tmp_path, problems=problems)
    mapping = guessed(Content.QRELS, layout.columns)
    rows = list(mapped.qrel_rows(numbered, mapping, file="f", problems=problems))

    assert [row.grade for row in rows] == [1, 0]
    [warning] = problems.warnings
    assert "column 'is_relevant': true was read as 1, false as 0" in str(warning)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            ["qid", "docid", "stars", "note"],
            "is it stars, note[?] Choose it, or say that every row",
        ),
        (["qid", "docid", "label", "rating"], "is it label, rating[?]"),
        (["qid", "docid"], "there is none left. .*or say that every row is relevant"),
    ],
)
def test_where_a_column_is_left_over_it_is_asked_which_is_the_grade(columns, words):
    with pytest.raises(MappingError, match=words):
        checked(Content.QRELS, guessed(Content.QRELS, columns), columns)


def test_a_run_of_ranks_alone_falls_with_them(tmp_path):
    content, mapping = b"7\t12\t1\n7\t44\t2\n", {"query": "column 1", "document": "column 2"}

    rows, problems = read(tmp_path, "run", content, {**mapping, "rank": "column 3"})

    assert problems == []
    assert [(row.docid, row.score) for row in rows] == [("12", -1.0), ("44", -2.0)]


def test_smart_and_trec_documents_are_tables_too(tmp_path):
    smart = b".I 1\n.T\nOn wings\n.A\nme\n.W\nlift and\ndrag\n.I 2\n.T\nNo text\n"
    trec = (
        b"<DOC>\n<DOCNO> FT-1 </DOCNO>\n<HEADLINE>Rain &amp; sun</HEADLINE>\n<P>Wet.</P>\n</DOC>\n"
    )

    [first, second], _ = read(tmp_path, "documents", smart)
    [document], _ = read(tmp_path, "documents", trec)

    assert (first.docid, first.title, first.text) == ("1", "On wings", "lift and\ndrag")
    assert first.metadata == {"author": "me"}
    assert (second.line, second.text) == (9, "")
    assert (document.docid, document.title, document.text) == ("FT-1", "Rain & sun", "Wet.")


def test_blanks_after_a_marker_of_smart_are_no_text(tmp_path):
    plain = b".I 1\n.T\nOn wings\n.A\nme\n.W\nlift\n.T x is text\n"
    blank = b".I  1 \r\n.T \r\nOn wings\r\n.A\t\r\nme\r\n.W  \r\nlift\r\n.T x is text\r\n"

    (row,), _ = read(tmp_path, "documents", plain)

    assert (row.docid, row.title, row.text) == ("1", "On wings", "lift\n.T x is text")
    assert read(tmp_path, "documents", blank) == ([row], [])


@pytest.mark.parametrize(
    ("what", "content", "line", "words"),
    [
        ("documents", b"id,text\nd 1,x\n", 2, "white space"),
        ("documents", b"id,text\n,x\n", 2, "the id is empty"),
        ("documents", b"id,text\nd1,x,y\n", 2, "has 3 cells; expected 2"),
        ("documents", b'id,text\nd1,"x\n', 2, "is not CSV"),
        ("documents", b"id,text\nd1,caf\xe9\xc3\xa9\n", 2, "is not UTF-8"),
        ("documents", b"id,id,text\nd1,d2,x\n", 1, "two columns called 'id'"),
        ("documents", b"id,,text\nd1,d2,x\n", 1, "column 2 has no name"),
        ("documents", b"d1\tx\ny\n", 2, "has 1 columns; expected 2"),
        ("documents", b'{"id": "d1", "text": {"a": 1}}\n', 1, "expected a text"),
        ("documents", b'{"id": 1.5, "text": "x"}\n', 1, "document id (column 'id') is '1.5'"),
        ("documents", b'{"id": "d1", "text": "a\\u0000b"}\n', 1, "NUL character"),
        ("documents", b'{"id": "d1", "text": "x"}\nnot json\n', 2, "is not JSON"),
        (
            "documents",
            b'[{"id": "d1", "text": "x"}]\n{"id": "d2", "text": ""}\n',
            1,
            "is JSON but not an object",
        ),
        ("documents", b"<DOC>\n<DOCNO>1</DOCNO>\nx\n", 1, "is never closed"),
        ("documents", b"<DOC>\nx\n</DOC>\n", 1, "has no <DOCNO>"),
        ("documents", b"<DOC>\n<DOCNO>1</DOCNO>\ncaf\xe9\xc3\xa9\n</DOC>\n", 3, "is not UTF-8"),
        ("queries", b"qid,text\nq1,\n", 2, "text is empty"),
        ("queries", b"qid,text\nq1,a\nq1,b\n", 3, "was on line 2 already"),
        ("queries", b"qid,text,frequency\nq1,a,often\n", 2, "frequency is 'often'"),
        ("queries", b"qid,text,last_seen\nq1,a,May\n", 2, "last_seen is 'May'"),
        ("queries", b"qid,text,clicks\nq1,a,many\n", 2, "clicks is 'many'"),
        ("queries", b"qid,text\nq 1,x\n", 2, "white space"),
        ("queries", b"qid,text,frequency\nq,x,-1\n", 2, "frequency is '-1'"),
        ("queries", b"qid,text,frequency\nq,x,1.5\n", 2, "frequency is '1.5'"),
        (
            "queries",
            b"qid,text,last_seen\nq,x,9999-12-31T23-09:00\n",
            2,
            "last_seen is '9999-12-31",
        ),
        ("queries", b"qid,text,first_seen\nq,x,31.5.2024\n", 2, "first_seen is '31.5.2024'"),
        ("queries", b"qid,text,last_seen\nq,x,9999-12-31T23:00-02:00\n", 2, "last_seen is '9999"),
        (
            "queries",
            b"qid,text,lang\nq,x,as it is spoken in the north of Spain\n",
            2,
            "such as en or",
        ),
        ("queries", b'{"_id": "q", "text": "x", "lang": 1}\n', 1, "lang is 1; expected a string"),
        ("queries", b'{"_id": "q", "text": "x", "frequency": true}\n', 1, "frequency is True"),
        (
            "qrels",
            b"query_id,docid,grade\nq1,d1,high\nq1,d2,1\n",
            2,
            "grade (column 'grade') is 'high'",
        ),
        ("qrels", b"query_id,docid,grade\nq1,d1,0.5\n", 2, "expected a whole number"),
        ("qrels", b"query_id,docid,grade\nq1,d1,200\n", 2, "grades go from -127 to 127"),
        ("run", b"query_id,docid,score\nq1,d1,n/a\n", 2, "score (column 'score') is 'n/a'"),
        ("run", b"query_id;docid;score\nq1;d1;-1,5\n", 2, "Write its decimals after a point."),
        ("run", b"query_id,docid,score\nq1,d1,nan\n", 2, "expected a number"),
        ("run", "query_id,docid,score\nq1,d1,\u0661\n".encode(), 2, "expected a number"),
        ("run", b"query_id,docid,rank\nq1,d1,first\n", 2, "rank is 'first'"),
        pytest.param(
            *(
                "run",
                b'{"qid": "q1", "docid": "d1", "rank": 1' + 400 * b"0" + b"}",
                1,
                "rank is '10",
            ),
            id="rank",
        ),
    ],
)
def test_what_cannot_be_taken_is_told_with_its_line(tmp_path, what, content, line, words):
    _, problems = read(tmp_path, what, content)

    assert len(problems) == 1
    assert problems[0][0] == line
    assert words in problems[0][1]


def test_a_parquet_file_cut_short_says_so(tmp_path):
    out = io.BytesIO()
    pl.DataFrame({"id": ["d1"], "text": ["x"]}).write_parquet(out)

    with pytest.raises(ArchiveError, match="the Parquet file is damaged or cut short"):
        read(tmp_path, "documents", out.getvalue()[:-20])


# The three counts of 50 rows stand in the footer in this order: of file, column and row group.
@pytest.mark.parametrize(("which", "n"), [(0, 0), (1, 0), (2, 25)], ids=["file", "column", "group"])
def test_parquet_file_with_another_count_than_rows_is_damaged(tmp_path, which, n):
    out = io.BytesIO()
    frame = pl.DataFrame({"id": [f"d{number}" for number in range(50)]})
    frame.write_parquet(out, statistics=False)
    count, other = b"\x16" + bytes([2 * 50]), b"\x16" + bytes([2 * n])
    pieces = out.getvalue().rsplit(count, 3)
    marks = [other if place == which else count for place in range(3)]
    path = tmp_path / "log.parquet"
    path.write_bytes(b"".join(map(operator.add, pieces, [*marks, b""])))

    for rows in (parquet_rows(path, "f"), open_table(path, file="f").rows()):
        with pytest.raises(ArchiveError, match=r"says \d+ rows and gives (0|25); it is damaged"):
            list(rows)


def test_parquet_file_without_rows_has_none(tmp_path):
    path = tmp_path / "empty.parquet"
    pl.DataFrame(schema={"id": pl.String}).write_parquet(path)

    assert list(parquet_rows(path, "f")) == []


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"text": "b"}, "no column is chosen for the document id; the columns are a, b"),
        ({"id": "a", "text": "z"}, "there is no column 'z' for text; the columns are a, b"),
        ({"id": "a", "text": "a"}, "column 'a' is chosen for two things"),
        ({"id": "a", "text": "b", "size": "a"}, "documents have no field 'size'"),
    ],
)
def test_a_mapping_that_cannot_be_says_why(mapping, words):
    with pytest.raises(MappingError, match=words):
        checked(Content.DOCUMENTS, mapping, ["a", "b"])


def test_a_run_needs_a_score_or_a_rank():
    with pytest.raises(MappingError, match="no column is chosen for the score or rank"):
        checked(Content.RUN, {"query": "a", "document": "b"}, ["a", "b"])


def test_a_pair_that_is_none_says_how_one_looks():
    with pytest.raises(MappingError, match="'id' is not field=column, such as id=doc_id"):
        parsed("id")


# --- passages, families, weights -----------------------------------------------------------------

ROW = {
    "query_id": "q1",
    "query": "who",
    "positive_passages": [{"docid": "7#1", "title": "T", "text": "x"}],
    "negative_passages": [{"docid": "7#2", "title": "T", "text": "y"}],
}


def test_negative_passages_were_judged_and_have_grade_0():
    problems = Problems()

    queries = list(passages.passage_query_rows([(1, ROW)], file="f", problems=problems, lang="sw"))
    qrels = list(passages.passage_qrel_rows([(1, ROW)], file="f", problems=problems))
    documents = list(
        passages.passage_document_rows([(1, ROW), (2, ROW)], file="f", problems=problems)
    )

    assert not problems.found
    assert [(row.qid, row.text, row.lang) for row in queries] == [("q1", "who", "sw")]
    assert [(row.docid, row.grade) for row in qrels] == [("7#1", 1), ("7#2", 0)]
    assert [row.docid for row in documents] == ["7#1", "7#2"]


def test_a_passage_of_two_texts_is_told():
    other = ROW | {"positive_passages": [{"docid": "7#1", "title": "T", "text": "z"}]}
    problems = Problems()

    rows = passages.passage_document_rows([(1, ROW), (2, other)], file="f", problems=problems)

    assert [row.text for row in rows] == ["x", "y"]
    assert [(problem.line, problem.text[:32]) for problem in problems.found] == [
        (2, "passage '7#1' has another text h")
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"positive_passages": "7#1"}, "positive_passages is not a list"),
        ({"positive_passages": [{"title": "T"}]}, "positive_passages, passage 1: has no docid"),
        (
            {"negative_passages": [{"docid": "7 1"}]},
            "negative_passages, passage 1: the id holds white",
        ),
        (
            {"positive_passages": [{"docid": "d", "text": "a\0"}]},
            "positive_passages, passage 1: text holds a NUL character",
        ),
        (
            {"positive_passages": [{"docid": "d", "title": {"en": "T"}}]},
            "positive_passages, passage 1: title is no text ({'en'",
        ),
    ],
)
def test_passages_that_are_none_are_told(change, words):
    problems = Problems()

    list(passages.passage_qrel_rows([(3, ROW | change)], file="f", problems=problems))

    assert [problem.line for problem in problems.found] == [3]
    assert words in problems.found[0].text


@pytest.mark.parametrize(
    ("reader", "content", "words"),
    [
        (pairs.read_families, b"query-id\tfamily\nq1\ta\nq1\tb\n", "is in family 'a' and in 'b'"),
        (pairs.read_families, b"query-id\tfamily\nx\ty\nq1 a\n", "expected 2 (query-id, family)"),
        (pairs.read_weights, b"query-id\tweight\nx\t1\nq1\t0\n", "expected a number above 0"),
        (pairs.read_weights, b"query-id\tweight\nx\t1\nq1\tinf\n", "expected a number above 0"),
        (pairs.read_weights, b"query-id\tweight\nx\t1\nx\t2\n", "has another weight above"),
    ],
)
def test_wrong_lines_of_families_and_weights_are_told(reader, content, words):
    problems = Problems()

    reader(io.BytesIO(content), file="f", problems=problems)

    assert [problem.line for problem in problems.found] == [3]
    assert words in problems.found[0].text


# --- runs in blocks ------------------------------------------------------------------------------


def blocks(content: bytes) -> tuple[list, list]:
    problems = Problems()
    try:
        frames = list(run_frames(io.BytesIO(content), file="r", problems=problems))
    except FileProblemsError:
        frames = []
    rows = [row for frame in frames for row in frame.iter_rows()]
    return rows, [(problem.line, problem.text) for problem in [*problems.found, *problems.warnings]]


@pytest.mark.parametrize("size", [16, 40, 1 << 20])
@pytest.mark.parametrize("oddity", [b"", b"# a comment\n", b"\n", b"q9 Q0 caf\xc3\xa9 1 1 t\n"])
def test_a_run_in_blocks_is_the_run_line_by_line(monkeypatch, size, oddity):
    lines = [b"q%d Q0 d%d %d %d.5 t\n" % (n // 3, n, n % 3, 9 - n % 3) for n in range(12)]
    monkeypatch.setattr("benchwright.runs.blocks.BLOCK_BYTES", size)

    rows, problems = blocks(b"".join([*lines[:3], oddity, *lines[3:]]).rstrip(b"\n"))

    expected = [(n + 1 + (bool(oddity) and n > 2), f"q{n // 3}", f"d{n}") for n in range(12)]
    assert [row[:3] for row in rows if row[1] != "q9"] == expected
    assert problems == []


def test_wrong_lines_of_a_run_in_blocks_have_their_numbers(monkeypatch):
    monkeypatch.setattr("benchwright.runs.blocks.BLOCK_BYTES", 24)
    lines = [b"q1 Q0 d1 1 3 t", b"q1 Q0 d2 2 n/a t", b"q1 Q0 d3 3", b"q1 Q0 d4 4 9 t"]

    _, problems = blocks(b"\n".join(lines))

    assert [line for line, _ in problems] == [2, 3, 4]
    assert "score is 'n/a'" in problems[0][1]
    assert "4 columns; expected 6" in problems[1][1]
    assert "expected scores that fall as ranks rise" in problems[2][1]
