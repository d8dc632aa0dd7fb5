"""What the sweeper does: lost jobs get another attempt, what nobody needs is removed."""

import logging
import re
import shutil
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Never, cast

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import Q
from django.utils import timezone

from benchmarks_app import changes, files
from benchmarks_app.incoming import clear_incoming
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.limits import Limits
from benchmarks_app.jobs.services.workers import forget_lost_workers
from benchmarks_app.migrated import NotMigratedError, explained
from benchmarks_app.models import Job
from benchmarks_app.store import file_store

log = logging.getLogger(__name__)

CLEARS_AT_MOST_SECONDS = 60.0
# What is staged outside of a job is somebody's who waits for it: by then nobody does.
ABANDONED_AFTER_SECONDS = 24 * 3600
# What a later attempt of a failed job goes on with, a folder a job: by then nobody starts it again.
OF_LATER_ATTEMPTS = ("downloads", "live")
FORGOTTEN_AFTER_SECONDS = 7 * 24 * 3600
# Removed by whom they belong to, when that one is done with them.
KEPT_FOR_LATER = ("job-", "shards-", *OF_LATER_ATTEMPTS)
FOLDER_OF_ATTEMPT = re.compile(r"job-(\d+)-(\d+)")


@dataclass
class Swept:
    """What one sweep did, in counts of jobs; of its steps `n_failed` did not come to their end."""

    n_requeued: int = 0
    n_given_up: int = 0
    n_resent: int = 0
    n_failed: int = 0


def sweep() -> Swept:
    """Give every lost job another attempt, or up; send again what no worker has taken.

    A step that fails is logged, and those after it are done.

    Raises
    ------
    OperationalError, NotMigratedError
        If the database cannot be used, which every step needs.
    """
    swept = Swept()
    steps: tuple[Callable[[], object], ...] = (
        partial(_sweep_lost, swept),
        partial(_sweep_overdue, swept),
        partial(_sweep_unsent, swept),
        _sweep_cancelled,
        _sweep_folders,
        _sweep_staging,
        forget_lost_workers,
        clear_incoming,
        files.remove_left,
        changes.fold,
        file_store().sweep,
        *jobs.SWEEPERS,
    )
    for step in steps:
        try:
            step()
        except Exception as error:
            explanation = explained(error)
            if isinstance(explanation, OperationalError | NotMigratedError):
                raise explanation from None
            swept.n_failed += 1
            log.exception("a step of the sweep failed; the next sweep tries it again")
    return swept


def sweep_once(say: Callable[[str], object], note: Callable[[str], object]) -> bool:
    """Whether all of a sweep could be done; `say` is told what was, `note` why it was not."""
    try:
        swept = sweep()
    except OperationalError as error:
        note(f"sweep: the database could not be used ({error})")
        return False
    if any((swept.n_requeued, swept.n_given_up, swept.n_resent)):
        say(
            f"sweep: {swept.n_requeued} jobs started again, {swept.n_given_up} given up, "
            f"{swept.n_resent} sent again"
        )
    return not swept.n_failed


def sweep_on(say: Callable[[str], object], note: Callable[[str], object]) -> Never:
    """Sweep now, and again and again; no connection is held meanwhile."""
    while True:
        try:
            sweep_once(say, note)
        except Exception:  # a broken answer of the database, say, which the next may not have
            log.exception("a sweep broke off; the next one begins anew")
        connection.close()
        time.sleep(settings.SWEEP_SECONDS)


def _sweep_lost(swept: Swept) -> None:
    lost_before = timezone.now() - timedelta(seconds=settings.JOB_LOST_AFTER_SECONDS)
    for job in Job.objects.filter(state=Job.State.RUNNING, heartbeat_at__lt=lost_before):
        same = Job.objects.filter(
            pk=job.pk, token=job.token, state=Job.State.RUNNING, heartbeat_at__lt=lost_before
        )
        if job.attempt >= settings.JOB_MAX_ATTEMPTS:
            error = (
                f"The worker was lost {job.attempt} times. Start the job again, or look at the log."
            )
            swept.n_given_up += _give_up(job, same, error)
        elif same.update(state=Job.State.QUEUED, token=None, message="worker lost; starting again"):
            swept.n_requeued += 1
            jobs.send(job)


def _sweep_overdue(swept: Swept) -> None:
    """Give up jobs that passed their limit long ago, and whose process did not end them."""
    spare = 2 * settings.JOB_GRACE_SECONDS + settings.JOB_LOST_AFTER_SECONDS
    for job in Job.objects.filter(state=Job.State.RUNNING, started_at__isnull=False):
        limits = Limits.of(job.kind)
        seconds = (timezone.now() - cast(datetime, job.started_at)).total_seconds()
        if limits.seconds and seconds > limits.seconds + spare:
            same = Job.objects.filter(pk=job.pk, token=job.token, state=Job.State.RUNNING)
            swept.n_given_up += _give_up(job, same, limits.too_long(seconds))


def _give_up(job: Job, same: Any, error: str) -> int:
    """Take the job over, so that a worker that still lives writes no more, and let it fail."""
    job.token = uuid.uuid4()
    if not same.update(token=job.token, heartbeat_at=timezone.now()):
        return 0
    jobs.fail_attempt(jobs.RunningJob(job), error)
    return 1


def _sweep_unsent(swept: Swept) -> None:
    sent_before = timezone.now() - timedelta(seconds=settings.JOB_RESEND_AFTER_SECONDS)
    waiting = Job.objects.filter(
        Q(sent_at=None, created_at__lt=timezone.now() - timedelta(seconds=2))
        | Q(sent_at__lt=sent_before),
        state=Job.State.QUEUED,
    )
    for job in waiting:
        jobs.send(job)
        swept.n_resent += 1


def clear_away(job: Job, *, at_most: float) -> None:
    """Remove what a cancelled job has staged, for so many seconds; the sweeper does the rest."""
    jobs.load_handlers()
    mine = Job.objects.filter(pk=job.pk, state=Job.State.CANCELLED, token__isnull=False)
    deadline, is_more = time.monotonic() + at_most, True
    while is_more and time.monotonic() < deadline:
        with transaction.atomic():
            # The update also locks the row: nobody can start the job again meanwhile.
            if not mine.update(heartbeat_at=timezone.now()):
                return
            is_more = jobs.clean_batch(job.pk)
            if not is_more:
                mine.update(token=None)


def _sweep_cancelled() -> None:
    for job in Job.objects.filter(state=Job.State.CANCELLED, token__isnull=False):
        clear_away(job, at_most=CLEARS_AT_MOST_SECONDS)


def _sweep_folders() -> None:
    """Remove the private folders of attempts that are over."""
    for folder in settings.STAGING_DIR.glob("job-*-*"):
        named = FOLDER_OF_ATTEMPT.fullmatch(folder.name)
        if named is None:
            continue
        is_live = Job.objects.filter(
            pk=named[1], attempt=named[2], state__in=[Job.State.RUNNING, Job.State.QUEUED]
        ).exists()
        if not is_live:
            shutil.rmtree(folder, ignore_errors=True)


def _sweep_staging() -> None:
    """Remove what a process that was killed had staged: uploads, exports, readers' own files.

    So is what was kept for another attempt of a job that nobody has made.
    """
    now = time.time()
    for path in (*settings.STAGING_DIR.iterdir(), *settings.READERS_DIR.iterdir()):
        if not path.name.startswith(KEPT_FOR_LATER):
            _remove_older(path, now - ABANDONED_AFTER_SECONDS)
    for kind in OF_LATER_ATTEMPTS:
        for folder in (settings.STAGING_DIR / kind).glob("*"):
            _remove_older(folder, now - FORGOTTEN_AFTER_SECONDS)


def _remove_older(path: Path, oldest: float) -> None:
    if _changed_at(path) >= oldest:
        return
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _changed_at(path: Path) -> float:
    """When a file, or the last of what is in a folder, was changed; now where it is gone.

    What was unpacked has the times of the archive, but for that of its entry on the disk.
    """
    try:
        times = [path_inside.stat() for path_inside in (path, *path.rglob("*"))]
        return max(max(moment.st_mtime, moment.st_ctime) for moment in times)
    except FileNotFoundError:
        return time.time()
