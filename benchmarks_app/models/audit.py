"""Who did what, when: append-only."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark


class AuditEvent(models.Model):
    at = models.DateTimeField(default=timezone.now)
    # No constraints behind these: an event outlives what it speaks of, and may not be rewritten.
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.DO_NOTHING,
        null=True,
        blank=True,
        db_constraint=False,
        related_name="+",
    )
    benchmark = models.ForeignKey(
        Benchmark,
        models.DO_NOTHING,
        null=True,
        blank=True,
        db_constraint=False,
        related_name="audit_events",
    )
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200, blank=True)
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes = [
            # activity page: newest first in one benchmark.
            models.Index(fields=["benchmark", "-at"], name="audit_by_benchmark"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"
