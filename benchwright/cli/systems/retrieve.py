"""`benchwright retrieve`: the run of a sparse system over files, without a server."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import options
from benchwright.cli.answers import refuse_mixed, say_json
from benchwright.cli.doors import Door, given, refuse_unused
from benchwright.cli.main import Command, option
from benchwright.cli.options import file_option, format_option, written_option
from benchwright.cli.parameters import FILE, FiniteRange, parameter_option
from benchwright.cli.progress import CLEAR_LINE, told
from benchwright.cli.site_doors import systems
from benchwright.recipes import systems as recipe
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.retrieval.from_files import Made

OF_GRADES = ("slices", "baseline", "gain")
SYSTEMS = ("bm25", "bm25-stem", "tfidf-word", "tfidf-char")
EXAMPLES = (
    "benchwright retrieve corpus.jsonl queries.jsonl -o bm25.run",
    "benchwright retrieve corpus.tsv topics.tsv --system bm25-stem --language de "
    "--qrels qrels/test.tsv -o bm25-de.run",
    "benchwright retrieve documents.npz queries.npz --vectors --no-idf -k 1000 -o splade.run",
    "benchwright retrieve corpus.jsonl.gz queries.jsonl --shards 8 --k1 0.9 --b 0.4 -o bm25.run",
    "benchwright --benchmark help-pages retrieve --system bm25 --system tfidf-word",
)


@click.command(
    cls=Command,
    name="retrieve",
    examples=EXAMPLES,
    door=Door(
        systems.__name__,
        keeps=systems.RETRIEVE_KEPT,
        also=systems.RETRIEVE_THERE,
        function="retrieve_on_site",
    ),
    short_help="The run of BM25, TF-IDF or sparse vectors over a corpus.",
)
@click.argument("corpus", type=FILE)
@click.argument("queries", type=FILE)
@option(
    "--system",
    type=click.Choice(SYSTEMS),
    default="bm25-stem",
    show_default=True,
    group="System",
    help="What searches the texts.",
)
@option(
    "--language",
    default="en",
    show_default=True,
    metavar="CODE",
    group="System",
    help="ISO code or English name. Stems by Snowball; Chinese, Japanese, Korean, Thai, Lao, Khmer "
    "and Burmese are searched by pairs of characters, all others by words.",
)
@option(
    "--k1",
    type=FiniteRange(0),
    default=1.2,
    show_default=True,
    group="System",
    help="Of BM25: how slowly a repeated word stops to count.",
)
@option(
    "--b",
    type=FiniteRange(0, 1),
    default=0.75,
    show_default=True,
    group="System",
    help="Of BM25: how much long documents are held back.",
)
@option(
    "--vectors",
    is_flag=True,
    group="System",
    help='CORPUS and QUERIES are sparse vectors: JSON lines of {"id", "vector": {feature: '
    "weight}}, or .npz of scipy with the ids in it or in FILE.ids.",
)
@option(
    "--idf/--no-idf",
    default=False,
    show_default=True,
    group="System",
    help="Of vectors: multiply a query's weights by ln(1 + (N - df + 0.5) / (df + 0.5)).",
)
@options.depth_of_run(100, group="Search")
@parameter_option(recipe.SHARDS, group="Search", metavar="N", default=1, show_default=True)
@option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    group="Search",
    help="Keep the counted corpus here and use it again, as long as the file is the same.",
)
@written_option(
    "-o",
    "--output",
    is_printed=True,
    group="Output",
    help="A TREC run; standard output unless given, or -.",
)
@options.tag_of_run(show_default="its own")
@file_option("--qrels", group="Scores", help="Grades: then scores are shown.")
@options.SLICES
@option(
    "--baseline",
    type=FILE,
    metavar="RUN",
    group="Scores",
    help="A run to compare with: paired t-test, its interval, Holm's correction.",
)
@option(
    "--gain",
    type=click.Choice(["exponential", "linear"]),
    default="exponential",
    show_default=True,
    group="Scores",
    help="Of nDCG: 2^grade - 1, or the grade.",
)
@format_option(
    ("table", "json"),
    group="Scores",
    help="How the scores are shown; json without qrels says what was made.",
)
def command(corpus: Path, queries: Path, **chosen: Any) -> None:
    """Search the documents of CORPUS for every query of QUERIES and write a run.

    CORPUS is BEIR's corpus.jsonl, TSV, CSV, Parquet or TREC documents; QUERIES are JSON lines, TSV,
    CSV or a query a line; both may be compressed. Search is exact. Results have a score above 0,
    and go by score, then by document id descending; a query may have none.
    """
    _refuse_misfits(chosen)
    if not chosen["vectors"] and ".npz" in (corpus.suffix, queries.suffix):
        message = "an .npz holds vectors, and texts are searched. Give --vectors."
        raise click.UsageError(message)
    if chosen["shards"] > 1:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="benchwright-") as folder:
            _run(corpus, queries, chosen, Path(folder))
    else:
        _run(corpus, queries, chosen, None)


def _refuse_misfits(chosen: Mapping[str, Any]) -> None:
    if not chosen["qrels"] and (scored := given(click.get_current_context(), *OF_GRADES)):
        message = f"--{next(iter(scored))} needs grades. Give --qrels too."
        raise click.UsageError(message)
    if chosen["vectors"]:
        refuse_unused("system", "language", "k1", "b", "cache", owner="texts")
    else:
        refuse_unused("idf", owner="--vectors")
        if not chosen["system"].startswith("bm25"):
            refuse_unused("k1", "b", owner="BM25")
    if chosen["shards"] > 1 and (chosen["cache"] or chosen["vectors"]):
        message = "--shards goes with neither --cache nor --vectors. Choose one of them."
        raise click.UsageError(message)
    if not chosen["qrels"]:
        refuse_mixed(chosen["output"], chosen["form"] == "json")
    if chosen["qrels"] and not chosen["output"]:
        message = "scores and run would both go to standard output. Name a file for the run (-o)."
        raise click.UsageError(message)


def _run(corpus: Path, queries: Path, chosen: Mapping[str, Any], folder: Path | None) -> None:
    from benchwright.cli.systems.retrieve_output import show_scores, tell_findings, write_results

    with told(f"Indexing {corpus}"):
        system, texts = _made(corpus, queries, chosen, folder)
    rankings = system.search(texts, k=chosen["depth"], progress=_tell)
    results = list(rankings) if chosen["qrels"] else rankings
    tag = chosen["tag"] or system.facts["system"]
    n_queries, n_empty = write_results(results, chosen["output"], tag)
    tell_findings(system.findings)
    _report(system, n_queries, n_empty)
    if chosen["qrels"]:
        show_scores(dict(results), system, chosen)
    elif chosen["form"] == "json":
        counts = {"n_queries": n_queries, "n_empty": n_empty}
        say_json({"file": str(chosen["output"]), **counts, **system.facts})


def _made(
    corpus: Path, queries: Path, chosen: Mapping[str, Any], folder: Path | None
) -> tuple["Made", list[tuple[str, str]]]:
    from benchwright.families.query_files import read_query_texts
    from benchwright.retrieval import from_files
    from benchwright.retrieval.sparse.systems import Parameters

    if chosen["vectors"]:
        system, qids = from_files.of_vectors(corpus, queries, idf=chosen["idf"])
        return system, [(qid, "") for qid in qids]
    texts = [(text.qid, text.text) for text in read_query_texts(queries)]
    parameters = Parameters(language=chosen["language"], k1=chosen["k1"], b=chosen["b"])
    if folder is not None:
        shards = chosen["shards"]
        return from_files.in_shards(corpus, chosen["system"], parameters, shards, folder), texts
    return from_files.indexed(corpus, chosen["system"], parameters, chosen["cache"]), texts


def _tell(done: int, n: int) -> None:
    if not sys.stderr.isatty():
        return
    end = CLEAR_LINE if done == n else ""
    sys.stderr.write(f"{CLEAR_LINE}{done:,} of {n:,} queries{end}")
    sys.stderr.flush()


def _report(system: "Made", n_queries: int, n_empty: int) -> None:
    empty = f", {n_empty:,} of them without a result" if n_empty else ""
    documents = counted(system.facts["n_documents"], "document")
    click.echo(
        f"{system.facts['description']}: {counted(n_queries, 'query')} over {documents}{empty}.",
        err=True,
    )
