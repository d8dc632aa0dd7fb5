"""`benchwright list`: what a benchmark of a site has, by kind."""

import click

from benchwright.cli.doors import meant
from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand, sent
from benchwright.cli.sites.nouns.commands import FIRST, NOUNS, none_of, say_rows
from benchwright.cli.sites.nouns.table import Noun

EXAMPLES = (
    "benchwright --site https://bench.example list benchmarks",
    "benchwright --benchmark help-pages list slices",
    "benchwright --benchmark help-pages list queries --words 'opening hours' --first 20",
    "benchwright --benchmark help-pages list exports --release 1.0.0 --json",
)


@click.command(
    cls=SiteCommand,
    name="list",
    examples=EXAMPLES,
    is_of_benchmark=False,
    short_help="What a benchmark of a site has: runs, queries, slices, members, jobs, ….",
)
@click.argument("what", metavar="WHAT")
@FIRST
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
    noun = _listed(what)
    if not noun.is_of_site and not asked.slug:
        text = f"No benchmark is named. It stands before the command: --benchmark SLUG list {what}."
        raise click.UsageError(text, ctx)
    for name, value, of in (("--words", words, "queries"), ("--release", release, "exports")):
        if value and what != of:
            text = f"{name} is of {of}. Leave it out."
            raise click.UsageError(text, ctx)
    address = noun.path if noun.is_of_site else f"benchmarks/{asked.slug}/{noun.path}"
    if "{release}" in address:
        address = address.format(release=asked.release(release))
    say_rows(asked, address, noun.columns, none_of(what), first, **sent({"q": words}))


def _listed(what: str) -> Noun:
    known = [name for name, noun in NOUNS.items() if noun.columns]
    if what not in known:
        near = meant(what, known) or f"There is: {', '.join(known)}."
        text = f"'{what}' is nothing that is listed. {near}"
        raise click.UsageError(text)
    return NOUNS[what]


command.help = (command.help or "").format(
    kinds=", ".join(name for name, noun in NOUNS.items() if noun.columns)
)
