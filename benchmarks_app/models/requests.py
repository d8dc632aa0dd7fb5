"""Requests that may be sent again: what was answered the first time."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class KeyedRequest(models.Model):
    """A request that came with an Idempotency-Key, and its answer; kept for a day.

    `status` is empty while the first one is being answered. Whoever answers holds the row by the
    moment at which it began: what lost it writes nothing.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="keyed_requests"
    )
    key_sha256 = models.CharField(max_length=64)
    # SHA-256 of method, address, fields and files.
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    answer = models.TextField(blank=True)
    began_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key_sha256"], name="keyed_request_once"),
            models.CheckConstraint(
                condition=models.Q(status__isnull=True) | models.Q(status__gte=200, status__lt=300),
                name="keyed_request_done",
            ),
        ]
        indexes = [
            # services.keyed_requests.drop_old_keyed_requests: those of more than a day ago.
            models.Index(fields=["began_at"], name="keyed_request_by_age"),
        ]

    def __str__(self) -> str:
        return f"request of {self.began_at:%Y-%m-%d %H:%M}"
