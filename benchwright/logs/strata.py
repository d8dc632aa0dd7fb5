"""The families of a log, and the strata they fall into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchwright.logs.errors import SamplingError
from benchwright.recipes.sampling import By
from benchwright.slices.frequency import HEAD_SHARE, TAIL_SHARE, Band, FrequencyCuts, frequency_cuts

if TYPE_CHECKING:
    import polars as pl

# A stratum of few families is estimated from few; languages beyond these are taken together.
MOST_LANGUAGES = 8
MOST_MONTHS = 60
OTHER, UNKNOWN, EVERY = "other", "unknown", "all"
# The most words of each stratum by length, and what it is called.
LENGTHS = ((1, "1 word"), (2, "2 words"), (4, "3-4 words"), (7, "5-7 words"))
LONGER = "8 or more words"
CURVE_POINTS = 160


@dataclass(frozen=True)
class LogFamilies:
    """The families of a log in the order of their names' bytes, as columns.

    `name` is the smallest id of its members, `top` the count of its member asked most, `traffic`
    how often all of them were asked; month, language and words are those of that member.
    """

    table: pl.DataFrame
    counts: Any  # of every distinct query, most first

    @property
    def n_queries(self) -> int:
        return len(self.counts)

    @property
    def n_traffic(self) -> int:
        return int(self.counts.sum())

    def __len__(self) -> int:
        return len(self.table)


def read_families(path: Path) -> LogFamilies:
    """The families of the distinct queries in a Parquet file; texts are not kept."""
    import polars as pl

    rows = pl.scan_parquet(path).select(
        "family",
        "qid",
        "count",
        "lang",
        pl.col("first_seen").dt.strftime("%Y-%m").fill_null("").alias("month"),
        pl.col("key").str.count_matches(" ").add(1).cast(pl.Int32).alias("n_words"),
    )
    # The file has the queries asked most first: the first of a family is its member asked most.
    grouped = rows.group_by("family", maintain_order=True).agg(
        pl.len().alias("n_queries"),
        pl.sum("count").alias("traffic"),
        pl.max("count").alias("top"),
        pl.first("lang"),
        pl.first("month"),
        pl.first("n_words"),
    )
    table = grouped.rename({"family": "name"}).sort("name").collect()
    counts = pl.scan_parquet(path).select("count").collect()["count"].to_numpy()
    return LogFamilies(table, counts)


@dataclass(frozen=True)
class Strata:
    """The stratum of each family as a number, the strata's names, and the cuts by frequency."""

    names: tuple[str, ...]
    of: Any
    cuts: FrequencyCuts | None = None


def strata_of(
    families: LogFamilies,
    by: By,
    *,
    head_share: float = HEAD_SHARE,
    tail_share: float = TAIL_SHARE,
) -> Strata:
    """The strata of the families, without those that nothing is in.

    By frequency, a family is head where its member asked most is: the cuts are those of distinct
    queries.

    Raises
    ------
    FrequencyError
        If counts tell no head from a tail.
    SamplingError
        If the log has no days, or no languages.
    """
    if by is By.FREQUENCY:
        cuts = frequency_cuts(families.counts, head_share=head_share, tail_share=tail_share)
        top = families.table["top"].to_numpy()
        number = np.where(top > cuts.head_above, 0, np.where(top < cuts.tail_below, 2, 1))
        names = [str(band) for band in Band]
        return _without_empty(names, number, cuts)
    labels = _LABELS[by](families)
    names = _ordered(by, labels)
    place = {name: n for n, name in enumerate(names)}
    return Strata(tuple(names), np.array([place[label] for label in labels], np.int64))


def _without_empty(names: Sequence[str], number: Any, cuts: FrequencyCuts) -> Strata:
    used = sorted(set(number.tolist()))
    renumbered = np.searchsorted(np.array(used), number)
    return Strata(tuple(names[n] for n in used), renumbered, cuts)


def _by_month(families: LogFamilies) -> list[str]:
    months: list[str] = families.table["month"].to_list()
    if not any(months):
        raise SamplingError(
            why="The log has no days, so there are no months. Take another log with a column of "
            "days or months, or make strata by something else."
        )
    labels = [month or UNKNOWN for month in months]
    if len(set(filter(None, months))) > MOST_MONTHS:
        labels = [label[:4] if label != UNKNOWN else label for label in labels]
    return labels


def _by_language(families: LogFamilies) -> list[str]:
    langs: list[str] = families.table["lang"].to_list()
    if not any(langs):
        raise SamplingError(
            why="The log has no column of languages. Take another log that has one, or make "
            "strata by something else."
        )
    sizes: dict[str, int] = {}
    for lang in langs:
        sizes[lang] = sizes.get(lang, 0) + 1
    common = sorted(filter(None, sizes), key=lambda lang: (-sizes[lang], lang))[:MOST_LANGUAGES]
    return [lang if lang in common else OTHER if lang else UNKNOWN for lang in langs]


def _by_length(families: LogFamilies) -> list[str]:
    return [_length(n) for n in families.table["n_words"].to_list()]


def _length(n_words: int) -> str:
    return next((name for most, name in LENGTHS if n_words <= most), LONGER)


def _by_nothing(families: LogFamilies) -> list[str]:
    return [EVERY] * len(families)


_LABELS = {
    By.MONTH: _by_month,
    By.LANGUAGE: _by_language,
    By.LENGTH: _by_length,
    By.NOTHING: _by_nothing,
}


def _ordered(by: By, labels: Sequence[str]) -> list[str]:
    """The names in the order in which people read them; what is unknown last."""
    there = set(labels)
    if by is By.LENGTH:
        return [name for name in (*(name for _, name in LENGTHS), LONGER) if name in there]
    return sorted(there, key=lambda name: (name in (OTHER, UNKNOWN), name))


def frequency_curve(counts: Any) -> list[tuple[int, int]]:
    """Some ranks, evenly far apart on a logarithmic scale, and the count at each.

    >>> frequency_curve(np.array([9, 5, 1]))
    [(1, 9), (2, 5), (3, 1)]
    """
    if not len(counts):
        return []
    ranks = np.unique(np.geomspace(1, len(counts), CURVE_POINTS).round().astype(int))
    return [(int(rank), int(counts[rank - 1])) for rank in ranks]
