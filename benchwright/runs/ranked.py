"""A TREC run straight from its file, ranked by the one rule.

Most files are as plain as the format allows, and are read as columns in one go. Whatever is not,
or may be wrong, is read line by line as `run_store.write_run` does, which knows what to say.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchwright.errors import Problems
from benchwright.files.sources import open_inflated, open_lines, shown_name
from benchwright.formats.trec import BYTE_ORDER_MARK, read_run
from benchwright.ids import MAX_ID_BYTES, id_problem
from benchwright.runs.store import write_run

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("qid", "q0", "docid", "rank", "score", "tag")
# What another reader of columns would see in them, or this one misread.
NEVER_PLAIN = (b"\r", b"\x0b", b"\x0c", b"\n#", b"\x00")


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
    """Qid, docid, score of a file that holds nothing else than six columns; None of any other."""
    import polars as pl

    with open_inflated(path) as stream:
        content = stream.read()
    first_line, _, _ = content.partition(b"\n")
    separator, other = (b"\t", b" ") if b"\t" in first_line else (b" ", b"\t")
    begins_oddly = content.startswith((BYTE_ORDER_MARK, b"#"))
    if not content or begins_oddly or any(odd in content for odd in (*NEVER_PLAIN, other)):
        return None
    types = {name: pl.String() for name in COLUMNS} | {"rank": pl.Int32(), "score": pl.Float64()}
    try:
        frame = pl.read_csv(
            content,
            separator=separator.decode(),
            has_header=False,
            quote_char=None,
            schema=types,
            columns=[0, 2, 3, 4, 5],
        )
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        return None
    return frame if _is_plain(frame) else None


def _is_plain(frame: pl.DataFrame) -> bool:
    """Whether nothing in it needs a word: no gap, no odd id, no NaN, no rank against its score."""
    import polars as pl

    score, rank = pl.col("score"), pl.col("rank")
    last_score, last_rank = score.shift().over("qid"), rank.shift().over("qid")
    gaps: Any = sum(frame.null_count().row(0))
    if gaps or frame["score"].is_nan().any():
        return False
    contradicts = ((rank > last_rank) & (score > last_score)) | (
        (rank < last_rank) & (score < last_score)
    )
    if frame.select(contradicts.any()).item():
        return False
    return all(_has_good_ids(frame[name]) for name in ("qid", "docid"))


def _has_good_ids(ids: pl.Series) -> bool:
    if (ids.str.len_bytes() > MAX_ID_BYTES).any():
        return False
    odd = ids.filter(ids.str.contains(r"[^\x21-\x7E]")).unique()
    return not any(map(id_problem, odd))


def _ranked(frame: pl.DataFrame) -> pl.DataFrame | None:
    """The rows in the order of their ranks; None where a document comes twice."""
    import polars as pl

    starts = pl.col("qid").ne_missing(pl.col("qid").shift())
    falls = pl.col("score") < pl.col("score").shift()
    n_blocks, is_ordered = frame.select(starts.sum(), (starts | falls).all().alias("ok")).row(0)
    if not is_ordered or n_blocks != frame["qid"].n_unique():
        frame = frame.sort(["qid", "score", "docid"], descending=[False, True, True])
    if frame.select(pl.struct("qid", "docid").n_unique()).item() < len(frame):
        return None
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("qid").alias("rank")
    return frame.select("qid", "docid", rank)


def _line_by_line(path: Path, file: str, problems: Problems) -> pl.DataFrame:
    import polars as pl

    with TemporaryDirectory(prefix="benchwright-run-") as folder:
        rows = read_run(open_lines(path, file=file), file=file, problems=problems)
        stored = write_run(rows, directory=Path(folder), problems=problems, file=file)
        if not stored.n_rows:
            schema = {"qid": pl.String(), "docid": pl.String(), "rank": pl.Int32()}
            return pl.DataFrame(schema=schema)
        return pl.read_parquet(stored.parquet, columns=["qid", "docid", "rank"])
