"""`benchwright slice`: a slice of the queries of a benchmark of a site, made, shown, registered."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import click

from benchwright.cli.doors import given
from benchwright.cli.main import option
from benchwright.cli.options import file_option
from benchwright.cli.parameters import parameter_option, text_of
from benchwright.cli.sites.asking import Asked, SiteCommand, sent
from benchwright.recipes import collections
from benchwright.texts.counting import counted

EXAMPLES = (
    "benchwright --benchmark help-pages slice frequent --expression 'frequency >= 100' --dry-run",
    """benchwright --benchmark faq slice head --rule '{"kind": "frequency", "band": "head"}'""",
    "benchwright --benchmark help-pages slice outages --queries ids.txt",
    "benchwright --benchmark help-pages slice head --register",
)
MAKING = ("expression", "rule", "queries")


@click.command(
    cls=SiteCommand,
    name="slice",
    examples=EXAMPLES,
    short_help="Make, show or register a slice of the queries of a site.",
)
@click.argument("name")
@option("--expression", metavar="RULE", group="Slice", help="Such as: frequency >= 100.")
@option(
    "--rule", metavar="JSON", group="Slice", help='Such as {"kind": "frequency", "band": "head"}.'
)
@file_option("--queries", group="Slice", help="By hand: ids of queries, one a line.")
@option("--description", metavar="TEXT", group="Slice", help="What its queries have in common.")
@parameter_option(collections.MINIMUM, group="Slice", metavar="N")
@option(
    "--register",
    is_flag=True,
    group="Instead",
    help="Fix members, rule and name for good, so that a gate may use it.",
)
@option("--dry-run", is_flag=True, group="Output", help="Say what the rule takes, make nothing.")
def command(asked: Asked, name: str, register: bool, dry_run: bool, **chosen: Any) -> None:
    """Make the slice NAME by a rule or by hand; without either, show it.

    Rules are those of docs/slices.md. A file of several slices is brought in by `import`.
    """
    ways = [way for way in MAKING if chosen[way] is not None]
    if len(ways) > 1 or (ways and register):
        text = f"--{ways[0]} and {'--register' if register else f'--{ways[1]}'}: give one of them."
        raise click.UsageError(text)
    if dry_run and ways in ([], ["queries"]):
        text = "--dry-run shows what a rule takes. Give --expression or --rule."
        raise click.UsageError(text)
    if not ways:
        asked.check([name], asked.names("slices/"), "slice")
        how, where = ("POST", "register/") if register else ("GET", "")
        row = asked.ask(how, f"slices/{quote(name, safe='')}/{where}")
        asked.say(row, _lines(row))
        return
    how_made = _made_by(chosen)
    if dry_run:
        preview = asked.ask("POST", "slices/preview/", json=how_made)
        asked.say(preview, _preview_lines(preview))
        return
    more = sent(given(click.get_current_context(), "description", "minimum"))
    answer = asked.ask("POST", "slices/", json={"name": name, **how_made, **more})
    if "kind" in answer and "rule" not in answer:  # a job, of a rule that reads texts
        asked.say_made(asked.done(answer), "made")
        return
    asked.say(answer, _lines(answer))


def _made_by(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What the API takes: a rule, or ids."""
    if chosen["queries"]:
        lines = map(str.strip, text_of(chosen["queries"]).split("\n"))
        return {"qids": [line for line in lines if line]}
    if chosen["expression"] is not None:
        return {"rule": {"kind": "expression", "expression": chosen["expression"]}}
    try:
        rule = json.loads(chosen["rule"])
    except ValueError as error:
        text = f'--rule is no JSON ({error}). Write it as {{"kind": …}}.'
        raise click.UsageError(text) from error
    if not isinstance(rule, dict):
        text = '--rule is no object. Write it as {"kind": …}.'
        raise click.UsageError(text)
    return {"rule": rule}


def _lines(row: Mapping[str, Any]) -> Iterator[str]:
    suggested = f", {row['n_suggested']:,} suggested" if row["n_suggested"] else ""
    yield f"{row['name']} ({row['kind']}): {counted(row['n_members'], 'query')}{suggested}"
    if row["description"]:
        yield row["description"]
    if row["is_registered"]:
        results = f"{row['n_results_before']:,} results had been seen"
        yield f"registered {row['registered_at'][:10]}; {results}"
        yield f"members {row['members_sha256']}"


def _preview_lines(preview: Mapping[str, Any]) -> Iterator[str]:
    yield f"{preview['n_taken']:,} of {preview['n_looked_at']:,} queries"
    yield from preview["notes"]
    for row in preview["rows"]:
        yield f"{row['query']}\t{row['text']}\t{row['reason']}"
