"""A job that somebody wants done again, or no more."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Case, When
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs, sweeping
from benchmarks_app.models import Job, User
from benchmarks_app.permissions import Action, may
from benchwright.errors import BenchmarkError

SUBMISSION_KIND = "score-submission"  # scoring's; a submitter starts it without editing rights
# How long who cancels a job waits for what it has staged to be cleared away.
CLEARS_SECONDS = 1.0


class JobNotRetryableError(BenchmarkError):
    code = "job-not-retryable"
    status = 409
    message = "“{title}” cannot be started again: {reason}."


class JobFinishedError(BenchmarkError):
    code = "job-finished"
    status = 409
    message = "“{title}” is finished: there is nothing to cancel."


def is_retryable(job: Job) -> bool:
    """Failed or cancelled, its file still there, and not for what it says: it will say the same."""
    jobs.load_handlers()
    is_over = job.state in Job.ENDED_EARLY and job.token is None
    return is_over and not job.problems and job.kind not in jobs.ONCE


def may_cancel(user: Any, job: Job) -> bool:
    """Who started it, and who keeps the benchmark."""
    if user.is_staff or job.created_by == user:
        return True
    return job.benchmark is not None and may(user, Action.EDIT, job.benchmark)


def may_retry(user: Any, job: Job) -> bool:
    """Who may still do what the job does: having started it once is not enough for who left."""
    if user.is_staff:
        return True
    is_own = job.created_by == user
    if job.benchmark is None:
        return is_own
    if is_own and job.kind == SUBMISSION_KIND:
        return may(user, Action.SUBMIT, job.benchmark)
    return may(user, Action.EDIT, job.benchmark)


@transaction.atomic
def retry(*, job: Job, user: User) -> Job:
    """Queue a failed or cancelled job once more, whatever became of its earlier attempts.

    The number of attempts goes on counting: each has a folder named after it, and an attempt that
    was given up for lost may still be alive in its own.

    Raises
    ------
    JobNotRetryableError
        If the job has not failed, failed because of its file, or its file is forgotten.
    BenchmarkError
        What an app says against it.
    """
    if job.problems:
        raise JobNotRetryableError(title=job.title, reason="mend the file and import it again")
    jobs.load_handlers()
    if job.kind in jobs.ONCE:
        raise JobNotRetryableError(title=job.title, reason="its file is forgotten; send it again")
    queued = Job.objects.filter(pk=job.pk, state__in=Job.ENDED_EARLY, token=None).update(
        state=Job.State.QUEUED,
        message="",
        error="",
        done=0,
        total=0,
        sent_at=None,
        heartbeat_at=timezone.now(),
        finished_at=None,
    )
    if not queued:
        raise JobNotRetryableError(title=job.title, reason="it has not failed")
    if readmission := jobs.READMISSIONS.get(job.kind):
        readmission(job, user)
    audit.record(actor=user, action="job-retry", benchmark=job.benchmark, target=f"job {job.pk}")
    job.refresh_from_db()
    transaction.on_commit(lambda: jobs.send(job))
    return job


def cancel(*, job: Job, user: User) -> Job:
    """End a job for good, queued or at work: nothing of it becomes visible.

    Whoever is at it learns so at the next write, or from the thread that watches it.

    Raises
    ------
    JobFinishedError
        If it is finished already.
    """
    with transaction.atomic():
        ended = Job.objects.filter(
            pk=job.pk, state__in=[Job.State.QUEUED, Job.State.RUNNING]
        ).update(
            state=Job.State.CANCELLED,
            token=uuid.uuid4(),
            error=f"Cancelled by {user}.",
            # In the queue it has only that of an earlier attempt.
            started_at=Case(When(state=Job.State.RUNNING, then="started_at")),
            finished_at=timezone.now(),
        )
        if not ended:
            raise JobFinishedError(title=job.title)
        audit.record(
            actor=user, action="job-cancel", benchmark=job.benchmark, target=f"job {job.pk}"
        )
    sweeping.clear_away(job, at_most=CLEARS_SECONDS)
    job.refresh_from_db()
    return job
