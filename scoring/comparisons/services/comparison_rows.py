"""Stored comparisons: one row a question, its numbers in a file; dropped when nobody looks at them.

A comparison can be worked out again at any time, with the same numbers: what is stored saves the
time, and is no record.
"""

import json
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from django.conf import settings
from django.db import OperationalError, transaction
from django.utils import timezone

from benchmarks_app import files
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Release, Run
from benchmarks_app.store import file_store
from benchwright.files.errors import StoredFileError
from benchwright.files.sources import sha256_of
from scoring.models import Comparison

log = logging.getLogger(__name__)

# The day on which somebody looked at a row last, among its parameters.
LOOKED_ON = "looked_on"
DROPPED_EVERY_SECONDS = 3600.0
_looked = {"at": float("-inf")}


class Asked(Protocol):
    """What a row is the answer to."""

    @property
    def key(self) -> str: ...
    @property
    def release(self) -> Release: ...
    @property
    def runs(self) -> list[Run]: ...
    @property
    def parameters(self) -> dict[str, Any]: ...


# --- writing -------------------------------------------------------------------------------


def row_of(question: Asked, user: Any) -> Comparison:
    """The row of a question, made where there is none."""
    row, is_new = Comparison.objects.get_or_create(
        key=question.key,
        defaults={
            "benchmark": question.release.benchmark,
            "release": question.release,
            "parameters": {**question.parameters, LOOKED_ON: _today()},
            "created_by": user if user.is_authenticated else None,
        },
    )
    if is_new:
        row.runs.set(question.runs)
    return row


@transaction.atomic
def start(question: Asked, user: Any, *, kind: str, title: str) -> Comparison:
    """The row of a question, with the job that works it out; one that is under way is kept."""
    row = row_of(question, user)
    row = Comparison.objects.select_for_update().get(pk=row.pk)
    if has_numbers(row) or (row.job and not row.job.is_finished):
        return row
    row.result = ""
    row.job = jobs.start(
        kind=kind,
        title=title,
        benchmark=question.release.benchmark,
        user=user,
        parameters={"comparison": row.pk},
    )
    row.save(update_fields=["job", "result"])
    return row


def store(question: Asked, result: Mapping[str, Any], user: Any) -> Comparison:
    """Write the numbers down, once."""
    settings.STAGING_DIR.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=settings.STAGING_DIR) as folder:
        name = _published(result, question.key, Path(folder))
    row = row_of(question, user)
    Comparison.objects.filter(pk=row.pk).update(result=name)
    row.result = name
    return row


def commit(job: RunningJob, row: Comparison, result: Mapping[str, Any], **facts: Any) -> None:
    """Write down what a job has worked out; `facts` is what its page says."""
    name = _published(result, row.key, job.folder)
    with job.commit() as answer:
        Comparison.objects.filter(pk=row.pk).update(result=name)
        answer.update(facts)


def _published(result: Mapping[str, Any], key: str, folder: Path) -> str:
    staged = folder / f"{key}.json"
    staged.write_text(json.dumps(result, sort_keys=True, allow_nan=False))
    return files.publish(staged, f"comparisons/{key}/{sha256_of(staged)}.json")


# --- reading -------------------------------------------------------------------------------


def stored(question: Asked) -> Comparison | None:
    """The row of a question, whether its numbers are there yet or not."""
    return Comparison.objects.filter(key=question.key).select_related("job").first()


def has_numbers(row: Comparison) -> bool:
    """Whether the numbers are there to be read; a broken file is as good as none."""
    if not row.result or not file_store().exists(row.result):
        return False
    try:
        files.local_path(row.result)
    except StoredFileError:  # the log has it; they are worked out again
        return False
    return True


def result_of(row: Comparison) -> dict[str, Any]:
    """The numbers as they were stored, nothing withheld; who reads them keeps the row."""
    _mark(row)
    numbers: dict[str, Any] = json.loads(files.local_path(row.result).read_text())
    return numbers


def _mark(row: Comparison) -> None:
    """Note that somebody looks, once a day."""
    if row.parameters.get(LOOKED_ON) == _today():
        return
    row.parameters = {**row.parameters, LOOKED_ON: _today()}
    # A page must not fail because the database is busy: the next look is noted.
    with suppress(OperationalError):
        Comparison.objects.filter(pk=row.pk).update(parameters=row.parameters)


def _today() -> str:
    return timezone.now().date().isoformat()


# --- dropping ------------------------------------------------------------------------------


def drop_unread() -> int:
    """Drop what nobody has looked at for `COMPARISON_DAYS` days, with its file; returns how many.

    What a job is at work on stays.
    """
    before = timezone.now() - timedelta(days=settings.COMPARISON_DAYS)
    old = Comparison.objects.filter(created_at__lt=before)
    unread = [row.pk for row in old.only("parameters", "created_at").iterator() if _is_old(row)]
    return sum(_drop(key) for key in unread)


def drop_unread_now_and_then() -> None:
    """As `drop_unread`, for the sweeper: when it starts, and every hour."""
    now = time.monotonic()
    if now - _looked["at"] >= DROPPED_EVERY_SECONDS:
        _looked["at"] = now
        if n := drop_unread():
            log.info("%s stored comparisons were dropped; nobody looked at them", n)


@transaction.atomic
def _drop(key: int) -> bool:
    # Looked at again: somebody may have opened it, or asked for it anew, since it was listed.
    row = Comparison.objects.select_for_update(of=("self",)).filter(pk=key).first()
    if row is None or not _is_old(row) or (row.job and not row.job.is_finished):
        return False
    name = row.result
    row.delete()
    if name:
        transaction.on_commit(lambda: files.remove(name))
    return True


def _is_old(row: Comparison) -> bool:
    before = timezone.now() - timedelta(days=settings.COMPARISON_DAYS)
    looked_on = str(row.parameters.get(LOOKED_ON, ""))
    return row.created_at < before and looked_on < before.date().isoformat()
