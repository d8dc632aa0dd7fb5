"""`benchwright families` on a site: the queries of a benchmark in families of wordings."""

from collections.abc import Mapping
from typing import Any

import click

from benchwright.cli.doors import declared, given
from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, door, sent
from benchwright.recipes import families

KEPT = tuple(parameter.name for parameter in families.GROUPING)
"""What the command takes of files, too; the API has the same names."""

THERE = declared(
    option(
        "--qrels",
        metavar="NAME",
        group="More signals",
        help="A set of qrels: queries that share relevant documents are one family.",
    ),
    option("--dry-run", is_flag=True, group="Output", help="Say what it would be, change nothing."),
)


@door
def on_site(site: Asked, dry_run: bool, **chosen: Any) -> None:
    """Group the benchmark's queries into families; what people have decided stays."""
    if chosen["qrels"]:
        site.check([chosen["qrels"]], site.names("qrels/"), "set of qrels")
    body = sent(given(click.get_current_context(), *KEPT, "paraphrases", "qrels"))
    answer = site.ask("POST", "families/group/", json={**body, "preview": dry_run})
    if dry_run:
        site.say(answer, [", ".join(f"{name.replace('_', ' ')} {n}" for name, n in cost.items())
                           for cost in answer])  # fmt: skip
        return
    job = site.done(answer)
    site.say(job, [f"{name}: {n:,}" for name, n in counts_of(job["result"])])


def counts_of(result: Mapping[str, Any]) -> list[tuple[str, int]]:
    """What was counted, in words."""
    return [
        (name.removeprefix("n_").replace("_", " "), value)
        for name, value in result.items()
        if name.startswith("n_") and isinstance(value, int)
    ]
