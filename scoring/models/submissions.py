"""When runs may be submitted, and what was."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Benchmark, Job, Release, Run, Team, User


class Phase(models.Model):
    """When, against which release and how often runs may be submitted."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="phases")
    release = models.ForeignKey(Release, models.PROTECT, related_name="phases")
    name = models.CharField(max_length=120)
    split = models.CharField(max_length=8, default="test")
    opens_at = models.DateTimeField(default=timezone.now)
    closes_at = models.DateTimeField(null=True, blank=True)
    daily_limit = models.PositiveIntegerField(default=20)
    # Of a team, or of a person without one, over the whole phase; none where it is empty.
    total_limit = models.PositiveIntegerField(null=True, blank=True)
    # Of a hidden split: whether exact means wait for its end (`benchwright.comparison.ladder`).
    has_ladder = models.BooleanField(default=True)
    description = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "release", "split"], name="phase_once"),
            models.CheckConstraint(
                condition=Q(closes_at=None) | Q(closes_at__gt=F("opens_at")),
                name="phase_closes_after_opening",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SubmissionQuerySet(models.QuerySet):
    def visible_to(self, user: User) -> Self:
        return self.filter(Q(submitter=user) | Q(run__in=Run.objects.visible_to(user).values("pk")))


class Submission(models.Model):
    class State(models.TextChoices):
        RECEIVED = "received"
        VALIDATED = "validated"
        QUEUED = "queued"
        SCORING = "scoring"
        SCORED = "scored"
        INVALID = "invalid"
        FAILED = "failed"

    phase = models.ForeignKey(Phase, models.PROTECT, related_name="submissions")
    # Null until the uploaded file was found valid.
    run = models.ForeignKey(Run, models.PROTECT, null=True, blank=True, related_name="submissions")
    name = models.CharField(max_length=120)
    submitter = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="submissions"
    )
    team = models.ForeignKey(
        Team, models.SET_NULL, null=True, blank=True, related_name="submissions"
    )
    state = models.CharField(max_length=16, choices=State, default=State.RECEIVED)
    # Why it is invalid or failed, by line; kept here because jobs are cleared away.
    problems = models.JSONField(default=list, blank=True)
    # Bad lines that it was scored without, as its sender agreed: all of them, as `problems`.
    left_out = models.JSONField(default=list, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="submissions")
    created_at = models.DateTimeField(default=timezone.now)

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["phase", "run"], name="submission_run_once"),
            models.CheckConstraint(
                condition=~Q(state="scored") | Q(run__isnull=False),
                name="submission_scored_has_run",
            ),
        ]
        indexes = [
            # selectors.submissions_of: newest first per submitter.
            models.Index(fields=["submitter", "-created_at"], name="submission_by_submitter"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("scoring:submission-detail", args=[self.phase.benchmark.slug, self.pk])


class ProbingFlag(models.Model):
    """A submission that looks made to read hidden grades, for the owner to look at."""

    class Kind(models.TextChoices):
        NEAR_IDENTICAL = "near_identical", "nearly the same ranking as an earlier submission"
        SINGLE_QUERY = "single_query", "differs from an earlier submission in few queries"
        SAME_DOCUMENTS = "same_documents", "lists the same documents for many queries"
        REORDERED = "reordered", "has the documents of an earlier submission in another order"
        SAME_CANDIDATES = "same_candidates", "has the documents of another team's submission"

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="probing_flags")
    earlier = models.ForeignKey(
        Submission, models.SET_NULL, null=True, blank=True, related_name="probed_by"
    )
    kind = models.CharField(max_length=16, choices=Kind)
    # The numbers it was raised for, such as how many queries differ.
    evidence = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    settled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "earlier", "kind"], name="probing_flag_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.submission}"
