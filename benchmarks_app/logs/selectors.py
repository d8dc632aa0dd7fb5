"""Reads of query logs: their families, their most frequent queries, what waits to be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import QuerySet

from benchmarks_app import files
from benchmarks_app.models import Benchmark, PendingLog, QueryLog, QuerySample
from benchwright.logs.columns import LABELS
from benchwright.logs.masking import masked
from benchwright.logs.strata import LogFamilies, read_families

SHOWN_QUERIES = 50


def logs_of(benchmark: Benchmark) -> QuerySet[QueryLog]:
    """The logs of a benchmark, newest first."""
    return benchmark.query_logs.select_related("created_by").order_by("-pk")


def pending_logs_of(benchmark: Benchmark) -> QuerySet[PendingLog]:
    """Files of logs that have not been read, newest first."""
    waiting = PendingLog.objects.filter(upload__benchmark=benchmark)
    return waiting.select_related("upload__owner", "job").order_by("-pk")


def samples_of(benchmark: Benchmark) -> QuerySet[QuerySample]:
    """The samples of a benchmark's logs, newest first."""
    drawn = QuerySample.objects.filter(log__benchmark=benchmark)
    return drawn.select_related("log", "created_by").order_by("-pk")


def log_path(log: QueryLog) -> Path:
    return files.local_path(log.parquet)


def links_path(log: QueryLog) -> Path:
    """The links of the log's families, as Parquet."""
    return files.local_path(log.links)


def log_families(log: QueryLog) -> LogFamilies:
    """The families of a log, as columns."""
    return read_families(log_path(log))


@dataclass(frozen=True)
class LoggedQuery:
    """A distinct query of a log."""

    place: int
    qid: str
    text: str
    count: int
    n_spellings: int
    first_seen: Any
    last_seen: Any


def most_frequent(log: QueryLog) -> list[LoggedQuery]:
    """The queries asked most: they stand first in the file."""
    import polars as pl

    rows = pl.scan_parquet(log_path(log)).head(SHOWN_QUERIES).collect()
    return [
        LoggedQuery(
            place,
            row["qid"],
            row["text"],
            row["count"],
            row["n_spellings"],
            row["first_seen"],
            row["last_seen"],
        )
        for place, row in enumerate(rows.iter_rows(named=True), start=1)
    ]


@dataclass(frozen=True)
class ShownCell:
    """A cell of a preview: as it stands in the file, and as it would be kept."""

    column: str
    text: str
    role: str = ""
    masked: str = ""


def shown_rows(
    rows: Sequence[Mapping[str, Any]],
    columns: list[str],
    roles: dict[str, str],
    kinds: tuple[str, ...],
    regions: tuple[str, ...],
) -> list[list[ShownCell]]:
    """The first rows of a file as the mapping page shows them, each query as it would be masked."""
    role_of = {column: role for role, column in roles.items()}
    return [
        [
            _cell(column, row.get(column), role_of.get(column, ""), kinds, regions)
            for column in columns
        ]
        for row in rows
    ]


def _cell(
    column: str, value: Any, role: str, kinds: tuple[str, ...], regions: tuple[str, ...]
) -> ShownCell:
    text = "" if value is None else " ".join(str(value).split())[:200]
    text_shown = masked(text, kinds, regions).text if role == "query" else text
    return ShownCell(column, text, role, text_shown if text_shown != text else "")


def headers(columns: list[str], roles: dict[str, str]) -> list[tuple[str, str]]:
    """The columns, each with what it is taken for; empty for what is never read."""
    role_of = {column: LABELS[role] for role, column in roles.items()}
    return [(column, role_of.get(column, "")) for column in columns]
