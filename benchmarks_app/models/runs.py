"""What came from outside: uploaded files, and the rankings of systems among them."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark
from benchmarks_app.models.people import Role, Team, User


class Upload(models.Model):
    """A file as it was given, byte for byte, with its SHA-256."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="uploads")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="uploads")
    name = models.CharField(max_length=255)
    stored = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    # What the file became, as `kind: what`; empty until an import of it has finished.
    imported_as = models.CharField(max_length=255, blank=True)
    # Put down on the import page, and neither imported nor taken away again.
    is_waiting = models.BooleanField(default=False)
    # What reading it to its end has found (services.reading_uploads); empty until it was read.
    reading = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes = [
            # services.uploading.earlier_import: the same bytes, already imported here.
            models.Index(fields=["benchmark", "sha256"], name="upload_by_bytes"),
        ]

    def __str__(self) -> str:
        return self.name


def _is_public() -> Q:
    return Q(visibility=Run.Visibility.BENCHMARK) | Q(public_from__lte=timezone.now())


class RunQuerySet(models.QuerySet):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Runs of public view, one's own and one's teams', and all where one maintains.

        None of a benchmark whose pools one may still be asked to judge (`Membership.blind`).
        A run that was withdrawn stays with whom its visibility names: lists and boards leave it out
        by `standing`.
        """
        is_visible = _is_public() & Q(benchmark__in=Benchmark.objects.visible_to(user))
        if user.is_authenticated:
            maintained = user.memberships.filter(role__in=[Role.OWNER, Role.MAINTAINER])
            is_visible |= (
                Q(owner=user)
                | Q(visibility=Run.Visibility.TEAM, team__in=user.teams.values("pk"))
                | Q(benchmark__in=maintained.values("benchmark"))
            )
            is_visible &= ~Q(benchmark__in=user.memberships.blind().values("benchmark"))
        return self.filter(is_visible)

    def public(self) -> Self:
        """Runs that everybody sees who sees the benchmark and its results."""
        return self.filter(_is_public())

    def standing(self) -> Self:
        """Runs that were not withdrawn, which boards rank and lists offer."""
        return self.filter(withdrawn_at=None)


class Run(models.Model):
    """One system's ranking of documents for the queries of a benchmark."""

    class Visibility(models.TextChoices):
        OWNER = "owner", "only me"
        TEAM = "team", "my team"
        BENCHMARK = "benchmark", "everyone who sees the benchmark"

    class Kind(models.TextChoices):
        UPLOADED = "uploaded"
        SUBMITTED = "submitted"
        BASELINE = "baseline"
        # Asked of a search endpoint while it ran.
        LIVE = "live"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="runs")
    name = models.CharField(max_length=120)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="runs")
    team = models.ForeignKey(Team, models.SET_NULL, null=True, blank=True, related_name="runs")
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.UPLOADED)
    visibility = models.CharField(max_length=16, choices=Visibility, default=Visibility.BENCHMARK)
    # From then on everyone who sees the benchmark sees it, whatever its visibility.
    public_from = models.DateTimeField(null=True, blank=True)
    # Until then its owner and team are not told to others.
    anonymous_until = models.DateTimeField(null=True, blank=True)
    # Taken back by its owner: it stays for whom it was compared with, and stands on no board.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    description = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    upload = models.ForeignKey(Upload, models.PROTECT, null=True, blank=True, related_name="runs")
    sha256 = models.CharField(max_length=64)
    parquet = models.CharField(max_length=255)
    n_rows = models.PositiveBigIntegerField()
    n_queries = models.PositiveIntegerField()
    depth = models.PositiveIntegerField()
    pooled_depth = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="run_name_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_public(self) -> bool:
        """Whether everybody sees it who sees the benchmark and its results."""
        is_due = self.public_from is not None and self.public_from <= timezone.now()
        return self.visibility == self.Visibility.BENCHMARK or is_due
