import pytest

from benchwright.errors import Problems
from benchwright.formats.beir import CorpusRow, QueryRow
from benchwright.formats.tabular import docid_rows, query_table_rows


def read(data, reader=query_table_rows):
    problems = Problems()
    lines = data.encode().splitlines(keepends=True)
    rows = list(reader(iter(lines), file="f", problems=problems))
    return rows, [(problem.line, problem.text) for problem in problems.found]


@pytest.mark.parametrize("id_column", ["qid", "query-id", "query_id", "_id", "id", "QID"])
@pytest.mark.parametrize("text_column", ["text", "query", "Text"])
def test_the_usual_names_of_columns_are_understood(id_column, text_column):
    rows, found = read(f"{id_column},{text_column}\nq1,how to bake\n")

    assert (rows, found) == ([QueryRow(2, "q1", "how to bake")], [])


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_every_column_finds_its_place_and_others_become_metadata(delimiter):
    names = ["frequency", "qid", "text", "lang", "description", "narrative", "first_seen", "team"]
    cells = ["17", "q1", "bread", "en", "how", "why", "2024-05-31", "web"]

    rows, found = read("".join(delimiter.join(row) + "\r\n" for row in (names, cells)))

    assert found == []
    assert rows == [
        QueryRow(
            2,
            "q1",
            "bread",
            metadata={"team": "web"},
            description="how",
            narrative="why",
            lang="en",
            frequency=17,
            first_seen="2024-05-31",
        )
    ]


def test_json_lines_have_the_same_fields_and_beir_metadata_counts_too():
    line = '{"_id": "q1", "text": "b", "frequency": 3, "metadata": {"lang": "de", "x": [1]}}\n'

    rows, found = read(line)

    assert found == []
    assert rows == [QueryRow(1, "q1", "b", metadata={"x": [1]}, lang="de", frequency=3)]


def test_a_table_without_header_is_id_and_text():
    rows, found = read("q1\tbread, and butter\nq2\twith\ttabs\n")

    assert found == []
    assert rows == [QueryRow(1, "q1", "bread, and butter"), QueryRow(2, "q2", "with\ttabs")]


def test_a_quoted_cell_may_hold_a_line_break_and_lines_still_count_right():
    rows, found = read('qid,text\nq1,"a\nb ""c"", d"\nq2,e\nq1,f\n')

    assert rows == [QueryRow(2, "q1", 'a\nb "c", d'), QueryRow(4, "q2", "e")]
    assert found == [(5, "query q1 was on line 2 already; keep one of the two")]


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        ("", 0, "is empty"),
        ("qid,words\nq,x\n", 1, "expected a column qid"),
        ("qid,text,text\nq,x,y\n", 1, "two columns called 'text'"),
        ("qid,text\nq,x,y\n", 2, "has 3 cells, the header has 2"),
        ('qid,text\nq,"x\n', 2, "is not CSV"),
        ("qid,text\nq 1,x\n", 2, "white space"),
        ("qid,text\n,x\n", 2, "the id is empty"),
        ("qid,text\nq,\n", 2, "text is empty"),
        ("qid,text,frequency\nq,x,-1\n", 2, "frequency is '-1'"),
        ("qid,text,frequency\nq,x,1.5\n", 2, "frequency is '1.5'"),
        ("qid,text,first_seen\nq,x,31.5.2024\n", 2, "first_seen is '31.5.2024'"),
        ('{"_id": 1, "text": "x"}\n', 1, "query id is 1; expected a string"),
        ('{"_id": "q", "text": "x", "lang": 1}\n', 1, "lang is 1; expected a string"),
        ('{"_id": "q", "text": "x", "frequency": true}\n', 1, "frequency is True"),
        ('{"_id": "q", "query": 5}\n', 1, "text is 5; expected a string"),
        ("q1 bread\n", 1, "has no TAB"),
    ],
)
def test_what_cannot_be_a_query_is_told_with_its_line(data, line, words):
    rows, found = read(data)

    assert rows == []
    assert found[0][0] == line
    assert words in found[0][1]


def test_a_csv_that_is_not_utf8_is_told_with_its_line():
    problems = Problems()

    list(query_table_rows(iter([b"qid,text\n", b"q,caf\xe9\n"]), file="f", problems=problems))

    assert str(problems.found[0]) == "f:2: byte 6 is not UTF-8; save the file as CSV UTF-8"


def test_a_list_of_ids_makes_documents_without_text():
    rows, found = read("docid\nd1\nd 2\nd3\n", reader=docid_rows)

    assert rows == [CorpusRow(2, "d1"), CorpusRow(4, "d3")]
    assert [line for line, _ in found] == [3]
