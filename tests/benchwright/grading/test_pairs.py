"""Pairs from JSON lines: what is wrong is told with its line."""

import json

import pytest

from benchwright.errors import FileProblemsError
from benchwright.grading import Pair, read_pairs


def lines(*rows):
    return [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]


def test_pairs_are_read_with_and_without_ids():
    read = read_pairs(
        lines(
            {"query_id": "q", "document_id": 7, "query": "a", "document": "b", "description": "c"},
            b"\n",
            {"query": "a", "document": ["b", {"url": "https://example.org/x.png"}]},
        )
    )

    assert read[0] == Pair("q", "7", "a", "b", "c")
    assert (read[1].query_id, read[1].document_id) == ("line-3", "line-3")
    assert read[1].document[1].url == "https://example.org/x.png"


def test_what_may_be_left_out_may_be_null():
    row = {"query": "a", "document": "b", "query_id": None, "document_id": None}

    assert read_pairs(lines({**row, "description": None})) == [Pair("line-1", "line-1", "a", "b")]


WRONG = [
    (b"{", "it is not JSON"),
    ([], "it is no JSON object"),
    ({"query": "a"}, "'document' is not there"),
    ({"query": " ", "document": "b"}, "'query' is empty"),
    ({"query": "a", "document": 3}, "'document': it is neither a text"),
    ({"query": "a", "document": {"image": "x.png"}}, "no folder of images is given (--images)"),
    ({"query": "a", "document": "b", "grade": 1}, "'grade' is not known; expected query"),
    ({"query": "a", "document": "b", "query_id": ""}, "'query_id' is no text"),
    ({"query": "a", "document": "b", "description": 1}, "'description' is no text"),
]


@pytest.mark.parametrize(("row", "words"), WRONG)
def test_line_that_is_no_pair_is_told(row, words):
    good = {"query": "a", "document": "b"}

    with pytest.raises(FileProblemsError) as caught:
        read_pairs(lines(good, row), name="pairs.jsonl")

    assert str(caught.value).startswith("pairs.jsonl:2: ")
    assert words in str(caught.value)


def test_pair_that_comes_twice_is_told_with_both_lines():
    row = {"query_id": "q", "document_id": "d", "query": "a", "document": "b"}

    with pytest.raises(FileProblemsError, match="query q with document d is in line 1 already"):
        read_pairs(lines(row, row))


def test_file_without_a_pair_is_refused(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n")

    with pytest.raises(FileProblemsError, match=r"pairs\.jsonl: no pair in it"):
        read_pairs(path)
