"""`benchwright import`: files into a benchmark of a site."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from benchwright.cli.main import option
from benchwright.cli.parameters import parameter_option
from benchwright.cli.sites.asking import Asked, Line, SiteCommand, sent
from benchwright.files.archives import packed
from benchwright.recipes import collections

# Of what the site calls a run or a set of qrels.
LONGEST_NAME = 120
FILE = click.Path(exists=True, path_type=Path)
EXAMPLES = (
    "benchwright --benchmark help-pages import corpus.jsonl queries.jsonl bm25.run dense.run",
    "benchwright --benchmark help-pages import qrels.tsv --name official --grade-map '1=2, 0=0'",
    "benchwright --benchmark help-pages import table.csv --kind queries --map id=nr --map text=q",
)


@click.command(
    cls=SiteCommand,
    name="import",
    examples=EXAMPLES,
    short_help="Bring corpus, queries, qrels and runs into a benchmark of a site.",
)
@click.argument("files", type=FILE, nargs=-1, required=True)
@option("--kind", metavar="KIND", group="File", help="What it is, if its content does not tell.")
@option(
    "--map",
    "columns",
    multiple=True,
    metavar="FIELD=COLUMN",
    group="File",
    help="Which column is what, such as id=doc_id; once for each field.",
)
@option(
    "--header/--no-header",
    "header",
    default=None,
    group="File",
    help="Whether the first line names the columns, where it does not look so.",
)
@option("--language", "lang", metavar="CODE", group="File", help="Language of the queries.")
@option("--split", metavar="SPLIT", group="File", help="Split of the queries of qrels.")
@option(
    "--name",
    metavar="NAME",
    group="File",
    help="Of the run or the set of qrels; by default that of the file.",
)
@option(
    "--grade-map",
    metavar="A=B,…",
    group="Grades",
    help="What the file's grades are here, such as 1=2,0=0; of words, such as E=3,S=2,C=1,I=0.",
)
@option(
    "--every-row-relevant", is_flag=True, group="Grades", help="The qrels have no grades: 1 each."
)
@option(
    "--unlisted",
    metavar="RULE",
    group="Grades",
    help="What the qrels do not list: unknown, or not-relevant.",
)
@option(
    "--machine/--no-machine",
    default=None,
    group="Grades",
    help="Whether a machine gave the grades; by default if the set has a model's name.",
)
@option(
    "--leave-out",
    metavar="WHAT",
    group="Bad records",
    help="Leave out bad records, or whole files; by default nothing is, and a bad one ends it.",
)
@parameter_option(collections.AGREED, group="Bad records", metavar="N")
@option(
    "--max-docs",
    type=click.IntRange(1),
    metavar="N",
    group="Corpus",
    help="A part of the corpus: what is judged, graded or pooled, and more up to so many.",
)
@option(
    "--show-metadata",
    "shown_metadata",
    multiple=True,
    metavar="KEY",
    group="Corpus",
    help="A key of the documents' metadata that people who judge see; may be repeated.",
)
@option("--seed", type=int, metavar="N", group="Corpus", help="Of what --max-docs draws; 0.")
@option(
    "--take",
    is_flag=True,
    group="Corpus",
    help="Take a corpus that differs from the one there is at once, without a look at it.",
)
@option("--snapshot-date", metavar="DATE", group="Corpus", help="As of when it is: 2026-03-31.")
@option(
    "--parents",
    metavar="WHERE",
    group="Corpus",
    help="Where passages say their document: stated (in a column), or ids such as X#Y.",
)
@option(
    "--aggregation",
    metavar="HOW",
    group="Runs",
    help="How a run of passages becomes one of documents: maxp, firstp, sump or rrf.",
)
def command(asked: Asked, files: tuple[Path, ...], **chosen: Any) -> None:
    """Import FILES, or folders, in their order: each is told by its content, and comes in whole
    or not."""
    fields = dict(_pair(text) for text in chosen.pop("columns"))
    if chosen.pop("every_row_relevant"):
        fields["grade"] = "every row is relevant"
    body = sent({**chosen, "mapping": fields or None})
    if body.get("name") and len(files) > 1:
        text = "--name is of one file. Import them one by one, or leave it out."
        raise click.UsageError(text)
    jobs = []
    for path in files:
        with Line() as line, packed(path) as file:
            tell = partial(line.bytes, f"Sending {path.name}")
            upload = asked.client.upload(asked.slug, file, tell=tell)
        plain = file.name.removesuffix(".gz").removesuffix(".zst")
        name = Path(plain).stem[:LONGEST_NAME]
        job = asked.ask("POST", f"uploads/{upload}/import/", json={"name": name, **body})
        jobs.append(asked.done(job))
        if not asked.is_json:
            asked.say_made(jobs[-1], "imported")
    if asked.is_json:
        asked.say(jobs, ())


def _pair(text: str) -> tuple[str, str]:
    field, equals, column = text.partition("=")
    if not equals or not field or not column:
        message = f"--map is '{text}'; expected FIELD=COLUMN, such as id=doc_id."
        raise click.UsageError(message)
    return field.strip(), column.strip()
