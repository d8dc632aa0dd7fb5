"""How long the queries of a run took."""

from django.db import models
from django.utils import timezone

from benchmarks_app.models import Run


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
