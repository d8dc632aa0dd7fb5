"""From submitted runs to comparable numbers."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Benchmark, Job, Release, Run


class Phase(models.Model):
    """When, against which release and how often runs may be submitted."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="phases")
    release = models.ForeignKey(Release, models.PROTECT, related_name="phases")
    name = models.CharField(max_length=120)
    split = models.CharField(max_length=8, default="test")
    opens_at = models.DateTimeField(default=timezone.now)
    closes_at = models.DateTimeField(null=True, blank=True)
    daily_limit = models.PositiveIntegerField(default=20)

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
    def visible_to(self, user: object) -> Self:
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
    state = models.CharField(max_length=16, choices=State, default=State.RECEIVED)
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


class ScoreSet(models.Model):
    """All numbers of one run on one release: per-query values and hits as files."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="score_sets")
    release = models.ForeignKey(Release, models.PROTECT, related_name="score_sets")
    scorer_version = models.CharField(max_length=40)
    per_query = models.CharField(max_length=255)
    hits = models.CharField(max_length=255)
    n_queries = models.PositiveIntegerField()
    n_missing = models.PositiveIntegerField()
    n_extra = models.PositiveIntegerField()
    # How the intervals of its scores were made: `scoring.core.uncertainty.Recipe`.
    intervals = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "release", "scorer_version"], name="score_set_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run} on {self.release}"


class Score(models.Model):
    """One mean, as a typed column, for boards."""

    # In the place of a slice: the weighted mean over all queries. No slice is called so, because
    # a file of slices has tabs between its columns.
    WEIGHTED = "\tweighted"

    score_set = models.ForeignKey(ScoreSet, models.CASCADE, related_name="scores")
    measure = models.CharField(max_length=120)
    slice_name = models.CharField(max_length=120, blank=True)
    mean = models.FloatField(null=True)
    ci_low = models.FloatField(null=True, blank=True)
    ci_high = models.FloatField(null=True, blank=True)
    n = models.PositiveIntegerField()
    judged_share = models.FloatField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["score_set", "measure", "slice_name"], name="score_once"
            ),
        ]
        indexes = [
            # selectors.leaderboard: best first for one measure and slice.
            models.Index(fields=["measure", "slice_name", "-mean"], name="score_for_board"),
        ]

    def __str__(self) -> str:
        return f"{self.measure}: {self.mean}"
