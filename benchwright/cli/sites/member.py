"""`benchwright member`: the role of somebody in a benchmark of a site."""

from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand, sent

EXAMPLES = (
    "benchwright --benchmark help-pages member ada",
    "benchwright --benchmark help-pages member ada --role adjudicator",
    "benchwright --benchmark help-pages member ada --remove",
)


@click.command(
    cls=SiteCommand,
    name="member",
    examples=EXAMPLES,
    short_help="Show, change or end somebody's role in a benchmark of a site.",
)
@click.argument("username")
@option("--role", metavar="ROLE", group="Member", help="What they are from now on.")
@option(
    "--show-results/--hide-results",
    "is_blindness_lifted",
    default=None,
    group="Member",
    help="Whether an annotator of open pools sees results.",
)
@option("--remove", is_flag=True, group="Instead", help="They leave; their work stays.")
def command(asked: Asked, username: str, remove: bool, **chosen: Any) -> None:
    """Show the member USERNAME of the benchmark, or change what they may do.

    Who is none yet comes in by `invite`. `list members` names all.
    """
    change = sent(chosen)
    if remove and change:
        text = "--remove ends what they are. Leave the other options out."
        raise click.UsageError(text)
    row: dict[str, Any] = asked.named("people/", username, "member", field="username")
    if remove:
        asked.ask("DELETE", f"people/{row['id']}/")
        asked.say(row, [f"{username} has left {asked.slug}"])
        return
    if change:
        row = asked.ask("PATCH", f"people/{row['id']}/", json=change)
    asked.say(row, [f"{row['username']}: {row['role']}, since {str(row['created_at'])[:10]}"])
