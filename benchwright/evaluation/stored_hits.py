"""The files of a scored run: from its hits and its values per query every other number comes,
without the run being read again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import starmap
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from benchwright.evaluation.evaluating import Evaluation
from benchwright.formats.unlisted import NOT_LISTED_GRADE, NOT_RELEVANT, UNKNOWN
from benchwright.reading.hits import Hit, QueryHits, hit_at
from benchwright.runs.store import hits_against

if TYPE_CHECKING:
    import polars as pl

# --- The files of a scored run: from its hits and its values per query every other number comes,

StoredHits: TypeAlias = dict[str, QueryHits[str]]
Grades: TypeAlias = Mapping[str, Mapping[str, int]]

PER_QUERY_NAME, HITS_NAME = "per_query.parquet", "hits.parquet"


@dataclass(frozen=True, slots=True)
class ScoreFiles:
    """Where both files are."""

    per_query: Path
    hits: Path


# --- a run against qrels -------------------------------------------------------------------


def scan_stored_run(
    parquet: Path, qrels: "Grades | pl.DataFrame", *, only: Collection[str] | None = None
) -> StoredHits:
    """The hits of a run as `run_store` keeps it, of every query it answers or of `only` those.

    Of the queries that are left out, no row group is read but those they share with others.
    """
    return {
        qid: QueryHits(qid, tuple(starmap(hit_at, ranked)), n_retrieved)
        for qid, (n_retrieved, ranked) in hits_against(parquet, qrels, only=only).items()
    }


def unchanged_queries(before: Grades, after: Grades) -> frozenset[str]:
    """Queries that have the same grades in both."""
    return frozenset(qid for qid, grades in after.items() if before.get(qid) == grades)


def rescan_stored_run(
    parquet: Path, qrels: Grades, *, earlier: ScoreFiles, unchanged: Collection[str]
) -> StoredHits:
    """The hits of the queries of `qrels` that the run answers, reading it for changed ones only.

    `earlier` is of the same run against qrels that grade the `unchanged` queries as `qrels` does.
    """
    changed = {qid: grades for qid, grades in qrels.items() if qid not in unchanged}
    rescanned = scan_stored_run(parquet, changed, only=changed) if changed else {}
    stored = read_hits(earlier)
    return {qid: stored[qid] for qid in unchanged if qid in stored} | rescanned


# --- the files -----------------------------------------------------------------------------


def read_hits(files: ScoreFiles) -> StoredHits:
    """The hits of every query that was answered and has qrels."""
    import polars as pl

    answered = pl.read_parquet(files.per_query, columns=["qid", "is_missing", "n_retrieved"])
    sizes = answered.filter(~pl.col("is_missing")).select("qid", "n_retrieved")
    hits: dict[str, list[Hit]] = {qid: [] for qid in sizes["qid"].to_list()}
    for qid, rank, grade in pl.read_parquet(files.hits).iter_rows():
        hits[qid].append(hit_at(rank, grade))
    return {
        qid: QueryHits(qid, tuple(hits[qid]), n_retrieved) for qid, n_retrieved in sizes.iter_rows()
    }


def write_score_files(
    evaluation: Evaluation[str], hits: Mapping[str, QueryHits[str]], folder: Path
) -> ScoreFiles:
    """Write both files; the same scores give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    qids = sorted(evaluation.per_query, key=str.encode)
    return ScoreFiles(
        per_query=_write_per_query(evaluation, hits, qids, folder / PER_QUERY_NAME),
        hits=_write_hits(hits, qids, folder / HITS_NAME),
    )


def _write_per_query(
    evaluation: Evaluation[str],
    hits: Mapping[str, QueryHits[str]],
    qids: Collection[str],
    path: Path,
) -> Path:
    """qid, is_missing, n_retrieved, then a column for each measure; by the bytes of qid."""
    import polars as pl

    names = list(map(str, evaluation.measures))
    columns: dict[str, Any] = {
        "qid": qids,
        "is_missing": [qid not in hits for qid in qids],
        "n_retrieved": [hits[qid].n_retrieved if qid in hits else 0 for qid in qids],
        **{name: [evaluation.per_query[qid][name] for qid in qids] for name in names},
    }
    schema = {
        "qid": pl.String(),
        "is_missing": pl.Boolean(),
        "n_retrieved": pl.UInt32(),
        **dict.fromkeys(names, pl.Float64()),
    }
    pl.DataFrame(columns, schema=schema).write_parquet(path)
    return path


def _write_hits(hits: Mapping[str, QueryHits[str]], qids: Collection[str], path: Path) -> Path:
    """qid, rank, grade of each document retrieved that the qrels name, also below 0."""
    import polars as pl

    rows = [(qid, *hit) for qid in qids if qid in hits for hit in hits[qid].hits]
    schema = {"qid": pl.String(), "rank": pl.UInt32(), "grade": pl.Int32()}
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(path)
    return path


# --- Documents that a run has high up and nobody has judged.

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
        The run as `benchwright.runs.store` keeps it.
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
    holes_of: dict[str, list[Hole]] = {}
    for qid, place, docid in holes.iter_rows():
        holes_of.setdefault(qid, []).append(Hole(place, docid))
    rows = [QueryHoles(qid, tuple(of), sizes[qid]) for qid, of in holes_of.items()]
    return sorted(rows, key=lambda row: (-row.at_stake, row.qid.encode()))
