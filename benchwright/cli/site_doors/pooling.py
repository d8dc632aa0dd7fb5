"""`benchwright pool` on a site: a pool of its runs, for people to judge."""

from typing import Any

import click

from benchwright.cli.doors import declared, given
from benchwright.cli.main import option
from benchwright.cli.parameters import parameter_option
from benchwright.cli.sites.asking import Asked, door, sent
from benchwright.recipes import pools as recipes
from benchwright.texts.counting import counted

KEPT = ("strategy", "order", "depth", "budget", "measure", "labels", "seconds", "seed")
"""What the command takes of files, too; the API has the same names."""

THERE = declared(
    click.argument("runs", nargs=-1),
    option(
        "--name", metavar="NAME", group="Members", help="By default 'depth 10', after the depth."
    ),
    option(
        "--candidates",
        metavar="NAME",
        group="Members",
        help="For a top-up: the name of the list that it is made of.",
    ),
    option("--carry", is_flag=True, group="Members", help="Judged documents, too."),
    option(
        "--drawn",
        "is_drawn",
        is_flag=True,
        group="Members",
        help="Of the queries alone that were drawn last for people.",
    ),
    *(parameter_option(parameter, group="People") for parameter in (*recipes.SHARING, recipes.DUE)),
)
NEW = (
    "carry",
    "is_drawn",
    "candidates",
    *(parameter.name for parameter in (*recipes.SHARING, recipes.DUE)),
)


@door
def on_site(site: Asked, runs: tuple[str, ...], name: str | None, **chosen: Any) -> None:
    """Build a pool of the site's runs RUNS, or of all where none is named."""
    run_names = site.names("runs/")
    site.check(runs, run_names, "run")
    ctx = click.get_current_context()
    body = sent(given(ctx, *KEPT, *NEW))
    is_of_runs = chosen["strategy"] not in ("top-up", "manual") and not chosen["candidates"]
    body["name"] = name or f"depth {chosen['depth']}"
    body["runs"] = list(runs or run_names) if is_of_runs else list(runs)
    job = site.done(site.ask("POST", "pools/", json=body))
    site.say(job, [f"built {body['name']}: {counted(job['result']['n_entries'], 'document')}"])
