"""`--json`: every command has it, and prints one object with what it tells people."""

import json
import os
import re
import subprocess
from pathlib import Path

import click
import pytest

from benchwright.cli.answers import say_json
from benchwright.cli.main import Command, main
from benchwright.cli.scoring.trec_eval import LONG_NAMES
from benchwright.client.servers import Login, Servers, Token
from tests.benchwright.cli.conftest import ROOT, in_process

WITHOUT = {
    "up": "serves until it is stopped",
    "demo": "serves until it is stopped",
}
"""Commands that have no `--json`, and why."""

GOLDFISH = "1\tDo goldfish grow?\n2\tdo golddish grow\n3\tcost of a house\n"
LOG = "query,count\nlost card,40\nopen account,30\nexchange rate,7\npin forgotten,1\n"


def forms(command: click.Command) -> set[str]:
    """How a command is told to print JSON, on files and on a site."""
    places = [command.params, door.also if (door := getattr(command, "door", None)) else ()]
    return {
        "--format" if one.name == "form" and "json" in getattr(one.type, "choices", ()) else spelt
        for one in (one for place in places for one in place)
        for spelt in one.opts
        if spelt in ("--json", "--format")
    }


@pytest.mark.parametrize("name", main.known())
def test_every_command_prints_json_or_has_a_reason_not_to(name):
    with click.Context(main) as context:
        command = main.get_command(context, name)
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")

    if name in WITHOUT:
        assert not isinstance(command, Command)
        assert f"`{name}`" in page.partition("`--json` prints one object")[2].partition("\n\n")[0]
    elif name == "trec_eval":
        assert "json" in LONG_NAMES
    elif name == "pull":
        assert "--json" in forms(command)  # its --format is what the release comes in
    else:
        assert forms(command) & {"--json", "--format"}, name
        assert all(
            "json" in param.type.choices for param in command.params if "--format" in param.opts
        )


def documented(name: str) -> set[str]:
    """The members that docs/commands.md says a command always prints."""
    page = (
        (ROOT / "docs" / "commands.md").read_text("utf-8").partition("### What `--json` prints")[2]
    )
    row = next(line for line in page.splitlines() if f"`{name}`" in line.partition(" | ")[0])
    return set(re.findall(r"`([a-z_]+)`", re.split(r" with|;", row.partition(" | ")[2])[0]))


def answered(benchwright, *words):
    done = benchwright(*words)
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert documented(words[0]) <= set(answer)
    return answer


def test_members_that_are_written_down_are_printed(benchwright, files):
    # Two queries in common, which a comparison needs.
    (files / "c.run").write_text((files / "a.run").read_text() + "q2 Q0 d4 1 1.0 c\n")

    for words in (
        ("compare", "qrels.txt", "c.run", "b.run"),
        ("check", "a.run"),
        ("pool", "a.run", "b.run", "-o", "pool.tsv"),
        ("score", "qrels.txt", "a.run", "--result", "result.json"),
        ("verify", "result.json"),
        ("calibrate", "qrels.txt", "qrels.txt"),
    ):
        assert answered(benchwright, *words, "--json"), words


def test_trec_eval_has_the_numbers_of_its_lines(benchwright, files):
    lines = benchwright("trec_eval", "-q", "-c", "qrels.txt", "a.run").stdout.splitlines()

    answer = answered(benchwright, "trec_eval", "-q", "-c", "qrels.txt", "a.run", "--json")

    names = {(*answer["queries"], "all")[0]} | {line.split()[1] for line in lines}
    assert names == {*answer["queries"], "all"}
    for name, qid, value in (line.split() for line in lines):
        number = (answer["all"] if qid == "all" else answer["queries"][qid])[name]
        assert value == number or float(value) == pytest.approx(float(number), abs=5e-5), name


def test_families_and_links_are_those_of_the_table(benchwright, tmp_path):
    queries = tmp_path / "queries.tsv"
    queries.write_text(GOLDFISH)
    rows = [line.split("\t") for line in benchwright("families", queries).stdout.splitlines()]

    answer = answered(benchwright, "families", queries, "--reviews", "--json")

    assert {family["family"]: family["queries"] for family in answer["families"]} == {
        name: [row[0] for row in rows if row[1:2] == [name]] for name in ("1", "3")
    }
    assert [f"{family['doubt']:.4f}" for family in answer["families"]] == [rows[1][2], rows[3][2]]
    assert (answer["n_queries"], answer["n_families"], answer["n_review"]) == (3, 2, 1)
    assert [(link["a"], link["b"]) for link in answer["links"]] == [("1", "2")]
    assert {review["n_families"] for review in answer["reviews"]} <= {0, 1}


def test_sample_has_its_plan_and_its_queries(benchwright, tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    words = ("sample", tmp_path / "log.csv", "-n", "3", "--seed", "2")
    lines = list(map(json.loads, benchwright(*words).stdout.splitlines()))

    answer = answered(benchwright, *words, "--json")
    planned = answered(benchwright, *words, "--dry-run", "--json")

    assert answer["queries"] == lines
    assert answer["log"]["n_traffic"] == 78
    assert sum(stratum["drawn"] for stratum in answer["plan"]["strata"]) == len(lines) == 3
    assert planned == {**answer, "queries": []}


def test_runs_go_to_a_file_and_json_to_standard_output(benchwright, files):
    (files / "docs.tsv").write_text("d1\tgoldfish grow\nd2\thouse\n")
    (files / "queries.tsv").write_text(GOLDFISH)
    made = {
        ("fuse", "a.run", "b.run"): ("n_rows", lambda run: len(run.splitlines())),
        ("retrieve", "docs.tsv", "queries.tsv"): ("n_queries", lambda run: 3),
    }

    for words, (member, count) in made.items():
        mixed = benchwright(*words, "--json")
        answer = answered(benchwright, *words, "-o", "out.run", "--json")
        assert (mixed.exit_code, mixed.stdout) == (2, "")
        assert "Name a file for the run with -o." in mixed.stderr
        assert answer["file"] == "out.run"
        assert answer[member] == count((files / "out.run").read_text())


def test_sketch_tells_the_salt_that_it_made(benchwright, tmp_path):
    (tmp_path / "q.tsv").write_text(GOLDFISH)
    words = ("sketch", tmp_path / "q.tsv", "-o", tmp_path / "q.sketch", "--json")

    record = answered(benchwright, *words, "--new-salt")
    result = answered(benchwright, *words, "--salt", "0123456789abcdef")

    assert (record["n_queries"], len(record["salt"])) == (3, 32)
    assert result["salt"] is None
    assert record["n_bytes"] > 0 < Path(result["file"]).stat().st_size


def test_a_sketch_that_cannot_be_made_leaves_the_one_that_is_there(benchwright, tmp_path):
    (tmp_path / "q.tsv").write_text(GOLDFISH)
    (tmp_path / "none.tsv").write_text("")
    salt = ("-o", tmp_path / "q.sketch", "--salt", "0123456789abcdef")
    benchwright("sketch", tmp_path / "q.tsv", *salt)
    earlier = (tmp_path / "q.sketch").read_bytes()

    assert benchwright("sketch", tmp_path / "none.tsv", *salt).exit_code == 1
    assert (tmp_path / "q.sketch").read_bytes() == earlier


def test_a_sketch_goes_into_a_pipe_as_it_is(benchwright, tmp_path):
    (tmp_path / "q.tsv").write_text(GOLDFISH)
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        done = benchwright("sketch", tmp_path / "q.tsv", "-o", tmp_path / "pipe", "--salt-inside")
        content = reader.communicate(timeout=60)[0]

    assert (done.exit_code, (tmp_path / "pipe").is_fifo()) == (0, True)
    assert content.startswith(b"benchwright-sketch 1\n")


def test_undefined_numbers_are_null_and_odd_letters_survive(capsys):
    say_json({"mean": float("nan"), "rows": [(float("inf"), "日")], "id": "q\udcff"})

    out = capsys.readouterr().out
    assert json.loads(out) == {"mean": None, "rows": [[None, "日"]], "id": "q\udcff"}
    assert out.startswith('{\n  "mean": null,\n')


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_output_that_takes_few_letters_gets_them_escaped(tmp_path, encoding):
    (tmp_path / "queries.tsv").write_text("ü\tdo goldfish grow\n", "utf-8")

    done = in_process("families", tmp_path / "queries.tsv", "--json",
                      env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})  # fmt: skip

    assert json.loads(done.stdout)["families"][0]["queries"] == ["ü"]
    assert ("ü" in done.stdout) is (encoding == "utf-8")


def test_letters_that_the_output_does_not_take_are_escaped_in_lines_for_people(tmp_path):
    Servers(tmp_path / "benchwright").add(Login("https://日.example.org", Token("bw_x"), "ü"))

    done = in_process("login", "--list",
                      env={"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0",
                           "XDG_CONFIG_HOME": str(tmp_path)}, encoding="cp1252")  # fmt: skip

    assert (done.stdout, done.stderr) == ("https://\\u65e5.example.org (ü)\n", "")
