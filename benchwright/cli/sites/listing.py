"""`benchwright list`: what a benchmark of a site has, by kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import click

from benchwright.cli.doors import meant
from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand, sent

EXAMPLES = (
    "benchwright --site https://bench.example list benchmarks",
    "benchwright --benchmark help-pages list slices",
    "benchwright --benchmark help-pages list queries --words 'opening hours' --first 20",
    "benchwright --benchmark help-pages list exports --release 1.0.0 --json",
)


@dataclass(frozen=True)
class Kind:
    """A list of the API, below the benchmark's address, and which members of a row are shown."""

    path: str
    columns: tuple[str, ...]


KINDS: Mapping[str, Kind] = {
    "benchmarks": Kind("", ("slug", "name", "visibility", "created_at")),
    "runs": Kind("runs/", ("name", "kind", "owner", "n_queries", "depth", "visibility")),
    "queries": Kind("queries/", ("query", "text", "family", "split", "weight")),
    "slices": Kind("slices/", ("name", "kind", "n_members", "minimum", "is_registered")),
    "qrels": Kind("qrels/", ("name", "kind", "rule", "n_qrels", "n_queries", "n_relevant")),
    "pools": Kind("pools/", ("id", "name", "state", "n_entries", "n_done", "due_on")),
    "campaigns": Kind("campaigns/", ("name", "judge", "state", "n_pairs", "n_graded", "n_failed")),
    "judges": Kind("contextual/judges/", ("name", "model", "base_url", "price_in", "price_out")),
    "case-sets": Kind("contextual/sets/", ("name", "n_cases", "n_nodes", "n_images")),
    "evaluations": Kind(
        "contextual/evaluations/", ("id", "judge", "state", "n_cases", "n_failed", "mean")
    ),
    "embeddings": Kind("contrastive/", ("id", "name", "state", "by", "n_pairs")),
    "logs": Kind("logs/", ("name", "n_rows", "n_distinct", "n_traffic", "created_at")),
    "live": Kind("live/", ("name", "kind", "host", "k", "n_runs", "last_run_at")),
    "systems": Kind("baselines/", ("name", "title", "is_available", "state")),
    "candidates": Kind("candidates/", ("name", "origin", "n_queries", "n_documents", "created_at")),
    "checks": Kind("contamination/", ("id", "name", "kind", "n_outside", "n_exact", "n_near")),
    "releases": Kind("releases/", ("version", "state", "published_at", "deprecated_at")),
    "exports": Kind("releases/{release}/exports/", ("name", "label", "is_possible", "is_ready")),
    "phases": Kind("phases/", ("id", "name", "release", "split", "opens_at", "closes_at")),
    "submissions": Kind("submissions/", ("id", "name", "state", "phase", "created_at")),
    "policies": Kind("gates/policies/", ("name", "version", "baseline", "retired_at")),
    "gates": Kind("gates/", ("id", "policy", "candidate", "verdict", "created_at")),
    "members": Kind("people/", ("username", "role", "has_two_factors", "created_at")),
    "invitations": Kind("people/invitations/", ("id", "role", "note", "expires_at")),
    "jobs": Kind("jobs/", ("id", "title", "state", "done", "total", "created_at")),
    "files": Kind("uploads/", ("id", "name", "size", "created_at")),
    "webhooks": Kind("webhooks/", ("id", "url", "off", "n_waiting", "failing_since")),
}
FIRST = 100


@click.command(
    cls=SiteCommand,
    name="list",
    examples=EXAMPLES,
    is_of_benchmark=False,
    short_help="What a benchmark of a site has: runs, queries, slices, members, jobs, ….",
)
@click.argument("what", metavar="WHAT")
@option(
    "--first",
    type=click.IntRange(0),
    metavar="N",
    default=FIRST,
    show_default=True,
    group="Rows",
    help="So many at most; 0 for all.",
)
@option("--words", metavar="TEXT", group="Rows", help="Of queries: those with these words.")
@option(
    "--release",
    metavar="VERSION",
    group="Rows",
    help="Of exports: whose; by default of the newest in force.",
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    asked: Asked,
    what: str,
    first: int,
    words: str | None,
    release: str | None,
) -> None:
    """List WHAT of a benchmark: {kinds}.

    Lists are those of the API; --json has every member of a row. What the role of the token does
    not allow to see is not in them.
    """
    kind = _kind(what)
    if kind.path and not asked.slug:
        text = f"No benchmark is named. It stands before the command: --benchmark SLUG list {what}."
        raise click.UsageError(text, ctx)
    for name, value, of in (("--words", words, "queries"), ("--release", release, "exports")):
        if value and what != of:
            text = f"{name} is of {of}. Leave it out."
            raise click.UsageError(text, ctx)
    coming = asked.client.rows(_address(asked, kind, release), **sent({"q": words}))
    rows = list(islice(coming, first or None))
    asked.say(rows, _lines(kind.columns, rows, what))
    if first and next(iter(coming), None) is not None:
        click.echo(f"These are the first {first:,}; --first 0 lists all.", err=True)


def _kind(what: str) -> Kind:
    if what not in KINDS:
        near = meant(what, list(KINDS)) or f"There is: {', '.join(KINDS)}."
        text = f"'{what}' is nothing that is listed. {near}"
        raise click.UsageError(text)
    return KINDS[what]


def _address(asked: Asked, kind: Kind, release: str | None) -> str:
    if not kind.path:
        return "benchmarks/"
    path = kind.path
    if "{release}" in path:
        path = path.format(release=asked.release(release))
    return f"benchmarks/{asked.slug}/{path}"


def _lines(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], what: str) -> Iterator[str]:
    from benchwright.cli.tables import Table, plain

    if not rows:
        yield f"There are no {what.replace('-', ' ')}."
        return
    heads = [name.removeprefix("n_").removeprefix("is_").replace("_", " ") for name in columns]
    cells = [[cell(row[name]) for name in columns] for row in rows]
    numbers = {place for place, name in enumerate(columns) if _is_number(name, rows)}
    left = set(range(len(columns))) - numbers
    yield plain(Table(heads, cells, left=left))


def _is_number(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    values = [row[name] for row in rows if row[name] is not None]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def cell(value: Any) -> str:
    """A member of a row as a table has it: one line, whatever it holds."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return " ".join(str(value).split())


command.help = (command.help or "").format(kinds=", ".join(KINDS))
