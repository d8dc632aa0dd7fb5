"""Numbers that somebody reports from elsewhere."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchmarks_app.models import Benchmark, Release, Run


class ReportedScore(models.Model):
    """A value somebody reports of a system: shown beside ours, never ranked among them."""

    class Kind(models.TextChoices):
        MTEB = "mteb", "MTEB result file"
        ENTERED = "entered", "entered by hand"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="reported_scores")
    # Of which release it is said to be; null where nobody knows.
    release = models.ForeignKey(
        Release, models.PROTECT, null=True, blank=True, related_name="reported_scores"
    )
    # A run of the same system, whose own values stand beside this one.
    run = models.ForeignKey(
        Run, models.SET_NULL, null=True, blank=True, related_name="reported_scores"
    )
    system = models.CharField(max_length=200)
    measure = models.CharField(max_length=120)
    value = models.FloatField()
    split = models.CharField(max_length=16, blank=True)
    kind = models.CharField(max_length=16, choices=Kind)
    # Where it is from: an address, a DOI, a paper, a file's name.
    source = models.CharField(max_length=500)
    note = models.CharField(max_length=500, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    reported_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="reported_scores"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "system", "measure", "split", "source"],
                name="reported_score_once",
            ),
            models.CheckConstraint(condition=~Q(source=""), name="reported_score_has_source"),
        ]

    def __str__(self) -> str:
        return f"{self.system}: {self.measure} {self.value}"
