"""What happened, and whom it is told: the outbox that webhooks and mails are sent from."""

import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchmarks_app.models.collection import Benchmark


class Event(models.TextChoices):
    """What others can be told of."""

    SUBMISSION_SCORED = "submission.scored", _("a submission was scored")
    RELEASE_PUBLISHED = "release.published", _("a release was published")
    GATE_DECIDED = "gate.decided", _("a gate was decided")
    POOL_FINISHED = "pool.finished", _("a pool was finished")
    JOB_FAILED = "job.failed", _("a job failed")


# Asked for by hand, for one webhook; nobody subscribes to it.
TEST_EVENT = "test"


class Webhook(models.Model):
    """An address that is told what happens in a benchmark, as its owner or maintainer wishes."""

    class Off(models.TextChoices):
        """Why nothing is sent; empty while it is on."""

        BY_HAND = "by_hand", "switched off by hand"
        FAILING = "failing", "too many notices in a row could not be delivered"
        GONE = "gone", "its address said that it is gone (410)"
        LEFT = "left", "who added it does not keep the benchmark any more"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list)
    secret_sealed = models.TextField()
    # The one before, with which notices are signed as well for a day after it was renewed.
    earlier_sealed = models.TextField(blank=True)
    renewed_at = models.DateTimeField(null=True, blank=True)
    off = models.CharField(max_length=8, choices=Off, blank=True)
    # Since when no attempt has succeeded; null while they do.
    failing_since = models.DateTimeField(null=True, blank=True)
    # Notices in a row that were given up.
    n_given_up = models.PositiveSmallIntegerField(default=0)
    # Whose rights decide what it is told; whoever changes the address.
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="webhooks"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(earlier_sealed="") | Q(renewed_at__isnull=False),
                name="webhook_earlier_secret_has_end",
            ),
        ]

    def __str__(self) -> str:
        return self.url

    def get_absolute_url(self) -> str:
        return reverse("webhook-detail", args=[self.benchmark.slug, self.pk])

    @property
    def is_on(self) -> bool:
        return self.off == ""


class Notice(models.Model):
    """One thing that happened, in ids and addresses; what it says never changes.

    `key` is what a receiver knows a repeat by.
    """

    key = models.UUIDField(default=uuid.uuid4, unique=True)
    event = models.CharField(max_length=32)
    benchmark = models.ForeignKey(
        Benchmark, models.CASCADE, null=True, blank=True, related_name="notices"
    )
    # Numbers and versions by the name of what they are of, such as {"submission": 12}.
    about = models.JSONField(default=dict)
    # Without the path of the site, which may change.
    path = models.CharField(max_length=300)
    api_path = models.CharField(max_length=300, blank=True)
    happened_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"{self.event} {self.key}"


class DeliveryQuerySet(models.QuerySet):
    def due(self) -> Self:
        return self.filter(state=Delivery.State.WAITING, due_at__lte=timezone.now())


class Delivery(models.Model):
    """A notice on its way to one webhook, or to one person by mail; with what came back last."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        GIVEN_UP = "given_up", "given up"

    notice = models.ForeignKey(Notice, models.CASCADE, related_name="deliveries")
    webhook = models.ForeignKey(
        Webhook, models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+"
    )
    state = models.CharField(max_length=12, choices=State, default=State.WAITING)
    # When it is to be tried next. Who takes it sets this ahead: a worker that dies loses nothing.
    due_at = models.DateTimeField(default=timezone.now)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    tried_at = models.DateTimeField(null=True, blank=True)
    # What was answered last, or why there was no answer.
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)
    answer = models.TextField(blank=True)
    fault = models.CharField(max_length=300, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.CheckConstraint(
                condition=Q(webhook__isnull=False, person=None)
                | Q(webhook=None, person__isnull=False),
                name="delivery_has_one_receiver",
            ),
            models.UniqueConstraint(fields=["notice", "webhook"], name="delivery_once_a_webhook"),
            models.UniqueConstraint(fields=["notice", "person"], name="delivery_once_a_person"),
        ]
        indexes = [
            # notices.services.sending.send_due: what waits, the longest first.
            models.Index(fields=["state", "due_at"], name="delivery_by_due"),
            # notices.selectors.deliveries_of: the newest first.
            models.Index(fields=["webhook", "-id"], name="delivery_by_webhook"),
        ]

    def __str__(self) -> str:
        return f"{self.notice_id} to {self.webhook_id or self.person_id}"


class MailChoice(models.Model):
    """That a person wants mail when something of this kind happens; no row: they do not."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="mail_choices"
    )
    event = models.CharField(max_length=32, choices=Event)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "event"], name="mail_choice_once"),
            models.CheckConstraint(
                condition=Q(event__in=Event.values), name="mail_choice_event_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person_id}: {self.event}"
