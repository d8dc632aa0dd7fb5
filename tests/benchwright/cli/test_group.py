"""The group: what it knows without importing a command, and what a start costs."""

import re

import click
import pytest

from benchwright.cli.main import APPS, NOUNS, Command, main
from benchwright.cli.scoring import COMMANDS
from benchwright.reading import scanner_name
from tests.benchwright.cli.conftest import in_process

HEAVY = ("numpy", "scipy", "polars", "django", "rich")
# What a small case has no time for: dataclasses and what they load take a fifth of it.
SLOW = {"dataclasses", "inspect", "json", "click"}


def imported(done):
    """The modules in the output of `-X importtime`."""
    return set(re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE))


def packages(done):
    return {name.partition(".")[0] for name in imported(done)}


def test_score_of_a_small_case_imports_nothing_heavy(files):
    done = in_process("score", "qrels.txt", "a.run", "b.run", python=("-X", "importtime"))

    assert done.returncode == 0
    assert "b.run" in done.stdout
    assert "benchwright" in packages(done)
    assert packages(done) & set(HEAVY) == set()
    assert imported(done) & SLOW == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["trec_eval", "-q", "-m", "all_trec", "qrels.txt", "a.run"],
        ["score", "qrels.txt", "a.run", "--result", "r.json", "--format", "json", "--per-query"],
        ["score", "qrels.txt", "a.run", "--ties", "expected"],
        ["check", "a.run", "qrels.txt"],
        ["--version"],
    ],
    ids=" ".join,
)
def test_other_commands_on_files_import_nothing_heavy(files, arguments):
    done = in_process(*arguments, python=("-X", "importtime"))

    assert done.returncode == 0
    assert packages(done) & set(HEAVY) == set()


def test_compare_imports_what_it_needs(files):
    """So that the tests above would see it."""
    done = in_process("compare", "qrels.txt", "a.run", "b.run", python=("-X", "importtime"))

    assert done.returncode == 0
    assert packages(done) & set(HEAVY) == {"numpy", "scipy"}


def test_help_of_the_group_imports_no_command():
    done = in_process("--help", python=("-X", "importtime"))

    assert done.returncode == 0
    assert all(re.search(rf"^  {name} ", done.stdout, re.MULTILINE) for name in COMMANDS)
    rooms = {name for name in imported(done) if name.startswith("benchwright.")}
    assert {name for name in rooms if not name.startswith("benchwright.cli")} <= {
        "benchwright.errors",
        "benchwright.lazily",
    }
    assert not rooms & {module for module, _ in COMMANDS.values()}


def test_command_is_called_as_the_group_says():
    context = click.Context(main)

    for name, (_, line) in COMMANDS.items():
        command = main.get_command(context, name)
        assert (command.name, command.get_short_help_str(200)) == (name, line)


def test_every_app_is_named_as_a_string_that_can_be_imported():
    assert APPS == (
        "benchwright.cli.scoring",
        "benchwright.cli.collections",
        "benchwright.cli.sites",
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_a_whole_page(name, benchwright):
    text = benchwright(name, "--help").stdout

    assert text.startswith(f"Usage: benchwright {name} ")
    assert re.findall(r"^(\w[\w ]+):$", text, re.MULTILINE)[-3:] == [
        "Examples",
        "Exit codes",
        "Environment",
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_word_of_help_and_a_heading(name):
    command = main.get_command(click.Context(main), name)

    assert isinstance(command, Command)
    bare = [
        option.name
        for option in command.params
        if isinstance(option, click.Option) and not (option.help and option.group)
    ]
    assert bare == []


def test_version_names_python_and_the_scanner(benchwright):
    lines = benchwright("--version").stdout.splitlines()

    assert re.fullmatch(r"benchwright \d+\.\d+\.\d+", lines[0])
    assert re.fullmatch(r"Python 3\.\d+\.\d+", lines[1])
    assert re.fullmatch(rf"Scanner: {re.escape(scanner_name())}", lines[2])


def test_every_command_stands_under_one_noun_and_is_called_without_it_too():
    context = click.Context(main)
    nouns = {noun: main.get_command(context, noun) for noun in NOUNS}

    grouped = sorted(name for group in nouns.values() for name in group.list_commands(context))

    assert grouped == sorted(main.known())
    for group in nouns.values():
        for name in group.list_commands(context):
            assert group.get_command(context, name) is main.get_command(context, name)


def test_a_command_under_its_noun_answers_as_without_it(files, benchwright):
    words = ["score", "qrels.txt", "a.run"]

    assert benchwright("run", *words).stdout == benchwright(*words).stdout
    assert benchwright("site", *words).exit_code == 2


def test_a_noun_lists_its_commands(benchwright):
    text = benchwright("site", "--help").stdout

    assert re.findall(r"^  (\w+)  ", text, re.MULTILINE) == [
        "up",
        "demo",
        "login",
        "create",
        "import",
        "invite",
        "list",
        "member",
        "slice",
        "label",
        "publish",
        "release",
        "estimate",
        "leaderboard",
        "pull",
        "export",
        "job",
        "submit",
    ]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("contextual", "--no-reason", "--no-reasons"),
        ("fuse", "--normalise", "--normalize"),
        ("sample", "--preview", "--dry-run"),
        ("split", "--threshold", "--rel"),
        ("retrieve", "--k", "--depth"),
    ],
)
def test_old_spelling_of_an_option_is_taken_and_not_shown(name, old, new):
    (option,) = (
        param for param in main.get_command(click.Context(main), name).params if new in param.opts
    )

    assert old in option.old
    assert old not in option.opts


def test_old_spelling_says_the_same(files, benchwright):
    words = ["fuse", "a.run", "b.run", "--method", "weighted"]

    old = benchwright(*words, "--normalise", "z")

    assert old.exit_code == 0
    assert old.stdout == benchwright(*words, "--normalize", "z").stdout
