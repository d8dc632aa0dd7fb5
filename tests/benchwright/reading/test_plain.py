"""The twin's quick half against straightforward Python: what it takes whole, and what it leaves."""

import re
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.reading.plain import (
    Rows,
    form_of,
    groups_of,
    numbers,
    rows_alike,
    run_columns,
    run_parts,
    split_columns,
    without_oddities,
)

TOKENS = st.sampled_from([b"a", b"b", b"#", b"a#", b"12"])
LINES = st.lists(st.lists(TOKENS, min_size=1, max_size=4), min_size=1, max_size=6)
NUMBER = re.compile(rb"[0-9]+|[0-9]*\.[0-9]*(?<=[0-9.][0-9.])")


def lines_of(rows):
    return b"".join(b" ".join(row) + b"\n" for row in rows)


@given(rows=LINES, n=st.integers(1, 4))
def test_lines_of_so_many_columns_are_split_and_no_others(rows, n):
    is_plain = all(len(row) == n and not row[0].startswith(b"#") for row in rows)

    columns = [list(column) for column in zip(*rows, strict=True)] if is_plain else None

    assert split_columns(lines_of(rows), n) == columns


def test_line_with_a_column_too_many_is_not_made_up_for_by_one_with_a_column_too_few():
    assert split_columns(b"a b c\na\n", 2) is None
    assert split_columns(b"a\na b c\n", 2) is None
    assert split_columns(b"a \0\nb c\n", 2) == [[b"a", b"b"], [b"\0", b"c"]]


@given(qids=st.lists(st.sampled_from([b"1", b"2", b"3"]), max_size=30))
def test_groups_are_those_of_equal_ids_that_stand_together(qids):
    starts, lines = 0, []
    for _, group in groupby(qids):
        stop = starts + len(list(group))
        lines.append((starts, stop))
        starts = stop

    assert list(groups_of(qids)) == lines


@given(tokens=st.lists(st.text("0123.-e", min_size=1, max_size=3), min_size=1, max_size=3))
def test_numbers_have_a_form_where_they_are_written_alike(tokens):
    tokens = [token.encode() for token in tokens]
    alike = {(len(token), token.find(b".")) for token in tokens}

    is_one = len(alike) == 1 and all(NUMBER.fullmatch(token) for token in tokens)

    assert form_of(tokens) == (alike.pop() if is_one else None)


@pytest.mark.parametrize(
    ("token", "form"),
    [
        (b"1" * 15, (15, -1)),
        (b"1" * 16, None),
        (b"." + b"1" * 15, (16, 0)),
        (b"1." + b"1" * 14, (16, 1)),
        (b"1." + b"1" * 15, None),
        (b"5", (1, -1)),
        (b".", None),
        (b"5.", (2, 1)),
    ],
)
def test_form_is_of_numbers_that_are_as_many_doubles_as_tokens(token, form):
    assert form_of([token]) == form_of([token] * 3) == form


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([b"1", b"-2.5e1"], [1.0, -25.0]),
        ([b"1", b"x"], None),
        ([b"1_0"], None),
        ([b"1", b"nan"], None),
        ([b"inf", b"-inf"], None),
        ([b"inf", b"1"], [float("inf"), 1.0]),
    ],
)
def test_scores_are_converted_where_all_are_numbers(tokens, expected):
    assert numbers(tokens, b" ".join(tokens)) == expected
    assert numbers(tokens, b"q_1 " + b" ".join(tokens)) == expected


@pytest.mark.parametrize(
    ("block", "is_start", "expected"),
    [
        (b"a b\r\nc\n", True, b"a b\nc\n"),
        (b"a\rb\n", False, None),
        *((b"a%bb\n" % byte, False, None) for byte in (b"\0", b"\x0b", b"\x0c")),
        (b"\xef\xbb\xbfa\n", True, None),
        (b"\xef\xbb\xbfa\n", False, b"\xef\xbb\xbfa\n"),
        (b"a\n", True, b"a\n"),
    ],
)
def test_odd_bytes_and_a_mark_at_the_start_are_left_to_a_closer_look(block, is_start, expected):
    assert without_oddities(block, is_start=is_start) == expected


# --- rows of a run -------------------------------------------------------------------------


@st.composite
def runs(draw):
    """(query, document, rank, score) of queries in blocks, plain lines all of them."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    scores = draw(st.sampled_from([[b"0.5", b"1.5", b"2.5"], [b"1", b"-2", b"3e1"]]))
    return [
        (b"q%d" % query, b"d%d" % n, b"%d" % (n + 1), draw(st.sampled_from(scores)))
        for query, size in enumerate(sizes)
        for n in range(size)
    ]


def block_of(rows):
    return b"".join(b"%b Q0 %b %b %b t\n" % row for row in rows)


def expected_of(rows):
    """Of each query in turn its documents, ranks and scores."""
    grouped = groupby(rows, key=lambda row: row[0])
    return [(qid, *map(list, list(zip(*of, strict=True))[1:])) for qid, of in grouped]


def told(part):
    return part.qid, part.docids, part.ranks, [float(score) for score in part.scores]


@given(rows=runs())
def test_plain_lines_are_taken_as_rows_whatever_their_number(rows):
    queries = [
        (qid, docids, ranks, [*map(float, of)]) for qid, docids, ranks, of in expected_of(rows)
    ]

    assert [told(part) for part in run_parts(block_of(rows), is_start=True)] == queries
    assert [told(part) for part in run_columns(block_of(rows))] == queries


@given(rows=runs())
def test_rows_of_the_first_query_are_taken_with_their_tokens_and_where_they_end(rows):
    qid, docids, ranks, scores = expected_of(rows)[0]
    before = b"p Q0 d 1 2 t\n"

    taken, end = rows_alike(before + block_of(rows), len(before))

    assert (taken.qid, taken.docids, taken.ranks) == (qid, docids, ranks)
    assert end == len(before) + len(block_of([row for row in rows if row[0] == qid]))
    form = form_of(scores)
    assert taken.form == form
    assert taken.scores == (scores if form else [*map(float, scores)])


@pytest.mark.parametrize(
    "odd",
    [
        b"q Q0 d 1 2\n",
        b"q Q0 d 1 2 t t\n",
        b"q Q0  1 2 t\n",
        b"q Q0 d 1 2 \n",
        b"q Q0 d\t1 2 t\n",
        b"# Q0 d 1 2 t\n",
        b"q Q0 d 1 x t\n",
    ],
)
def test_odd_line_is_left_to_be_read_alone(odd):
    plain = b"q Q0 c 1 2 t\n"

    assert rows_alike(odd, 0) is None
    assert rows_alike(plain + b"q Q0 e 2 1 u\n", 0) is None


def test_scores_with_their_points_at_either_end_are_not_alike():
    assert form_of([b".5", b"5."]) is None
    assert form_of([b"5.", b".5"]) is None


@pytest.mark.parametrize("n", [1, 3, 4, 5])
def test_queries_are_split_one_by_one_while_they_are_long(n):
    """A form is known only of rows that were split query by query."""
    rows = [(b"q%d" % query, b"d%d" % k, b"1", b"0.5") for query in range(3) for k in range(n)]

    forms = [part.form for part in run_parts(block_of(rows), is_start=True)]

    assert forms == [(3, 1), *[(3, 1) if n >= 4 else None] * 2]


def test_rest_of_a_block_is_given_back_from_where_it_is_odd():
    plain = block_of([(b"q", b"d%d" % n, b"1", b"0.5") for n in range(4)])

    first, rest = run_parts(plain + b"r 0\nr Q0 d 1 0.5 t\n", is_start=True)

    assert first.docids == [b"d0", b"d1", b"d2", b"d3"]
    assert rest == b"r 0\nr Q0 d 1 0.5 t\n"
    assert list(run_parts(b"a\rb\n", is_start=True)) == [b"a\rb\n"]


@given(scores=st.lists(st.integers(0, 3).map(float), min_size=1, max_size=5))
def test_order_says_how_scores_go_down(scores):
    descending = sorted(scores, reverse=True) == scores
    is_strict = descending and len(set(scores)) == len(scores)

    order = Rows(b"q", [], [], scores, None).order

    assert order == ("strictly" if is_strict else "with ties" if descending else "not")
