"""Scales as people write them, a grade a line."""

import time

import pytest

from benchwright.qrels.scales import ScaleError, parse_scale


@pytest.mark.parametrize(
    ("line", "name", "anchor", "is_relevant"),
    [
        ("1 = Yes: it helps *", "Yes", "it helps", True),
        ("1=Yes*", "Yes", "", True),
        ("  1  =  Yes :  a: b * c  *  ", "Yes", "a: b * c", True),
        ("1 = Two words", "Two words", "", False),
        ("1 = Yes:", "Yes", "", False),
    ],
)
def test_line_says_grade_name_meaning_and_relevance(line, name, anchor, is_relevant):
    grade = {"value": 1, "name": name, "anchor": anchor, "is_relevant": is_relevant}

    assert parse_scale(f"0 = No\n{line}\n2 = Best *")[1] == grade


@pytest.mark.parametrize(
    "line",
    ["1", "one = Yes *", "11 = Yes *", "1 =", "1 = *", "1 = : it helps *", "1 = a * b", "= a"],
)
def test_other_lines_are_refused_with_their_number(line):
    with pytest.raises(ScaleError, match=r"^Line 2: "):
        parse_scale(f"0 = No\n{line}\n2 = Best *")


def test_line_of_blanks_is_read_at_once():
    started = time.process_time()

    with pytest.raises(ScaleError, match=r"^Line 1: "):
        parse_scale("0=" + " " * 1_000 + "x" + " " * 1_000 + "*x")

    assert time.process_time() - started < 1
