"""From runs to grades: pools, the slots people fill, and the ledger of what they said."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Benchmark, Document, Guideline, Job, Query, Run
from benchmarks_app.models.collection import MAX_ID_BYTES


class PoolQuerySet(models.QuerySet):
    def built(self) -> Self:
        """Without pools whose building has not finished."""
        return self.exclude(state=Pool.State.BUILDING)

    def open(self) -> Self:
        return self.filter(state=Pool.State.OPEN)


class Pool(models.Model):
    """Which documents of which queries are to be graded, and in which order."""

    class State(models.TextChoices):
        BUILDING = "building"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    class Strategy(models.TextChoices):
        DEPTH_K = "depth-k", "depth k: the union of the runs' first k"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="pools")
    name = models.CharField(max_length=120)
    strategy = models.CharField(max_length=16, choices=Strategy, default=Strategy.DEPTH_K)
    parameters = models.JSONField(default=dict, blank=True)
    seed = models.PositiveBigIntegerField()
    overlap = models.PositiveSmallIntegerField(default=1)
    digest = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.BUILDING)
    n_entries = models.PositiveBigIntegerField(default=0)
    statistics = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="pools")
    created_at = models.DateTimeField(default=timezone.now)
    staged_by = models.ForeignKey(
        Job, models.SET_NULL, null=True, blank=True, related_name="staged_pools"
    )
    runs = models.ManyToManyField(Run, through="PoolRun", related_name="pools")

    objects = PoolQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "name"],
                condition=~Q(state="building"),
                name="pool_name_once",
            ),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="pool_overlap_from_1"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotation:pool-detail", args=[self.benchmark.slug, self.pk])


class PoolRun(models.Model):
    pool = models.ForeignKey(Pool, models.CASCADE, related_name="pool_runs")
    run = models.ForeignKey(Run, models.PROTECT, related_name="pool_runs")
    depth = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pool", "run"], name="pool_run_once"),
            models.CheckConstraint(condition=Q(depth__gte=1), name="pool_run_depth_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.run} to {self.depth}"


class PoolEntry(models.Model):
    """One document of one query in a pool, with the ranks that brought it in."""

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="entries")
    query = models.ForeignKey(Query, models.PROTECT, related_name="pool_entries")
    document = models.ForeignKey(Document, models.PROTECT, related_name="pool_entries")
    contributors = models.JSONField(default=dict)
    best_rank = models.PositiveIntegerField()
    priority = models.PositiveBigIntegerField()
    inclusion_probability = models.FloatField(default=1.0)

    class Meta:
        verbose_name_plural = "pool entries"
        constraints = [
            models.UniqueConstraint(fields=["pool", "query", "document"], name="pool_entry_once"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id}: {self.document_id}"


class SlotQuerySet(models.QuerySet):
    def held_by(self, user: object) -> Self:
        """Claimed by this person, and the lease has not run out."""
        return self.filter(
            annotator=user, state=Slot.State.CLAIMED, lease_expires_at__gt=timezone.now()
        )

    def claimable(self) -> Self:
        """Free, or claimed by somebody whose lease ran out."""
        return self.filter(
            Q(state=Slot.State.FREE)
            | Q(state=Slot.State.CLAIMED, lease_expires_at__lte=timezone.now())
        )


class Slot(models.Model):
    """One wanted label: as many rows as labels are wanted, so no more can be handed out."""

    class Kind(models.TextChoices):
        LABEL = "label"
        REPEAT = "repeat"
        REJUDGE = "rejudge"
        GOLD = "gold"
        PRACTICE = "practice"

    class State(models.TextChoices):
        FREE = "free"
        CLAIMED = "claimed"
        DONE = "done"

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="slots")
    query = models.ForeignKey(Query, models.PROTECT, related_name="slots")
    entry = models.ForeignKey(PoolEntry, models.CASCADE, related_name="slots")
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.LABEL)
    round = models.PositiveSmallIntegerField(default=1)
    number = models.PositiveSmallIntegerField(default=1)
    queue_position = models.PositiveBigIntegerField()
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="slots"
    )
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.FREE)

    objects = SlotQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "kind", "round", "number"], name="slot_number_once"
            ),
            models.UniqueConstraint(
                fields=["entry", "annotator", "kind", "round"], name="slot_once_per_person"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="slot_number_from_1"),
            models.CheckConstraint(
                condition=Q(state="free", annotator=None)
                | Q(state="claimed", annotator__isnull=False, lease_expires_at__isnull=False)
                | Q(state="done", annotator__isnull=False),
                name="slot_state_has_person",
            ),
        ]
        indexes = [
            # services.claiming.claim_slots: free or expired slots of a pool, in queue order.
            models.Index(fields=["pool", "state", "queue_position"], name="slot_by_pool_claimable"),
            # services.claiming.claim_slots: whether someone is in the middle of a query.
            models.Index(fields=["pool", "query", "state"], name="slot_by_pool_query"),
        ]

    def __str__(self) -> str:
        return f"slot {self.pk}"


class JudgmentQuerySet(models.QuerySet):
    def current(self) -> Self:
        """Events that no later event supersedes, retractions themselves left out."""
        return self.filter(superseded_by=None).exclude(kind=Judgment.Kind.RETRACT)


class Judgment(models.Model):
    """One event of the append-only ledger about one document of one query."""

    class Kind(models.TextChoices):
        GRADE = "grade"
        CANT_JUDGE = "cant_judge", "can't judge"
        RETRACT = "retract"
        ADJUDICATE = "adjudicate"
        IMPORT = "import"
        MACHINE = "machine"

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="judgments")
    query = models.ForeignKey(Query, models.PROTECT, related_name="judgments")
    docid = models.CharField(max_length=MAX_ID_BYTES)
    kind = models.CharField(max_length=16, choices=Kind)
    grade = models.SmallIntegerField(null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True)
    note = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    confidence = models.CharField(max_length=8, blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="judgments")
    slot = models.ForeignKey(Slot, models.PROTECT, null=True, blank=True, related_name="judgments")
    supersedes = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, related_name="superseded_by"
    )
    client_id = models.UUIDField()
    guideline = models.ForeignKey(
        Guideline, models.PROTECT, null=True, blank=True, related_name="judgments"
    )
    content_hash = models.CharField(max_length=64, blank=True)
    shown_position = models.PositiveIntegerField(null=True, blank=True)
    dwell_ms = models.PositiveIntegerField(null=True, blank=True)
    is_surplus = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = JudgmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["actor", "client_id"], name="judgment_client_id_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["cant_judge", "retract"], grade=None)
                | Q(kind__in=["grade", "adjudicate", "import", "machine"], grade__isnull=False),
                name="judgment_grade_where_due",
            ),
            models.CheckConstraint(
                condition=~Q(kind="cant_judge") | ~Q(reason=""), name="judgment_cant_has_reason"
            ),
            models.CheckConstraint(
                condition=~Q(kind="retract") | Q(supersedes__isnull=False),
                name="judgment_retract_names_event",
            ),
        ]
        indexes = [
            # services.publishing: the events of one pair, in order.
            models.Index(fields=["benchmark", "query", "docid", "id"], name="judgment_by_pair"),
            # selectors.last_judgment_of: what a person may undo.
            models.Index(fields=["actor", "-id"], name="judgment_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.docid}"
