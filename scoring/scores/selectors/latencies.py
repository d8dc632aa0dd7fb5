"""How long the queries of a run took."""

from benchmarks_app import files
from benchmarks_app.models import Run
from scoring.models import RunLatencies


def latencies_of(run: Run) -> RunLatencies | None:
    """The summary of a run's times, if they were measured here."""
    return RunLatencies.objects.filter(run=run).first()


def query_latencies(kept: RunLatencies) -> dict[str, float]:
    """{query: ms}, by the bytes of the ids."""
    import polars as pl

    frame = pl.read_parquet(files.local_path(kept.stored))
    return dict(frame.select("query", "ms").iter_rows())
