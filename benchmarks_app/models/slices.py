"""Slices: named parts of a benchmark's queries, over which means are taken apart."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark
from benchmarks_app.models.queries import Query
from benchwright.recipes import collections

SMALLEST_SLICE: int = collections.MINIMUM.least


class Slice(models.Model):
    """Queries with something in common; once registered, its members stay."""

    class Kind(models.TextChoices):
        FREQUENCY = "frequency"
        EXACT_MATCH = "exact_match", "exact match"
        SEMANTIC = "semantic"
        NAVIGATIONAL = "navigational"
        INFORMATIONAL = "informational"
        LENGTH = "length"
        LANGUAGE = "language"
        TAG = "tag"
        EXPRESSION = "expression"
        IMPORT = "import", "imported"
        HAND = "hand", "by hand"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="slices")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=16, choices=Kind)
    description = models.TextField(blank=True)
    # What `core.slicing` made it by; empty where people or a file name the members.
    rule = models.JSONField(default=dict, blank=True)
    minimum = models.PositiveIntegerField(default=SMALLEST_SLICE)
    is_registered = models.BooleanField(default=False)
    registered_at = models.DateTimeField(null=True, blank=True)
    registered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    # Of the members' ids, as they were registered.
    members_sha256 = models.CharField(max_length=64, blank=True)
    # How many results of the benchmark had been seen by then.
    n_results_before = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="slice_name_once"),
            models.CheckConstraint(
                condition=Q(is_registered=False)
                | (Q(registered_at__isnull=False) & ~Q(members_sha256="")),
                name="slice_registered_has_time_and_members",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SliceMember(models.Model):
    """One query in a slice: who or what put it there, and why."""

    class Source(models.TextChoices):
        RULE = "rule"
        HUMAN = "human"
        IMPORT = "import", "imported"

    class State(models.TextChoices):
        SUGGESTED = "suggested"
        MEMBER = "member"
        REJECTED = "rejected"

    slice = models.ForeignKey(Slice, models.CASCADE, related_name="members")
    query = models.ForeignKey(Query, models.CASCADE, related_name="slice_members")
    source = models.CharField(max_length=8, choices=Source)
    state = models.CharField(max_length=10, choices=State, default=State.MEMBER)
    reason = models.CharField(max_length=200, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slice", "query"], name="slice_member_once"),
        ]
        indexes = [
            # slice page: its members, its suggestions.
            models.Index(fields=["slice", "state"], name="slice_member_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} in {self.slice_id}"
