"""What checking every stored file has found."""

from django.db import models
from django.utils import timezone


class StoreCheck(models.Model):
    """One reading of all stored files against their digests; `finished_at` is empty meanwhile."""

    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    n_files = models.PositiveBigIntegerField(default=0)
    n_bytes = models.PositiveBigIntegerField(default=0)
    # Files of which no digest was recorded: whether they changed cannot be told.
    n_unrecorded = models.PositiveBigIntegerField(default=0)
    # Of each broken file: file, what, problem, whole_at, changed_at, dependents.
    broken = models.JSONField(default=list, blank=True)

    class Meta:
        get_latest_by = "started_at"

    def __str__(self) -> str:
        return f"store check of {self.started_at:%Y-%m-%d %H:%M}"

    @property
    def broken_files(self) -> set[str]:
        return {one["file"] for one in self.broken}
