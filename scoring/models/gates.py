"""What a candidate must show, said before it is seen, and whether it did."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Benchmark, CandidateList, Job, Release, Run


class GatePolicy(models.Model):
    """Baseline, measure, slices, margins and guard rails; frozen by its hash when it is made.

    A change is a new version. `content` is what `digest` is the SHA-256 of, as canonical JSON.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="gate_policies")
    name = models.CharField(max_length=120)
    version = models.PositiveIntegerField(default=1)
    baseline = models.ForeignKey(Run, models.PROTECT, related_name="gate_policies")
    content = models.JSONField()
    digest = models.CharField(max_length=64)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="gate_policies"
    )
    created_at = models.DateTimeField(default=timezone.now)
    retired_at = models.DateTimeField(null=True, blank=True)
    # Its own error rates on runs that were there, if it was rehearsed before it was frozen.
    rehearsal = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "gate policies"
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "name", "version"], name="gate_policy_version_once"
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="gate_policy_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    def get_absolute_url(self) -> str:
        return reverse("scoring:policy-detail", args=[self.benchmark.slug, self.pk])


class GateRehearsal(models.Model):
    """How often a draft of a policy is right on runs that are there, before it is frozen."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="gate_rehearsals")
    # What the policy would be called, and mean.
    name = models.CharField(max_length=120)
    baseline = models.ForeignKey(Run, models.PROTECT, related_name="rehearsed_as_baseline")
    lexical = models.ForeignKey(
        Run, models.PROTECT, related_name="rehearsed_as_lexical", null=True, blank=True
    )
    content = models.JSONField()
    digest = models.CharField(max_length=64)
    runs = models.ManyToManyField(Run, related_name="gate_rehearsals")
    release = models.ForeignKey(Release, models.PROTECT, related_name="gate_rehearsals")
    seed = models.PositiveIntegerField(default=0)
    # Over the queries of public splits alone, as who asked may see no others.
    is_public = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    result = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    job = models.ForeignKey(
        Job, models.SET_NULL, null=True, blank=True, related_name="gate_rehearsals"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="gate_rehearsals"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            # services.policies.make_policy: what was rehearsed is frozen with its rates.
            models.Index(fields=["benchmark", "digest"], name="gate_rehearsal_by_digest")
        ]

    def __str__(self) -> str:
        return f"Rehearsal of {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("scoring:rehearsal-detail", args=[self.benchmark.slug, self.pk])


class GateResult(models.Model):
    """One candidate held against a policy on one release, on all queries or the public ones."""

    class Verdict(models.TextChoices):
        PASS = "pass", "PASS"
        PASS_STRICT = "pass_strict", "PASS-STRICT"
        HOLD = "hold", "HOLD"
        BLOCK = "block", "BLOCK"
        INCONCLUSIVE = "inconclusive", "INCONCLUSIVE"
        NOT_COMPARABLE = "not_comparable", "NOT COMPARABLE"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        DECIDED = "decided", "decided"
        WAITING = "waiting", "waiting for labels"
        FAILED = "failed", "failed"

    policy = models.ForeignKey(GatePolicy, models.PROTECT, related_name="results")
    release = models.ForeignKey(Release, models.PROTECT, related_name="gate_results")
    candidate = models.ForeignKey(Run, models.PROTECT, related_name="gate_results")
    # Decided on the queries of public splits alone, as who asked may see no others.
    is_public = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    verdict = models.CharField(max_length=16, choices=Verdict, blank=True)
    # Every check with its numbers, as the reports show them.
    report = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    # The documents it waits for, handed to judging.
    candidates = models.ForeignKey(
        CandidateList, models.SET_NULL, null=True, blank=True, related_name="gate_results"
    )
    n_waiting = models.PositiveIntegerField(default=0)
    # The same candidate and policy on an earlier release, which waited for labels.
    resumes = models.OneToOneField(
        "self", models.SET_NULL, null=True, blank=True, related_name="resumed_by"
    )
    job = models.ForeignKey(
        Job, models.SET_NULL, null=True, blank=True, related_name="gate_results"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="gate_results"
    )
    created_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["policy", "release", "candidate", "is_public"], name="gate_result_once"
            ),
            models.CheckConstraint(
                condition=~Q(state="decided") | (~Q(verdict="") & Q(decided_at__isnull=False)),
                name="gate_result_decided_has_verdict",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate} by {self.policy}"

    def get_absolute_url(self) -> str:
        return reverse("scoring:gate-detail", args=[self.policy.benchmark.slug, self.pk])


class OnlineResult(models.Model):
    """What an A/B test said of a candidate that a gate had judged."""

    class Outcome(models.TextChoices):
        BETTER = "better", "better"
        SAME = "same", "no difference"
        WORSE = "worse", "worse"

    gate = models.ForeignKey(GateResult, models.CASCADE, related_name="online_results")
    outcome = models.CharField(max_length=8, choices=Outcome)
    metric = models.CharField(max_length=120)
    difference = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    note = models.TextField(blank=True)
    # What a log said of both arms: {"cutoff", "arms", "differences"}; empty where it was typed in.
    from_log = models.JSONField(default=dict, blank=True)
    recorded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="online_results"
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.outcome}: {self.gate}"
