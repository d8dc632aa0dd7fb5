"""Documents that a run has high up and nobody has judged."""

from collections.abc import Collection
from math import log2
from pathlib import Path
from typing import NamedTuple

from benchmarks_app.core.unlisted import NOT_LISTED_GRADE, NOT_RELEVANT, UNKNOWN
from scoring.core.stored_hits import ScoreFiles

DEPTH = 10
DEPTHS = (5, 10, 20, 50)
"""How far down a page looks, and the other depths there are to choose."""


class Hole(NamedTuple):
    """An unjudged document and its rank, from 1."""

    rank: int
    docid: str


class QueryHoles(NamedTuple):
    """The holes of one query by rank; `n_top` is how many documents were looked at."""

    qid: str
    holes: tuple[Hole, ...]
    n_top: int

    @property
    def at_stake(self) -> float:
        """The DCG that one grade of each hole would add.

        Examples
        --------
        >>> QueryHoles("q", (Hole(1, "a"), Hole(3, "b")), 3).at_stake
        1.5
        """
        return sum(1 / log2(hole.rank + 1) for hole in self.holes)


def query_holes(
    parquet: Path,
    files: ScoreFiles,
    *,
    depth: int = DEPTH,
    without: Collection[str] = (),
    only: str | None = None,
    is_complete: bool = False,
) -> list[QueryHoles]:
    """The queries of a scored run that have unjudged documents down to `depth`.

    What most could change stands first (`QueryHoles.at_stake`), equal ones by the bytes of their
    ids. A document with a grade below 0 was pooled and is not judged. Queries that the release does
    not grade have no holes; those `without` are left out, and with `only` all others are. Where the
    release `is_complete`, documents without a grade are no holes.

    Parameters
    ----------
    parquet
        The run as `benchmarks_app.core.run_store` keeps it.
    files
        Its score files on a release: they say which of its ranks are judged.
    """
    import polars as pl

    graded = pl.scan_parquet(files.per_query).select("qid")
    graded = graded.filter(~pl.col("qid").is_in(sorted(without)))
    if only is not None:
        graded = graded.filter(pl.col("qid") == only)
    rank = pl.col("rank").cast(pl.UInt32)
    top = pl.scan_parquet(parquet).filter(pl.col("rank") <= depth)
    top = top.select("qid", rank, "docid").join(graded, on="qid", how="semi")
    listed = pl.scan_parquet(files.hits).select("qid", rank, "grade")
    graded_ones = top.join(listed, on=["qid", "rank"], how="left")
    unlisted = NOT_LISTED_GRADE[NOT_RELEVANT if is_complete else UNKNOWN]
    is_hole = pl.col("grade").fill_null(unlisted) < 0
    holes = graded_ones.filter(is_hole).select("qid", "rank", "docid").sort("qid", "rank").collect()
    sizes = dict(top.group_by("qid").agg(pl.len()).collect().iter_rows())
    found: dict[str, list[Hole]] = {}
    for qid, place, docid in holes.iter_rows():
        found.setdefault(qid, []).append(Hole(place, docid))
    rows = [QueryHoles(qid, tuple(of), sizes[qid]) for qid, of in found.items()]
    return sorted(rows, key=lambda row: (-row.at_stake, row.qid.encode()))
