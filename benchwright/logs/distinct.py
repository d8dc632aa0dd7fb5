"""Distinct queries of a log: masked, counted by normalised text, in the order of their counts.

Rows are tallied in memory, at most `MOST_TALLIES` texts at a time; tallies are sorted on disk by
key and added up as they are merged, so a log of any length takes the same memory. polars is
imported inside functions only (`core.parquet` says why).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.families.normalising import normalised
from benchwright.files.external_sort import ExternalSort
from benchwright.files.parquet import ParquetSink
from benchwright.logs.masking import REGIONS, masked
from benchwright.logs.reading import LogRow

if TYPE_CHECKING:
    import polars as pl

MOST_TALLIES = 100_000
MOST_CLICKED = 50
ROWS_PER_GROUP = 20_000
TOLD_EVERY = 20_000
LARGEST = 10**19 - 1
Tell = Callable[[int, str], None]


@dataclass
class Tally:
    """What one text, as it was typed, comes to so far."""

    count: int = 0
    first: int = 0
    last: int = 0
    clicks: Counter[str] = field(default_factory=Counter)
    langs: Counter[str] = field(default_factory=Counter)

    def add(self, row: LogRow) -> None:
        self.count += row.n
        if row.first:
            self.first = min(self.first or row.first, row.first)
            self.last = max(self.last, row.last)
        if row.clicks:
            self.clicks.update(row.clicks)
        if row.lang:
            self.langs[row.lang] += row.n


@dataclass(frozen=True)
class Options:
    """What becomes of queries: which kinds of personal data are masked, and the floor."""

    kinds: Collection[str] | None = None
    # A query asked fewer times is dropped: whoever asked it may be known by it.
    floor: int = 1
    # Countries whose telephone numbers and numbers of people are looked for.
    regions: tuple[str, ...] = REGIONS


@dataclass
class Counted:
    """What the distinct queries are, and what was dropped on the way."""

    n_distinct: int = 0
    n_traffic: int = 0
    n_spellings: int = 0
    first: int = 0
    last: int = 0
    # Distinct queries that had something masked, and how often they were asked, by kind.
    masked: Counter[str] = field(default_factory=Counter)
    # Queries of nothing but personal data, and queries asked less often than the floor.
    n_only_personal: int = 0
    n_below_floor: int = 0
    n_traffic_below_floor: int = 0


def query_id(key: str) -> str:
    """The id of a query by its normalised text: the same in every log, sample and benchmark.

    >>> query_id(normalised("Lost card?")) == query_id(normalised("lost  card"))
    True
    """
    return f"q-{blake2b(key.encode(), digest_size=8).hexdigest()}"


def schema() -> dict[str, Any]:
    """The columns of distinct queries; days are null where the log has none."""
    import polars as pl

    return {
        "qid": pl.String,
        "key": pl.String,
        "text": pl.String,
        "count": pl.Int64,
        "n_spellings": pl.Int32,
        "first_seen": pl.Date,
        "last_seen": pl.Date,
        "clicks": pl.String,
        "lang": pl.String,
    }


def write_distinct(
    rows: Iterable[LogRow],
    target: Path,
    folder: Path,
    *,
    options: Options,
    tell: Tell = lambda n, what: None,
) -> Counted:
    """Write the distinct queries as Parquet, those asked most first, equals by their key's bytes.

    `folder` takes the parts of the sorts; whoever made it removes it.
    """
    counted = Counted()
    tallies = ExternalSort(_made(folder / "tallies"), by=["key", "text"])
    for frame in _tallied(rows, options, counted, tell):
        if len(frame):
            tallies.add(frame)
    by_count = ExternalSort(_made(folder / "distinct"), by=["place", "key"])
    for frame in tallies.merged():
        distinct = _distinct(frame, options, counted)
        if len(distinct):
            by_count.add(distinct)
        tell(counted.n_distinct, "distinct queries")
    columns = schema()
    with ParquetSink(target, schema=columns, rows_per_group=ROWS_PER_GROUP) as sink:
        for frame in by_count.merged():
            sink.write(_finished(frame).select(list(columns)))
    return counted


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


# --- tallies -------------------------------------------------------------------------------


def _tallied(
    rows: Iterable[LogRow], options: Options, counted: Counted, tell: Tell
) -> Iterator[pl.DataFrame]:
    tallies: dict[str, Tally] = {}
    n = 0
    for n, row in enumerate(rows, start=1):
        tally = tallies.get(row.text)
        if tally is None:
            tally = tallies[row.text] = Tally()
        tally.add(row)
        if len(tallies) >= MOST_TALLIES:
            yield _frame(tallies, options, counted)
            tallies = {}
        if n % TOLD_EVERY == 0:
            tell(n, "rows read")
    tell(n, "rows read")
    yield _frame(tallies, options, counted)


def _frame(tallies: Mapping[str, Tally], options: Options, counted: Counted) -> pl.DataFrame:
    """The tallies by the text after masking; texts alike after it are added up later."""
    import polars as pl

    records = []
    for typed, tally in tallies.items():
        masking = masked(typed, options.kinds, options.regions)
        if masking.is_empty:
            counted.masked.update(dict.fromkeys(masking.kinds, tally.count))
            counted.n_only_personal += tally.count
            continue
        key = normalised(masking.text)
        records.append(
            (
                key,
                masking.text,
                tally.count,
                tally.first,
                tally.last,
                json.dumps(tally.clicks) if tally.clicks else "",
                json.dumps(tally.langs) if tally.langs else "",
                ",".join(masking.kinds),
            )
        )
    return pl.DataFrame(records, schema=_TALLY_COLUMNS, orient="row")


_TALLY_COLUMNS = {
    "key": str, "text": str, "count": int, "first": int, "last": int, "clicks": str, "lang": str,
    "kinds": str,
}  # fmt: skip


# --- distinct ------------------------------------------------------------------------------


def _distinct(frame: pl.DataFrame, options: Options, counted: Counted) -> pl.DataFrame:
    """One row for each key of a merged range, in which all rows of a key are."""
    import polars as pl

    per_text = frame.group_by("key", "text", maintain_order=True).agg(
        pl.sum("count"), pl.col("kinds").first()
    )
    spelled = per_text.sort(["count", "text"], descending=[True, False]).group_by("key").first()
    days = pl.when(pl.col("first") > 0).then(pl.col("first")).otherwise(None)
    whole = frame.group_by("key").agg(
        pl.sum("count"),
        days.min().fill_null(0).alias("first"),
        pl.max("last"),
        pl.col("text").n_unique().cast(pl.Int32).alias("n_spellings"),
        pl.col("clicks").filter(pl.col("clicks") != ""),
        pl.col("lang").filter(pl.col("lang") != ""),
        pl.col("kinds").filter(pl.col("kinds") != "").unique(),
    )
    joined = whole.join(spelled.select("key", "text"), on="key")
    _count(joined, options, counted)
    frequent = joined.filter(pl.col("count") >= options.floor)
    return frequent.with_columns(
        (LARGEST - pl.col("count").cast(pl.UInt64)).cast(pl.String).str.zfill(19).alias("place"),
        pl.col("clicks").map_elements(_clicked, return_dtype=pl.String, skip_nulls=False),
        pl.col("lang").map_elements(_spoken, return_dtype=pl.String, skip_nulls=False),
    ).drop("kinds")


def _count(joined: pl.DataFrame, options: Options, counted: Counted) -> None:
    import polars as pl

    below = joined.filter(pl.col("count") < options.floor)
    counted.n_below_floor += len(below)
    counted.n_traffic_below_floor += int(below["count"].sum())
    for kinds, count in (
        joined.filter(pl.col("kinds").list.len() > 0).select("kinds", "count").rows()
    ):
        kinds_masked = {kind for text in kinds for kind in text.split(",")}
        counted.masked.update(dict.fromkeys(kinds_masked, count))
    frequent = joined.filter(pl.col("count") >= options.floor)
    if not len(frequent):
        return
    counted.n_distinct += len(frequent)
    counted.n_traffic += int(frequent["count"].sum())
    counted.n_spellings += int(frequent["n_spellings"].sum())
    firsts = frequent.filter(pl.col("first") > 0)["first"]
    if len(firsts):
        first, last = int(firsts.min()), int(frequent["last"].max())  # type: ignore[arg-type]
        counted.first = min(counted.first or first, first)
        counted.last = max(counted.last, last)


def _clicked(texts: Iterable[str]) -> str:
    """The documents clicked most, of several tallies; equals by their ids' bytes."""
    clicks: Counter[str] = Counter()
    for text in texts:
        clicks.update(json.loads(text))
    most = sorted(clicks.items(), key=lambda pair: (-pair[1], pair[0].encode()))[:MOST_CLICKED]
    return json.dumps(dict(most), ensure_ascii=False) if most else ""


def _spoken(texts: Iterable[str]) -> str:
    langs: Counter[str] = Counter()
    for text in texts:
        langs.update(json.loads(text))
    return min(langs, key=lambda lang: (-langs[lang], lang)) if langs else ""


def _finished(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    def day(name: str) -> pl.Expr:
        # Ordinals count from the year 1, dates of polars from 1970.
        since = pl.when(pl.col(name) > 0).then(pl.col(name) - _EPOCH).otherwise(None)
        return since.cast(pl.Int32).cast(pl.Date).alias(f"{name}_seen")

    qids = [query_id(key) for key in frame["key"]]
    return frame.with_columns(pl.Series("qid", qids, pl.String), day("first"), day("last"))


_EPOCH = 719_163  # date(1970, 1, 1).toordinal()
