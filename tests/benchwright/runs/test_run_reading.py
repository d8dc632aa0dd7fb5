"""A run read as columns is the run read line by line, and says the same where it cannot be."""

import gzip
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.errors import FileProblemsError, Problems
from benchwright.runs import ranked as run_reading
from benchwright.runs.ranked import ranked_run

PLAIN = b"q1 Q0 b 1 2.5 r\nq1 Q0 a 2 2.5 r\nq2 Q0 a 1 -1e-3 r\n"


def read(folder, content, **options):
    path = folder / "made.run"
    path.write_bytes(content)
    problems = Problems()
    rows = ranked_run(path, problems=problems, **options).sort("qid", "rank").rows()
    return rows, [str(warning) for warning in problems.warnings]


def read_slowly(folder, content, **options):
    with patch.object(run_reading, "_plain_columns", return_value=None):
        return read(folder, content, **options)


def test_the_best_score_ranks_first_and_ties_go_by_document_descending(tmp_path):
    rows, _ = read(tmp_path, PLAIN)

    assert rows == [("q1", "b", 1), ("q1", "a", 2), ("q2", "a", 1)]


def test_only_the_first_ranks_are_kept(tmp_path):
    assert read(tmp_path, PLAIN, depth=1)[0] == [("q1", "b", 1), ("q2", "a", 1)]


def test_a_plain_file_is_never_read_line_by_line(tmp_path):
    with patch.object(run_reading, "_line_by_line", side_effect=AssertionError):
        assert len(read(tmp_path, PLAIN)[0]) == 3
        assert len(read(tmp_path, gzip.compress(PLAIN))[0]) == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"q1 Q0 a 1 2.5 r\nq1 Q0 b 2 high r\n", "made.run:2: score is 'high'; expected a number"),
        (b"q1 Q0 a 1 2.5 r\nq1 Q0 b 2 NaN r\n", "made.run:2: score is 'NaN'"),
        (b"q1 Q0 a 1 2.5 r\nq1 Q0 b\n", "made.run:2: 3 columns; expected 6"),
        (
            b"q1 Q0 a 1 2 r\nq1 Q0 b 2 1 r\nq1 Q0 a 3 0 r\n",
            "made.run:3: query q1 had document a on",
        ),
        (b"q1 Q0 a\xff 1 2 r\n", "made.run:1: document id"),
        (b"q1 Q0 a\xc2\xa0b 1 2 r\n", "made.run:1: document id"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path, content, words):
    with pytest.raises(FileProblemsError, match=words):
        read(tmp_path, content)


@pytest.mark.parametrize("between", [b"", b"q2 Q0 a 1 1.0 r\n"])
def test_a_rank_that_contradicts_its_score_is_warned_of(tmp_path, between):
    _, warnings = read(tmp_path, b"q1 Q0 a 1 1.0 r\n" + between + b"q1 Q0 b 2 2.0 r\n")

    assert len(warnings) == 1
    assert "expected scores that fall as ranks rise" in warnings[0]


def test_an_empty_file_has_no_rows(tmp_path):
    assert read(tmp_path, b"") == ([], [])


ids = st.sampled_from(["q1", "q2", "d1", "d2", "d10", "é", "文", "a#b", '"a"', "a,b", "#c"])
scores = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-9, 9).map(str),
    st.sampled_from(
        ["1e3", "1E-3", "+2", "1.", ".5", "inf", "-inf", "nan", "9,5", "1_0", "0x1", "x"]
    ),
)
lines = st.builds(
    lambda qid, docid, rank, score, separator, end: (
        separator.join([qid, "Q0", docid, rank, score, "tag"]) + end
    ),
    ids,
    ids,
    st.sampled_from(["0", "1", "2", "-1", "+1", "x", "99999999999"]),
    scores,
    st.sampled_from([" ", " ", " ", "\t", "  "]),
    st.sampled_from(["\n", "\n", "\n", " more\n", "\r\n", "\n\n", " \n"]),
)
files = st.lists(lines, max_size=6).map("".join).map(str.encode)


@given(files)
def test_columns_and_lines_agree_on_every_file(tmp_path_factory, content):
    def told(reading):
        try:
            return reading(folder, content)
        except FileProblemsError as error:
            return [str(problem) for problem in error.problems]

    folder = tmp_path_factory.mktemp("agree")
    assert told(read) == told(read_slowly)
