"""`benchwright fuse`: several runs as one."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import options
from benchwright.cli.answers import refuse_mixed, say_json
from benchwright.cli.doors import refuse_unused
from benchwright.cli.files import written
from benchwright.cli.main import Command, option
from benchwright.cli.options import written_option
from benchwright.cli.parameters import FILE, FiniteRange
from benchwright.cli.progress import told
from benchwright.cli.systems.retrieve_output import rankings_of
from benchwright.files.encodings import as_bytes
from benchwright.texts.counting import counted

if TYPE_CHECKING:
    from benchwright.formats.trec import RunRow
    from benchwright.retrieval.fusion import Fusion
    from benchwright.retrieval.searching import Result

EXAMPLES = (
    "benchwright fuse bm25.run dense.run -o hybrid.run",
    "benchwright fuse bm25.run dense.run --method weighted --weights 1,2 -o hybrid.run",
    "benchwright fuse a.run b.run c.run --method weighted --normalize z -k 100 > hybrid.run",
)


@click.command(
    cls=Command,
    name="fuse",
    examples=EXAMPLES,
    of_files=(
        "A site keeps runs as they came, and fuses none but its own (`retrieve --system "
        "hybrid-rrf`). Bring runs with `export run`, fuse them here, and send the result "
        "with `submit`."
    ),
    short_help="Several runs as one, by ranks or by weighted scores.",
)
@click.argument("runs", type=FILE, nargs=-1, required=True)
@option(
    "--method",
    type=click.Choice(["rrf", "weighted"]),
    default="rrf",
    show_default=True,
    group="Fusion",
    help="rrf: the sum of 1 / (60 + rank). weighted: the sum of normalised scores.",
)
@option(
    "--rrf-k",
    type=FiniteRange(0),
    default=60,
    show_default=True,
    metavar="K",
    group="Fusion",
    help="The constant of rrf: the larger, the less the first ranks count.",
)
@option(
    "--weights",
    metavar="W,W,…",
    group="Fusion",
    help="One number for each run, in their order; 1 unless given.",
)
@option(
    "--normalize",
    "normalise",
    old=("--normalise",),
    type=click.Choice(["minmax", "z", "none"]),
    default="minmax",
    show_default=True,
    group="Fusion",
    help="How weighted makes scores of a query comparable; none where they share a scale.",
)
@options.depth_of_run(1000, group="Output")
@options.tag_of_run(default="fused", show_default=True)
@written_option(
    "-o",
    "--output",
    is_printed=True,
    group="Output",
    help="A TREC run; standard output unless given, or -.",
)
@options.JSON
def command(
    runs: tuple[Path, ...], output: Path | None, depth: int, tag: str, is_json: bool, **how: Any
) -> None:
    """Fuse two or more RUNs into one.

    Runs are TREC's, MS MARCO's three columns, JSON or Parquet; also .gz and .zst. Documents of one
    score stand in a run as trec_eval orders them, by id descending, and so do fused ones. A run
    that does not answer a query adds nothing to it.
    """
    if len(runs) < 2:
        message = f"{len(runs)} run to fuse; expected at least two. Name another run."
        raise click.UsageError(message)
    refuse_mixed(output, is_json)
    if how["method"] == "rrf":
        refuse_unused("normalise", owner="--method weighted")
    else:
        refuse_unused("rrf_k", owner="--method rrf")
    fusion = _fusion(how, len(runs))
    from benchwright.formats.trec import write_run
    from benchwright.retrieval.fusion import fused_runs

    with told("Fusing"):
        read = [rankings_of(path) for path in runs]
        lines = list(write_run(_rows(fused_runs(read, fusion, depth=depth), tag)))
    with written(output) as stream:
        stream.writelines(lines)
    if output is None:
        return
    n_queries = len({qid for run in read for qid in run})
    if is_json:
        how_fused = {"fusion": fusion.described, "tag": tag}
        facts = {"file": str(output), "n_queries": n_queries, "n_rows": len(lines), **how_fused}
        say_json(facts)
        return
    size = f"{counted(n_queries, 'query')}, {counted(len(lines), 'row')}"
    click.echo(f"{output}: {size}, {fusion.described}", err=True)


def _fusion(how: dict[str, Any], n_runs: int) -> "Fusion":
    from benchwright.retrieval.fusion import Fusion

    weights = _weights(how["weights"], n_runs) if how["weights"] else None
    return Fusion(how["method"], how["rrf_k"], weights, how["normalise"])


def _weights(text: str, n_runs: int) -> tuple[float, ...]:
    try:
        weights = tuple(float(number) for number in text.split(","))
    except ValueError:
        message = f"'{text}' is no list of numbers; expected such as 1,2 for two runs."
        raise click.BadParameter(message, param_hint="--weights") from None
    if len(weights) != n_runs:
        message = f"{len(weights)} weights for {n_runs} runs; expected one for each."
        raise click.BadParameter(message, param_hint="--weights")
    return weights


def _rows(results: "Iterator[Result]", tag: str) -> "Iterator[RunRow]":
    from benchwright.formats.trec import RunRow

    for qid, ranking in results:
        for rank, (docid, score) in enumerate(ranking, start=1):
            yield RunRow(0, as_bytes(qid), as_bytes(docid), score, rank, tag.encode())
