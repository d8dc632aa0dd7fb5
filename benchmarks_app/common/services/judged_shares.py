"""How much of what each run puts first was judged: whether its scores can be believed."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks_app.common.selectors.reading import run_path
from benchmarks_app.models import Benchmark, Run

if TYPE_CHECKING:
    import polars as pl

CUTOFF = 10
RUNS_AT_MOST = 50


def judged_shares(benchmark: Benchmark, grades: Path, public: Collection[str]) -> dict[str, float]:
    """Share of the first 10 documents that are judged, by run, over the graded `public` queries.

    Parameters
    ----------
    grades
        Lines of query, document and grade, with tabs between them.

    Notes
    -----
    Of the newest 50 standing runs that everybody may see: a release publishes what is found.
    """
    import polars as pl

    runs = Run.objects.filter(benchmark=benchmark).standing().public()
    newest = list(runs.order_by("-created_at", "-pk")[:RUNS_AT_MOST])
    if not newest:
        return {}
    judged = pl.read_csv(
        grades,
        separator="\t",
        has_header=False,
        quote_char=None,
        schema={"qid": pl.String, "docid": pl.String, "grade": pl.Int16},
    ).filter(pl.col("grade") >= 0, pl.col("qid").is_in(list(public)))
    queries = judged.select("qid").unique()
    return {
        run.name: share for run in newest if (share := _share(run, judged, queries)) is not None
    }


def _share(run: Run, judged: "pl.DataFrame", queries: "pl.DataFrame") -> float | None:
    import polars as pl

    first = pl.scan_parquet(run_path(run)).filter(pl.col("rank") <= CUTOFF)
    top = (
        first.select(pl.col("qid").cast(pl.String), pl.col("docid").cast(pl.String))
        .join(queries.lazy(), on="qid", how="semi")
        .join(
            judged.lazy().select("qid", "docid", is_judged=pl.lit(True)),
            on=["qid", "docid"],
            how="left",
        )
        .select(n=pl.len(), judged=pl.col("is_judged").fill_null(False).sum())
        .collect()
        .row(0)
    )
    return top[1] / top[0] if top[0] else None
