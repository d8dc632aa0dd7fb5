"""`benchwright sketch`: hashes of a private list of queries, to be checked elsewhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.answers import say_json
from benchwright.cli.files import written
from benchwright.cli.main import Command, option
from benchwright.cli.options import JSON, written_option

if TYPE_CHECKING:
    from benchwright.contamination.sketches import SketchHeader

EXAMPLES = (
    "benchwright sketch train-queries.tsv --salt f3a9…c1 -o train.sketch",
    "benchwright sketch train.jsonl.gz --new-salt -o train.sketch   # prints a salt to pass on",
    "benchwright sketch queries.txt --salt-inside -o public.sketch  # anybody may try guesses",
)
TOLD_EVERY = 10_000
WHICH_SALT = (
    "Which salt? Give the one that the page of the check shows (--salt), make one and pass "
    "it on (--new-salt), or put one into the file (--salt-inside)."
)


@click.command(
    cls=Command,
    name="sketch",
    examples=EXAMPLES,
    of_files=("A private list is hashed where it lies, so that no site ever has it."),
    short_help="Hashes of a private list of queries, by which others find theirs in it.",
)
@click.argument("queries", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@written_option("-o", "--output", required=True, group="Output", help="Where the sketch goes.")
@option(
    "--salt",
    metavar="SALT",
    group="Salt",
    help="The salt that the page of the check shows; 16 characters or more.",
)
@option(
    "--new-salt",
    is_flag=True,
    group="Salt",
    help="Make a salt and print it: whoever checks needs it, and nobody else should have it.",
)
@option(
    "--salt-inside",
    is_flag=True,
    group="Salt",
    help="Put the salt into the file, so that anybody who gets it can check, and try guesses.",
)
@option(
    "--language",
    metavar="CODE",
    default="en",
    show_default=True,
    group="Queries",
    help="Of the queries, a code or an English name: which endings make no difference.",
)
@JSON
def command(
    queries: Path,
    output: Path,
    salt: str | None,
    new_salt: bool,
    salt_inside: bool,
    language: str,
    is_json: bool,
) -> None:
    """Make a sketch of QUERIES: keyed hashes, by which a benchmark finds its own queries in them.

    QUERIES has a query a line, or is TSV, CSV, JSON lines or Parquet with a column of queries and
    perhaps one of relevant documents; also as .gz. What a sketch tells, and to whom, stands in
    docs/contamination.md: whoever has both the sketch and the salt can try texts they think of.
    """
    import shutil
    from tempfile import TemporaryDirectory

    from benchwright.contamination import read_outside
    from benchwright.contamination.errors import NoOutsideQueriesError
    from benchwright.contamination.sketches import Hasher, check_salt, write_sketch
    from benchwright.contamination.sketches import new_salt as made_salt
    from benchwright.errors import Problems
    from benchwright.retrieval.languages import language_code

    used = check_salt(salt) if salt else made_salt()
    if not (salt or new_salt or salt_inside):
        raise click.UsageError(WHICH_SALT)
    problems = Problems()
    with TemporaryDirectory(prefix="benchwright-") as folder:
        sketch = Path(folder) / "sketch"
        rows = read_outside(queries, file=queries.name, folder=Path(folder), problems=problems)
        header = write_sketch(
            _told((row.text, row.documents) for row in rows),
            sketch,
            hasher=Hasher(used, language_code(language)),
            salt_inside=used if salt_inside else None,
        )
        problems.raise_found()
        if not header.n_queries:
            raise NoOutsideQueriesError(file=queries.name)
        with sketch.open("rb") as content, written(output) as stream:
            shutil.copyfileobj(content, stream)
        n_bytes = sketch.stat().st_size
    say = _say_json if is_json else _say
    say(output, header, n_bytes, used if new_salt and not salt else None)


def _say_json(output: Path, header: "SketchHeader", n_bytes: int, made_salt: str | None) -> None:
    counts = {"n_queries": header.n_queries, "n_documents": header.n_documents}
    say_json({"file": str(output), **counts, "n_bytes": n_bytes, "salt": made_salt})


def _say(output: Path, header: "SketchHeader", n_bytes: int, made_salt: str | None) -> None:
    documents = f" and {header.n_documents:,} relevant documents" if header.n_documents else ""
    size = n_bytes / 1_000_000
    click.echo(f"{output}: {header.n_queries:,} distinct queries{documents}, {size:,.1f} MB")
    if made_salt:
        click.echo(f"salt: {made_salt}")


def _told(rows: Iterator[Any]) -> Iterator[Any]:
    """The same rows, with the count told on a terminal."""
    import sys

    is_terminal = sys.stderr.isatty()
    n = 0
    for n, row in enumerate(rows, start=1):
        if is_terminal and n % TOLD_EVERY == 0:
            click.echo(f"\r{n:,} queries", nl=False, err=True)
        yield row
    if is_terminal and n >= TOLD_EVERY:
        click.echo("\r", nl=False, err=True)
