"""A TREC run straight from its file, ranked by the one rule.

Most files are as plain as the format allows, and are read as columns in one go. Whatever is not,
or may be wrong, is read line by line as `store.write_run` does, which knows what to say.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchwright.errors import Problems
from benchwright.files.sources import open_inflated, open_lines, shown_name
from benchwright.formats.trec import read_run
from benchwright.runs.blocks import plain_frame
from benchwright.runs.store import write_run

if TYPE_CHECKING:
    import polars as pl


def ranked_run(
    path: Path, *, problems: Problems, depth: int | None = None, file: str = ""
) -> pl.DataFrame:
    """Return qid, docid, rank (from 1) of the first `depth` documents of each query.

    Rank 1 is the highest score; equal scores go by document id, bytes descending. Rows of a query
    stand together, ranks ascending; the order of queries is not told.

    Raises
    ------
    FileProblemsError
        With every line that cannot be read, a document that comes twice, a score that is NaN.
    ArchiveError, MissingFileError
        If the file cannot be inflated, or is not there.
    """
    import polars as pl

    frame = _plain_columns(path)
    ranked = None if frame is None else _ranked(frame)
    if ranked is None:
        ranked = _line_by_line(path, file or shown_name(path), problems)
    return ranked if depth is None else ranked.filter(pl.col("rank") <= depth)


def _plain_columns(path: Path) -> pl.DataFrame | None:
    """Qid, docid, rank and score of a file that is as plain as the format allows, or None."""
    with open_inflated(path) as stream:
        content = stream.read()
    return plain_frame(content, 1) if content else None


def _ranked(frame: pl.DataFrame) -> pl.DataFrame | None:
    """The rows in the order of their ranks; None where any of them needs a word.

    That is a rank that contradicts its score, or a document that comes twice. (One of two pairs
    that hash alike would be looked at line by line for nothing.)
    """
    import polars as pl

    qid, score, rank = pl.col("qid"), pl.col("score"), pl.col("rank")
    starts = qid.ne_missing(qid.shift())
    contradicts = ~starts & _contradicts(score.shift(), rank.shift())
    n_blocks, is_ordered, is_contradicted, n_pairs = frame.select(
        starts.sum(),
        (starts | (score < score.shift())).all().alias("ordered"),
        contradicts.any().alias("contradicted"),
        pl.struct("qid", "docid").hash().n_unique().alias("pairs"),
    ).row(0)
    if n_pairs < len(frame):
        return None
    if n_blocks != frame["qid"].n_unique():  # queries come back: the row before is further away
        contradicts = _contradicts(score.shift().over("qid"), rank.shift().over("qid"))
        is_contradicted, is_ordered = frame.select(contradicts.any()).item(), False
    if is_contradicted:
        return None
    if not is_ordered:
        frame = frame.sort(["qid", "score", "docid"], descending=[False, True, True])
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("qid").alias("rank")
    return frame.select("qid", "docid", place)


def _contradicts(last_score: pl.Expr, last_rank: pl.Expr) -> pl.Expr:
    """Whether rank and score both rise, or both fall, from the row before of a query."""
    import polars as pl

    score, rank = pl.col("score"), pl.col("rank")
    return ((rank > last_rank) & (score > last_score)) | ((rank < last_rank) & (score < last_score))


def _line_by_line(path: Path, file: str, problems: Problems) -> pl.DataFrame:
    import polars as pl

    with TemporaryDirectory(prefix="benchwright-run-") as folder:
        rows = read_run(open_lines(path, file=file), file=file, problems=problems)
        stored = write_run(rows, directory=Path(folder), problems=problems, file=file)
        if not stored.n_rows:
            schema = {"qid": pl.String(), "docid": pl.String(), "rank": pl.Int32()}
            return pl.DataFrame(schema=schema)
        return pl.read_parquet(stored.parquet, columns=["qid", "docid", "rank"])
