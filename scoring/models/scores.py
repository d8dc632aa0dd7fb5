"""The numbers of runs, computed here."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmarks_app.models import Benchmark, Job, Release, Run


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
    # How the intervals of its scores were made: `benchwright.evaluation.uncertainty.Recipe`.
    intervals = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # When somebody last looked at it, to the hour: what is looked at is scored first.
    looked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "release", "scorer_version"], name="score_set_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run} on {self.release}"

    @property
    def interval_warnings(self) -> list[str]:
        """What is to be said of its intervals over all queries."""
        from benchwright.statistics.intervals import warnings

        return list(warnings(self.intervals["n_families"])) if self.intervals else []


class Score(models.Model):
    """One mean, as a typed column, for boards."""

    # In the place of a slice: the weighted mean over all queries. No slice is called so, because
    # a file of slices has tabs between its columns.
    WEIGHTED = "\tweighted"

    # Found by either index that begins with it.
    score_set = models.ForeignKey(ScoreSet, models.CASCADE, related_name="scores", db_index=False)
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
            # The measures of a run over one slice, of the hundred and more that it has over all.
            models.Index(fields=["score_set", "slice_name"], name="score_of_slice"),
        ]

    def __str__(self) -> str:
        return f"{self.measure}: {self.mean}"


class LadderStep(models.Model):
    """Whose value of a measure is told of a submission while its release's Ladder is in force.

    `source` is its own score set, or that of the last submission of its team or sender that was
    significantly better than the ones before it.
    """

    score_set = models.ForeignKey(ScoreSet, models.CASCADE, related_name="ladder_steps")
    measure = models.CharField(max_length=120)
    source = models.ForeignKey(ScoreSet, models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["score_set", "measure"], name="ladder_step_once"),
        ]

    def __str__(self) -> str:
        return f"{self.measure} of {self.score_set}"


class RunLatencies(models.Model):
    """Milliseconds a query of one run, measured here: each in a file, their summary in columns."""

    class Source(models.TextChoices):
        LIVE = "live", "asked of a search endpoint, network included"
        HERE = "here", "retrieved by this site"

    run = models.OneToOneField(Run, models.CASCADE, related_name="latencies")
    source = models.CharField(max_length=8, choices=Source)
    # Parquet of query and ms, in storage.
    stored = models.CharField(max_length=255)
    n_queries = models.PositiveIntegerField()
    mean = models.FloatField()
    p50 = models.FloatField()
    p95 = models.FloatField()
    p99 = models.FloatField()
    longest = models.FloatField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "run latencies"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(n_queries__gte=1, p50__gte=0, p95__gte=models.F("p50")),
                name="run_latencies_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run}: p50 {self.p50:.1f} ms"


class Comparison(models.Model):
    """What came out of comparing runs on a release; the same question has one row.

    `key` is the SHA-256 of release, runs in their order, measures, slices, methods and scorer
    version. The numbers are a JSON file, written once; empty until they are worked out.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="comparisons")
    release = models.ForeignKey(Release, models.PROTECT, related_name="comparisons")
    runs = models.ManyToManyField(Run, related_name="comparisons")
    key = models.CharField(max_length=64, unique=True)
    parameters = models.JSONField(default=dict)
    result = models.CharField(max_length=255, blank=True)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="comparisons")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"comparison {self.key[:8]} on {self.release}"
