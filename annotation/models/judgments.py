"""The ledger: what people said about documents, event by event, only ever appended to."""

from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.pools import Pool
from annotation.models.slots import Slot
from benchmarks_app.models import Benchmark, Guideline, Query
from benchmarks_app.models.collection import MAX_ID_BYTES


class JudgmentQuerySet(models.QuerySet):
    def wanted(self) -> Self:
        """Without practice, repeats and hidden checks: what qrels and agreement are made of."""
        return self.filter(purpose__in=["", Slot.Kind.LABEL, Slot.Kind.REJUDGE])

    def current(self) -> Self:
        """Events that no later event supersedes, retractions themselves left out."""
        return self.filter(superseded_by=None).exclude(kind=Judgment.Kind.RETRACT)


JudgmentManager = models.Manager.from_queryset(JudgmentQuerySet)


class PeoplesManager(JudgmentManager):
    """What people said, here or in files; what looks for labels finds no machine's by accident."""

    def get_queryset(self) -> Any:
        return super().get_queryset().exclude(kind=Judgment.Kind.MACHINE)


class MachinesManager(JudgmentManager):
    """What machines said."""

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(kind=Judgment.Kind.MACHINE)


class Judgment(models.Model):
    """One event of the append-only ledger about one document of one query.

    `objects`, and with it `pool.judgments` and the like, are people's alone. Who means machines
    says so: `Judgment.machines`, or `Judgment.events` for the whole ledger.
    """

    class Kind(models.TextChoices):
        GRADE = "grade"
        CANT_JUDGE = "cant_judge", "can't judge"
        RETRACT = "retract"
        ADJUDICATE = "adjudicate"
        IMPORT = "import"
        MACHINE = "machine"

    # Grades that people gave, here or in a file; labels are also that there is none to give.
    GRADES = (Kind.GRADE, Kind.IMPORT)
    LABELS = (*GRADES, Kind.CANT_JUDGE)

    class Outcome(models.TextChoices):
        """How an adjudicator settled a disagreement; the last three give no grade."""

        PICK = "pick", "one of the grades"
        OVERRIDE = "override", "another grade"
        THIRD_OPINION = "third_opinion", "asked for another opinion"
        QUERY_AMBIGUOUS = "query_ambiguous", "the query is ambiguous"
        GUIDELINE_UNCLEAR = "guideline_unclear", "the guideline is unclear"

    class View(models.TextChoices):
        """How much of the document its assessor had on the screen."""

        WHOLE = "whole", "all of it, which is short"
        EXCERPT = "excerpt", "the excerpt alone"
        FULL = "full", "the full text, opened"

    # Indexes of a benchmark, a person or a pool alone would mislead a planner that knows nothing of
    # a young benchmark yet: it read all its judgments for each document. Those below begin so.
    benchmark = models.ForeignKey(
        Benchmark, models.PROTECT, related_name="judgments", db_index=False
    )
    query = models.ForeignKey(Query, models.PROTECT, related_name="judgments")
    docid = models.CharField(max_length=MAX_ID_BYTES)
    kind = models.CharField(max_length=16, choices=Kind)
    grade = models.SmallIntegerField(null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True)
    note = models.TextField(blank=True)
    evidence = models.JSONField(default=list, blank=True)
    confidence = models.CharField(max_length=8, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="judgments", db_index=False
    )
    # The annotator whom a file of outside labels names, where that is nobody's account here; the
    # actor is then who entered it.
    rater = models.CharField(max_length=120, blank=True)
    # Who entered a label from a file that is somebody else's here.
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    source = models.CharField(max_length=200, blank=True)
    outcome = models.CharField(max_length=20, choices=Outcome, blank=True)
    pool = models.ForeignKey(
        Pool, models.PROTECT, null=True, blank=True, related_name="judgments", db_index=False
    )
    slot = models.ForeignKey(Slot, models.PROTECT, null=True, blank=True, related_name="judgments")
    # What the slot was for; empty for events without one.
    purpose = models.CharField(max_length=16, choices=Slot.Kind, blank=True)
    supersedes = models.OneToOneField(
        "self", models.PROTECT, null=True, blank=True, related_name="superseded_by"
    )
    client_id = models.UUIDField()
    guideline = models.ForeignKey(
        Guideline, models.PROTECT, null=True, blank=True, related_name="judgments"
    )
    content_hash = models.CharField(max_length=64, blank=True)
    view = models.CharField(max_length=8, choices=View, blank=True)
    shown_chars = models.PositiveIntegerField(null=True, blank=True)
    shown_position = models.PositiveIntegerField(null=True, blank=True)
    dwell_ms = models.PositiveIntegerField(null=True, blank=True)
    is_surplus = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = PeoplesManager()
    machines = MachinesManager()
    events = JudgmentManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["actor", "client_id"], name="judgment_client_id_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["cant_judge", "retract"], grade=None)
                | Q(kind__in=["grade", "import", "machine"], grade__isnull=False)
                | Q(kind="adjudicate", outcome__in=["pick", "override"], grade__isnull=False)
                | Q(
                    kind="adjudicate",
                    outcome__in=["third_opinion", "query_ambiguous", "guideline_unclear"],
                    grade=None,
                ),
                name="judgment_grade_where_due",
            ),
            models.CheckConstraint(
                condition=~Q(kind="cant_judge") | ~Q(reason=""), name="judgment_cant_has_reason"
            ),
            models.CheckConstraint(
                condition=~Q(kind="retract") | Q(supersedes__isnull=False),
                name="judgment_retract_names_event",
            ),
            models.CheckConstraint(
                condition=~Q(kind="machine") | Q(slot=None, purpose="", is_surplus=False),
                name="judgment_machine_fills_no_slot",
            ),
        ]
        indexes = [
            # services.publishing: the events of one pair, in order.
            models.Index(fields=["benchmark", "query", "docid", "id"], name="judgment_by_pair"),
            # services.statements: a person's extra labels, of which there are few.
            models.Index(
                fields=["actor", "query", "docid"],
                condition=Q(is_surplus=True),
                name="judgment_extra",
            ),
            # selectors.screen.last_judgment_of: what a person may undo.
            models.Index(fields=["actor", "-id"], name="judgment_by_actor"),
            # The dashboard's counts by day and person.
            models.Index(fields=["pool", "created_at"], name="judgment_by_pool_time"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.docid}"


class AggregationPolicy(models.Model):
    """The rule and its parameters that a benchmark's inbox and next qrels follow."""

    class Unresolved(models.TextChoices):
        """What becomes of a pair whose disagreement nobody has settled."""

        LOWER_MEDIAN = "lower-median", "take the lower median"
        LEAVE_OUT = "leave-out", "leave the document out"
        REFUSE = "refuse", "do not publish"

    benchmark = models.OneToOneField(Benchmark, models.CASCADE, related_name="aggregation_policy")
    rule = models.CharField(max_length=40)
    rule_version = models.PositiveIntegerField(default=1)
    parameters = models.JSONField(default=dict, blank=True)
    # Grades this far apart go to the inbox; 2 lets neighbours pass.
    adjudicate_from = models.PositiveSmallIntegerField(default=2)
    unresolved = models.CharField(
        max_length=16, choices=Unresolved, default=Unresolved.LOWER_MEDIAN
    )

    def __str__(self) -> str:
        return f"{self.rule} v{self.rule_version}"
