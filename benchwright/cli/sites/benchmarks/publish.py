"""`benchwright publish`: a set of qrels of the labels of a benchmark of a site."""

from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand, sent

EXAMPLES = (
    "benchwright --benchmark help-pages publish november",
    "benchwright --benchmark help-pages publish november --rule majority --as-of 1200",
)


@click.command(
    cls=SiteCommand,
    name="publish",
    examples=EXAMPLES,
    short_help="Make qrels of the labels of a benchmark of a site.",
)
@click.argument("name")
@option("--rule", metavar="RULE", group="Qrels", help="By default the benchmark's own choice.")
@option(
    "--as-of",
    type=click.IntRange(1),
    metavar="EVENT",
    group="Qrels",
    help="Number of the last event that counts; by default the newest.",
)
def command(asked: Asked, name: str, **chosen: Any) -> None:
    """Make the set of qrels NAME of all labels, by a rule for where people disagree."""
    body = {"name": name, **sent(chosen)}
    if "rule" in body:
        body["rule"] = body["rule"].replace("_", "-")
    job = asked.done(asked.ask("POST", "qrels/", json=body))
    result = job["result"]
    left = f", {result['n_unresolved']:,} left open" if result["n_unresolved"] else ""
    asked.say(job, [f"made {name}: {result['n_qrels']:,} grades{left}"])
