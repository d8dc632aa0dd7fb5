"""Tables: aligned in a pipe, ruled and bold on a terminal, never with a false 100 %."""

import io
import os
import pty
import re
import subprocess
import sys
import time
from math import nan

import pytest

from benchwright.cli import tables
from benchwright.cli.files import run_names
from benchwright.cli.tables import (
    Table,
    between,
    exact,
    markdown,
    number,
    plain,
    print_lines,
    share,
)
from tests.benchwright.cli.conftest import ROOT

BEST = Table(["run", "AP"], [["a|b", "0.5"], ["c", "0.75"]], title="AP", best={(1, 1)})


def on_terminal(files, *arguments, **environment):
    """What a person sees who runs `benchwright` on a terminal."""
    master, slave = pty.openpty()
    kept = {key: of for key, of in os.environ.items() if key not in ("NO_COLOR", "TERM", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "benchwright", *arguments],
        stdout=slave,
        cwd=files,
        env={**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120", **environment},
    )
    os.close(slave)
    content = b""
    while block := _read(master):
        content += block
    os.close(master)
    assert process.wait(timeout=30) == 0
    return content.decode()


def _read(master):
    try:
        return os.read(master, 4096)
    except OSError:  # the other end is closed
        return b""


def test_columns_are_aligned():
    assert plain(BEST).splitlines() == ["AP", "run    AP", "a|b   0.5", "c    0.75"]


def test_markdown_is_bold_where_it_is_best_and_escapes_bars():
    assert markdown(BEST).splitlines() == [
        "### AP",
        "",
        "| run | AP |",
        "| :-- | --: |",
        "| a\\|b | 0.5 |",
        "| c | **0.75** |",
    ]


def test_best_value_is_bold_on_a_terminal(files):
    terminal = on_terminal(files, "score", "qrels.txt", "a.run", "b.run", "-m", "RR")

    assert "\x1b[1;32m0.6667\x1b[0m" in terminal
    assert "\x1b[1;32m0.3333" not in terminal


def test_no_value_is_bold_where_less_is_more_or_nothing_is(files):
    terminal = on_terminal(
        files, "score", "qrels.txt", "a.run", "b.run", "-m", "Hole@10", "-m", "NumRelRet"
    )

    assert "0.1667" in terminal
    assert "[1;32m" not in terminal


def test_no_color_is_respected_on_a_terminal(files):
    terminal = on_terminal(files, "score", "qrels.txt", "a.run", "b.run", "-m", "RR", NO_COLOR="1")

    assert "0.6667" in terminal
    assert "[1;32m" not in terminal


def test_narrow_terminal_gets_a_line_for_each_cell_and_loses_no_digit(files):
    arguments = ("score", "qrels.txt", "a.run", "b.run", "-m", "RR AP nDCG@10")

    wide, narrow = (on_terminal(files, *arguments, COLUMNS=columns) for columns in ("160", "40"))

    assert "0.3333" in wide
    assert "missing" in wide.splitlines()[1]
    assert "…" not in narrow
    assert [line.split() for line in narrow.splitlines()[:6]] == [
        ["a.run"],
        ["queries", "3"],
        ["missing", "1"],
        ["extra", "1"],
        ["RR", "0.3333"],
        ["judged", "83", "%"],
    ]


@pytest.mark.parametrize("spare", [0, 16, 17, 18])
def test_table_that_just_fits_is_not_cut(files, benchwright, spare):
    arguments = ("score", "qrels.txt", "a.run", "b.run", "-m", "RR AP nDCG@10 P@10 R@100")
    piped = benchwright(*arguments).stdout.splitlines()

    terminal = on_terminal(files, *arguments, COLUMNS=str(max(map(len, piped)) + spare))

    assert "…" not in terminal
    cells = {cell for line in terminal.splitlines() for cell in line.split()}
    plain_cells = {re.sub(r"\x1b\[[0-9;]*m", "", cell) for cell in cells}
    assert {cell for line in piped for cell in line.split()} <= plain_cells | {"run"}


def test_nothing_is_coloured_in_a_pipe(files, benchwright):
    assert "\x1b" not in benchwright("score", "qrels.txt", "a.run", "b.run", "-m", "RR").stdout


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "100 %"), (0.9999, "99.9 %"), (0.5, "50 %"), (0.0, "0 %"), (nan, "-"), (0.004, "0.4 %")],
)
def test_share_that_is_not_whole_is_not_shown_as_one(value, shown):
    assert share(value) == shown


def test_undefined_numbers_are_a_dash_or_nothing():
    assert (number(nan), exact(nan), between(nan, 1.0)) == ("-", "", "")
    assert (number(1 / 3), exact(1 / 3), between(0.1, 0.25)) == (
        "0.3333",
        "0.3333333333333333",
        "0.1000 to 0.2500",
    )


def test_lines_are_printed_some_at_a_time(capsys, monkeypatch):
    monkeypatch.setattr(tables, "LINES_AT_ONCE", 2)

    print_lines(iter(["a", "b", "c"]))

    assert capsys.readouterr().out == "a\nb\nc\n"


def test_runs_are_named_by_their_files_without_what_compressed_them(tmp_path):
    paths = [tmp_path / "bm25.run.gz", tmp_path / "dense.zst", tmp_path / "x.txt"]

    assert run_names(paths) == ["bm25.run", "dense", "x.txt"]
    assert run_names([tmp_path / "a", tmp_path / "b" / "a"]) == [
        str(tmp_path / "a"),
        str(tmp_path / "b" / "a"),
    ]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_told_after_a_while_and_cleared(monkeypatch):
    from benchwright.cli import progress

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr(progress, "PAUSE", 0.01)

    with progress.told("Reading"):
        time.sleep(0.1)

    assert "Reading … 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith(progress.CLEAR_LINE)


def test_progress_of_what_is_quick_or_unseen_is_not_told(monkeypatch):
    from benchwright.cli import progress

    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.told("Reading"):
            pass
        assert stream.getvalue() == ""
