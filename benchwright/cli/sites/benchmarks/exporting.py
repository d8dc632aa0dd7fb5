"""`benchwright export`: a file of a benchmark of a site that is no release."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from benchwright.cli.files import written
from benchwright.cli.main import option
from benchwright.cli.options import written_option
from benchwright.cli.sites.asking import Asked, Line, SiteCommand, size

EXAMPLES = (
    "benchwright --benchmark help-pages export qrels november -o november.qrels",
    "benchwright --benchmark help-pages export run bm25 -o bm25.zip",
    "benchwright --benchmark help-pages export judgments --form csv > judgments.csv",
    "benchwright --benchmark help-pages export report 12 --form xml -o gate.xml",
)


def _qrels(asked: Asked, name: str) -> str:
    return f"qrels/{asked.named('qrels/', name, 'set of qrels')['id']}/download/"


def _run(asked: Asked, name: str) -> str:
    return f"runs/{asked.named('runs/', name, 'run')['id']}/export/"


def _report(asked: Asked, name: str) -> str:
    form = click.get_current_context().params["written"] or "md"
    return f"gates/{quote(name, safe='')}/report.{form}"


NAMED: dict[str, Callable[[Asked, str], str]] = {"qrels": _qrels, "run": _run, "report": _report}
WHOLE = {"judgments": "judgments/", "activity": "audit/export/", "leaks": "splits/leaks.md"}
FORMS = {
    "judgments": ("jsonl", "csv"),
    "activity": ("jsonl", "csv"),
    "report": ("md", "json", "xml"),
}


@click.command(
    cls=SiteCommand,
    name="export",
    examples=EXAMPLES,
    short_help="A file of a benchmark of a site: qrels, a run, judgments, ….",
)
@click.argument("what", type=click.Choice([*NAMED, *WHOLE]), metavar="WHAT")
@click.argument("name", required=False)
@option(
    "--form",
    "written",
    type=click.Choice(["jsonl", "csv", "md", "json", "xml"]),
    group="Form",
    help="Judgments and activity: jsonl, or csv. A report: md, json, or xml as JUnit has it.",
)
@option("--all", "has_all", is_flag=True, group="Judgments", help="Practice and checks as well.")
@option(
    "--as-of",
    type=click.IntRange(1),
    metavar="EVENT",
    group="Judgments",
    help="Number of the last event that counts.",
)
@written_option(
    "-o",
    "--output",
    is_printed=True,
    group="Output",
    help="By default to the standard output.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    asked: Asked,
    what: str,
    name: str | None,
    output: Path | None,
    **more: Any,
) -> None:
    """Bring qrels NAME, run NAME, report ID, judgments, activity or leaks into a file.

    Qrels are TREC's; a run is a zip of it and what is known of the system; a report is that of a
    gate; judgments name people by pseudonym; activity is who did what; leaks are the report on the
    splits, as Markdown. A release comes by `pull`.
    """
    if what in NAMED and not name:
        text = f"Which? Name it: export {what} NAME; `list` has the names."
        raise click.UsageError(text, ctx)
    if what in WHOLE and name:
        text = f"{what} are of the whole benchmark. Leave '{name}' out."
        raise click.UsageError(text, ctx)
    if (form := more["written"]) and form not in FORMS.get(what, ()):
        text = f"{what} are written in one form. Leave --form out."
        if what in FORMS:
            text = f"'{form}' is no form of {what}. There is: {', '.join(FORMS[what])}."
        raise click.UsageError(text, ctx)
    asking = {"all": more["has_all"] or None, "as_of": more["as_of"]}
    params = {key: value for key, value in asking.items() if value is not None}
    if params and what != "judgments":
        text = f"--{next(iter(params)).replace('_', '-')} is of judgments. Leave it out."
        raise click.UsageError(text, ctx)
    if output is None and (asked.is_json or (what == "run" and sys.stdout.isatty())):
        text = "Name a file for it with -o."
        raise click.UsageError(text, ctx)
    if form and what in WHOLE:
        params["form"] = form
    path = NAMED[what](asked, name) if name else WHOLE[what]
    address = f"benchmarks/{asked.slug}/{path}"
    if output is None:
        asked.client.fetch(address, sys.stdout.buffer, params=params)
        return
    n_bytes = _fetched(asked, address, output, params)
    facts = {"what": what, "name": name or "", "file": str(output), "n_bytes": n_bytes}
    asked.say(facts, [f"{output}: {size(n_bytes)}"])


def _fetched(asked: Asked, address: str, output: Path, params: dict[str, Any]) -> int:
    """The bytes of the file, which is in its place once it is whole, or not at all."""
    with Line() as line, written(output) as stream:
        n_bytes: int = asked.client.fetch(
            address,
            stream,
            params=params,
            tell=lambda done, total: line.bytes(output.name, done, total),
        )
    return n_bytes
