"""`benchwright estimate`: what the labels of an estimation pool of a site say of its runs."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand, sent

EXAMPLES = (
    "benchwright --benchmark help-pages estimate 'DCG@10 estimated'",
    "benchwright --benchmark help-pages estimate 'DCG@10 estimated' --against bm25 --json",
)


@click.command(
    cls=SiteCommand,
    name="estimate",
    examples=EXAMPLES,
    short_help="Means of runs from the labels of an estimation pool of a site.",
)
@click.argument("pool")
@option("--against", metavar="RUN", group="Runs", help="Differences are to it; else to the best.")
def command(asked: Asked, pool: str, against: str | None) -> None:
    """Show P@k or DCG@k of the runs of POOL, from what was drawn and labelled, with intervals.

    While labels are lacking it says how many, and ends with 1.
    """
    if against:
        asked.check([against], asked.names("runs/"), "run")
    row = asked.named("pools/", pool, "pool")
    params = sent({"against": against})
    estimates = asked.ask("GET", f"pools/{row['id']}/estimates/", params=params)
    if estimates["refusal"]:
        raise click.ClickException(estimates["refusal"])
    asked.say(estimates, _lines(estimates))
    for warning in estimates["warnings"]:
        click.echo(warning, err=True)


def _lines(estimates: Mapping[str, Any]) -> Iterator[str]:
    from benchwright.cli.tables import Table, plain

    yield estimates["sentence"]
    columns = ("run", "mean", "low", "high", "labels", "difference", "low", "high")
    rows = [
        [
            row["run"],
            *_cells(row["mean"]),
            f"{row['mean']['n_labels']:,}",
            *_cells(row["difference"]),
        ]
        for row in estimates["rows"]
    ]
    yield plain(Table(columns, rows))


def _cells(of: Mapping[str, Any] | None) -> list[str]:
    return [f"{of[name]:.4f}" if of else "-" for name in ("value", "low", "high")]
