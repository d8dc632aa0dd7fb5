"""Who did what, when: append-only."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark

# Kept for so many days as `SIGN_INS_KEPT_DAYS` says; every other event stays for good.
SIGN_INS = ("sign-in", "sign-in-fail", "sign-in-lock", "code-try", "password-try")


class AuditEvent(models.Model):
    at = models.DateTimeField(default=timezone.now)
    # No constraints behind these: an event outlives what it speaks of, and may not be rewritten.
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.DO_NOTHING,
        null=True,
        blank=True,
        db_constraint=False,
        related_name="+",
        db_index=False,
    )
    benchmark = models.ForeignKey(
        Benchmark,
        models.DO_NOTHING,
        null=True,
        blank=True,
        db_constraint=False,
        related_name="audit_events",
        db_index=False,
    )
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200, blank=True)
    detail = models.JSONField(default=dict, blank=True)

    class Meta:
        indexes = [
            # The audit log, the newest first: of one benchmark, of the site, of a kind, by and of
            # a person; and sign-ins that are too old to be kept.
            models.Index(fields=["benchmark", "-at", "-id"], name="audit_of_benchmark"),
            models.Index(fields=["-at", "-id"], name="audit_of_site"),
            models.Index(fields=["action", "-at", "-id"], name="audit_of_action"),
            models.Index(fields=["benchmark", "action", "-at", "-id"], name="audit_of_kind"),
            models.Index(fields=["actor", "-at", "-id"], name="audit_by_actor"),
            models.Index(fields=["target", "-at", "-id"], name="audit_of_target"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"


class Forgetting(models.Model):
    """A row that is there while a person's name is taken out of what is otherwise append-only.

    The triggers look for it. It is written and deleted in one transaction: no other ever sees it.
    """

    def __str__(self) -> str:
        return f"forgetting {self.pk}"
