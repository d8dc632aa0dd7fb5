"""`benchwright leaderboard`: the board of a release of a site."""

from collections.abc import Iterator

import click

from benchwright.cli.main import option
from benchwright.cli.sites.asking import Asked, SiteCommand

EXAMPLES = (
    "benchwright --benchmark help-pages leaderboard",
    "benchwright --benchmark help-pages leaderboard --release 1.2.0 -m nDCG@10 --slice head",
)


@click.command(
    cls=SiteCommand,
    name="leaderboard",
    examples=EXAMPLES,
    short_help="The board of a release of a site, by a measure.",
)
@option(
    "--release",
    "version",
    metavar="VERSION",
    group="Board",
    help="Such as 1.2.0; by default the newest in force.",
)
@option(
    *("-m", "--measure"),
    metavar="NAME",
    default="nDCG@10",
    show_default=True,
    group="Board",
    help="What ranks the runs; a new one is computed first.",
)
@option("--slice", metavar="NAME", group="Board", help="Over the queries of a slice.")
@option(
    "--split",
    metavar="SPLIT",
    group="Board",
    help="Over a split, or all together with 'all'; that of the open phase unless named.",
)
def command(
    asked: Asked, version: str | None, measure: str, slice: str | None, split: str | None
) -> None:
    """Show the runs of a release by a measure, with intervals and what stands beside them."""
    from benchwright.cli.tables import Table, plain

    version = version or asked.version
    board = asked.client.leaderboard(
        f"{asked.slug}@{version}" if version else asked.slug,
        measure=measure,
        slice=slice or "",
        split=split or "",
    )
    names = [board.column, f"{board.column} low", f"{board.column} high"]
    columns = [name for name in ("rank", "run", *names) if name in board.columns or name == "run"]
    rows = [[_shown(row.get(name)) for name in columns] for row in board.rows]

    def lines() -> Iterator[str]:
        yield f"{asked.slug} {board.release}, {board.facts.get('queries', '')}".rstrip(", ")
        yield plain(Table(columns, rows, left=(columns.index("run"),)))
        yield from board.facts.get("notes", ())

    asked.say(dict(board.facts), lines())


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)
