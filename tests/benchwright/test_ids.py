import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.ids import MAX_ID_BYTES, id_problem, sorted_ids


@pytest.mark.parametrize("text", ["d1", "123", "0", "文書-7", "e\u0301", '"q', "a#b", "x" * 512])
def test_ordinary_ids_are_taken(text):
    assert id_problem(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("two words", "white space (U+0020)"),
        ("a\tb", "white space (U+0009)"),
        ("line\u2028end", "white space (U+2028)"),
        ("nb\u00a0sp", "white space (U+00A0)"),
        ("nul\0", "control character (U+0000)"),
        ("\ufeffq1", "control character (U+FEFF)"),
        ("half\ud800", "lone surrogate"),
        ("x" * 513, "513 bytes"),
        ("文" * 171, "513 bytes"),
    ],
)
def test_other_ids_are_refused_with_the_reason(text, words):
    assert words in (id_problem(text) or "")


@given(st.text(max_size=600))
def test_a_taken_id_survives_a_line_of_a_file(text):
    if id_problem(text) is None:
        assert text.split() == [text]
        assert 1 <= len(text.encode()) <= MAX_ID_BYTES


def test_ids_are_sorted_by_their_encoded_bytes_and_not_by_utf16_or_case():
    assert sorted_ids(["b", "\U00010000", "\uffff", "B", "é"]) == [
        "B",
        "b",
        "é",
        "\uffff",
        "\U00010000",
    ]
