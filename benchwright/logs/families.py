"""Distinct queries of a log put into families, so that wordings of one need are drawn together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.families.grouping import GroupingOptions, grouped
from benchwright.families.keys import bag_keys
from benchwright.families.linking import QueryText
from benchwright.files.parquet import ParquetSink
from benchwright.logs.distinct import ROWS_PER_GROUP, schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

# Sure links only: a family of a sample is drawn as one, so a doubtful link would cost labels.
SURE = GroupingOptions(review_at=0.80)
MOST_COMPARED = 300_000
BY_WORDING, BY_WORDS = "similar wording", "the same words"
Tell = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Grouped:
    """How many families there are, and by what: of very many queries only by their words."""

    n_families: int
    by: str


def write_with_families(
    distinct: Path,
    target: Path,
    links: Path,
    *,
    most_compared: int = MOST_COMPARED,
    tell: Tell = lambda done, total, what: None,
) -> Grouped:
    """Write distinct queries once more, with a column `family`: the smallest id of its members.

    `links` gets why, a row each: `a`, `b`, `reason`, `similarity`. Of more than `most_compared`
    queries wordings are not compared; those of the same words are a family.
    """
    import polars as pl

    texts = pl.read_parquet(distinct, columns=["qid", "text"])
    if len(texts) <= most_compared:
        names, n_families, by = _by_wording(texts, links, tell)
    else:
        names, n_families, by = _by_words(texts, links)
    columns: dict[str, Any] = {**schema(), "family": pl.String}
    with ParquetSink(target, schema=columns, rows_per_group=ROWS_PER_GROUP) as sink:
        for start, frame in _frames(distinct):
            sink.write(frame.with_columns(names[start : start + len(frame)]))
    return Grouped(n_families, by)


def _frames(path: Path) -> Iterator[tuple[int, pl.DataFrame]]:
    import polars as pl

    n = pl.scan_parquet(path).select(pl.len()).collect().item()
    for start in range(0, n, ROWS_PER_GROUP):
        yield start, pl.scan_parquet(path).slice(start, ROWS_PER_GROUP).collect()


def _by_wording(texts: pl.DataFrame, links: Path, tell: Tell) -> tuple[pl.Series, int, str]:
    import polars as pl

    queries = [QueryText(qid, text) for qid, text in texts.rows()]
    groups = grouped(queries, SURE, on_progress=lambda what, done, total: tell(done, total, what))
    name = {qid: family.name for family in groups.families for qid in family.members}
    _write_links(
        links, [(link.a, link.b, str(link.reason), link.similarity) for link in groups.links]
    )
    named = pl.Series("family", [name[qid] for qid in texts["qid"]], pl.String)
    return named, len(groups.families), BY_WORDING


def _by_words(texts: pl.DataFrame, links: Path) -> tuple[pl.Series, int, str]:
    import polars as pl

    keyed = texts.select("qid", pl.Series("bag", bag_keys(texts["text"])))
    named = keyed.with_columns(pl.col("qid").min().over("bag").alias("family"))
    joined = named.filter(pl.col("qid") != pl.col("family")).sort("family", "qid")
    pairs = [(a, b, "bag", 1.0) for a, b in joined.select("family", "qid").rows()]
    _write_links(links, pairs)
    return named["family"], named["family"].n_unique(), BY_WORDS


def _write_links(path: Path, rows: list[tuple[str, str, str, float]]) -> None:
    import polars as pl

    columns = {"a": pl.String, "b": pl.String, "reason": pl.String, "similarity": pl.Float64}
    pl.DataFrame(rows, schema=columns, orient="row").write_parquet(path)
