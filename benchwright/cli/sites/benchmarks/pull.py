"""`benchwright pull`: a release of a site in a folder, each file checked."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchwright.cli.answers import say_json
from benchwright.cli.main import Command, option
from benchwright.cli.sites.asking import Line, asked, server_option, size

if TYPE_CHECKING:
    from benchwright.client import Pulled

EXAMPLES = (
    "benchwright pull stdlib",
    "benchwright pull stdlib@1.2.0 -o stdlib",
    "benchwright pull stdlib@1.2.0 --format beir -o stdlib-beir",
    "BENCHWRIGHT_TOKEN=… benchwright pull private --site https://benchmarks.example.org",
)


@click.command(
    cls=Command,
    name="pull",
    examples=EXAMPLES,
    where_fields={"server": "site", "release": "benchmark"},
    short_help="Bring a release of a site into a folder, checked by its manifest.",
)
@click.argument("release", metavar="SLUG[@VERSION]")
@option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    group="Output",
    help="A new or empty folder; by default SLUG-VERSION here.",
)
@option(
    "--format",
    "form",
    metavar="NAME",
    group="Output",
    help=(
        "beir, trec, hub or another form the release is given in; by default its own files: "
        "queries, grades, families, slices, splits, manifest."
    ),
)
@server_option()
@option("--json", "is_json", is_flag=True, group="Output", help="What came, as JSON.")
def command(
    release: str, output: Path | None, form: str | None, server: str | None, is_json: bool
) -> None:
    """Bring a release of a site into a folder: all of it, or nothing.

    Every file is checked by the SHA-256 that the release's manifest has for it. A pull that broke
    off goes on where it was when it is run again. Grades of hidden splits are not among the files;
    a private benchmark needs the token of a member.
    """
    with asked(server, needs_token=False) as client, Line() as line:
        facts = client.release(release)
        slug = release.partition("@")[0]
        into = output or Path(f"{slug}-{facts.version}")
        pulled = client.pull(f"{slug}@{facts.version}", into, form=form, tell=line.bytes)
    if is_json:
        _say(facts.version, into, pulled)
    else:
        came = f"{len(pulled.files)} files, {size(pulled.n_bytes)}"
        click.echo(f"{slug} {facts.version}: {came}, in {into}")
    if pulled.withheld:
        names = ", ".join(pulled.withheld)
        click.echo(f"Hidden: the grades of {names}. Runs on them are scored by the site.", err=True)
    if facts.deprecated_at:
        instead = f" Use {facts.successor}." if facts.successor else ""
        click.echo(
            f"Warning: this release is deprecated: {facts.deprecated_reason}{instead}", err=True
        )


def _say(version: str, folder: Path, pulled: "Pulled") -> None:
    """Say for a program what came, and what is withheld."""
    facts = {
        "release": version,
        "folder": str(folder),
        "files": pulled.files,
        "n_bytes": pulled.n_bytes,
        "withheld": pulled.withheld,
    }
    say_json(facts)
