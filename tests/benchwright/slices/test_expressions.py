"""The language of slices: what expressions mean, and what is said of those that mean nothing."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.slices.asked import AskedQuery
from benchwright.slices.errors import ExpressionError
from benchwright.slices.expressions import glob_matches, parse_expression
from tests.examples import examples

QUERY = AskedQuery(
    "q7",
    "How to read a CSV file",
    lang="en",
    frequency=120,
    clicks={"d1": 3, "d2": 1},
    first_seen=date(2024, 5, 31),
    metadata={"topic": "Files", "level": 3, "price": "12.5", "is_new": True, "huge": 10**400},
    n_relevant=2,
)
BARE = AskedQuery("q8", "x")
SLICES = {"head": {"q7"}, "long tail": {"q9"}}


@pytest.mark.parametrize(
    ("source", "holds"),
    [
        ("frequency >= 100", True),
        ("frequency < 100", False),
        ("length = 6", True),
        ("characters > 21", True),
        ("clicks = 4", True),
        ("relevant <= 2", True),
        ('lang = "EN"', True),
        ('lang != "en"', False),
        ('id = "q7"', True),
        ('text contains "csv"', True),
        ('text matches "how to * file"', True),
        ('text matches "how to"', False),
        ('first_seen >= "2024-05-31"', True),
        ('first_seen < "2024-05-31"', False),
        ("last_seen is missing", True),
        ("frequency is not missing", True),
        ('metadata.topic = "files"', True),
        ('Metadata.topic = "files"', True),
        ("metadata.level > 2", True),
        ("metadata.huge > 2", False),
        ("metadata.price > 12", True),
        ("metadata.is_new = 1", False),
        ("metadata.nothing = 1", False),
        ("metadata.nothing is missing", True),
        ("in slice head", True),
        ('in slice "long tail"', False),
        ('NOT in slice "long tail" AND frequency >= 100', True),
        ("not frequency < 100 and not frequency > 200", True),
        ('lang = "de" or lang = "en" and frequency > 1000', False),
        ('(lang = "de" or lang = "en") and frequency > 100', True),
        ("not not in slice head", True),
    ],
)
def test_what_an_expression_means(source, holds):
    assert parse_expression(source).holds(QUERY, SLICES) is holds


@pytest.mark.parametrize(
    "source",
    [
        "frequency >= 0",
        "frequency != 5",
        'lang = "en"',
        'lang != "en"',
        'metadata.topic contains ""',
        'first_seen < "2999-01-01"',
    ],
)
def test_nothing_holds_of_what_a_query_lacks(source):
    assert not parse_expression(source).holds(BARE, SLICES)


@pytest.mark.parametrize(
    ("source", "column", "words"),
    [
        ("", 1, "found the end; expected a field"),
        ("frequency", 10, "found the end; expected one of = !="),
        ("frequency >= ", 13, "found the end; expected a number"),
        ('frequency >= "many"', 14, "expected a number, as frequency counts something"),
        ("lang = 5", 8, "as lang is no number"),
        ("lang = en", 8, "expected a number, or text in double quotes"),
        ("lang = 'en'", 8, "Replace the single quotes"),
        ('lang = "en', 8, 'this text has no closing "'),
        ("length = 3 length = 4", 12, "expected 'and', 'or' or the end"),
        ("(length = 3", 1, "this bracket is never closed"),
        ("lenght = 3", 1, "found 'lenght'; expected a field (text, id,"),
        ("metadata. = 3", 1, "expected a field"),
        ('first_seen > "May"', 14, "expected a day as year-month-day"),
        ('frequency matches "1*"', 11, "as frequency is no text"),
        ("text contains python", 15, "expected text in double quotes after contains"),
        ("in slice rare", 10, "there is no slice 'rare'. There are: head, long tail."),
        ("in slice 3", 10, "expected the name of a slice"),
        ("length = 3; drop", 11, "';' means nothing here"),
        ("__import__ = 1", 1, "found '__import__'; expected a field"),
        ("not " * 60 + "length = 1", 161, "nested deeper than 40"),
        ("length = 1 and " * 200, 2000, "at most 2000. Split it up."),
    ],
)
def test_what_cannot_be_read_is_told_with_its_column(source, column, words):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(source, SLICES)

    assert words in str(caught.value)
    assert caught.value.column == column


def test_an_expression_knows_which_slices_it_names():
    assert parse_expression('in slice head or in slice "b c"').slices == {"head", "b c"}


@settings(max_examples=examples(150))
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_with_a_column_in_it(source):
    try:
        parse_expression(source, SLICES)
    except ExpressionError as error:
        assert 1 <= error.column <= len(source) + 1


@settings(max_examples=examples(150))
@given(st.text("ab", max_size=8), st.text("ab*?", max_size=6))
def test_patterns_agree_with_a_plain_recursion(text, pattern):
    def plain(pattern: str, text: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "*":
            return plain(pattern[1:], text) or (bool(text) and plain(pattern, text[1:]))
        return bool(text) and pattern[0] in ("?", text[0]) and plain(pattern[1:], text[1:])

    assert glob_matches(pattern, text) is plain(pattern, text)


def test_a_pattern_of_many_stars_is_quick():
    assert not glob_matches("*a" * 200 + "b", "a" * 2000)
