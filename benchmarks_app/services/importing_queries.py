"""Queries of a file become rows, unseen until the import's commit."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from django.db import IntegrityError
from django.urls import reverse
from django.utils.dateparse import parse_date, parse_datetime

from benchmarks_app.core.batches import batched
from benchmarks_app.core.formats.beir import QueryRow
from benchmarks_app.core.import_errors import ConcurrentImportError, NothingImportedError
from benchmarks_app.models import Query, QueryFamily
from benchmarks_app.services.staging import ROWS_PER_BATCH, Import

CLASH = "query '{qid}' is in the benchmark already, with another text. Choose another id."


def stage_queries(work: Import, rows: Iterable[QueryRow], file: str) -> None:
    """Write the queries as staged rows; one that is here already with the same text is skipped.

    Raises
    ------
    NothingImportedError
        If the file holds no query.
    """
    existing = dict(work.benchmark.queries.committed().values_list("qid", "text"))
    families: dict[str, QueryFamily] = {}
    n_new = n_same = 0
    for batch in batched(work.told(rows, "queries"), ROWS_PER_BATCH):
        new = [row for row in batch if _is_new(work, row, existing, file)]
        n_same += sum(existing.get(row.qid) == row.text for row in batch)
        if new and not work.problems.found:
            _write(work, new, families)
        n_new += len(new)
    if not n_new and not n_same and not work.problems.found:
        raise NothingImportedError(file=file, what="query")
    work.made.append(f"{n_new:,} queries")
    if n_same:
        work.notes.append(f"{n_same:,} queries were here already.")
    work.on_commit.append(lambda: _show(work))


def _is_new(work: Import, row: QueryRow, existing: dict[str, str], file: str) -> bool:
    if row.qid not in existing:
        return True
    if existing[row.qid] != row.text:
        work.problems.add(file, row.line, CLASH.format(qid=row.qid))
    return False


def _write(work: Import, rows: list[QueryRow], families: dict[str, QueryFamily]) -> None:
    """Insert a batch, each query with the family the file names or one of its own."""
    keys = [_said(row, "family") or f"\0{row.qid}" for row in rows]
    unknown = [key for key in dict.fromkeys(keys) if key not in families]
    with work.job.fenced():
        made = QueryFamily.objects.bulk_create(
            QueryFamily(benchmark=work.benchmark) for _ in unknown
        )
        families.update(zip(unknown, made, strict=True))
        _insert(
            work, [_query(work, row, families[key]) for row, key in zip(rows, keys, strict=True)]
        )


def _insert(work: Import, queries: list[Query]) -> None:
    try:
        Query.objects.bulk_create(queries)
    except IntegrityError as error:
        # Two imports of the same ids at the same time: the other one was first.
        raise ConcurrentImportError from error


def _query(work: Import, row: QueryRow, family: QueryFamily) -> Query:
    return Query(
        benchmark=work.benchmark,
        qid=row.qid,
        text=row.text,
        lang=row.lang or _said(row, "lang"),
        description=row.description or _said(row, "description"),
        narrative=row.narrative or _said(row, "narrative"),
        first_seen_at=_time(row.first_seen or _said(row, "first_seen")),
        frequency=row.frequency if row.frequency is not None else _count(row, "frequency"),
        family=family,
        staged_by=work.job.row,
    )


def _said(row: QueryRow, key: str) -> str:
    value = row.metadata.get(key)
    return value if isinstance(value, str) else ""


def _count(row: QueryRow, key: str) -> int | None:
    value: Any = row.metadata.get(key)
    return value if isinstance(value, int) and value >= 0 else None


def _time(text: str) -> datetime | None:
    """An ISO date or time; a time without a zone is UTC. What is neither stays unknown."""
    try:
        day = parse_date(text)
        moment = datetime(day.year, day.month, day.day) if day else parse_datetime(text)
    except ValueError:
        return None
    return moment and (moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _show(work: Import) -> None:
    Query.objects.filter(staged_by=work.job.row).update(staged_by=None)
    work.url = work.url or reverse("query-list", args=[work.benchmark.slug])
