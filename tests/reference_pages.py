"""Chapters of reference, gathered from the code: commands, measures, REST, Python, settings.

`python -m tests.reference_pages` (make openapi) writes docs/reference/ anew; tests/test_docs.py
says when it is out of date. Errors and settings have modules of their own (tests/errors_page.py,
tests/reference_settings.py).
"""

import argparse
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any

import click
from django.core.management import get_commands, load_command_class

import benchwright
from benchwright.cli.main import Command, main
from benchwright.cli.sites.nouns import LINES
from benchwright.cli.sites.nouns.commands import NOUNS, command_of
from benchwright.diversity.measures import ALIASES, NAMES, NO_CUTOFF
from benchwright.measures.families import FAMILIES, Family, OptionValue
from benchwright.measures.trec_table import TREC_MEASURES
from tests import reference_settings

DOCS = Path(__file__).parent.parent / "docs"
FOLDER = DOCS / "reference"
APPS = ("benchmarks_app", "annotation", "scoring")
METHODS = ("get", "post", "put", "patch", "delete")
SIGNATURE = "python not run: a signature"
HERE = "`make openapi` writes this page from the code."
# Of Django, the same with every command, and said once.
DJANGOS = {
    *("--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color"),
    *("--force-color", "--skip-checks", "-h"),
}


def commands() -> str:
    """Every command with what it takes."""
    from benchmarks_app.management.declared import replacement  # which loads the models

    parts = [
        "# Reference: commands",
        f"What each takes. What they are for, with examples: [commands.md](../commands.md). {HERE}",
        "## `benchwright`",
    ]
    with click.Context(main) as context:
        for name in sorted(main.known()):
            command = main.get_command(context, name)
            assert command is not None, name
            parts += [f"### `benchwright {name}`", _first(command.help), _list(_of_click(command))]
            if door := getattr(command, "door", None):
                kept = ", ".join(f"`{parameter.opts[-1]}`" for parameter in _kept(command))
                beside = f", beside {kept}" if kept else ""
                more = f"{beside}:" if door.also else f"{beside}, nothing more."
                parts += [f"On a site{more}", _list(_rows(command, door.also))]
    parts += ["## Where each is done", where_done(), "## What a site has", NOUNS_OF_A_SITE]
    parts += [nouns()]
    parts += [
        "## `manage.py`",
        "Installed, `python -m benchmarks_app`. Each also takes Django's own options, "
        "`--traceback` and `--no-color` among them.",
    ]
    for name, app in sorted(get_commands().items()):
        if app in APPS:
            parser = load_command_class(app, name).create_parser("manage.py", name)
            parts += [f"### `{name}`", _first(parser.description)]
            if instead := replacement(name):
                parts += [f"Replaced by `{instead}`; it stays for this version."]
            parts += [_list(_of_argparse(parser))]
    return "\n\n".join(part for part in parts if part) + "\n"


NOUNS_OF_A_SITE = """\
As in `benchwright --site URL --benchmark SLUG webhooks try https://ci.example.org/`.
Without a verb what there is is listed, or the one thing is shown; so do `list` and `show`."""


def nouns() -> str:
    """A table of what a site has: each noun with its verbs and what they take."""
    rows = ["| noun | verb | takes | |", "|---|---|---|---|"]
    for noun, line in LINES.items():
        rows.append(f"| **{noun}** | | | {_plain(line)} |")
        for verb, what in NOUNS[noun].verbs.items():
            takes = " ".join(
                usage for usage, _ in _of_click(command_of(noun, verb)) if usage not in COMMON
            )
            takes = f"`{takes}`" if takes else ""
            rows.append(
                f"| | `{verb}` | {takes.replace('|', chr(92) + '|')} | {_plain(what.line)} |"
            )
    return "\n".join(rows)


COMMON = ("--json", "-h, --help", "--first N")


def where_done() -> str:
    """A table of commands: whether each is done on files and on a site, and why not."""
    rows = ["| command | on files | on a site |", "|---|---|---|"]
    with click.Context(main) as context:
        for name in sorted(main.known()):
            command: Any = main.get_command(context, name)
            rows.append(f"| `{name}` | {' | '.join(_places(command))} |")
    return "\n".join(rows)


def _places(command: Any) -> tuple[str, str]:
    """Where a command is done: yes, or why not."""
    if not isinstance(command, Command):
        return "starts a site", "is the site"
    if command.of_files:
        return "yes", f"no: {_plain(command.of_files)}"
    if command.door or command.name == "gate":
        return "yes", "yes"
    return "-", "yes"


def _first(text: str | None) -> str:
    """The first paragraph of a help text, in one line."""
    return _plain(" ".join((text or "").replace("\b", "").split("\n\n")[0].split()))


def _plain(text: str) -> str:
    """Words in which Markdown and MyST see no mark of theirs."""
    return re.sub(r"([\\<>*\[\]|$])", r"\\\1", text).replace("__", r"\_\_")


def _list(rows: Iterator[tuple[str, str]]) -> str:
    return "\n".join(f"- `{usage}`: {words}" if words else f"- `{usage}`" for usage, words in rows)


def _kept(command: Any) -> list[click.Parameter]:
    """The parameters of a command on files that it has on a site, too."""
    return [param for param in command.params if param.name in command.door.keeps]


def _of_click(command: click.Command) -> Iterator[tuple[str, str]]:
    return _rows(command, command.params)


def _rows(
    command: click.Command, parameters: Iterable[click.Parameter]
) -> Iterator[tuple[str, str]]:
    with click.Context(command) as context:
        for parameter in parameters:
            if isinstance(parameter, click.Argument):
                yield parameter.make_metavar(context), ""
            elif isinstance(parameter, click.Option) and not parameter.hidden:
                record = parameter.get_help_record(context)
                assert record is not None, parameter
                yield " ".join(record[0].split()), _first(record[1])


def _of_argparse(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        if not DJANGOS & set(action.option_strings) and action.help != argparse.SUPPRESS:
            yield _usage(action), _first(str(action.help or "") % _values(action))


def _values(action: argparse.Action) -> dict[str, Any]:
    return {**vars(action), "prog": "manage.py"}


def _usage(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest).upper()
    if action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    return " ".join(filter(None, [", ".join(action.option_strings), value]))


def rest() -> str:
    """Every endpoint by its subject, from the description that is checked in."""
    described = json.loads((DOCS / "openapi.json").read_text("utf-8"))
    rows = sorted(
        (operation["tags"][0], path, METHODS.index(method), operation.get("summary", ""))
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
        if method in METHODS
    )
    parts = [
        "# Reference: REST",
        "Every operation of the API, as its OpenAPI description names it. A site shows that with "
        "every field at `/api/docs/` and gives it at `/api/schema/`; "
        "habits, limits and examples are in "
        f"[api.md](../api.md). {HERE}",
    ]
    for tag, operations in groupby(rows, key=lambda row: row[0]):
        table = ["| method | address | |", "|---|---|---|"]
        table += [
            f"| {METHODS[method].upper()} | `{path}` | {_plain(summary)} |"
            for _, path, method, summary in operations
        ]
        parts += [f"## {tag}", "\n".join(table)]
    return "\n\n".join(parts) + "\n"


def python() -> str:
    """What `benchwright` has by name, with signatures and docstrings."""
    parts = [
        "# Reference: Python",
        "What `from benchwright import …` has, each with its docstring. How it is used: "
        f"[python.md](../python.md). {HERE}",
    ]
    for name in benchwright.__all__:
        thing = getattr(benchwright, name)
        parts += [f"## `{name}`", _block(SIGNATURE, f"{name}{_signature(thing)}")]
        parts += [_block("text", inspect.getdoc(thing) or "")]
        if inspect.isclass(thing):
            parts += list(_methods(thing))
    return "\n\n".join(part for part in parts if part) + "\n"


def _methods(kind: type) -> Iterator[str]:
    for name, method in vars(kind).items():
        words = inspect.getdoc(method)
        is_shown = callable(method) or isinstance(method, property)
        if not name.startswith("_") and is_shown and words:
            usage = name if isinstance(method, property) else f"{name}{_signature(method)}"
            yield f"### `{kind.__name__}.{name}`"
            yield _block(SIGNATURE, usage)
            yield _block("text", words)


def _signature(thing: Any) -> str:
    """Its parameters, in lines where one would be long; what a value is called, not where it is."""
    try:
        result = inspect.signature(thing)
    except ValueError:
        return ""
    short = str(
        result.replace(return_annotation=result.empty) if inspect.isclass(thing) else result
    )
    short = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Za-z_])", "", short).replace("(self, ", "(")
    short = re.sub(r"<function ([\w.]+) at 0x\w+>", r"\1", short).replace("(self)", "()")
    if len(short) < 90:
        return short
    parts = re.split(r", (?=\*?\*?[a-z_]+(?::|=|,|\)|$)|\*,|/)", short)
    return ",\n    ".join(parts).replace("(", "(\n    ", 1)


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```" if text else ""


def measures() -> str:
    """Every measure: its names, what its name may hold, its range; formulas are in metrics.md."""
    parts = [
        "# Reference: measures",
        "Every measure by name, from the code. Names of ir_measures are taken as they are, those "
        "of trec_eval as well; case does not matter where it tells nothing apart. Formulas, "
        f"sources and what trec_eval does otherwise: [metrics.md](../metrics.md). {HERE}",
        "A rank or share behind an `@` is a cutoff; options stand in brackets, such as "
        "`AP(rel=2)@10`. What an option does: [metrics.md](../metrics.md#measures).",
    ]
    chapter = (DOCS / "metrics.md").read_text("utf-8")
    anchors = {
        name.partition("@")[0]: re.sub(r"[^\w\- ]", "", heading).replace(" ", "-").lower()
        for heading in re.findall("^### (.*)$", chapter, re.MULTILINE)
        for name in re.findall("`([^`]+)`", heading)
    }
    of_trec = [(name, measure) for name, measure in TREC_MEASURES.items() if measure.family]
    for name, family in FAMILIES.items():
        rows = [
            ("write", _names(_examples(name, family))),
            ("also", _names(family.aliases)),
            ("trec_eval", _names(trec for trec, measure in of_trec if measure.family == name)),
            (
                "options",
                _names(f"{key}={_value(option)}" for key, option in family.options.items()),
            ),
            ("of a query", _span(*family.span)),
            ("of all queries", OVER_ALL[family.aggregation]),
        ]
        parts += [f"## `{name}`", _first(inspect.getdoc(family.function))]
        parts += ["\n".join(f"- {key}: {words}" for key, words in rows if words)]
        parts += [f"[Formula and source](../metrics.md#{anchors[name]})."]
    names = [f"`{name}@k`" if name not in NO_CUTOFF else f"`{name}`" for name in NAMES]
    parts += [
        "## By subtopic",
        f"{', '.join(names)}; also {', '.join(f'`{alias}`' for alias in ALIASES)}: "
        "[of qrels by subtopic](../metrics.md#by-subtopic).",
    ]
    return "\n\n".join(parts) + "\n"


OVER_ALL = {"mean": "mean", "sum": "sum", "geometric": "geometric mean"}


def _examples(name: str, family: Family) -> Iterator[str]:
    if family.cutoff != "needed":
        yield name
    if family.cutoff != "none":
        yield f"{name}@{10 if family.cutoff_as == 'cutoff' else 0.2}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _value(value: OptionValue) -> str:
    """An option's default; the lists of recalls and weights as they are written in a name."""
    return (
        f"[{','.join(f'{number:g}' for number in value)}]"
        if isinstance(value, tuple)
        else repr(value)
    )


def _span(low: float, high: float) -> str:
    if high == inf:
        return "any number" if low == -inf else f"{low:g} and more"
    return f"{low:g} to {high:g}"


PAGES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "measures": measures,
    "python": python,
    "rest": rest,
    "settings": reference_settings.page,
}

if __name__ == "__main__":
    import django

    django.setup()
    for page, written in PAGES.items():
        (FOLDER / f"{page}.md").write_text(written(), "utf-8")
