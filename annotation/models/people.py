"""What the site remembers of an annotator: what they have read, and their keys."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.pools import Pool, PoolEntry
from annotation.models.slots import Slot
from benchmarks_app.models import Guideline


class PoolStart(models.Model):
    """How far a person has come before their first judgment in a pool."""

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="starts")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="pool_starts"
    )
    notice_at = models.DateTimeField(null=True, blank=True)
    guideline = models.ForeignKey(
        Guideline, models.PROTECT, null=True, blank=True, related_name="pool_starts"
    )
    # When they had enough of the practice documents right, and in which round they are, or were.
    practice_at = models.DateTimeField(null=True, blank=True)
    practice_round = models.PositiveSmallIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pool", "annotator"], name="pool_start_once"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} begins {self.pool}"


class KeyMap(models.Model):
    """A person's own keys for judging, by action; an action left out has its usual keys."""

    annotator = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="key_map"
    )
    bindings = models.JSONField(default=dict, blank=True)
    is_on = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"keys of {self.annotator}"


class Question(models.Model):
    """One question about one document; its slot is set aside until there is an answer."""

    entry = models.ForeignKey(PoolEntry, models.CASCADE, related_name="questions")
    slot = models.ForeignKey(Slot, models.CASCADE, related_name="questions")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="questions_asked"
    )
    asked_at = models.DateTimeField(default=timezone.now)
    client_id = models.UUIDField()
    text = models.TextField()
    answer = models.TextField(blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="questions_answered",
    )
    answered_at = models.DateTimeField(null=True, blank=True)
    # The version of the guideline that the answer became a line of.
    guideline = models.ForeignKey(
        Guideline, models.PROTECT, null=True, blank=True, related_name="questions"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["asked_by", "client_id"], name="question_once"),
            models.CheckConstraint(
                condition=Q(answered_at=None, answer="")
                | Q(answered_at__isnull=False) & ~Q(answer=""),
                name="question_answer_has_text",
            ),
        ]

    def __str__(self) -> str:
        return self.text
