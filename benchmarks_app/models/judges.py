"""Models that may be asked for a judgment, and how their keys are found."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark
from benchmarks_app.models.jobs import Job


class JudgeEndpoint(models.Model):
    """A model behind an OpenAI-compatible address, and how its key is found.

    The key is in a variable of the environment or sealed here; it is never given out again.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="judges")
    name = models.CharField(max_length=120)
    base_url = models.CharField(max_length=500)
    model = models.CharField(max_length=200)
    key_variable = models.CharField(max_length=120, blank=True)
    key_sealed = models.TextField(blank=True)
    # For a million tokens, in whatever currency the owner counts in; null: not known.
    price_in = models.FloatField(null=True, blank=True)
    price_out = models.FloatField(null=True, blank=True)
    concurrency = models.PositiveSmallIntegerField(default=8)
    # Null: as many as the endpoint takes.
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    timeout_seconds = models.PositiveSmallIntegerField(default=60)
    # Of one question, the first included.
    max_attempts = models.PositiveSmallIntegerField(default=4)
    # Which way of asking for structured answers worked last; empty: not asked yet.
    answer_format = models.CharField(max_length=16, blank=True)
    trial_job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="+")
    # What came back when it was tried last.
    trial = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="judges")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        # Its table is as old as contextual precision, whose noun it was at first.
        db_table = "scoring_judgeendpoint"
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="judge_name_once"),
            models.CheckConstraint(
                condition=Q(key_variable="") | Q(key_sealed=""), name="judge_one_key"
            ),
            models.CheckConstraint(
                condition=Q(concurrency__gte=1, concurrency__lte=64),
                name="judge_concurrency_1_to_64",
            ),
            models.CheckConstraint(
                condition=Q(timeout_seconds__gte=1), name="judge_timeout_from_1"
            ),
            models.CheckConstraint(
                condition=Q(requests_per_minute=None) | Q(requests_per_minute__gte=1),
                name="judge_rate_from_1",
            ),
            models.CheckConstraint(
                condition=(Q(price_in=None) | Q(price_in__gte=0))
                & (Q(price_out=None) | Q(price_out__gte=0)),
                name="judge_prices_from_0",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("judge-detail", args=[self.benchmark.slug, self.pk])

    @property
    def has_prices(self) -> bool:
        return self.price_in is not None and self.price_out is not None
