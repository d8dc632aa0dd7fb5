"""What a noun and a verb are, and what several of them take."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import click

from benchwright.cli.main import Option
from benchwright.cli.parameters import FILE, Content, Rows


@dataclass(frozen=True)
class Verb:
    """An operation of the API. `{}` in its path is the thing that is named, `{x}` its option `x`.

    Parameters
    ----------
    path
        Below that of the noun; below the benchmark's where it begins with `/`.
    line
        What help says of it.
    takes
        Its arguments and options, called as the API calls them; a file is sent as such.
    columns
        Of a list: the members of a row that are shown.
    names
        The member of what is sent that holds the NAME of a new thing.
    ids
        Options that name what the API takes by its number, each with the list that has it.
    lasts
        A member and its values while what was begun is under way; it is waited for.
    prints
        The one member that is shown, as it is.
    """

    how: str
    path: str
    line: str
    takes: tuple[click.Parameter, ...] = ()
    columns: tuple[str, ...] = ()
    names: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    lasts: tuple[str, tuple[Any, ...]] | None = None
    prints: str = ""


@dataclass(frozen=True)
class Noun:
    """A list of the API, or one thing, below the benchmark's address.

    `row_members` are the members of a row that `list` shows. A thing is called by a member of its
    row, `by`, and stands in addresses by `at`; without `by` it is called by what stands there.
    `single` is the word for one of them, where it is not the noun without its s.
    """

    path: str
    row_members: str = ""
    verbs: Mapping[str, Verb] = field(default_factory=dict)
    by: str = ""
    at: str = "id"
    single: str = ""
    is_of_site: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The same, one by one; none where it is no list."""
        return tuple(self.row_members.split())


def seen(path: str, line: str, *takes: click.Parameter, **more: Any) -> Verb:
    """What shows something."""
    return Verb("GET", path, line, takes, **more)


def listed(path: str, line: str, columns: str, *takes: click.Parameter, **more: Any) -> Verb:
    """What lists rows."""
    return Verb("GET", path, line, takes, tuple(columns.split()), **more)


def done(path: str, line: str, *takes: click.Parameter, **more: Any) -> Verb:
    """What makes a thing, or does something to one."""
    return Verb("POST", path, line, takes, **more)


def changed(line: str, *takes: click.Parameter, path: str = "{}/") -> Verb:
    """What changes a thing; what is not named stays as it is."""
    return Verb("PATCH", path, line, takes)


def removed(line: str, path: str = "{}/", *takes: click.Parameter) -> Verb:
    """What removes a thing."""
    return Verb("DELETE", path, line, takes)


def one(*names: str, help: str, **settings: Any) -> click.Parameter:
    """An option."""
    return Option(names, group="Options", help=help, **settings)


def several(*names: str, **settings: Any) -> click.Parameter:
    """An option that may be repeated."""
    return one(*names, multiple=True, **settings)


def either(names: str, member: str, help: str) -> click.Parameter:
    """A switch with its opposite, as `--on/--off`; without it nothing changes."""
    return one(names, member, default=None, help=help)


def word(name: str, **settings: Any) -> click.Parameter:
    """An argument."""
    return click.Argument([name], **settings)


def among(*choices: str) -> "click.Choice[str]":
    """One of these words."""
    return click.Choice(choices)


ALL = "All that is known of it."
SHOWN = seen("{}/", ALL)
TEXT, JSON_FILE = Content(), Content(is_json=True)
PAIRS = Rows("query", "document")
SENT = word("file", type=FILE)
NUMBER = word("number", type=click.IntRange(1))
RENAMED = one("--name", metavar="NAME", help="A new one.")
NAMED = one("--name", metavar="NAME", help="What the new one is called.")
RELEASE = one("--release", metavar="VERSION", help="Such as 1.2.0; by default the newest.")
MEASURE = one("-m", "--measure", metavar="NAME", help="By default the usual one.")
SLICE = one("--slice", metavar="NAME", help="Over the queries of a slice.")
LEARNED = "learned"
"""In place of a machine's set of qrels: the estimate from the judged documents."""
RUNS = several("--run", "runs", required=True, metavar="NAME", help="A run; once for each.")
QUERIES = several("--query", "queries", metavar="ID", help="A query; once for each.")
THESE = several("--query", "queries", required=True, metavar="ID", help="A query; once for each.")
SPLIT = among("train", "dev", "test")
