"""Query logs, and the samples of them that became queries."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark
from benchmarks_app.models.jobs import Job
from benchmarks_app.models.runs import Upload
from benchwright.texts.counting import counted


def links_name(stored: str, sha256: str) -> str:
    """Where the links of a log's families are; earlier versions recorded no digest of them."""
    stem = stored.removesuffix(".parquet")
    return f"{stem}/{sha256}.parquet" if sha256 else f"{stem}.links.parquet"


class QueryLog(models.Model):
    """What people asked over a window of time, masked and counted; distinct queries as Parquet."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="query_logs")
    name = models.CharField(max_length=120)
    upload = models.ForeignKey(Upload, models.PROTECT, null=True, blank=True, related_name="+")
    parquet = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    first_day = models.DateField(null=True, blank=True)
    last_day = models.DateField(null=True, blank=True)
    n_rows = models.PositiveBigIntegerField()
    n_distinct = models.PositiveBigIntegerField()
    n_traffic = models.PositiveBigIntegerField()
    # How many searches had something masked, by its kind.
    masked = models.JSONField(default=dict, blank=True)
    # Of the file and its reading: name, SHA-256, columns, floor, what was left out, families.
    facts = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="query_log_name_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def links(self) -> str:
        """The file of the links of its families, beside `parquet`."""
        return links_name(self.parquet, self.facts.get("links_sha256", ""))


class PendingLog(models.Model):
    """A log's file as it was given, until its columns are named and it has been read."""

    upload = models.OneToOneField(Upload, models.CASCADE, related_name="pending_log")
    # The latest attempt to read it, if there was one.
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="+")

    def __str__(self) -> str:
        return self.upload.name


class QuerySample(models.Model):
    """Queries drawn from a log: how, and out of how many."""

    log = models.ForeignKey(QueryLog, models.PROTECT, related_name="samples")
    seed = models.PositiveBigIntegerField()
    # The strata, how many families each has, and how many were drawn.
    parameters = models.JSONField(default=dict)
    n_families = models.PositiveIntegerField()
    n_queries = models.PositiveIntegerField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{counted(self.n_queries, 'query')} of {self.log}"
