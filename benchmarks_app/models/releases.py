"""Releases: files written once, never changed, that scoring reads and the world downloads."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark, CorpusVersion
from benchmarks_app.models.qrels import QrelSet
from benchwright.formats.unlisted import NOT_RELEVANT, unlisted_of


class ReleaseQuerySet(models.QuerySet):
    def published(self) -> Self:
        """Those that can be read and scored on; a deprecated one still can."""
        return self.filter(state__in=[Release.State.PUBLISHED, Release.State.DEPRECATED])

    def drafts(self) -> Self:
        return self.filter(state=Release.State.DRAFT)

    def newest_first(self) -> Self:
        return self.order_by("-major", "-minor", "-patch")


class Release(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft"
        BUILDING = "building"
        PUBLISHED = "published"
        DEPRECATED = "deprecated"

    class Step(models.TextChoices):
        PATCH = "patch", "patch: card and metadata"
        MINOR = "minor", "minor: judgments added"
        MAJOR = "major", "major: grades, queries, splits, scale or unit changed"

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="releases")
    major = models.PositiveIntegerField()
    minor = models.PositiveIntegerField()
    patch = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=State, default=State.BUILDING)
    qrel_set = models.ForeignKey(QrelSet, models.PROTECT, related_name="releases")
    corpus_version = models.ForeignKey(
        CorpusVersion, models.PROTECT, null=True, blank=True, related_name="releases"
    )
    tie_rule = models.CharField(max_length=16)
    notes = models.TextField(blank=True)
    # Folder of the release's files in the storage, and each file's size and sha256.
    folder = models.CharField(max_length=255, blank=True)
    manifest = models.JSONField(default=dict, blank=True)
    parent = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="+")
    label_diff = models.JSONField(default=dict, blank=True)
    step = models.CharField(max_length=8, choices=Step, default=Step.MAJOR, blank=True)
    # What a draft is to become: card, licence, citation, what to drop, which findings are accepted.
    options = models.JSONField(default=dict, blank=True)
    # Of what is in it, however it is written down: equal for an import of its export.
    content_sha256 = models.CharField(max_length=64, blank=True)
    hidden_splits = models.JSONField(default=list, blank=True)
    findings = models.JSONField(default=list, blank=True)
    deprecated_at = models.DateTimeField(null=True, blank=True)
    deprecated_reason = models.TextField(blank=True)
    # What to use instead of a deprecated one.
    successor = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="replaces"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="releases"
    )
    published_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "major", "minor", "patch"], name="release_version_once"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["published", "deprecated"]) | Q(published_at__isnull=False),
                name="release_published_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="deprecated") | Q(deprecated_at__isnull=False),
                name="release_deprecated_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.version}"

    def get_absolute_url(self) -> str:
        if self.state == self.State.DRAFT:
            return reverse("release-draft", args=[self.benchmark.slug, self.pk])
        return reverse("release-detail", args=[self.benchmark.slug, self.version])

    @property
    def is_complete(self) -> bool:
        """Whether a document that its qrels do not list is known not to be relevant."""
        return unlisted_of(self.manifest) == NOT_RELEVANT

    @property
    def version(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"
