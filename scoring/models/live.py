"""Search endpoints that are asked while they run, and the runs made from their answers."""

from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Benchmark, Job, Run


class LiveSystem(models.Model):
    """How a search endpoint is asked, and where its answer holds the results.

    No secret is in it: a header names an environment variable, whose value stays with the worker.
    """

    class Kind(models.TextChoices):
        OPENSEARCH = "opensearch", "OpenSearch or Elasticsearch"
        JSON = "json", "other JSON"

    class Method(models.TextChoices):
        POST = "POST"
        GET = "GET"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="live_systems")
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    kind = models.CharField(max_length=16, choices=Kind)
    url = models.CharField(max_length=500)
    method = models.CharField(max_length=4, choices=Method, default=Method.POST)
    # JSON with {{query}} and {{k}} in it; of a GET, the query string.
    template = models.TextField()
    # A line each, as `Authorization: ApiKey $SEARCH_KEY`.
    headers = models.TextField(blank=True)
    results_path = models.CharField(max_length=200)
    id_path = models.CharField(max_length=200)
    # Empty: the order of the results is the ranking.
    score_path = models.CharField(max_length=200, blank=True)
    k = models.PositiveIntegerField(default=100)
    requests_per_second = models.FloatField(default=10.0)
    concurrency = models.PositiveSmallIntegerField(default=4)
    timeout_seconds = models.FloatField(default=10.0)
    retries = models.PositiveSmallIntegerField(default=3)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="live_systems"
    )
    created_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(default=timezone.now)
    # Of the last query that was tried: when, and whether it gave results.
    tried_at = models.DateTimeField(null=True, blank=True)
    tried_well = models.BooleanField(default=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="live_system_name_once"),
            models.CheckConstraint(
                condition=Q(k__gte=1, concurrency__gte=1),
                name="live_system_asks_for_something",
            ),
            models.CheckConstraint(
                condition=Q(requests_per_second__gt=0, timeout_seconds__gt=0),
                name="live_system_moves_on",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("scoring:live-detail", args=[self.benchmark.slug, self.pk])

    @property
    def host(self) -> str:
        """Host and port, which everyone may see; never a path, a query or a user name."""
        return urlsplit(self.url).netloc.rpartition("@")[2]


class LiveRun(models.Model):
    """A run made from the answers of a live system, and what was noticed about them."""

    system = models.ForeignKey(
        LiveSystem, models.SET_NULL, null=True, blank=True, related_name="live_runs"
    )
    run = models.OneToOneField(Run, models.CASCADE, related_name="live_run")
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="live_runs")
    # How it was asked, without headers: a system can change afterwards.
    asked_as = models.JSONField(default=dict)
    n_asked = models.PositiveIntegerField()
    n_failed = models.PositiveIntegerField(default=0)
    n_empty = models.PositiveIntegerField(default=0)
    # Documents that were given twice, or that the corpus does not hold.
    n_repeated = models.PositiveIntegerField(default=0)
    n_unknown = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(n_failed__lt=models.F("n_asked")), name="live_run_was_answered"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run} of {self.system or 'a system that was removed'}"
