"""A plain line without click: the same choices, the same output, and nothing it does not know."""

import contextlib
import shlex

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.cli.scoring import score, straight
from tests.benchwright.cli.conftest import in_process

NAMES = ("nDCG@10", "AP(rel=2) RR", "map", "P.5,10", "nDCG(dcg='exp-log2')@10")


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    named = [folder / name for name in ("qrels", "a", "b", "c d")]
    for path in named:
        path.write_text("")
    return [str(path) for path in named]


def by_click(words):
    """What click makes of the words; `files` in place of its two arguments."""
    params = score.command.make_context("score", list(words)).params
    files = [params.pop("qrels"), *params.pop("runs")]
    return {**params, "files": files}


@given(data=st.data())
def test_plain_line_means_what_click_reads(paths, data):
    option = st.sampled_from(
        [[flag, name] for flag in ("-m", "--measure") for name in NAMES]
        + [["--format", form] for form in straight.FORMATS]
        + [["--per-query"]]
    )
    options = data.draw(st.lists(option, max_size=4))
    chosen = data.draw(st.lists(st.sampled_from(paths), min_size=2, max_size=4, unique=True))
    order = data.draw(st.permutations([*options, *([path] for path in chosen)]))
    words = [word for part in order for word in part]

    assert straight.plain_line(words) == by_click(words)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "qrels.txt",
        "qrels.txt -",
        "qrels.txt no.run",
        "qrels.txt .",
        "qrels.txt a.run -m",
        "qrels.txt a.run -mAP",
        "qrels.txt a.run --measure=AP",
        "qrels.txt a.run -m nDGC",
        "qrels.txt a.run -m AP@0",
        "qrels.txt a.run --format xml",
        "qrels.txt a.run --per-quer",
        "qrels.txt a.run --ties file",
        "qrels.txt -- a.run",
        "qrels.txt a.run --help",
    ],
)
def test_line_that_is_not_plain_is_left_to_click(files, line):
    assert straight.plain_line(shlex.split(line)) is None


@pytest.mark.parametrize("form", straight.FORMATS)
@pytest.mark.parametrize("more", [[], ["--per-query", "-m", "AP RR"], ["b.run"]], ids=str)
def test_output_is_the_same_as_by_click(files, form, more):
    words = ["qrels.txt", "a.run", *more, "--format", form]
    plain = in_process("score", *words)
    by_way_of_click = in_process("score", *words, "--ties", "trec")

    assert plain.returncode == by_way_of_click.returncode == 0
    assert (plain.stdout, plain.stderr) == (by_way_of_click.stdout, by_way_of_click.stderr)
    assert "a.run" in plain.stdout


def test_what_cannot_be_scored_is_explained_once(files):
    (files / "bad.run").write_text("q1 Q0 d1 1 high tag\n")

    done = in_process("score", "qrels.txt", "bad.run")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("score is 'high'") == 1


def test_warnings_are_said_once(files):
    (files / "untagged.run").write_text("q1 Q0 d1 1 2.0\n")

    done = in_process("score", "qrels.txt", "untagged.run")

    assert done.returncode == 0
    assert done.stderr.count("The tag is missing") == 1


def test_what_goes_wrong_while_printing_is_told(files, monkeypatch):
    from benchwright.cli import start

    def fail(*_):
        raise OSError(28, "No space left on device", "standard output")

    monkeypatch.setattr("gc.disable", lambda: None)  # for good, in a process that ends with it
    monkeypatch.setattr("sys.argv", ["benchwright", "score", "qrels.txt", "a.run"])
    monkeypatch.setattr("benchwright.cli.scoring.score_output.show", fail)
    with pytest.raises(SystemExit) as ended, contextlib.redirect_stderr(None):
        start.main()

    assert ended.value.code == 1


def test_straight_line_loads_nothing_that_it_does_not_need(files):
    done = in_process("score", "qrels.txt", "a.run", python=("-X", "importtime"))

    assert done.returncode == 0
    assert " click" not in done.stderr
    assert "|json" not in done.stderr.replace(" ", "")
    assert "benchwright.cli.scored" in done.stderr


def test_click_knows_every_choice_that_is_left_unsaid():
    options = [param for param in score.command.params if isinstance(param, click.Option)]

    assert {param.name for param in options} == set(straight.UNSAID)
