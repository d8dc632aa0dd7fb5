"""Machines as judges of pools: what they are asked, of which pairs, and what a label tells."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone

from annotation.models.judgments import Judgment
from annotation.models.pools import Pool
from benchmarks_app.models import Benchmark, Guideline, Job, JudgeEndpoint, Query
from benchmarks_app.models.collection import MAX_ID_BYTES
from benchwright.recipes import campaigns as recipe


class GradeExampleQuerySet(models.QuerySet):
    def with_grade_now(self) -> Self:
        """Each with `grade_now`: how its pair was settled, else what its person says today."""
        pair = {name: models.OuterRef(f"judgment__{name}") for name in ("query", "docid")}
        person = {name: models.OuterRef(f"judgment__{name}") for name in ("actor", "rater")}
        words = Judgment.objects.current().filter(**pair).order_by("-pk")
        decisions = words.filter(kind=Judgment.Kind.ADJUDICATE)
        labels = words.wanted().filter(**person, kind__in=Judgment.GRADES)
        grades = [models.Subquery(of.values("grade")[:1]) for of in (decisions, labels)]
        return self.annotate(grade_now=Coalesce(*grades))

    def standing(self) -> Self:
        """Those that the next prompt has, in the order they came: of grades that are so still."""
        as_graded = self.with_grade_now().filter(grade_now=models.F("judgment__grade"))
        return as_graded.filter(withdrawn_at=None).order_by("pk")


class GradeExample(models.Model):
    """What people graded, in the owner's words, for a judge to see what a grade means.

    Its grade is the judgment's; a pair that is graded otherwise later takes it out of further
    prompts. Another text is another example, and what was withdrawn stays known to the prompts that
    held it.
    """

    MOST_CHARACTERS = 1000

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="grade_examples")
    # The person's word that it rests on: a label, or how a disagreement was settled.
    judgment = models.ForeignKey(Judgment, models.PROTECT, related_name="examples")
    text = models.CharField(max_length=MOST_CHARACTERS)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="grade_examples"
    )
    created_at = models.DateTimeField(default=timezone.now)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = GradeExampleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judgment"],
                condition=Q(withdrawn_at=None),
                name="grade_example_once_a_judgment",
            ),
            models.CheckConstraint(condition=~Q(text=""), name="grade_example_says_something"),
            models.CheckConstraint(
                condition=Q(withdrawn_at=None) | Q(withdrawn_at__gte=models.F("created_at")),
                name="grade_example_withdrawn_later",
            ),
        ]

    def __str__(self) -> str:
        return f"example of grade {self.judgment.grade}"


class JudgePrompt(models.Model):
    """One version of what judges of a benchmark are asked; it never changes.

    `digest` names all of it, `text` is as it was sent, with the slots of a pair left open.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="judge_prompts")
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    template = models.TextField()
    guideline = models.ForeignKey(
        Guideline, models.PROTECT, null=True, blank=True, related_name="judge_prompts"
    )
    guideline_text = models.TextField(blank=True)
    # [{"value", "name", "meaning", "examples"}], the lowest first.
    scale = models.JSONField()
    max_characters = models.PositiveIntegerField(null=True, blank=True)
    text = models.TextField()
    # Of their queries no pair is taken to see whether the prompt is better than another.
    examples = models.ManyToManyField(GradeExample, related_name="prompts")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="judge_prompts"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "digest"], name="judge_prompt_once"),
            models.UniqueConstraint(
                fields=["benchmark", "version"], name="judge_prompt_version_once"
            ),
        ]

    def __str__(self) -> str:
        return f"prompt {self.version}"


class CampaignQuerySet(models.QuerySet):
    def listed(self) -> Self:
        """Newest first, with what a list shows."""
        related = ("benchmark", "pool", "judge", "prompt", "created_by", "job", "trial_job")
        return self.select_related(*related).order_by("-pk")

    def under_way(self) -> Self:
        return self.filter(state__in=Campaign.UNDER_WAY)


class Campaign(models.Model):
    """A judge asked about documents of a pool; what the judge was is kept as it was then."""

    class State(models.TextChoices):
        DRAFT = "draft", "not started"
        QUEUED = "queued", "waiting for a worker"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        CAPPED = "capped", "stopped at the money limit"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"
        DONE = "done", "done"

    class Choice(models.TextChoices):
        """Which documents of the pool are asked about."""

        ALL = "all", recipe.CHOICE.choices["all"]
        SAMPLE = "sample", recipe.CHOICE.choices["sample"]
        UNJUDGED = "unjudged", recipe.CHOICE.choices["unjudged"]

    UNDER_WAY = (State.QUEUED, State.RUNNING)

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="campaigns")
    pool = models.ForeignKey(Pool, models.PROTECT, related_name="campaigns")
    name = models.CharField(max_length=120)
    judge = models.ForeignKey(
        JudgeEndpoint, models.SET_NULL, null=True, blank=True, related_name="campaigns"
    )
    judge_name = models.CharField(max_length=120)
    model = models.CharField(max_length=200)
    prompt = models.ForeignKey(JudgePrompt, models.PROTECT, related_name="campaigns")
    choice = models.CharField(max_length=16, choices=Choice)
    # Of a sample: how many were wanted, and what it was drawn by.
    n_sample = models.PositiveIntegerField(null=True, blank=True)
    seed = models.PositiveBigIntegerField(null=True, blank=True)
    # Ids of the runs whose unjudged documents are asked about.
    runs = models.JSONField(default=list, blank=True)
    concurrency = models.PositiveSmallIntegerField()
    price_in = models.FloatField(null=True, blank=True)
    price_out = models.FloatField(null=True, blank=True)
    cost_cap = models.FloatField(null=True, blank=True)
    # Why it may judge although it is of a family with runs of the pool; empty: it need not.
    conflict_reason = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.DRAFT)
    error = models.TextField(blank=True)
    # Whoever wants it to stop says so here; the job looks.
    is_pause_wanted = models.BooleanField(default=False)
    job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="campaigns")
    # Pairs that people judged, with what the judge says of them; in no ledger.
    trial_job = models.ForeignKey(Job, models.SET_NULL, null=True, blank=True, related_name="+")
    trial = models.JSONField(default=dict, blank=True)
    # Of its pairs, summed up whenever its job has ended.
    n_pairs = models.PositiveIntegerField(default=0)
    n_graded = models.PositiveIntegerField(default=0)
    n_failed = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    # What was paid: the trial, and answers of no use, among it.
    cost = models.FloatField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="campaigns"
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = CampaignQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="campaign_name_once"),
            models.CheckConstraint(
                condition=Q(concurrency__gte=1, concurrency__lte=64),
                name="campaign_concurrency_1_to_64",
            ),
            models.CheckConstraint(
                condition=Q(cost_cap=None) | Q(cost_cap__gt=0), name="campaign_cap_above_0"
            ),
            models.CheckConstraint(
                condition=~Q(choice="sample") | Q(n_sample__gte=1, seed__isnull=False),
                name="campaign_sample_was_drawn",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotation:campaign-detail", args=[self.benchmark.slug, self.pk])

    @property
    def is_under_way(self) -> bool:
        return self.state in self.UNDER_WAY

    @property
    def has_prices(self) -> bool:
        return self.price_in is not None and self.price_out is not None


class CampaignPairQuerySet(models.QuerySet):
    def waiting(self) -> Self:
        return self.filter(state=CampaignPair.State.WAITING)

    def failed(self) -> Self:
        return self.filter(state=CampaignPair.State.FAILED)


class CampaignPair(models.Model):
    """A document of a query that a campaign asks about, and what became of the question."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        GRADED = "graded", "graded"
        FAILED = "failed", "failed"

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="pairs")
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")
    docid = models.CharField(max_length=MAX_ID_BYTES)
    number = models.PositiveIntegerField()
    # With which probability it was drawn; null where nothing was drawn.
    probability = models.FloatField(null=True, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    judgment = models.OneToOneField(
        Judgment, models.PROTECT, null=True, blank=True, related_name="campaign_pair"
    )
    error_code = models.CharField(max_length=60, blank=True)
    error = models.TextField(blank=True)
    # The last answer of a pair that failed: of one that was graded it is with its label.
    raw = models.TextField(blank=True)
    # Of all attempts together: a question that failed was paid for as well.
    cost = models.FloatField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    n_requests = models.PositiveIntegerField(default=0)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = CampaignPairQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "query", "docid"], name="campaign_pair_once"
            ),
            models.UniqueConstraint(fields=["campaign", "number"], name="campaign_number_once"),
            models.CheckConstraint(
                condition=Q(state="graded", judgment__isnull=False)
                | (~Q(state="graded") & Q(judgment=None)),
                name="campaign_pair_graded_has_label",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error_code=""),
                name="campaign_pair_failed_says_why",
            ),
        ]
        indexes = [
            # selectors.pairs_of: those that failed, or wait, in their order.
            models.Index(fields=["campaign", "state", "number"], name="campaign_pair_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} {self.docid}"


class MachineLabel(models.Model):
    """Whom a campaign asked for a label of the ledger, and how; as lasting as the label itself."""

    judgment = models.OneToOneField(Judgment, models.PROTECT, related_name="machine")
    campaign = models.ForeignKey(Campaign, models.PROTECT, related_name="labels")
    prompt = models.ForeignKey(JudgePrompt, models.PROTECT, related_name="labels")
    judge_name = models.CharField(max_length=120)
    # As the endpoint named it in its answer.
    model = models.CharField(max_length=200)
    # Content, prompt, model and parameters: the same question is paid once.
    key = models.CharField(max_length=64)
    seed = models.PositiveBigIntegerField(null=True, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    probabilities = models.JSONField(default=dict, blank=True)
    # The answer word for word.
    raw = models.TextField()
    cost = models.FloatField(null=True, blank=True)
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    seconds = models.FloatField(default=0)
    # Answered earlier, and not paid again.
    is_cached = models.BooleanField(default=False)
    # When it was answered, which of a label out of a cache was before.
    answered_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(cost=None) | Q(cost__gte=0), name="machine_label_cost_from_0"
            ),
        ]
        indexes = [
            # services.asking: whether a question has been paid before.
            models.Index(fields=["key"], name="machine_label_by_key"),
        ]

    def __str__(self) -> str:
        return f"{self.judge_name} on {self.judgment_id}"
