"""The twin's parts against straightforward Python: what it skips must not be needed."""

import io
import random
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import ArchiveError, Problems
from benchwright.files.sources import DEFAULT_LIMITS, Limits
from benchwright.formats.trec import RankCheck, RunRow
from benchwright.reading import Hit, ranked, twin
from benchwright.reading.plain import Rows
from benchwright.reading.shapes import Shape
from benchwright.reading.twin import (
    _Query,
    _Scan,
    line_numbers,
    order_of_tie,
    rank_hits,
    scan_grades,
    whole_lines,
)

LINES = st.lists(st.sampled_from([b"\n", b"a\n", b"bcd\n", b"efghijkl\n"]), max_size=9)


@given(lines=LINES, size=st.integers(1, 12), is_open=st.booleans())
def test_blocks_are_whole_lines_and_give_the_file_with_the_number_of_their_first(
    lines, size, is_open
):
    content = b"".join(lines)
    ended = content if not is_open else content + b"more\n"

    blocks = list(whole_lines(io.BytesIO(ended[:-1] if is_open else content), "run", size))

    assert b"".join(block for _, block in blocks) == ended
    before = b""
    for number, block in blocks:
        assert block.endswith(b"\n")
        assert number == before.count(b"\n") + 1
        before += block


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9, 10])
@pytest.mark.parametrize("before", [b"", b"a\n", b"a\nbc\n", b"abcdefgh\n"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\nmore\n"])
def test_longest_line_has_so_many_bytes_and_its_line_feed(monkeypatch, size, before, end):
    monkeypatch.setattr(twin, "DEFAULT_LIMITS", Limits(max_line_bytes=10))

    def read(line):
        return [*whole_lines(io.BytesIO(before + line + end), "run", size)]

    n_fits = 10 - bool(end)
    assert b"".join(block for _, block in read(b"x" * n_fits)).startswith(before + b"x" * n_fits)
    number = before.count(b"\n") + 1
    with pytest.raises(ArchiveError, match=r"run: line \d+ has more than 10 bytes") as caught:
        read(b"x" * (n_fits + 1))
    # Of a block that begins with shorter lines, the number is of the first of them.
    assert int(str(caught.value).split("line ")[1].split()[0]) <= number


def test_longest_line_is_that_of_the_other_readers():
    assert twin.DEFAULT_LIMITS is DEFAULT_LIMITS


# --- qrels ---------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 9, 1 << 17])
@pytest.mark.parametrize(
    ("qrels", "grades"),
    [
        (b"q 0 a 1\np 0 a 3\nq 0 c 0", {b"q": {b"a": 1, b"c": 0}, b"p": {b"a": 3}}),
        (b"", {}),
        (b"q 0 a 1\nq 0 a 1\n", None),
        (b"q 0 a 1\np 0 a 1\nq 0 a 2\n", None),
        (b"q 0 a 1\nq 0 b x\n", None),
        (b"q 0 a 1\n\nq 0 b 1\n", None),
        (b"q 0 a\n", None),
        (b"q 0 a 1 x\n", None),
        (b"\xef\xbb\xbfq 0 a 1\n", None),
        (b"q 0 a 1\rq\n", None),
    ],
)
def test_grades_are_taken_at_once_where_every_line_is_as_it_should_be(
    tmp_path, qrels, grades, block
):
    (tmp_path / "qrels").write_bytes(qrels)

    assert scan_grades(tmp_path / "qrels", block=block) == grades


# --- passes --------------------------------------------------------------------------------


def made_scan(path=Path("run"), *, is_kept=False, depth=None, ties="trec", grades=None):
    return _Scan(path, grades or {}, Shape("trec", 1), ties, depth, Problems(), is_kept)


@pytest.mark.parametrize(
    ("queries", "n_passes", "n_held"),
    [((b"1", b"2", b"3"), 1, 1), ((b"1", b"2", b"1"), 2, 2), ((b"1",), 1, 1)],
)
def test_file_is_read_once_and_a_query_held_unless_one_comes_back(
    tmp_path, monkeypatch, queries, n_passes, n_held
):
    passes = []

    def noted(*arguments):
        passes.append(_Scan(*arguments))
        return passes[-1]

    monkeypatch.setattr(twin, "_Scan", noted)
    rows = [b"%b Q0 d%d 1 %d t\n" % (qid, n, -n) for n, qid in enumerate(queries)]
    (tmp_path / "run").write_bytes(b"".join(rows))
    rules = {"shape": Shape("trec", 1), "ties": "trec", "depth": None}

    hits = twin.scan(tmp_path / "run", {}, problems=Problems(), block=1, **rules)

    assert {qid: of.n_retrieved for qid, of in hits.items()} == {
        qid: queries.count(qid) for qid in queries
    }
    assert (len(passes), len(passes[-1].queries)) == (n_passes, n_held)


def test_plain_lines_of_a_block_are_taken_at_once_and_odd_ones_one_by_one():
    """Scores stay as they are written, and line numbers are told once, where rows came together."""
    plain = b"".join(b"q Q0 d%d %d 0.5 t\n" % (n, n) for n in range(4))
    reading, slowly = made_scan(), made_scan()

    reading.take_block(1, plain)
    slowly.take_block(1, plain.replace(b"d1", b"d\0"))

    assert (reading.current.form, reading.current.lines) == ((3, 1), [(0, 1)])
    assert reading.current.scores == [b"0.5"] * 4
    assert (slowly.current.form, slowly.current.lines) == (None, [(n, n + 1) for n in range(4)])


# --- ranks ---------------------------------------------------------------------------------

RANKS = st.lists(st.sampled_from([b"1", b"2", b"3", b"07", b"x"]), min_size=1, max_size=5)


@given(
    runs=st.lists(st.tuples(st.sampled_from([b"q", b"p"]), RANKS, st.booleans()), max_size=4),
    counted=st.integers(0, 9),
    data=st.data(),
)
def test_ranks_are_seen_as_if_each_row_was(runs, counted, data):
    reading, problems = made_scan(), Problems()
    check, line = RankCheck("run", problems), 1
    for qid, ranks, is_counting in runs:
        if is_counting:
            ranks = [b"%d" % (counted + n) for n in range(len(ranks))]
        scores = data.draw(st.lists(st.integers(0, 3), min_size=len(ranks), max_size=len(ranks)))
        if data.draw(st.booleans()):
            scores.sort(reverse=True)
        rows = Rows(qid, ranks, ranks, [float(score) for score in scores], None)

        reading.see_ranks(rows, line, rows.order)
        for n, (rank, score) in enumerate(zip(ranks, rows.scores, strict=True)):
            check.see(qid, line + n, twin.whole_number(rank), score)
        line += len(ranks)

    assert reading.reader.ranks.last == check.last
    assert [*map(str, reading.problems.warnings)] == [*map(str, problems.warnings)]


@pytest.mark.parametrize(
    ("first", "n", "is_counting"),
    [(0, 3, True), (7, 1, True), (99_990, 10, True), (99_990, 11, False), (100_000, 1, False)],
)
def test_ranks_are_known_to_count_up_to_a_hundred_thousand(first, n, is_counting):
    reading = made_scan()
    ranks = [b"%d" % k for k in range(first, first + n)]

    assert reading._is_counting(ranks) is is_counting
    assert reading._is_counting(ranks) is is_counting
    assert len(reading.counting) == (first + n if is_counting else 0)
    assert not reading._is_counting([*ranks, ranks[0]])
    assert not reading._is_counting([b"x", *ranks])
    assert not reading._is_counting([b"0" + ranks[0], *ranks[1:]])
    assert not reading._is_counting([b"9" * 5_000, *ranks])  # int() takes no number of that length


# --- rows and ranking ----------------------------------------------------------------------


@given(
    parts=st.lists(
        st.tuples(st.integers(1, 50), st.lists(st.sampled_from([b"1", b"2", b"30"]), min_size=1)),
        min_size=1,
        max_size=4,
    )
)
def test_rows_of_a_query_come_together_from_their_parts(parts):
    reading, scores, lines = made_scan(), [], []
    for line, tokens in parts:
        form = (len(tokens[0]), -1) if len(set(map(len, tokens))) == 1 else None
        part = Rows(b"q", tokens, tokens, tokens if form else [*map(float, tokens)], form)
        reading.take(b"q", line, list(tokens), part.scores, part.order, form)
        scores += map(float, tokens)
        lines += range(line, line + len(tokens))

    query = reading.current

    assert [float(score) for score in query.scores] == scores
    assert query.docids == [token for _, tokens in parts for token in tokens]
    assert list(line_numbers(query)) == lines
    assert query.is_descending == (sorted(scores, reverse=True) == scores)
    if query.is_descending:
        assert query.has_ties == (len(set(scores)) < len(scores))


def groups_with_hits(rows, grades):
    rank, ranks = 1, []
    for _, equal in groupby(rows, key=lambda row: row.score):
        docids = [row.docid for row in equal]
        if len(docids) > 1 and set(docids) & set(grades):
            ranks.append((rank, len(docids)))
        rank += len(docids)
    return ranks


@given(
    scores=st.lists(st.sampled_from([1.0, 2.0, 2.00000001, 3.0]), min_size=1, max_size=8),
    ties=st.sampled_from(["trec", "trec9", "docid-asc", "file", "expected"]),
    is_sorted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_hits_are_ranked_as_if_all_results_were_sorted(scores, ties, is_sorted, seed):
    scores = sorted(scores, reverse=True) if is_sorted else scores
    docids = random.Random(seed).sample([b"d%d" % n for n in range(9)], len(scores))
    grades = {docid: n for n, docid in enumerate(docids) if n % 2 == seed % 2}
    order = Rows(b"q", [], [], scores, None).order
    query = _Query(b"q", docids, scores, None, [(0, 1)], order != "not", order == "with ties")
    rows = ranked([RunRow(0, b"q", *row) for row in zip(docids, scores, strict=True)], ties)

    hits, groups = rank_hits(query, grades, ties)

    assert hits == [
        Hit(rank, grades[row.docid]) for rank, row in enumerate(rows, 1) if row.docid in grades
    ]
    assert groups == (groups_with_hits(rows, grades) if ties == "expected" else [])


@pytest.mark.parametrize(
    ("ties", "order"),
    [("file", [b"b", b"c", b"a"]), ("docid-asc", [b"a", b"b", b"c"]), ("trec", [b"c", b"b", b"a"])],
)
def test_documents_of_a_tie_have_places_from_zero(ties, order):
    docids, scores = [b"b", b"x", b"c", b"a"], [1.0, 2.0, 1.0, 1.0]

    assert order_of_tie(docids, scores, 1.0, ties) == {docid: n for n, docid in enumerate(order)}


@pytest.mark.parametrize("depth", [None, 1, 2, 3, 4])
def test_hits_and_results_are_cut_at_the_depth(depth):
    reading = made_scan(depth=depth, grades={b"q": {b"a": 1, b"b": 2, b"c": 3}})
    query = _Query(b"q", [b"a", b"b", b"c"], [3.0, 2.0, 1.0], None, [(0, 1)])

    reading.end(query)

    n = min(depth or 3, 3)
    result = reading.found[b"q"]
    assert (result.n_retrieved, [hit.rank for hit in result.hits]) == (n, [1, 2, 3][:n])
