"""Embeddings of two views, or of queries and their documents, whose rows belong together."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Benchmark, Job, Role, Run, Team, User


class EmbeddingPairQuerySet(models.QuerySet):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Pairs of public view, one's own and one's teams', and all where one maintains."""
        is_visible = Q(visibility=Run.Visibility.BENCHMARK) & Q(
            benchmark__in=Benchmark.objects.visible_to(user)
        )
        if user.is_authenticated:
            maintained = user.memberships.filter(role__in=[Role.OWNER, Role.MAINTAINER])
            is_visible |= (
                Q(owner=user)
                | Q(visibility=Run.Visibility.TEAM, team__in=user.teams.values("pk"))
                | Q(benchmark__in=maintained.values("benchmark"))
            )
        return self.filter(is_visible)


class EmbeddingPair(models.Model):
    """Two uploaded matrices, how they are compared, and what came of it."""

    class Ties(models.TextChoices):
        EXPECTED = "expected", "expected: the mean over their orders"
        OPTIMISTIC = "optimistic", "optimistic: the partner first"
        PESSIMISTIC = "pessimistic", "pessimistic: the partner last"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="embedding_pairs")
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="embedding_pairs"
    )
    team = models.ForeignKey(
        Team, models.SET_NULL, null=True, blank=True, related_name="embedding_pairs"
    )
    visibility = models.CharField(
        max_length=16, choices=Run.Visibility, default=Run.Visibility.BENCHMARK
    )
    normalize = models.BooleanField(default=True)
    ties = models.CharField(max_length=12, choices=Ties, default=Ties.EXPECTED)
    # Whether the benchmark's own slices take the pairs apart, where ids are those of queries.
    takes_own_slices = models.BooleanField(default=False)
    # Of each file (z1, z2, ids, slices): its name, SHA-256, size, and where it is stored.
    files = models.JSONField(default=dict)
    job = models.ForeignKey(
        Job, models.SET_NULL, null=True, blank=True, related_name="embedding_pairs"
    )
    n_pairs = models.PositiveIntegerField(null=True, blank=True)
    n_features = models.PositiveIntegerField(null=True, blank=True)
    # As `core.contrastive.as_json` tells it.
    report = models.JSONField(default=dict, blank=True)
    # Parquet: where the partner of each pair stands, both ways.
    places = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    measured_at = models.DateTimeField(null=True, blank=True)

    objects = EmbeddingPairQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="embedding_pair_name_once"),
            models.CheckConstraint(
                condition=Q(measured_at=None)
                | (Q(n_pairs__gte=1) & Q(n_features__isnull=False) & ~Q(places="")),
                name="embedding_pair_measured_has_numbers",
            ),
        ]
        indexes = [
            # selectors.contrastive.pairs_seen_by: newest first in one benchmark.
            models.Index(fields=["benchmark", "-created_at"], name="embedding_pair_by_benchmark"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("scoring:contrastive-detail", args=[self.benchmark.slug, self.pk])

    @property
    def is_measured(self) -> bool:
        return self.measured_at is not None
