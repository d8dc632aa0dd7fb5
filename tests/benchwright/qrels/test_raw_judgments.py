import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.files.cells import FORMULA_STARTS, safe_cell
from benchwright.qrels.raw_judgments import COLUMNS, RawJudgment, csv_lines, in_chunks, jsonl_lines


def row(event: int = 1, **values) -> RawJudgment:
    empty = dict.fromkeys(COLUMNS, "") | {
        "grade": 2,
        "evidence": [],
        "guideline": None,
        "shown_chars": None,
        "position": 3,
        "dwell_ms": None,
        "is_extra": False,
        "supersedes": None,
        "superseded_by": None,
    }
    return RawJudgment(**(empty | {"event": event} | values))


def test_a_line_of_json_has_every_column_in_order():
    (line,) = jsonl_lines([row(7, note="ä\n“b”", evidence=[{"start": 1, "end": 2, "text": "x"}])])

    read = json.loads(line)
    assert list(read) == list(COLUMNS)
    assert (read["event"], read["note"], read["guideline"]) == (7, "ä\n“b”", None)
    assert read["evidence"] == [{"start": 1, "end": 2, "text": "x"}]
    assert line.count("\n") == 1


def test_csv_has_a_header_and_empty_cells_for_what_is_unknown():
    text = "".join(csv_lines([row(1, is_extra=True), row(2, evidence=[{"start": 0}])]))

    first, second = csv.DictReader(io.StringIO(text, newline=""))
    assert list(first) == list(COLUMNS)
    assert (first["guideline"], first["evidence"], first["is_extra"]) == ("", "", "true")
    assert json.loads(second["evidence"]) == [{"start": 0}]


def test_an_export_of_nothing_is_a_header_or_nothing():
    assert list(csv_lines([])) == [",".join(COLUMNS) + "\r\n"]
    assert list(jsonl_lines([])) == []


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2", "@SUM(A1)", "\tx", "\rx", "\n=1"])
def test_formula_gets_an_apostrophe(text):
    assert safe_cell(text) == f"'{text}"


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_cell_of_csv_begins_as_a_formula(note, docid):
    text = "".join(csv_lines([row(note=note, document=docid)]))

    (read,) = csv.DictReader(io.StringIO(text, newline=""))
    assert not any(value.startswith(FORMULA_STARTS) for value in read.values())
    assert read["note"].removeprefix("'") == note.removeprefix("'")


@given(st.lists(st.text(min_size=1), max_size=500))
def test_chunks_are_the_same_text(lines):
    assert "".join(in_chunks(lines)) == "".join(lines)
