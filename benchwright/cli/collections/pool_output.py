"""What `benchwright pool` writes and shows."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from benchwright.cli.answers import json_of
from benchwright.pools import expected_hours
from benchwright.pools.columns import PoolTable
from benchwright.pools.preview import Preview, RunWatcher, measured_elsewhere, preview
from benchwright.texts.counting import counted

# A `-` in the place of a file.
STREAM = Path("-")
COLUMNS = "query\tdocument\tplace\tbest_rank\torigin\tprobability\tcontributors"


def write(table: PoolTable, path: Path, form: str, *, is_previewed: bool) -> None:
    """Write the pool, what it was made from in its first line, and say how large it is."""
    import polars as pl

    rows = table.frame.with_row_index("place", offset=1).select(
        "qid", "docid", "place", "best_rank", "origin", "probability", "contributors"
    )
    options: dict[str, Any] = {"separator": "\t", "quote_style": "never", "include_header": False}
    head = f"# {json.dumps(_made_from(table), ensure_ascii=False)}\n{COLUMNS}\n"
    if path == STREAM:
        click.echo(head + rows.write_csv(**options), nl=False)
    else:
        with path.open("wb") as stream:
            stream.write(head.encode())
            rows.write_csv(stream, **options)
    n_queries = rows.select(pl.col("qid").n_unique()).item()
    queries = counted(n_queries, "query")
    line = f"{counted(len(rows), 'document')} of {queries}, digest {table.digest}"
    if form == "json" and is_previewed:  # which has said so
        return
    if form == "json":
        facts = {"n_documents": len(rows), "n_queries": n_queries, **_made_from(table)}
        line = json_of(facts)
    click.echo(line, err=path == STREAM)


def _made_from(table: PoolTable) -> dict[str, Any]:
    recipe = table.recipe
    return {
        "strategy": recipe.strategy,
        "order": recipe.order,
        **recipe.as_parameters(),
        "seed": recipe.seed,
        "runs": list(table.run_keys),
        "digest": table.digest,
    }


def show_preview(table: PoolTable, watcher: RunWatcher, chosen: dict[str, Any]) -> None:
    """Print what to know of a pool before anybody judges it."""
    facts = preview(table, watcher)
    n_labels = facts.n_entries - facts.n_by_origin.get("carried", 0)
    to_standard_error = chosen["output"] == STREAM
    if chosen["form"] == "json":
        preview_facts = {
            **asdict(facts),
            "warnings": facts.warnings,
            "made_from": _made_from(table),
        }
        click.echo(json_of(preview_facts), err=to_standard_error)
        return
    for line in _lines(facts, n_labels, chosen["seconds"], table.recipe.reach):
        click.echo(line, err=to_standard_error)
    sys.stdout.flush()


def _lines(facts: Preview, n_labels: int, seconds: float, reach: int) -> Iterator[str]:
    sizes = f"{facts.smallest_query} to {facts.largest_query}, median {facts.median_query:g}"
    queries = counted(facts.n_queries, "query")
    yield f"{counted(facts.n_entries, 'document')} of {queries} ({sizes} a query)"
    yield "  " + ", ".join(f"{origin} {n:,}" for origin, n in facts.n_by_origin.items())
    hours = expected_hours(n_labels, median_seconds=seconds)
    yield f"  {hours:,.1f} hours for one label each at {seconds:g} seconds"
    if facts.runs:
        yield from _run_lines(facts, reach)
    for warning in facts.warnings:
        yield f"Warning: {warning}"


def _run_lines(facts: Preview, reach: int) -> Iterator[str]:
    width = max(3, *(len(run.run) for run in facts.runs))
    yield f"{'run':<{width}}  documents  no other has  Judged@10 if left out"
    for run in facts.runs:
        left_out = (
            "-" if run.judged_left_out != run.judged_left_out else f"{run.judged_left_out:.3f}"
        )
        yield f"{run.run:<{width}}  {run.n:>9,}  {run.n_unique:>12,}  {left_out:>21}"
    if len(facts.runs) > 1:
        yield f"Mean RBO@10 of two runs: {facts.mean_rbo:.3f} (0.7 or more: too alike)"
        yield (
            f"Judged@10 to expect of a new system: {facts.judged_new:.3f} "
            f"(least {facts.judged_new_least:.3f}), of the first ten, each run left out"
        )
        systems, depth, n_documents, share = measured_elsewhere(len(facts.runs), reach)
        yield (
            f"  elsewhere: {share:.2f} on Robust 2003 with {systems} systems to depth {depth} "
            f"({n_documents} documents a query)"
        )
