"""`benchwright families`: queries of a file grouped into families, without a server."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from benchwright.cli import options
from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door
from benchwright.cli.files import written
from benchwright.cli.main import Command, option
from benchwright.cli.options import written_option
from benchwright.cli.parameters import parameter_option
from benchwright.cli.site_doors import grouping
from benchwright.recipes import families
from benchwright.texts.counting import counted

EXAMPLES = (
    "benchwright families queries.jsonl -o families.tsv",
    "benchwright families queries.tsv.gz --links links.tsv --review-at 0.5",
    "benchwright families queries.tsv --qrels qrels.txt --embeddings vectors.npz",
    "benchwright --benchmark help-pages families --merge-at 0.7 --dry-run",
    "cut -f2 log.tsv | benchwright families -",
)


def thresholds(command: Any) -> Any:
    """The options of `recipes.families`, in their order."""
    for group, parameters in (("Chains", families.CHAINS), ("Thresholds", families.THRESHOLDS)):
        for parameter in reversed(parameters):
            command = parameter_option(parameter, group=group)(command)
    return command


@click.command(
    cls=Command,
    name="families",
    examples=EXAMPLES,
    door=Door(grouping.__name__, keeps=(*grouping.KEPT, "paraphrases"), also=grouping.THERE),
    short_help="Group queries into families of wordings, with a similarity and a reason a link.",
)
@click.argument("file", type=click.Path(allow_dash=True, path_type=Path))
@written_option(
    "-o",
    "--output",
    is_printed=True,
    group="Output",
    help="Where the families go (TSV); by default to the standard output.",
)
@written_option(
    "--links",
    group="Output",
    help="Where the links go: two queries, reason, similarity, both texts (TSV).",
)
@option(
    "--reviews",
    is_flag=True,
    group="Output",
    help="Also say how many families each --merge-at would leave to be reviewed.",
)
@options.JSON
@thresholds
@option(
    "--qrels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    group="More signals",
    help="TREC qrels: queries that share relevant documents (grade above 0) are one family.",
)
@option(
    "--embeddings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    group="More signals",
    help='An .npz with "ids" and "embeddings", made by a model of your choice.',
)
@option(
    "--paraphrases",
    is_flag=True,
    group="More signals",
    help="Look for paraphrases by static vectors of words (extra demo; made for English).",
)
@option(
    "--language",
    metavar="CODE",
    default="en",
    show_default=True,
    group="Queries",
    help="Of the queries, a code or an English name: which endings make no difference.",
)
def command(file: Path, output: Path | None, links: Path | None, **options: Any) -> None:
    """Group the queries of FILE into families: wordings of one need.

    FILE is JSON lines (_id, text), TSV or CSV (id, text; with or without a header), or has a query
    a line; also as .gz or .zst, and - is the standard input. A family is named by its first query
    id, as in the families.tsv of a release.
    """
    from benchwright.families import (
        GroupingOptions,
        QueryText,
        grouped,
        read_embeddings,
        static_embeddings,
    )
    from benchwright.families.query_files import family_lines, link_lines, read_query_texts
    from benchwright.retrieval.languages import language_code

    chosen = {parameter.name: options[parameter.name] for parameter in families.GROUPING}
    grouping_options = GroupingOptions(**chosen, language=language_code(options["language"]))
    queries = read_query_texts(file)
    if options["qrels"]:
        relevant = _relevant(options["qrels"])
        queries = [
            QueryText(query.qid, query.text, relevant.get(query.qid, frozenset()))
            for query in queries
        ]
    embeddings = read_embeddings(options["embeddings"]) if options["embeddings"] else None
    groups = grouped(
        queries,
        grouping_options,
        embeddings=embeddings,
        paraphrases=static_embeddings(queries) if options["paraphrases"] else None,
        on_progress=_progress(),
    )
    texts = {query.qid: query.text for query in queries}
    if output or not options["is_json"]:
        _write(output, family_lines(groups, texts))
    if links:
        _write(links, link_lines(groups, texts))
    costs = _review_costs(groups, grouping_options) if options["reviews"] else ()
    if options["is_json"]:
        say_json(_facts(groups, len(queries), costs))
        return
    _summarise(groups, len(queries), output)
    for cost in costs:
        click.echo(str(cost), err=output is None)


def _review_costs(groups: Any, chosen: Any) -> Iterable[Any]:
    from benchwright.families import review_costs
    from benchwright.families.grouping import SHOWN

    costs_at = {at for at in SHOWN if at >= chosen.review_at} | {chosen.merge_at}
    return review_costs(groups, sorted(costs_at))


def _facts(groups: Any, n_queries: int, costs: Iterable[Any]) -> dict[str, Any]:
    return {
        "n_queries": n_queries,
        "n_families": len(groups.families),
        "n_review": groups.n_flagged,
        "n_without_embedding": groups.n_without_embedding,
        "is_sampled": groups.is_sampled,
        "families": [
            {
                "family": family.name,
                "queries": list(family.members),
                "doubt": family.doubt,
                "is_review": family.is_flagged,
                "why": family.why,
            }
            for family in groups.families
        ],
        "links": [
            {"a": link.a, "b": link.b, "reason": link.reason.value, "similarity": link.similarity}
            for link in groups.links
        ],
        "reviews": [asdict(cost) for cost in costs],
    }


def _relevant(path: Path) -> dict[str, frozenset[str]]:
    """{query: its documents of a grade above 0}."""
    from benchwright.errors import Problems
    from benchwright.files.encodings import as_text
    from benchwright.files.sources import open_lines
    from benchwright.formats.trec import read_qrels

    problems = Problems()
    docids: dict[str, set[str]] = {}
    for row in read_qrels(open_lines(path), file=path.name, problems=problems):
        if row.grade > 0:
            docids.setdefault(as_text(row.qid), set()).add(as_text(row.docid))
    problems.raise_found()
    return {qid: frozenset(documents) for qid, documents in docids.items()}


def _write(path: Path | None, lines: Iterable[str]) -> None:
    with written(path) as stream:
        stream.writelines(map(str.encode, lines))


def _progress() -> Callable[[str, int, int], None] | None:
    if not sys.stderr.isatty():
        return None

    def tell(what: str, done: int, total: int) -> None:
        click.echo(f"\r{what}: {100 * done // max(total, 1):3d} %   ", nl=False, err=True)

    return tell


def _summarise(groups: Any, n_queries: int, output: Path | None) -> None:
    several = sum(len(family.members) > 1 for family in groups.families)
    text = (
        f"{counted(len(groups.families), 'family')} of {counted(n_queries, 'query')}, "
        f"{several:,} of several; {counted(len(groups.links), 'link')}; "
        f"{counted(groups.n_flagged, 'family')} to be reviewed"
    )
    if groups.is_sampled:
        text += "; pairs were looked for by MinHash"
    if groups.n_without_embedding:
        text += f"; {groups.n_without_embedding:,} queries have no embedding"
    # Where the families themselves are printed, what is said of them must not be among them.
    click.echo(text, err=output is None)
