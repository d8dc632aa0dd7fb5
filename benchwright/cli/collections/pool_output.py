"""What `benchwright pool` writes and shows."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from benchwright.pools import expected_hours
from benchwright.pools.columns import PoolTable
from benchwright.pools.preview import Preview, RunWatcher, measured_elsewhere, preview

# A `-` in the place of a file.
STREAM = Path("-")
COLUMNS = "query\tdocument\tplace\tbest_rank\torigin\tprobability\tcontributors"


def write(table: PoolTable, path: Path) -> None:
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
    said = f"{len(rows):,} documents of {n_queries:,} queries, digest {table.digest}"
    click.echo(said, err=path == STREAM)


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
    found = preview(table, watcher)
    n_labels = found.n_entries - found.n_by_origin.get("carried", 0)
    to_standard_error = chosen["output"] == STREAM
    for line in _lines(found, n_labels, chosen["seconds"], table.recipe.reach):
        click.echo(line, err=to_standard_error)
    sys.stdout.flush()


def _lines(found: Preview, n_labels: int, seconds: float, reach: int) -> Iterator[str]:
    sizes = f"{found.smallest_query} to {found.largest_query}, median {found.median_query:g}"
    yield f"{found.n_entries:,} documents of {found.n_queries:,} queries ({sizes} a query)"
    yield "  " + ", ".join(f"{origin} {n:,}" for origin, n in found.n_by_origin.items())
    hours = expected_hours(n_labels, median_seconds=seconds)
    yield f"  {hours:,.1f} hours for one label each at {seconds:g} seconds"
    if found.runs:
        yield from _run_lines(found, reach)
    for warning in found.warnings:
        yield f"Warning: {warning}"


def _run_lines(found: Preview, reach: int) -> Iterator[str]:
    width = max(3, *(len(run.run) for run in found.runs))
    yield f"{'run':<{width}}  documents  no other has  Judged@10 if left out"
    for run in found.runs:
        left_out = (
            "-" if run.judged_left_out != run.judged_left_out else f"{run.judged_left_out:.3f}"
        )
        yield f"{run.run:<{width}}  {run.n:>9,}  {run.n_unique:>12,}  {left_out:>21}"
    if len(found.runs) > 1:
        yield f"Mean RBO@10 of two runs: {found.mean_rbo:.3f} (0.7 or more: too alike)"
        yield (
            f"Judged@10 to expect of a new system: {found.judged_new:.3f} "
            f"(least {found.judged_new_least:.3f}), of the first ten, each run left out"
        )
        systems, depth, n_documents, share = measured_elsewhere(len(found.runs), reach)
        yield (
            f"  elsewhere: {share:.2f} on Robust 2003 with {systems} systems to depth {depth} "
            f"({n_documents} documents a query)"
        )
