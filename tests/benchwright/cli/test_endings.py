"""How the process ends: nothing is ever mistaken for a verdict of `gate`."""

import gc
import os
import signal
import subprocess
import sys
import time

import click
import pytest
from click.testing import CliRunner

from benchwright.cli import main as cli
from benchwright.cli.main import EXIT_CODES, VERDICTS, main
from benchwright.errors import EmptyRunError
from tests.benchwright.cli.conftest import ROOT, in_process


def ending(monkeypatch, action, *arguments):
    """How `benchwright act` ends when its command does this."""

    def act():
        action()

    monkeypatch.setattr(cli.Commands, "known", lambda self: {"act": ("", "Acts.")})
    monkeypatch.setattr(
        cli.Commands, "get_command", lambda self, ctx, name: click.Command("act", callback=act)
    )
    return CliRunner().invoke(main, [*arguments, "act"])


def raising(error):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (EmptyRunError(), 1, "Error: The run holds no result; expected at least one row."),
        (click.UsageError("not so"), 2, "Error: not so"),
        (FileNotFoundError(2, "No such file or directory", "x.tsv"), 2, "Error: x.tsv: No such"),
        (PermissionError(13, "Permission denied", "x.tsv"), 1, "Error: x.tsv: Permission denied."),
        (OSError(28, "No space left on device"), 1, "Error: what it writes to is full. Make room"),
        (ValueError("odd"), 1, "failed, which is its own fault: ValueError: odd. Set BENCHWRIGHT_"),
        (MemoryError(), 1, "its own fault: MemoryError."),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (SystemExit("a word"), 1, "a word\n"),
        *((SystemExit(code), 1, "") for code in VERDICTS),
        (SystemExit(0), 0, ""),
    ],
    ids=repr,
)
def test_every_error_has_its_code_and_words(monkeypatch, error, code, words):
    done = ending(monkeypatch, raising(error))

    assert done.exit_code == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_crash_shows_where_it_happened_when_asked(monkeypatch):
    by_option = ending(monkeypatch, raising(ValueError("odd")), "--debug")
    monkeypatch.setenv("BENCHWRIGHT_DEBUG", "1")
    by_environment = ending(monkeypatch, raising(ValueError("odd")))

    for done in (by_option, by_environment):
        assert done.exit_code == 1
        assert "Traceback" in done.stderr
        assert "Set BENCHWRIGHT_DEBUG" not in done.stderr


def test_collector_rests_while_a_command_runs_and_no_longer(monkeypatch):
    seen = []

    ending(monkeypatch, lambda: seen.append(gc.isenabled()))

    assert (seen, gc.isenabled()) == ([False], True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["score", "qrels.txt", "a.run"], 0),
        (["score", "qrels.txt"], 2),
        (["nope"], 2),
        (["score", "qrels.txt", "none.run"], 2),
        (["score", "none.txt", "a.run"], 2),
        (["trec_eval", "qrels.txt", "none.run"], 2),
        (["score", "qrels.txt", "."], 2),
        (["score", "a.run", "qrels.txt"], 1),
        (["verify", "qrels.txt"], 1),
        (["--help"], 0),
        (["--version"], 0),
    ],
)
def test_process_ends_as_the_table_says(files, benchwright, arguments, code):
    assert benchwright(*arguments).exit_code == code


@pytest.mark.parametrize("name", ["score", "compare", "verify", "check"])
def test_missing_file_has_its_own_message(files, benchwright, name):
    done = benchwright(name, "none.txt", "a.run", "b.run")

    assert done.exit_code == 2
    assert "none.txt: no such file. Check the path." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fuse", "a.run", "b.run", "-o", "./b.run"], "--output would overwrite b.run, which is"),
        (["pool", "a.run", "b.run", "-o", "b.run"], "--output would overwrite b.run, which is"),
        (["families", "a.run", "-o", "x", "--links", "x"], "--links would overwrite x, which is"),
        (["judge", "a.run", "--judge", "m", "--cache", "b.run", "-o", "b.run"], "which is --cache"),
    ],
)
def test_no_file_of_the_line_is_overwritten(files, benchwright, arguments, words):
    for name in ("a.run", "b.run"):
        (files / name).write_text("q1 Q0 d1 1 2.5 a\n")

    done = benchwright(*arguments)

    assert (done.exit_code, words in done.stderr) == (2, True), done.stderr
    assert (files / "b.run").read_text() == "q1 Q0 d1 1 2.5 a\n"
    assert not (files / "x").exists()


def test_ending_of_the_process_is_that_of_the_command(files):
    done = in_process("score", "qrels.txt", "none.run")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: none.run: no such file. Check the path.\n"


def test_interrupted_process_ends_with_130(files):
    os.mkfifo(files / "never.run")
    process = subprocess.Popen(
        [sys.executable, "-m", "benchwright", "score", "qrels.txt", "never.run"],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with (files / "never.run").open("wb"):  # opens when the process has opened the other end
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)

    assert process.returncode == 130
    assert errors == b"Interrupted.\n"


def test_reader_that_closes_early_is_no_error(files):
    (files / "wide.txt").write_text("".join(f"q{n} 0 d 1\n" for n in range(20_000)))
    (files / "wide.run").write_text("".join(f"q{n} Q0 d 1 1 t\n" for n in range(20_000)))
    command = [sys.executable, "-m", "benchwright", "score", "wide.txt", "wide.run"]
    process = subprocess.Popen(
        [*command, "--per-query", "--format", "tsv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    process.stdout.read(10)
    process.stdout.close()
    result = process.stderr.read()
    process.stderr.close()

    assert process.wait(timeout=20) == 141
    assert result == b""


@pytest.mark.parametrize("command", ["score", "trec_eval"])
def test_nothing_is_left_of_standard_input(files, command):
    (files / "temporary").mkdir()

    with (files / "a.run").open() as piped:
        done = in_process(
            *(command, "qrels.txt", "-"), stdin=piped, env={"TMPDIR": str(files / "temporary")}
        )

    assert done.returncode == 0
    assert list((files / "temporary").iterdir()) == []


def test_help_names_every_code_and_verdicts_are_only_of_gate(benchwright):
    text = benchwright("--help").stdout

    assert all(code in text for code, _ in EXIT_CODES)
    assert "verdicts of `gate`" in " ".join(text.split())
