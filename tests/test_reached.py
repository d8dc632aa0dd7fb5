"""What an operation of the API does a command of `benchwright` does, or it says why not.

A verb of a noun is an operation by itself. `reached.txt` has every other operation with the command
that asks for it, or after `=` with one that does the same; one without a command says why, after a
hyphen.
"""

import importlib
import inspect
import json
import re
from pathlib import Path
from string import Formatter

import click
import pytest

from benchwright.cli.main import main
from benchwright.cli.sites.nouns import LINES
from benchwright.cli.sites.nouns.commands import NOUNS, command_of, verbs_of
from tests.doc_blocks import ROOT
from tests.test_doc_commands import of_benchwright

TABLE = Path(__file__).with_name("reached.txt")
API = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
REASONS = {
    "a draft is changed in the browser",
    "an account is kept in the browser",
    "bytes that pages show",
    "it finds pages",
    "people judge in the browser",
    "the operator has manage.py",
}
METHODS = ("get", "post", "put", "patch", "delete")
VERBS = [(noun, verb) for noun in NOUNS for verb in verbs_of(noun)]
LISTS = [(noun, verb) for noun, verb in VERBS if verbs_of(noun)[verb].columns]


def operations():
    """Every operation by its method and its path, parameters without their names."""
    return {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path)): operation
        for path, methods in API["paths"].items()
        for method, operation in methods.items()
        if method in METHODS
    }


def operation_of(noun, verb):
    of, what = NOUNS[noun], verbs_of(noun)[verb]
    path = what.path[1:] if what.path.startswith("/") else of.path + what.path
    place = re.sub(r"\{\w+\}", "{}", path)
    before = "" if of.is_of_site else "benchmarks/{}/"
    return what.how, f"/api/v1/{before}{place}"


def meant(schema):
    while "$ref" in schema:
        schema = API["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def parameters_of(operation):
    """The members that an operation takes, with their schemas; those it needs, by each form."""
    results = [
        API["components"]["parameters"][parameter["$ref"].rpartition("/")[2]]
        if "$ref" in parameter
        else parameter
        for parameter in operation.get("parameters", ())
    ]
    members = {result["name"]: result["schema"] for result in results if result["in"] == "query"}
    needed = {
        result["name"] for result in results if result["in"] == "query" and result.get("required")
    }
    contents = operation.get("requestBody", {}).get("content", {}).values()
    bodies = [meant(content["schema"]) for content in contents] or [{}]
    for body in bodies:
        members |= body.get("properties", {})
    return members, [needed | set(body.get("required", ())) for body in bodies]


def rows_of(operation):
    answer = operation["responses"]["200"]["content"]["application/json"]
    rows = meant(answer["schema"])
    rows = meant(rows["properties"]["results"]) if "properties" in rows else rows
    return meant(rows["items"])["properties"]


def rows() -> dict[str, str]:
    lines = TABLE.read_text("utf-8").splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def test_every_operation_has_a_verb_or_a_row():
    known = operations()
    by_verbs = {operation_of(noun, verb) for noun, verb in VERBS}

    assert len(known) > 290
    assert by_verbs <= set(known)
    left = {known[operation]["operationId"] for operation in set(known) - by_verbs}
    assert set(rows()) == left


def test_every_noun_has_a_line_of_help():
    assert list(LINES) == list(NOUNS)


def test_operation_without_a_command_says_why():
    reasons = {row.removeprefix("- ") for row in rows().values() if row.startswith("- ")}

    assert reasons == REASONS


def test_operation_that_another_command_stands_for_names_it():
    for words in (row.removeprefix("= ") for row in rows().values() if row.startswith("= ")):
        of_benchwright(words.split())


@pytest.mark.parametrize(
    ("name", "command"), [row for row in rows().items() if row[1][0] not in "-="]
)
def test_command_of_a_row_asks_for_its_operation(name, command):
    path = next(
        path for (_, path), operation in operations().items() if operation["operationId"] == name
    )
    last = [part for part in path.split("/") if part.strip("{}")][-1].split(".{")[0]

    with click.Context(main) as context:
        subcommand = main.get_command(context, command)
    assert subcommand is not None
    modules = {subcommand.callback.__module__, "benchwright.client.client"}
    modules |= {"benchwright.client.pulling"} if command == "pull" else set()
    modules |= {door.module} if (door := getattr(subcommand, "door", None)) else set()
    sources = [inspect.getsource(importlib.import_module(module)) for module in modules]
    assert any(re.search(rf"[/\"'{{}}]{re.escape(last)}[/\"'{{]", source) for source in sources), (
        last
    )


@pytest.mark.parametrize(("noun", "verb"), VERBS)
def test_verb_is_an_operation_with_its_members(noun, verb):
    what, operation = verbs_of(noun)[verb], operations()[operation_of(noun, verb)]
    members, needed = parameters_of(operation)
    in_path = {name for _, name, _, _ in Formatter().parse(NOUNS[noun].path + what.path) if name}
    takes = {take.name: take for take in what.takes if take.name not in in_path}

    assert set(takes) | ({what.names} - {""}) <= set(members)
    always = {take.name for take in what.takes if take.required or isinstance(take, click.Argument)}
    assert any(names <= always | {what.names} for names in needed)
    for name, parameter in takes.items():
        if isinstance(parameter.type, click.Choice):
            assert set(parameter.type.choices) == choices(members[name]), name


def choices(schema):
    """The words of an enumeration, of a list of one as well; without the empty one."""
    schema = meant(schema)
    schema = meant(schema.get("items", schema))
    several = schema.get("oneOf") or schema.get("anyOf") or schema.get("allOf") or [schema]
    return {word for part in several for word in meant(part).get("enum", ()) if word}


@pytest.mark.parametrize(("noun", "verb"), LISTS)
def test_list_shows_members_that_the_api_describes(noun, verb):
    what = verbs_of(noun)[verb]

    assert set(what.columns) <= set(rows_of(operations()[operation_of(noun, verb)]))


@pytest.mark.parametrize(("noun", "verb"), VERBS)
def test_command_of_a_verb_has_its_help(noun, verb):
    command = command_of(noun, verb)

    with click.Context(command, info_name=f"benchwright {noun} {verb}") as context:
        page = command.get_help(context)
    assert verbs_of(noun)[verb].line in " ".join(page.split())
    assert all(param.help for param in command.params if isinstance(param, click.Option))
