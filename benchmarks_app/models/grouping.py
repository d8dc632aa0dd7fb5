"""Why queries are in one family: links between them, groupings, and what people changed."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark
from benchmarks_app.models.jobs import Job
from benchmarks_app.models.queries import Query
from benchwright.texts.counting import counted


class FamilyLink(models.Model):
    """One reason for two queries to be wordings of one need, and what a person said of it."""

    class Reason(models.TextChoices):
        EXACT = "exact", "equal after normalising"
        BAG = "bag", "the same words"
        TEXT = "text", "similar wording"
        EMBEDDING = "embedding", "similar embedding"
        RELEVANT = "relevant", "shared relevant documents"
        GIVEN = "given", "one family in the imported file"
        HAND = "hand", "put together by a person"

    class Verdict(models.TextChoices):
        NONE = "", "not looked at"
        SAME = "same", "one need"
        DIFFERENT = "different", "different needs"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="family_links")
    query_a = models.ForeignKey(Query, models.CASCADE, related_name="links_as_a")
    query_b = models.ForeignKey(Query, models.CASCADE, related_name="links_as_b")
    reason = models.CharField(max_length=12, choices=Reason)
    similarity = models.FloatField()
    verdict = models.CharField(max_length=10, choices=Verdict, default=Verdict.NONE, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["query_a", "query_b", "reason"], name="family_link_once"
            ),
            models.CheckConstraint(
                condition=Q(query_a__lt=F("query_b")), name="family_link_in_order"
            ),
            models.CheckConstraint(
                condition=Q(similarity__gte=0, similarity__lte=1),
                name="family_link_similarity_is_a_share",
            ),
        ]
        indexes = [
            # review page: the links of one benchmark that nobody has looked at.
            models.Index(fields=["benchmark", "verdict"], name="family_link_by_verdict"),
        ]

    def __str__(self) -> str:
        return f"{self.query_a_id}-{self.query_b_id}: {self.reason} {self.similarity:.2f}"


class Grouping(models.Model):
    """One run of the grouping of a benchmark's queries: with what, and what came of it."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="groupings")
    parameters = models.JSONField(default=dict)
    algorithm = models.CharField(max_length=60)
    inputs_sha256 = models.CharField(max_length=64)
    n_queries = models.PositiveIntegerField()
    n_links = models.PositiveIntegerField()
    n_families = models.PositiveIntegerField()
    n_flagged = models.PositiveIntegerField()
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="+")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{counted(self.n_families, 'family')} of {counted(self.n_queries, 'query')}"


class FamilyChange(models.Model):
    """What a person, or a grouping, changed about families; it can be undone."""

    class Kind(models.TextChoices):
        GROUP = "group", "grouped"
        MERGE = "merge", "merged"
        SPLIT = "split", "split up"
        CONFIRM = "confirm", "confirmed"
        UNDO = "undo", "undone"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="family_changes")
    kind = models.CharField(max_length=10, choices=Kind)
    # {family: [query, …]} by primary key, of the families that were touched; beside them "states"
    # (split, doubt, review of each) and "links" (verdicts that were written), for undoing.
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    grouping = models.ForeignKey(
        Grouping, models.SET_NULL, null=True, blank=True, related_name="changes"
    )
    undoes = models.OneToOneField(
        "self", models.CASCADE, null=True, blank=True, related_name="undone_by"
    )
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            # history of a benchmark's families, newest first.
            models.Index(fields=["benchmark", "-created_at"], name="family_change_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.created_at:%F %T}"
