"""Keeping how long the queries of a run took, beside the run."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from benchmarks_app import files
from benchmarks_app.models import Run
from benchwright.evaluation.latency import latency_summary
from scoring.models import RunLatencies


def keep_latencies(
    *, run: Run, milliseconds: Mapping[str, float], source: str, folder: Path
) -> RunLatencies | None:
    """Write {query: ms} beside the run, which has none yet; None where no query was timed.

    `folder` is the job's own; call it inside the transaction that makes the run.

    Raises
    ------
    LatencyError
        If a time is negative or no number.
    """
    summary = latency_summary(milliseconds.values())
    if summary is None:
        return None
    path = folder / f"latencies-{run.pk}.parquet"
    _write(milliseconds, path)
    digest = sha256(path.read_bytes()).hexdigest()
    name = f"runs/{run.benchmark_id}/latencies-{run.pk}-{digest}.parquet"
    return RunLatencies.objects.create(
        run=run,
        source=source,
        stored=files.publish(path, name),
        n_queries=summary.n,
        mean=summary.mean,
        p50=summary.p50,
        p95=summary.p95,
        p99=summary.p99,
        longest=summary.longest,
    )


def _write(milliseconds: Mapping[str, float], path: Path) -> None:
    import polars as pl

    rows = sorted(milliseconds.items(), key=lambda row: row[0].encode())
    columns = {"query": [qid for qid, _ in rows], "ms": [float(ms) for _, ms in rows]}
    pl.DataFrame(columns, schema={"query": pl.String, "ms": pl.Float64}).write_parquet(path)
