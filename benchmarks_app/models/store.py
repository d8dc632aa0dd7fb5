"""What checking every stored file has found, and what became of backups."""

from datetime import timedelta

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
        return {row["file"] for row in self.broken}


class BackupQuerySet(models.QuerySet["Backup"]):
    def under_way(self) -> "BackupQuerySet":
        """Those that go on: neither over, nor silent for longer than one that lives ever is."""
        since = timezone.now() - timedelta(seconds=Backup.SILENT_SECONDS)
        return self.filter(finished_at=None, error="", seen_at__gt=since)


class Backup(models.Model):
    """A backup that was written from this site; `finished_at` is empty meanwhile, and if it broke.

    While one is under way no stored file is removed that its snapshot may name.
    """

    SILENT_SECONDS = 60

    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    # A folder, or "-" for standard output.
    place = models.TextField()
    snapshot = models.CharField(max_length=40)
    n_rows = models.PositiveBigIntegerField(default=0)
    n_files = models.PositiveBigIntegerField(default=0)
    n_bytes = models.PositiveBigIntegerField(default=0)
    # Of these, what the backup did not have yet.
    n_copied = models.PositiveBigIntegerField(default=0)
    n_bytes_copied = models.PositiveBigIntegerField(default=0)
    # Of each file that it lacks, because it was broken: file, what, problem.
    broken = models.JSONField(default=list, blank=True)
    # Why there is none.
    error = models.TextField(blank=True)

    objects = BackupQuerySet.as_manager()

    class Meta:
        get_latest_by = "started_at"

    def __str__(self) -> str:
        return f"backup of {self.started_at:%Y-%m-%d %H:%M}"

    @property
    def is_under_way(self) -> bool:
        silent = timezone.now() - self.seen_at
        is_over = self.finished_at is not None or self.error
        return not is_over and silent < timedelta(seconds=self.SILENT_SECONDS)


class LeftFile(models.Model):
    """A stored file that nothing needs any more, left where it is until it can be deleted.

    That is, until no backup is under way, and the store is there.
    """

    name = models.TextField(unique=True)
    left_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
