"""Writing down who did what, and handing it out."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from axes.models import AccessLog
from django.conf import settings
from django.utils import timezone

from benchmarks_app.common.selectors.audit import (
    Asked,
    all_pages,
    as_object,
    events_asked_for,
    people_named,
)
from benchmarks_app.common.selectors.people import PERSON, Person
from benchmarks_app.models import AuditEvent, Benchmark, User
from benchmarks_app.models.audit import SIGN_INS
from benchmarks_app.sign_ins import KNOWN_FOR
from benchwright.files.cells import safe_cell

EXPORT_ACTION = "export-audit"
COLUMNS = ("id", "at", "kind", "action", "by", "benchmark", "target", "about", "detail")
ROWS_PER_BATCH = 1000


def record(
    *,
    actor: User | None,
    action: str,
    benchmark: Benchmark | None = None,
    target: str = "",
    **detail: Any,
) -> AuditEvent:
    """Append one event; inside the caller's transaction, so it is there if the change is.

    What people typed never stands for a person, whatever it is: that is a `Person` alone.
    """
    if not isinstance(target, Person) and PERSON.fullmatch(str(target)):
        target = f"“{target}”"
    return AuditEvent.objects.create(
        actor=actor, benchmark=benchmark, action=action, target=str(target)[:200], detail=detail
    )


def export_events(
    *, benchmark: Benchmark | None, filters: Asked, actor: User | None, form: str
) -> Iterator[str]:
    """Pieces of the log's text, made while they are taken; that it was asked for is recorded.

    `form` is one of `FORMATS`.
    """
    write = FORMATS[form]
    record(actor=actor, action=EXPORT_ACTION, benchmark=benchmark, form=form)
    return write(_objects(benchmark, filters))


def _objects(benchmark: Benchmark | None, filters: Asked) -> Iterator[list[dict[str, Any]]]:
    for events in all_pages(events_asked_for(benchmark, filters)):
        people = people_named(events)
        yield [as_object(event, people) for event in events]


def _jsonl(pages: Iterator[list[dict[str, Any]]]) -> Iterator[str]:
    for page in pages:
        yield "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in page)


def _csv(pages: Iterator[list[dict[str, Any]]]) -> Iterator[str]:
    """As RFC 4180 has it; a text that a spreadsheet would run gets an apostrophe in front."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    yield buffer.getvalue()
    for page in pages:
        buffer.seek(0)
        buffer.truncate()
        writer.writerows([_cell(row[name]) for name in COLUMNS] for row in page)
        yield buffer.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, default=str) if value else ""
    return safe_cell(value)


FORMATS: dict[str, Callable[[Iterator[list[dict[str, Any]]]], Iterator[str]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
}
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


def drop_old_sign_ins() -> int:
    """Delete a batch of the sign-ins that are older than the site keeps; returns how many.

    Whole addresses and browsers stay as long as they let somebody in whose name is being guessed.
    """
    period = timedelta(days=settings.SIGN_INS_KEPT_DAYS)
    before = timezone.now() - period
    AccessLog.objects.filter(attempt_time__lt=timezone.now() - max(period, KNOWN_FOR)).delete()
    old = AuditEvent.objects.filter(action__in=SIGN_INS, at__lt=before).order_by("at")
    keys = list(old.values_list("pk", flat=True)[:ROWS_PER_BATCH])
    return AuditEvent.objects.filter(pk__in=keys).delete()[0] if keys else 0
