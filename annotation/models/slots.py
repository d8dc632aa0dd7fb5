"""Slots: one row for each label wanted, so that no more can be handed out."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from annotation.models.pools import Pool, PoolEntry
from benchmarks_app.models import Query


class SlotQuerySet(models.QuerySet):
    def held_by(self, user: object) -> Self:
        """Claimed by this person, and the lease has not run out."""
        return self.filter(annotator=user, state=Slot.State.CLAIMED, lease_expires_at__gt=Now())

    def claimable(self) -> Self:
        """Free, or claimed or set aside by somebody whose lease ran out."""
        return self.filter(Slot.is_claimable())


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
        ASIDE = "aside", "set aside until the owner answers"
        WAIVED = "waived", "no longer wanted"
        SPARED = "spared", "not asked, as a rule that was audited spares it"

    # Labels that nobody is to give.
    NOT_WANTED = (State.WAIVED, State.SPARED)
    # Labels that somebody is at, or may take still.
    TO_COME = (State.FREE, State.CLAIMED, State.ASIDE)

    # No index of the pool alone: see `Judgment.benchmark`.
    pool = models.ForeignKey(Pool, models.CASCADE, related_name="slots", db_index=False)
    query = models.ForeignKey(Query, models.PROTECT, related_name="slots")
    entry = models.ForeignKey(PoolEntry, models.CASCADE, related_name="slots")
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.LABEL)
    round = models.PositiveSmallIntegerField(default=1)
    number = models.PositiveSmallIntegerField(default=1)
    queue_position = models.PositiveBigIntegerField()
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="slots"
    )
    # Whom a file names whose label fills the place, where that is nobody's account here.
    rater = models.CharField(max_length=120, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.FREE)
    # Its holder wants to see it after the others.
    is_later = models.BooleanField(default=False)
    # The run whose turn it was when an adaptive order chose this document.
    arm = models.CharField(max_length=120, blank=True)

    objects = SlotQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "kind", "round", "number"], name="slot_number_once"
            ),
            models.UniqueConstraint(
                fields=["entry", "annotator", "kind", "round"], name="slot_once_per_person"
            ),
            models.UniqueConstraint(
                fields=["entry", "rater", "kind", "round"],
                condition=~Q(rater=""),
                name="slot_once_per_rater",
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="slot_number_from_1"),
            models.CheckConstraint(
                condition=Q(state__in=["free", "waived", "spared"], annotator=None, rater="")
                | Q(
                    state="claimed",
                    annotator__isnull=False,
                    rater="",
                    lease_expires_at__isnull=False,
                )
                | Q(
                    state="aside",
                    annotator__isnull=False,
                    rater="",
                    lease_expires_at__isnull=False,
                )
                | Q(state="done", annotator__isnull=False, rater="")
                | (Q(state="done", annotator=None) & ~Q(rater="")),
                name="slot_state_has_person",
            ),
        ]
        indexes = [
            # services.claiming.claim: free or expired slots of a pool, in queue order.
            models.Index(fields=["pool", "state", "queue_position"], name="slot_by_pool_claimable"),
            # services.claiming.claim: whether someone is in the middle of a query.
            models.Index(fields=["pool", "query", "state"], name="slot_by_pool_query"),
        ]

    def __str__(self) -> str:
        return f"slot {self.pk}"

    @staticmethod
    def is_claimable() -> Q:
        """See `SlotQuerySet.claimable`; by the database's clock, as every lease."""
        lent = [Slot.State.CLAIMED, Slot.State.ASIDE]
        return Q(state=Slot.State.FREE) | Q(state__in=lent, lease_expires_at__lte=Now())
