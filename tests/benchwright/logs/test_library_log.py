"""A real log, of a university library over two years, beside its publisher's counts and our own."""

import csv
import gzip
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from benchwright.families.normalising import normalised
from benchwright.logs.columns import LogColumns, detected_columns
from benchwright.logs.distinct import Options
from benchwright.logs.preparing import prepared
from benchwright.logs.strata import read_families
from benchwright.logs.tables import open_table
from benchwright.slices.frequency import Band, frequency_cuts
from tests.benchwright.slices.test_frequency import band_of

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def folder(data: Path) -> Path:
    return data / "query_log_library"


@pytest.fixture(scope="module")
def read(folder, tmp_path_factory):
    """The log as a newcomer's first try reads it, nothing masked."""
    path = folder / "popular-23-24.csv.gz"
    table = open_table(path, file=path.name)
    columns = detected_columns(table.columns, table.head(20), file=path.name)
    assert columns == LogColumns(
        query="search string cleaned", count="searches", year="year", month="month"
    )
    work = tmp_path_factory.mktemp("library")
    return prepared(table, columns, work, options=Options(kinds=()))


@pytest.fixture(scope="module")
def plain(folder) -> Counter[str]:
    """Searches by cleaned query, straight from the file."""
    with gzip.open(folder / "popular-23-24.csv.gz", "rt", newline="", encoding="utf-8") as lines:
        counts: Counter[str] = Counter()
        for row in csv.DictReader(lines):
            counts[row["search string cleaned"]] += int(row["searches"])
    return counts


def test_sums_by_cleaned_query_are_the_publishers_top_50(read, folder):
    with (folder / "popular-23-24-top-50.csv").open(newline="", encoding="utf-8") as lines:
        expected = {row["Query"]: int(row["Count"]) for row in csv.DictReader(lines)}

    result = pl.read_parquet(read.log).head(50)

    assert dict(result.select("text", "count").rows()) == expected
    assert read.counted.n_traffic == 151_592


def test_head_and_tail_are_those_of_the_file(read, plain):
    merged: Counter[str] = Counter()
    for text, count in plain.items():
        merged[normalised(text)] += count
    order = sorted(merged.values(), reverse=True)
    n_head, n_tail = len(order) * 5 // 100, len(order) // 2
    # A query that is as frequent as the first one beyond a cut lies across it: torso.
    head = {key for key, count in merged.items() if count > order[n_head]}
    tail = {key for key, count in merged.items() if count < order[len(order) - n_tail - 1]}

    rows = pl.read_parquet(read.log)
    cuts = frequency_cuts(rows["count"].to_list())

    results = {band: set() for band in Band}
    for key, count in rows.select("key", "count").rows():
        results[band_of(cuts, count)].add(key)
    assert results[Band.HEAD] == head
    assert results[Band.TAIL] == tail
    assert results[Band.TORSO] == merged.keys() - head - tail


def test_ties_at_both_cuts_go_to_torso(read):
    counts = pl.read_parquet(read.log)["count"].to_list()
    cuts = frequency_cuts(counts)

    n_head, n_tail = len(counts) * 5 // 100, len(counts) // 2

    # Both cuts fall among equals here: fewer are head, and tail, than there is room for.
    assert counts[n_head - 1] == counts[n_head] == cuts.head_above
    assert counts[-n_tail] == counts[-n_tail - 1] == cuts.tail_below
    assert cuts.head.n_queries < n_head
    assert cuts.tail.n_queries < n_tail
    assert band_of(cuts, counts[n_head]) is band_of(cuts, counts[-n_tail]) is Band.TORSO


def test_window_and_months_are_those_of_the_file(read):
    families = read_families(read.log)

    assert (read.counted.first, read.counted.last) == (738_521, 739_251)  # 2023-01-01, 2024-12-31
    assert families.table["month"].n_unique() == 24
    assert families.n_traffic == 151_592
