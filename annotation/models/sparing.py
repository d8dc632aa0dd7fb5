"""Rules by which people are spared what a machine gave grade 0, and which documents they are of."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotation.models.machines import Campaign
from annotation.models.pools import Pool, PoolEntry


class SparingRuleQuerySet(models.QuerySet):
    def live(self) -> Self:
        """Those that keep documents from people now."""
        return self.filter(state__in=SparingRule.LIVE)


class SparingRule(models.Model):
    """That people need not judge what one campaign gave 0: audited first, and followed for good."""

    class State(models.TextChoices):
        AUDITING = "auditing", "being audited"
        ON = "on", "on"
        REFUSED = "refused", "not allowed"
        OFF = "off", "switched off by its checks"
        STOPPED = "stopped", "stopped"

    LIVE = (State.AUDITING, State.ON)

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="sparing_rules")
    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="sparing_rules")
    # So many were drawn of the documents of grade 0 that nobody had judged.
    n_audit = models.PositiveIntegerField()
    n_zeros = models.PositiveIntegerField()
    most_missed = models.FloatField()
    checked_share = models.FloatField()
    seed = models.PositiveBigIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.AUDITING)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="sparing_rules"
    )
    created_at = models.DateTimeField(default=timezone.now)
    # When it was allowed, if ever; and when it ended.
    allowed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = SparingRuleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["pool"],
                condition=Q(state__in=["auditing", "on"]),
                name="sparing_rule_one_lives",
            ),
            models.CheckConstraint(
                condition=Q(n_audit__gte=200, n_zeros__gt=models.F("n_audit")),
                name="sparing_rule_audits_enough",
            ),
            models.CheckConstraint(
                condition=Q(most_missed__gt=0, most_missed__lte=0.02),
                name="sparing_rule_misses_few",
            ),
            models.CheckConstraint(
                condition=Q(checked_share__gte=0.05, checked_share__lte=1),
                name="sparing_rule_checks_enough",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["on", "off"]) | Q(allowed_at__isnull=False),
                name="sparing_rule_on_was_allowed",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["auditing", "on"], ended_at=None)
                | (~Q(state__in=["auditing", "on"]) & Q(ended_at__isnull=False)),
                name="sparing_rule_ended_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"zeros of {self.campaign} in {self.pool}"

    def get_absolute_url(self) -> str:
        return reverse("annotation:pool-sparing", args=[self.pool.benchmark.slug, self.pool_id])

    @property
    def is_live(self) -> bool:
        return self.state in self.LIVE


class ZeroEntry(models.Model):
    """A document of machine grade 0, and what a rule does with it."""

    class Part(models.TextChoices):
        AUDIT = "audit", "drawn for the audit"
        CHECK = "check", "goes to people for good"
        SPARED = "spared", "not asked"

    rule = models.ForeignKey(SparingRule, models.CASCADE, related_name="zeros", db_index=False)
    entry = models.ForeignKey(PoolEntry, models.CASCADE, related_name="zeros")
    part = models.CharField(max_length=8, choices=Part)
    # With which it was drawn; null where nothing was drawn.
    probability = models.FloatField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "zero entries"
        constraints = [
            models.UniqueConstraint(fields=["rule", "entry"], name="zero_entry_once"),
            models.CheckConstraint(
                condition=Q(part="spared", probability=None)
                | (
                    ~Q(part="spared")
                    & Q(probability__isnull=False, probability__gt=0, probability__lte=1)
                ),
                name="zero_entry_drawn_has_probability",
            ),
        ]
        indexes = [
            # services.follow: those that are drawn, or come back.
            models.Index(fields=["rule", "part"], name="zero_entry_by_part"),
        ]

    def __str__(self) -> str:
        return f"{self.entry_id}: {self.part}"
