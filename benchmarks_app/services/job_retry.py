"""A failed job, done again at somebody's request."""

from django.db import transaction

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.models import Job, User
from benchmarks_app.services import audit, jobs


class JobNotRetryableError(BenchmarkError):
    code = "job-not-retryable"
    status = 409
    message = "“{title}” cannot be started again: {reason}."


def is_retryable(job: Job) -> bool:
    """Failed, and not because of what its file says: the same bytes have the same problems."""
    return job.state == Job.State.FAILED and not job.problems


@transaction.atomic
def retry(*, job: Job, user: User) -> Job:
    """Queue a failed job once more, whatever became of its earlier attempts.

    The number of attempts goes on counting: each has a folder named after it, and an attempt that
    was given up for lost may still be alive in its own.

    Raises
    ------
    JobNotRetryableError
        If the job has not failed, or failed because of its file.
    """
    if job.problems:
        raise JobNotRetryableError(title=job.title, reason="mend the file and import it again")
    queued = Job.objects.filter(pk=job.pk, state=Job.State.FAILED).update(
        state=Job.State.QUEUED,
        message="",
        error="",
        done=0,
        total=0,
        sent_at=None,
        heartbeat_at=None,
        finished_at=None,
    )
    if not queued:
        raise JobNotRetryableError(title=job.title, reason="it has not failed")
    audit.record(actor=user, action="job-retry", benchmark=job.benchmark, target=f"job {job.pk}")
    job.refresh_from_db()
    transaction.on_commit(lambda: jobs.send(job))
    return job
