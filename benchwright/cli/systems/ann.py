"""`benchwright ann`: how much of exact search does an approximate index keep?"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli import options
from benchwright.cli.answers import say_json
from benchwright.cli.doors import Door
from benchwright.cli.main import Command, option
from benchwright.cli.options import file_option
from benchwright.cli.parameters import FILE, FiniteRange
from benchwright.cli.progress import told
from benchwright.cli.site_doors import systems
from benchwright.files.encodings import as_shown
from benchwright.texts.counting import number_beside

if TYPE_CHECKING:
    from benchwright.retrieval.ann import AnnRecall, Rows

MEASURE = "nDCG@10"
ALL = "all"
N_WORST = 10
COLUMNS = ("queries", "n", "recall", "low", "high", "loss", "loss low", "loss high")
EXAMPLES = (
    "benchwright ann exact.run hnsw.run -k 100",
    "benchwright ann exact.run hnsw.run --qrels qrels.txt --slices slices.tsv",
    "benchwright ann exact.run hnsw.run --format json --fail-below 0.95",
    "benchwright --benchmark help-pages ann exact hnsw -k 100 --fail-below 0.95",
)


@click.command(
    cls=Command,
    name="ann",
    examples=EXAMPLES,
    door=Door(
        systems.__name__,
        keeps=systems.ANN_KEPT,
        also=systems.ANN_THERE,
        function="ann_on_site",
    ),
    short_help="What an approximate index keeps of exact search.",
)
@click.argument("exact", type=FILE)
@click.argument("approximate", type=FILE)
@option(
    "-k",
    "--depth",
    "k",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    group="Recall",
    help="How many of the first ranks are looked at.",
)
@option(
    "--tolerance",
    type=FiniteRange(0),
    default=1e-6,
    show_default=True,
    group="Recall",
    help="Scores as near as this to that of rank k count as tied with it.",
)
@option(
    "--fail-below",
    type=FiniteRange(0, 1),
    metavar="RECALL",
    group="Recall",
    help="End with 1 where the mean is lower; 0.95 is usual before production.",
)
@file_option(
    "--qrels",
    group="Queries",
    help="Grades: then the loss in nDCG@10 is shown, with its interval.",
)
@options.SLICES
@options.FAMILIES
@options.FORMAT
@click.pass_context
def command(ctx: click.Context, /, exact: Path, approximate: Path, **chosen: Any) -> None:
    """Compare a run of an APPROXIMATE index with one of EXACT search by the same model.

    recall@k is the mean over queries of the share of the exact first k that the index has among its
    own first k; a query that it does not answer counts 0. Documents tied at rank k can stand for
    each other. With qrels, also what that costs in nDCG@10, index minus exact.
    """
    from benchwright.retrieval.ann import ann_recall

    with told("Comparing"):
        recall = ann_recall(
            _rows(exact), _rows(approximate), k=chosen["k"], tolerance=chosen["tolerance"]
        )
        if not recall.queries:
            message = f"{exact}: no query is answered, so there is nothing to find again."
            raise click.ClickException(message)
        table = _table(recall, _losses(exact, approximate, chosen["qrels"]), chosen)
    _show(recall, table, chosen["form"])
    if chosen["fail_below"] is not None and recall.mean < chosen["fail_below"]:
        click.echo(f"recall@{recall.k} is below {chosen['fail_below']:g}.", err=True)
        ctx.exit(1)


def _rows(path: Path) -> "Rows":
    """{query: its documents, best first}, by scores as trec_eval breaks their ties."""
    from benchwright.reading import ranking
    from benchwright.reading.loading import read_run
    from benchwright.retrieval.ann import Ranked

    return {
        as_shown(qid): [Ranked(as_shown(row.docid), row.score) for row in ranking.ranked(rows)]
        for qid, rows in read_run(path).items()
    }


def _losses(exact: Path, approximate: Path, qrels: Path | None) -> dict[str, float]:
    """nDCG@10 of the index minus that of exact search, by query of the qrels."""
    if qrels is None:
        return {}
    from benchwright import evaluate

    before, after = (evaluate(qrels, run, [MEASURE]).per_query for run in (exact, approximate))
    return {
        as_shown(qid): after[qid][MEASURE] - values[MEASURE]
        for qid, values in before.items()
        if qid in after
    }


def _table(
    recall: "AnnRecall", losses: Mapping[str, float], chosen: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """A row for all queries and one for each slice."""
    from benchwright.formats.side_tables import read_families, read_slices

    slices: dict[str, Collection[str] | None] = {ALL: None}
    if chosen["slices"]:
        members = read_slices(chosen["slices"]).items()
        slices |= {name: {as_shown(qid) for qid in qids} for name, qids in members}
    families = {}
    if chosen["families"]:
        families = {as_shown(qid): of for qid, of in read_families(chosen["families"]).items()}
    rows = []
    for name, only in slices.items():
        recalls = {
            query.qid: query.recall for query in recall.queries if only is None or query.qid in only
        }
        lost = {qid: value for qid, value in losses.items() if only is None or qid in only}
        numbers = (*_estimate(recalls, families, (0, 1)), *_estimate(lost, families, (-1, 1)))
        rows.append(dict(zip(COLUMNS, (name, len(recalls), *numbers), strict=True)))
    return rows


def _estimate(
    values: Mapping[str, float], families: Mapping[str, str], span: tuple[float, float]
) -> tuple[float | None, ...]:
    """Mean and ends of its 95 % interval; None where there is none."""
    from benchwright.evaluation.uncertainty import interval_of

    if not values:
        return None, None, None
    return sum(values.values()) / len(values), *(
        interval_of(values, families, span=span) or (None, None)
    )


# --- output --------------------------------------------------------------------------------------


def _show(recall: "AnnRecall", rows: list[dict[str, Any]], form: str) -> None:
    if form == "json":
        _print_json(recall, rows)
    elif form == "tsv":
        from benchwright.cli.tables import print_tab_separated

        cells = [["" if of is None else str(of) for of in row.values()] for row in rows]
        print_tab_separated(COLUMNS, cells)
    else:
        _print_tables(recall, rows, is_markdown=form == "markdown")


def _print_json(recall: "AnnRecall", rows: list[dict[str, Any]]) -> None:
    told_of = {
        "k": recall.k,
        "recall": recall.mean,
        **_counts(recall),
        "rows": rows,
        "per_query": {query.qid: query.recall for query in recall.queries},
    }
    say_json(told_of)


def _counts(recall: "AnnRecall") -> dict[str, int]:
    return {
        "n_queries": len(recall.queries),
        "n_perfect": recall.n_perfect,
        "n_missing": recall.n_missing,
        "n_extra": recall.n_extra,
        "n_short": recall.n_short,
        "n_above": recall.n_above,
    }


def _print_tables(recall: "AnnRecall", rows: list[dict[str, Any]], *, is_markdown: bool) -> None:
    from benchwright.cli.tables import Table, markdown, number, say, show_table
    from benchwright.retrieval.ann import USUAL_BASELINE

    has_loss = any(row["loss"] is not None for row in rows)
    columns = COLUMNS if has_loss else COLUMNS[:5]
    cells = [
        [
            "-" if row[name] is None else number(row[name]) if place > 1 else str(row[name])
            for place, name in enumerate(columns)
        ]
        for row in rows
    ]
    lost = [query for query in recall.worst(N_WORST) if query.recall < 1]
    worst = [[query.qid, number(query.recall), " ".join(query.missed[:3])] for query in lost]
    tables = [Table(columns, cells, title=f"recall@{recall.k}, loss in {MEASURE}")]
    if worst:
        tables.append(
            Table(("query", "recall", "missed"), worst, title="worst queries", left=(0, 2))
        )
    for table in tables:
        if is_markdown:
            say(markdown(table))
        else:
            show_table(table)
        say()
    where = "at or above" if recall.mean >= USUAL_BASELINE else "below"
    mean = number_beside(recall.mean, USUAL_BASELINE)
    say(f"recall@{recall.k} {mean}: {where} the usual {USUAL_BASELINE:g}.")
    for words in _notes(recall):
        click.echo(words, err=True)


def _notes(recall: "AnnRecall") -> list[str]:
    """What a mean alone would hide."""
    counts = {
        "not answered by the index: recall 0": recall.n_missing,
        "answered by the index alone: left out": recall.n_extra,
        f"with fewer than {recall.k} exact documents": recall.n_short,
        "with documents above the exact rank k that exact search lacks: it was not exact, or "
        "these are two models": recall.n_above,
    }
    return [f"Note: {n} of the queries {words}." for words, n in counts.items() if n]
