"""Background work as a person sees it: the row is the truth, the queue only carries its id."""

from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark
from benchmarks_app.models.people import User

# Since when a queued job waits: one that is started again has its last heartbeat.
WAITS_SINCE = Coalesce("heartbeat_at", "created_at")


class JobQuerySet(models.QuerySet):
    def active(self) -> Self:
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])

    def visible_to(self, user: User) -> Self:
        """Jobs of the benchmarks one is a member of, and one's own of what one still sees."""
        is_seen = models.Q(benchmark=None) | models.Q(
            benchmark__in=Benchmark.objects.visible_to(user)
        )
        return self.filter(
            models.Q(benchmark__in=user.memberships.values("benchmark"))
            | models.Q(created_by=user) & is_seen
        )


class Job(models.Model):
    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    # They have no result.
    ENDED_EARLY = (State.FAILED, State.CANCELLED)
    ENDED = (State.DONE, *ENDED_EARLY)

    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    benchmark = models.ForeignKey(
        Benchmark, models.CASCADE, null=True, blank=True, related_name="jobs"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="jobs"
    )
    parameters = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    # The fence: every write of a result checks the token of the attempt that is allowed to write.
    # A cancelled job has one as long as what it has staged is not cleared away.
    attempt = models.PositiveSmallIntegerField(default=0)
    token = models.UUIDField(null=True, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    message = models.CharField(max_length=200, blank=True)
    error = models.TextField(blank=True)
    problems = models.JSONField(default=list, blank=True)
    result = models.JSONField(default=dict, blank=True)
    # Without the path of the site, which may change.
    result_url = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    sent_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()
    # Told by who takes it, and no column: nothing of an earlier attempt can be there.
    is_first_attempt = False

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(state="running") | models.Q(token__isnull=False),
                name="job_running_has_token",
            ),
        ]
        indexes = [
            # services.job_sweeping.sweep: unfinished jobs by age.
            models.Index(fields=["state", "heartbeat_at"], name="job_by_state"),
            # job lists: newest first in one benchmark.
            models.Index(fields=["benchmark", "-created_at"], name="job_by_benchmark"),
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("job-detail", args=[self.pk])

    @property
    def result_address(self) -> str:
        return f"{settings.SITE_PATH}{self.result_url}"

    @property
    def is_finished(self) -> bool:
        return self.state in self.ENDED

    @property
    def is_without_worker(self) -> bool:
        """Queued, and no worker was seen for two minutes."""
        return self.state == self.State.QUEUED and not WorkerHeartbeat.objects.alive().exists()


def _missing_since() -> datetime:
    return timezone.now() - timedelta(seconds=settings.WORKER_MISSING_AFTER_SECONDS)


class WorkerHeartbeatQuerySet(models.QuerySet):
    def alive(self) -> Self:
        return self.filter(seen_at__gt=_missing_since())


class WorkerHeartbeat(models.Model):
    """When each worker process was last seen."""

    name = models.CharField(max_length=200, unique=True)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)
    # What its host is like, to be held against the others: the version that it runs, the mark of
    # the stored files that it sees, and how many seconds its clock is before the database's.
    version = models.CharField(max_length=60, blank=True)
    store = models.CharField(max_length=32, blank=True)
    clock_ahead = models.FloatField(null=True, blank=True)

    objects = WorkerHeartbeatQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    @property
    def is_alive(self) -> bool:
        return self.seen_at > _missing_since()
