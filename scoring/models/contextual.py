"""Cases a judge model is asked about, and what it said; none of it enters qrels."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import (
    Benchmark,
    CorpusVersion,
    Job,
    JudgeEndpoint,
    Query,
    Run,
    User,
)

ID_LENGTH = 512


class CaseSetQuerySet(models.QuerySet):
    def ready(self) -> Self:
        """Sets that were imported to their end; others are seen by nobody."""
        return self.filter(is_ready=True)

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those of files, and those of runs that the user sees: what a run found is in them."""
        runs = Run.objects.visible_to(user).values("pk")
        return self.filter(Q(source=None) | Q(source__run__in=runs))


class CaseSet(models.Model):
    """Test cases of one file, as they were given, or of a run (`source`); never changed.

    `sha256` is of the file, or of what the cases were made of (`CaseSource.digest`).
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="case_sets")
    name = models.CharField(max_length=120)
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    n_cases = models.PositiveIntegerField()
    n_nodes = models.PositiveIntegerField()
    n_images = models.PositiveIntegerField(default=0)
    # How many cases each slice has.
    slices = models.JSONField(default=dict, blank=True)
    notes = models.JSONField(default=list, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="case_sets"
    )
    created_at = models.DateTimeField(default=timezone.now)
    # Whether people are asked for verdicts: who may be asked sees no results meanwhile.
    takes_verdicts = models.BooleanField(default=False)
    # Rows come in batches: nobody sees the set before its last one is there.
    is_ready = models.BooleanField(default=False)
    staged_by = models.PositiveBigIntegerField(null=True, blank=True, db_index=True)

    objects = CaseSetQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="case_set_name_once"),
            models.CheckConstraint(condition=Q(n_cases__gte=1), name="case_set_not_empty"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("scoring:contextual-set", args=[self.benchmark.slug, self.pk])


class CaseSource(models.Model):
    """The run that the cases of a set were made of, and how: what both were then is kept."""

    case_set = models.OneToOneField(CaseSet, models.CASCADE, related_name="source")
    # Protected: without them nobody knew who may see the set, and whether it is as new as they are.
    run = models.ForeignKey(Run, models.PROTECT, related_name="case_sources")
    run_sha256 = models.CharField(max_length=64)
    corpus_version = models.ForeignKey(CorpusVersion, models.PROTECT, related_name="+")
    # So many documents of each query are its nodes.
    depth = models.PositiveIntegerField()
    slice_name = models.CharField(max_length=200, blank=True)
    n_sample = models.PositiveIntegerField(null=True, blank=True)
    seed = models.PositiveBigIntegerField(null=True, blank=True)
    # Where expected answers come from: a field of queries, or a column of their metadata.
    expected = models.CharField(max_length=200, blank=True)
    # Cases that say that any answer is expected, as their query has none.
    n_without = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(depth__gte=1), name="case_source_depth_from_1"),
            models.CheckConstraint(
                condition=Q(n_sample=None, seed=None)
                | Q(n_sample__isnull=False, n_sample__gte=1, seed__isnull=False),
                name="case_source_sample_has_seed",
            ),
        ]

    def __str__(self) -> str:
        return f"first {self.depth} of {self.run}"


class CaseImage(models.Model):
    """An image that cases of a set show, checked and stored under its digest."""

    case_set = models.ForeignKey(CaseSet, models.CASCADE, related_name="images")
    name = models.CharField(max_length=255)
    stored = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=32)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case_set", "name"], name="case_image_name_once"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return self.address("contextual-image")

    def address(self, route: str) -> str:
        of = self.case_set
        return reverse(f"scoring:{route}", args=[of.benchmark.slug, of.pk, self.pk])


class ContextualCase(models.Model):
    """A request, what should come out, and what was retrieved for it, in rank order.

    `content` holds `input`, `expected_output`, `actual_output` (or null) as lists of parts and
    `retrieval_context` as a list of such lists; a part is a text, `{"image": name}` or
    `{"url": address}`.
    """

    case_set = models.ForeignKey(CaseSet, models.CASCADE, related_name="cases")
    number = models.PositiveIntegerField()
    case_id = models.CharField(max_length=ID_LENGTH)
    # Where it was made of one.
    query = models.ForeignKey(
        Query, models.SET_NULL, null=True, blank=True, related_name="contextual_cases"
    )
    content = models.JSONField()
    slices = models.JSONField(default=list, blank=True)
    n_nodes = models.PositiveIntegerField()
    # Of all texts in UTF-8: what an estimate of tokens is made of.
    n_bytes = models.PositiveIntegerField()
    n_images = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case_set", "number"], name="case_number_once"),
            models.UniqueConstraint(fields=["case_set", "case_id"], name="case_id_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="case_number_from_1"),
        ]

    def __str__(self) -> str:
        return self.case_id


class PersonVerdict(models.Model):
    """What a person says of one node of a case; they say it of all its nodes at once."""

    case = models.ForeignKey(ContextualCase, models.CASCADE, related_name="people_verdicts")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="node_verdicts"
    )
    # Its rank, from 1; people are not told.
    node = models.PositiveIntegerField()
    is_relevant = models.BooleanField()
    reason = models.TextField(blank=True)
    # Nobody had judged the case yet, or the person was shown no results.
    is_blind = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "person", "node"], name="person_verdict_once"),
            models.CheckConstraint(condition=Q(node__gte=1), name="person_verdict_node_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.case}, node {self.node}: {'yes' if self.is_relevant else 'no'}"


class ContextualEvaluationQuerySet(models.QuerySet):
    def listed(self) -> Self:
        """Newest first, with what a list shows."""
        related = ("case_set__benchmark", "endpoint", "created_by", "job")
        return self.select_related(*related).order_by("-pk")

    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(case_set__in=CaseSet.objects.visible_to(user).values("pk"))


class ContextualEvaluation(models.Model):
    """One judge's verdicts on cases of a set; what the judge was is kept as it was then."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        CAPPED = "capped", "stopped at the cost limit"
        CANCELLED = "cancelled", "cancelled"
        FAILED = "failed", "failed"

    case_set = models.ForeignKey(CaseSet, models.CASCADE, related_name="evaluations")
    endpoint = models.ForeignKey(
        JudgeEndpoint, models.SET_NULL, null=True, blank=True, related_name="evaluations"
    )
    judge_name = models.CharField(max_length=120)
    model = models.CharField(max_length=200)
    price_in = models.FloatField(null=True, blank=True)
    price_out = models.FloatField(null=True, blank=True)
    # Null: no case passes or fails.
    threshold = models.FloatField(null=True, blank=True)
    is_strict = models.BooleanField(default=False)
    has_reasons = models.BooleanField(default=True)
    # "", the name of a slice, or how many of the first cases.
    only_slice = models.CharField(max_length=200, blank=True)
    only_first = models.PositiveIntegerField(null=True, blank=True)
    prompt_hash = models.CharField(max_length=64, blank=True)
    cost_cap = models.FloatField(null=True, blank=True)
    # Of its outcomes, summed up whenever its job has ended.
    n_cases = models.PositiveIntegerField(default=0)
    n_scored = models.PositiveIntegerField(default=0)
    n_failed = models.PositiveIntegerField(default=0)
    n_success = models.PositiveIntegerField(default=0)
    mean = models.FloatField(null=True, blank=True)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cost = models.FloatField(default=0)
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    error = models.TextField(blank=True)
    job = models.ForeignKey(
        Job, models.SET_NULL, null=True, blank=True, related_name="contextual_evaluations"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="contextual_evaluations"
    )
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ContextualEvaluationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(threshold=None) | Q(threshold__gte=0, threshold__lte=1),
                name="contextual_threshold_0_to_1",
            ),
            models.CheckConstraint(
                condition=Q(cost_cap=None) | Q(cost_cap__gt=0), name="contextual_cap_above_0"
            ),
            models.CheckConstraint(
                condition=Q(only_slice="") | Q(only_first=None), name="contextual_one_choice"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.case_set} by {self.judge_name}"

    def get_absolute_url(self) -> str:
        slug = self.case_set.benchmark.slug
        return reverse("scoring:contextual-evaluation", args=[slug, self.pk])

    @property
    def is_active(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING)

    @property
    def has_prices(self) -> bool:
        return self.price_in is not None and self.price_out is not None

    @property
    def n_left(self) -> int:
        return self.n_cases - self.n_scored - self.n_failed


class CaseOutcomeQuerySet(models.QuerySet):
    def waiting(self) -> Self:
        return self.filter(state=CaseOutcome.State.WAITING)

    def scored(self) -> Self:
        return self.filter(state=CaseOutcome.State.SCORED)

    def failed(self) -> Self:
        return self.filter(state=CaseOutcome.State.FAILED)


class CaseOutcome(models.Model):
    """What became of one case: verdicts and a score, or the error that was in the way."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SCORED = "scored", "scored"
        FAILED = "failed", "failed"

    evaluation = models.ForeignKey(ContextualEvaluation, models.CASCADE, related_name="outcomes")
    case = models.ForeignKey(ContextualCase, models.CASCADE, related_name="outcomes")
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    score = models.FloatField(null=True, blank=True)
    is_success = models.BooleanField(null=True, blank=True)
    # [{"node": from 1, "is_relevant": …, "reason": …}], one for every node.
    verdicts = models.JSONField(default=list, blank=True)
    reason = models.TextField(blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error = models.TextField(blank=True)
    # Of all attempts together: a case that failed was paid for as well.
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cost = models.FloatField(default=0)
    seconds = models.FloatField(default=0)
    n_calls = models.PositiveIntegerField(default=0)
    # What the judge wrote, call by call.
    answers = models.JSONField(default=list, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = CaseOutcomeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "case"], name="outcome_once"),
            models.CheckConstraint(
                condition=Q(state="scored", score__isnull=False, score__gte=0, score__lte=1)
                | (~Q(state="scored") & Q(score=None)),
                name="outcome_score_if_scored",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error_code=""), name="outcome_failed_says_why"
            ),
        ]
        indexes = [
            # selectors.contextual.outcome_rows: by score, the failed apart.
            models.Index(fields=["evaluation", "state", "score"], name="outcome_by_score"),
        ]

    def __str__(self) -> str:
        return f"{self.case}: {self.get_state_display()}"
