"""What is asked: queries, and the families of wordings that must stay on one side of a split."""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmarks_app.models.collection import MAX_ID_BYTES, Benchmark


class QueryFamily(models.Model):
    """Wordings of one need. The split is stored here and nowhere else."""

    class Split(models.TextChoices):
        NONE = "", "not split"
        TRAIN = "train"
        DEV = "dev"
        TEST = "test"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="families")
    split = models.CharField(max_length=8, choices=Split, default=Split.NONE, blank=True)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        verbose_name_plural = "query families"

    def __str__(self) -> str:
        return f"family {self.pk}"


class QueryQuerySet(models.QuerySet):
    def committed(self) -> Self:
        """Without the rows of an import that has not finished."""
        return self.filter(staged_by=None)


class Query(models.Model):
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="queries")
    qid = models.CharField(max_length=MAX_ID_BYTES)
    text = models.TextField()
    lang = models.CharField(max_length=35, blank=True)
    description = models.TextField(blank=True)
    narrative = models.TextField(blank=True)
    first_seen_at = models.DateTimeField(null=True, blank=True)
    frequency = models.PositiveBigIntegerField(null=True, blank=True)
    family = models.ForeignKey(QueryFamily, models.PROTECT, related_name="queries")
    excluded_reason = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # Set while an import is not finished: such rows are shown nowhere and go away if it fails.
    staged_by = models.ForeignKey(
        "benchmarks_app.Job", models.CASCADE, null=True, blank=True, related_name="staged_queries"
    )

    objects = QueryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "queries"
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "qid"], name="query_qid_once"),
        ]

    def __str__(self) -> str:
        return self.text
