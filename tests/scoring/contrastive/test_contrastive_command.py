"""`benchwright contrastive`: what it prints, from which files."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from benchwright.cli.main import main
from benchwright.contrastive import contrastive_accuracy_score


@pytest.fixture
def pair(tmp_path):
    rng = np.random.default_rng(2)
    z1 = rng.standard_normal((30, 4)).astype(np.float32)
    z2 = (z1 + rng.standard_normal((30, 4))).astype(np.float32)
    np.save(tmp_path / "z1.npy", z1)
    pl.DataFrame({"id": [f"q{n}" for n in range(30)], "v": z2.tolist()}).write_parquet(
        tmp_path / "z2.parquet"
    )
    (tmp_path / "slices.tsv").write_text("q1\ttail\nq2\ttail\nnobody\ttail\n")
    return z1, z2


@pytest.fixture
def run(tmp_path, pair, monkeypatch):
    """A function that runs the command in the folder of the files."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, first="z1.npy", second="z2.parquet"):
        return CliRunner().invoke(main, ["contrastive", first, second, *arguments])

    return run


def test_json_holds_every_digit_of_every_k(run, pair):
    answer = run("--k", "3,1", "--format", "json")
    report = json.loads(answer.stdout)

    (whole,) = report["parts"]
    assert [of["k"] for of in whole["accuracy"]] == [1, 3]
    for of in whole["accuracy"]:
        assert of["mean"] == contrastive_accuracy_score(*pair, topk=of["k"])
    assert (report["n"], report["n_features"], report["worst"][0]["id"][0]) == (30, 4, "q")


def test_tsv_has_a_row_for_each_number(run):
    answer = run("--k", "1", "--slices", "slices.tsv", "--format", "tsv")
    rows = [line.split("\t") for line in answer.stdout.splitlines()]

    assert rows[0] == ["pairs", "n", "direction", "measure", "value", "low", "high"]
    assert [row[:4] for row in rows[1:9:2]] == [
        ["all", "30", "both", "accuracy@1"],
        ["all", "30", "forward", "accuracy@1"],
        ["all", "30", "forward", "median rank"],
        ["all", "30", "backward", "MRR"],
    ]
    assert rows[9][:2] == ["tail", "2"]
    assert "the slices name 1 id that no pair has: nobody" in answer.stderr


def test_tables_say_how_it_was_compared(run):
    text = run("--no-normalize", "--ties", "pessimistic").stdout

    assert "both directions" in text
    assert "worst pairs" in text
    assert "30 pairs of 4 features; dot product; ties pessimistic." in text


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--k", "0"], 2, "expected whole numbers from 1"),
        (["--k", "1,x"], 2, "expected whole numbers from 1"),
        (["--k", ",".join(map(str, range(1, 22)))], 2, "at most 20"),
        (["--ids", "slices.tsv"], 1, "3 ids for 30 rows"),
        (["--ties", "middle"], 2, "is not one of 'expected'"),
    ],
)
def test_wrong_use_is_refused(run, arguments, code, words):
    answer = run(*arguments)

    assert answer.exit_code == code
    assert words in answer.stderr.replace("\n", " ")


def test_files_of_different_shapes_are_refused(run, tmp_path):
    np.save(tmp_path / "other.npy", np.ones((29, 4)))

    answer = run(second="other.npy")

    assert answer.exit_code == 1
    assert "z1 has shape (30, 4) and z2 (29, 4)" in answer.stderr


def test_help_loads_neither_numpy_nor_polars():
    code = (
        "import sys; from click.testing import CliRunner; from benchwright.cli.main import main; "
        "CliRunner().invoke(main, ['contrastive', '--help']); "
        "print({'numpy', 'polars', 'scipy', 'django'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"
