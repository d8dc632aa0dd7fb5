"""What annotators ask the owner about a document, and the answers."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models.pools import PoolEntry
from annotation.models.slots import Slot
from benchmarks_app.models import Guideline


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
