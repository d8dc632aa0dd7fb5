"""Taking in a submission: who may send how much, and nothing twice.

A submission is received (its file is here, its job waits), validated (the file was found right),
scoring, and scored. It is queued when a worker was lost and another attempt is to come, invalid
when the file or its name is wrong, failed when the fault is ours.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from benchmarks_app.models import Benchmark, Job, Run, Upload, User
from benchmarks_app.services import audit, jobs
from scoring.models import Phase, Submission
from scoring.selectors import open_phase
from scoring.services.errors import (
    DailyLimitError,
    NameInUseError,
    NoOpenPhaseError,
    SubmittedBeforeError,
)

JOB_KIND = "score-submission"
DAY = timedelta(hours=24)
# Neither takes a place in the daily limit, a name, or the right to send the same bytes again.
UNCOUNTED = (Submission.State.INVALID, Submission.State.FAILED)


def phase_open_in(benchmark: Benchmark) -> Phase:
    """The phase that takes submissions now; raises `NoOpenPhaseError` where none does."""
    phase = open_phase(benchmark)
    if phase is None:
        raise NoOpenPhaseError(benchmark=benchmark.name)
    return phase


def accept_submission(
    *,
    phase: Phase,
    user: User,
    upload: Upload,
    name: str,
    description: str = "",
    metadata: dict[str, Any] | None = None,
    visibility: str = Run.Visibility.BENCHMARK,
    aggregation: str = "",
) -> Submission:
    """Write the submission down and start the job that validates and scores it.

    `aggregation` says how a run of passages becomes one of documents, where these are measured.

    Raises
    ------
    NoOpenPhaseError
        If the phase is closed.
    SubmittedBeforeError
        If this person sent the same bytes to this phase; `submission` is the earlier one.
    DailyLimitError
        If the valid submissions of the last 24 hours fill the phase's limit.
    NameInUseError
        If a run, or a submission that waits, has the name.
    """
    with transaction.atomic():
        submission = _admit(phase, user, upload, name)
        submission.job = jobs.start(
            kind=JOB_KIND,
            title=f"Score {name}",
            benchmark=phase.benchmark,
            user=user,
            parameters=_parameters(submission, upload, description, metadata, visibility)
            | {"aggregation": aggregation},
        )
        submission.save(update_fields=["job"])
    return submission


def submit_here(
    *,
    phase: Phase,
    user: User,
    upload: Upload,
    name: str,
    description: str = "",
    on_progress: Callable[[int, int, str], None] | None = None,
) -> tuple[Submission, Job]:
    """As `accept_submission`, scored in this process; for commands."""
    with transaction.atomic():
        submission = _admit(phase, user, upload, name)
    job = jobs.run_here(
        kind=JOB_KIND,
        title=f"Score {name}",
        benchmark=phase.benchmark,
        user=user,
        parameters=_parameters(submission, upload, description, None, Run.Visibility.BENCHMARK),
        on_progress=on_progress,
    )
    submission.refresh_from_db()
    return submission, job


def _parameters(
    submission: Submission,
    upload: Upload,
    description: str,
    metadata: dict[str, Any] | None,
    visibility: str,
) -> dict[str, Any]:
    return {
        "submission": submission.pk,
        "upload": upload.pk,
        "sha256": upload.sha256,
        "description": description,
        "metadata": metadata or {},
        "visibility": visibility,
    }


def _admit(phase: Phase, user: User, upload: Upload, name: str) -> Submission:
    # One at a time in a phase: two uploads at once must not both take the last place of the day.
    locked = Phase.objects.select_for_update(of=("self",)).select_related("benchmark")
    phase = locked.get(pk=phase.pk)
    _refuse_closed(phase)
    _refuse_same_bytes(phase, user, upload)
    refuse_over_limit(phase=phase, user=user)
    _refuse_taken_name(phase, name)
    submission = Submission.objects.create(phase=phase, name=name, submitter=user)
    audit.record(
        actor=user,
        action="submit-run",
        benchmark=phase.benchmark,
        target=name,
        sha256=upload.sha256,
    )
    return submission


def _refuse_closed(phase: Phase) -> None:
    now = timezone.now()
    is_over = phase.closes_at is not None and now >= phase.closes_at
    if now < phase.opens_at or is_over or not phase.daily_limit:
        raise NoOpenPhaseError(benchmark=phase.benchmark.name)


def _counted(phase: Phase, user: User) -> QuerySet[Submission]:
    """Valid submissions of a person, and those of which it is not known yet."""
    return Submission.objects.filter(phase=phase, submitter=user).exclude(state__in=UNCOUNTED)


def _refuse_same_bytes(phase: Phase, user: User, upload: Upload) -> None:
    same = Q(run__sha256=upload.sha256) | Q(job__parameters__sha256=upload.sha256)
    earlier = _counted(phase, user).filter(same).select_related("phase__benchmark").first()
    if earlier:
        raise SubmittedBeforeError(name=earlier.name, digest=upload.sha256[:12], submission=earlier)


def _of_last_day(phase: Phase, user: User) -> list[datetime]:
    since = timezone.now() - DAY
    recent = _counted(phase, user).filter(created_at__gt=since).order_by("created_at")
    return list(recent.values_list("created_at", flat=True))


def n_left_today(*, phase: Phase, user: User) -> int:
    return max(0, phase.daily_limit - len(_of_last_day(phase, user)))


def refuse_over_limit(*, phase: Phase, user: User) -> None:
    """Raise `DailyLimitError`, which says when the next is possible, where the day is used up."""
    recent = _of_last_day(phase, user)
    limit = max(phase.daily_limit, 1)
    if len(recent) < limit:
        return
    # Where the limit was lowered meanwhile, more than one must pass out of the window first.
    frees_a_place = recent[len(recent) - limit]
    raise DailyLimitError(used=len(recent), limit=phase.daily_limit, next_at=frees_a_place + DAY)


def _refuse_taken_name(phase: Phase, name: str) -> None:
    waiting = Submission.objects.filter(phase__benchmark=phase.benchmark, name=name, run=None)
    is_waiting = waiting.exclude(state__in=UNCOUNTED).exists()
    if is_waiting or Run.objects.filter(benchmark=phase.benchmark, name=name).exists():
        raise NameInUseError(name=name)
