"""Runs against each other, as a page or a gate has them."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmarks_app.models import Benchmark, Job, Release, Run


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
