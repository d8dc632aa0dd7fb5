"""Commands that the documentation shows: each is there, with the options and choices it is given.

Whether one does what is said of it other tests tell; here none is run, and none is stale.
"""

import argparse
import re
import shlex
from collections.abc import Iterator

import click
import pytest
from django.core.management import get_commands, load_command_class

from benchwright.cli.main import Commands, Noun, SiteNoun, main
from tests.doc_blocks import ROOT, blocks

# What may stand before a command: a prompt, where Python is, a setting.
BEFORE = re.compile(r"^(\$|python3?|\.venv/bin/python|[A-Z_]+=\S*)$")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
ENDS = {"|", ">", "2>", ">>", "&&", ";", "&", "<"}
FEWEST = 130


def shown() -> Iterator[tuple[str, list[str]]]:
    """Where a command is shown, and its words up to what the shell does with its output."""
    for block in blocks():
        if block.language not in ("sh", "console"):
            continue
        for line in block.text.replace("\\\n", " ").splitlines():
            if line[:1].isspace() or not re.search(r"benchwright|manage\.py|^make ", line):
                continue
            words = words_of(line)
            while words and BEFORE.match(words[0]):
                words = words[1:]
            if words and words[0].rpartition("/")[2] in ("benchwright", "manage.py", "make"):
                yield f"{block.page}: {line.strip()[:100]}", words


def words_of(line: str) -> list[str]:
    """The words of a line; a string that goes on in the next one ends with it."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|>&;<")
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if word in ENDS:
                break
            words.append(word)
    except ValueError:
        pass
    return words


COMMANDS = list(shown())


def test_there_are_as_many_as_there_were():
    assert len(COMMANDS) >= FEWEST


@pytest.mark.parametrize(("where", "words"), COMMANDS, ids=[where[:60] for where, _ in COMMANDS])
def test_command_that_is_shown_is_taken(where, words):
    program, *rest = words
    check = {"benchwright": of_benchwright, "manage.py": of_manage, "make": of_make}
    check[program.rpartition("/")[2]](rest)


def of_make(words: list[str]) -> None:
    assert {word for word in words if "=" not in word} <= TARGETS


def of_benchwright(words: list[str]) -> None:
    group: click.Command = main
    with click.Context(main) as context:
        while isinstance(group, Commands | Noun | SiteNoun):
            words = after_options(group, words)
            if not words:
                return
            subcommand = group.get_command(context, words[0])
            assert subcommand is not None, words[0]
            group, words = subcommand, words[1:]
        if not group.params:
            return  # it reads its words itself, as the program does whose place it takes
        also = door.also if (door := getattr(group, "door", None)) else ()
        options = {
            name: parameter
            for parameter in (*group.params, *also, group.get_help_option(context))
            if parameter is not None
            for name in (*parameter.opts, *parameter.secondary_opts, *getattr(parameter, "old", ()))
        }
    for name, value in given(words, lambda name: is_flag(options.get(name))):
        assert name in options or name in ("--json", "--help"), name
        kind = options[name].type if name in options else None
        if isinstance(kind, click.Choice) and value and "$" not in value:
            kind.convert(value, options[name], None)


def is_flag(option: object) -> bool:
    return option is None or bool(getattr(option, "is_flag", False) or getattr(option, "count", 0))


def after_options(group: click.Group, words: list[str]) -> list[str]:
    """What follows the options that stand before a command."""
    known = {name: param for param in group.params for name in param.opts}
    while words and words[0].startswith("-"):
        name, equals, _ = words[0].partition("=")
        assert name in known or name in ("--help", "--version"), name
        words = words[1 if equals or is_flag(known.get(name)) else 2 :]
    return words


def of_manage(words: list[str]) -> None:
    name, *rest = words
    assert name in get_commands(), name
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    actions = {option: action for action in parser._actions for option in action.option_strings}
    for option, value in given(rest, lambda name: takes_none(actions.get(name))):
        assert option in actions, option
        choices = actions[option].choices
        assert not (choices and value) or value in map(str, choices), (option, value)


def takes_none(action: argparse.Action | None) -> bool:
    return action is None or action.nargs == 0


def given(words, is_flag) -> Iterator[tuple[str, str]]:
    """Option and value, as they are given; a value may stand behind = or be the next word."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            return
        if re.match(r"--?[A-Za-z]", word):
            name, equals, value = word.partition("=")
            if re.match(r"-[A-Za-z]\d", name):  # -M1000
                name, value, equals = name[:2], name[2:], "="
            yield name, value if equals else "" if is_flag(name) else next(rest, "")


@pytest.mark.parametrize(
    "line",
    [
        "benchwright scoer qrels.txt a.run",
        "benchwright gate a.run --polciy p.json",
        "benchwright score qrels.txt a.run --format xml",
        "benchwright --bench x score",
        "manage.py backupp /mnt",
        "manage.py export_release scifact 1.0.0 --format nothing",
        "make everything",
    ],
)
def test_command_that_is_not_there_would_be_seen(line):
    with pytest.raises((AssertionError, click.ClickException)):
        test_command_that_is_shown_is_taken(line, words_of(line))
