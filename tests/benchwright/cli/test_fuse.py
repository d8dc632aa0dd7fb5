"""`benchwright fuse`: files in, one run out."""

import pytest
from click.testing import CliRunner

from benchwright.cli.systems.fuse import command

A = "q1 Q0 x 1 12 a\nq1 Q0 y 2 11 a\nq1 Q0 z 3 2 a\nq2 Q0 x 1 1 a\n"
B = "q1 Q0 z 1 0.9 b\nq1 Q0 w 2 0.5 b\nq1 Q0 x 3 0.1 b\n"


@pytest.fixture
def fuse(tmp_path):
    def fuse(*words: str, a: str = A, b: str = B):
        (tmp_path / "a.run").write_text(a)
        (tmp_path / "b.run").write_text(b)
        files = [str(tmp_path / name) for name in ("a.run", "b.run")]
        return CliRunner().invoke(command, [*files, *words])

    return fuse


def test_ranks_are_fused_to_standard_output(fuse):
    done = fuse()

    rows = [line.split() for line in done.stdout.splitlines()]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("q1", "z", "1"),
        ("q1", "x", "2"),
        ("q1", "y", "3"),
        ("q1", "w", "4"),
        ("q2", "x", "1"),
    ]
    assert float(rows[0][4]) == pytest.approx(1 / 61 + 1 / 63)
    assert rows[0][5] == "fused"


def test_weighted_scores_go_to_a_file(fuse, tmp_path):
    out = tmp_path / "hybrid.run"

    done = fuse(
        "--method", "weighted", "--weights", "1,2", "-k", "2", "--tag", "mine", "-o", str(out)
    )

    assert out.read_text() == "q1 Q0 z 1 2.0 mine\nq1 Q0 x 2 1.0 mine\nq2 Q0 x 1 1.0 mine\n"
    assert done.stdout == ""
    assert "2 queries, 3 rows, weighted sum (minmax), weights 1, 2" in done.stderr


def test_ties_of_a_run_are_ranked_by_id_before_they_are_fused(fuse):
    done = fuse(a="q Q0 a 1 1 s\nq Q0 b 2 1 s\n", b="q Q0 c 1 1 s\n")

    assert [line.split()[2] for line in done.stdout.splitlines()] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--weights", "1,x"), "is no list of numbers"),
        (("--weights", "1"), "1 weights for 2 runs"),
        (("--method", "borda"), "is not one of"),
        (("-k", "0"), "Expected a whole number from 1 to 1,000,000."),
        (("--normalize", "z"), "--normalize is of --method weighted, and would count for nothing"),
        (("--method", "weighted", "--rrf-k", "10"), "--rrf-k is of --method rrf, and would"),
    ],
)
def test_wrong_words_are_usage_errors(fuse, words, message):
    done = fuse(*words)

    assert done.exit_code == 2
    assert message in done.stderr


def test_a_score_without_end_is_refused_before_a_run_is_written(files, benchwright):
    (files / "a.run").write_text("q1 Q0 x 1 inf a\nq1 Q0 y 2 1 a\n")

    done = benchwright("fuse", "a.run", "b.run", "--method", "weighted", "-o", "fused.run")

    assert done.exit_code == 1
    assert "the score of 'x' is inf; expected a number from" in done.stderr
    assert not (files / "fused.run").exists()


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ('{"q1": {"x 2": 1}}', "query 'q1', document 'x 2': the id holds white space (U+0020)"),
        ('{"q 1": {"x": 1}}', "query 'q 1', document 'x': the id holds white space (U+0020)"),
        ('{"": {"x y": 1}}', "query '', document 'x y': the id is empty"),
        ('{"q1": {"": 1}}', "query 'q1', document '': the id is empty"),
    ],
)
def test_ids_that_a_run_cannot_hold_are_refused_before_it_is_written(fuse, tmp_path, run, words):
    done = fuse("-o", str(tmp_path / "out.run"), b=run)

    assert (done.exit_code, (tmp_path / "out.run").exists()) == (1, False)
    assert words in str(done.exception)


def test_one_run_is_too_few(tmp_path):
    (tmp_path / "a.run").write_text(A)

    done = CliRunner().invoke(command, [str(tmp_path / "a.run")])

    assert (done.exit_code, "expected at least two" in done.stderr) == (2, True)
