"""`benchwright invite`: a link by which somebody joins a benchmark of a site."""

from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand, sent

EXAMPLES = (
    "benchwright --benchmark help-pages invite --role annotator --note 'for Ada'",
    "benchwright --benchmark help-pages invite --role submitter --email sam@example.org --days 3",
)


@click.command(
    cls=SiteCommand,
    name="invite",
    examples=EXAMPLES,
    short_help="Make a link by which somebody joins a benchmark of a site.",
)
@option("--role", metavar="ROLE", group="Invitation", help="By default annotator.")
@option("--note", metavar="TEXT", group="Invitation", help="Whom the link is for.")
@option(
    "--email",
    metavar="ADDRESS",
    group="Invitation",
    help="Whose account alone may accept; anybody's if not given.",
)
@option(
    "--days",
    type=click.IntRange(1),
    metavar="N",
    group="Invitation",
    help="Until it expires; by default 7.",
)
def command(asked: Asked, **chosen: Any) -> None:
    """Print a link by which somebody joins the benchmark; the site shows it this once."""
    invited = asked.ask("POST", "people/invitations/", json=sent(chosen))
    asked.say(invited, [invited["link"]])
