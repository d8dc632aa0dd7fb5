"""`benchwright sample` and `clicks` on a site: what people asked and clicked, read there."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.cli.doors import declared, given
from benchwright.cli.main import option
from benchwright.cli.options import named_columns
from benchwright.cli.sites.asking import Asked, door, sent
from benchwright.recipes import clicks, sampling

SAMPLE_KEPT = (
    *(parameter.name for parameter in sampling.SAMPLING),
    *("given", "columns", "floor", "kinds", "regions", "lenient", "preview"),
)
"""What `sample` takes of files, too; the API has the same names."""

SAMPLE_THERE = declared(
    click.argument("log"),
    option("--name", metavar="NAME", group="Log", help="Of the log; by default that of the file."),
    option("--keep-raw", is_flag=True, group="Log", help="Keep the file itself on the site, too."),
)
CLICKS_KEPT = (
    "logs",
    *(parameter.name for parameter in clicks.CLICKS),
    "cuts",
    "columns",
    "actions",
)
CLICKS_THERE = declared(
    option("--name", metavar="NAME", group="Grades", help="Of the set; by default as the file."),
)
READ = ("name", "floor", "regions", "lenient", "keep_raw")
READING = (*READ, "columns", "kinds")


@door
def sample_on_site(site: Asked, log: str, preview: bool, **chosen: Any) -> None:
    """Draw queries from LOG, a file that is sent to the site or the name of a log that is there.

    A file is masked and counted there, and removed unless --keep-raw is given; it stays as a log
    of its name, from which more can be drawn. What is drawn becomes queries of the benchmark, each
    with its inclusion probability and weight.
    """
    from benchwright.logs.sampling import parse_given

    ctx = click.get_current_context()
    design = sent(given(ctx, *(parameter.name for parameter in sampling.SAMPLING)))
    if chosen["given"]:
        if chosen["allocation"] != "given":
            message = "--given needs --allocation given."
            raise click.UsageError(message)
        design["given"] = dict(parse_given(chosen["given"]))
    row = _read(site, Path(log), ctx, chosen) if Path(log).is_file() else _known(site, log, ctx)
    where = f"logs/{row['id']}/samples/"
    if preview:
        plan = site.ask("POST", f"{where}preview/", json=design)
        site.say(plan, _planned(plan))
        return
    site.say_made(site.done(site.ask("POST", where, json=design)), "drew")


def _known(site: Asked, name: str, ctx: click.Context) -> Mapping[str, Any]:
    """A log that is there; how it is read was decided when it came."""
    row = site.named("logs/", name, "file here, and no query log")
    parameters = [
        parameter for parameter in ctx.command.get_params(ctx) if parameter.name in READING
    ]
    for parameter in parameters:
        if given(ctx, str(parameter.name)):
            text = f"{parameter.opts[0]} says how a file is read; '{name}' was read already."
            raise click.UsageError(text, ctx)
    return row


def _read(
    site: Asked, file: Path, ctx: click.Context, chosen: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The log that the file became, now or when it was sent before."""
    from benchwright.files.sources import sha256_of

    fields = {**sent(given(ctx, *READ)), **named_columns(chosen["columns"])}
    fields["name"] = name = chosen["name"] or file.name.partition(".")[0]
    rows = site.client.rows(f"benchmarks/{site.slug}/logs/")
    earlier = next((row for row in rows if row["name"] == name), None)
    if earlier and earlier["facts"].get("sha256") == sha256_of(file):
        note = f"'{name}' is this file, sent and read before; it is drawn from as it was read then."
        click.echo(note, err=True)
        return dict(earlier)
    if chosen["kinds"]:
        fields["kinds"] = list(chosen["kinds"])
    job = site.done(site.send("logs/", {"file": file}, fields))
    return site.named("logs/", name, f"log; job {job['id']} made none")


def _planned(plan: Mapping[str, Any]) -> Iterator[str]:
    from benchwright.cli.tables import Table, plain

    columns = ("stratum", "families", "queries", "searches", "drawn", "probability")
    names = ("name", "families", "queries", "traffic", "drawn", "inclusion_probability")
    rows = [[_cell(stratum[name]) for name in names] for stratum in plan["strata"]]
    yield plain(Table(columns, rows))
    yield from (f"Note: {note}" for note in plan.get("notes", ()))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


@door
def clicks_on_site(site: Asked, logs: Sequence[Path], **chosen: Any) -> None:
    """Make a set of qrels of kind click of LOGS: a log, or UBI's queries and events.

    The files are read by a job of the site, which keeps the grades and nothing of the log.
    """
    if len(logs) > 2:
        message = f"{len(logs)} files; expected one, or UBI's queries and events."
        raise click.UsageError(message)
    files = dict(zip(("log", "events"), logs, strict=False))
    fields = sent(given(click.get_current_context(), "model", "least", "cuts", "name"))
    fields |= {
        field: ",".join(words)
        for field, words in (("columns", chosen["columns"]), ("actions", chosen["actions"]))
        if words
    }
    site.say_made(site.done(site.send("qrels/clicks/", files, fields)), "made")
