"""Pools: which documents of which queries are to be graded, by whom, and in which order."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Benchmark, CandidateList, Document, Job, Query, Run
from benchwright.recipes import pools as recipe


class PoolQuerySet(models.QuerySet):
    def built(self) -> Self:
        """Without pools whose building has not finished."""
        return self.exclude(state=Pool.State.BUILDING)

    def open(self) -> Self:
        return self.filter(state=Pool.State.OPEN)


class Pool(models.Model):
    """Which documents of which queries are to be graded, and in which order."""

    class State(models.TextChoices):
        BUILDING = "building"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    class Strategy(models.TextChoices):
        DEPTH_K = "depth-k", recipe.STRATEGY.choices["depth-k"]
        LAYERED = "layered", recipe.STRATEGY.choices["layered"]
        STRATIFIED = "stratified", recipe.STRATEGY.choices["stratified"]
        TOP_UP = "top-up", recipe.STRATEGY.choices["top-up"]
        MANUAL = "manual", recipe.STRATEGY.choices["manual"]
        ESTIMATE = "estimate", recipe.STRATEGY.choices["estimate"]

    class Order(models.TextChoices):
        """In which order a query's documents are judged; not which documents are in the pool."""

        LAYERED = "layered", recipe.ORDER.choices["layered"]
        RRF = "rrf", recipe.ORDER.choices["rrf"]
        RBP = "rbp", recipe.ORDER.choices["rbp"]
        MTF = "mtf", recipe.ORDER.choices["mtf"]
        MAXMEAN = "maxmean", recipe.ORDER.choices["maxmean"]
        DOUBT = "doubt", recipe.ORDER.choices["doubt"]
        LISTED = "listed", recipe.ORDER.choices["listed"]

    class Assignment(models.TextChoices):
        """Who judges which wordings of a need."""

        ANYBODY = "anybody", "anybody judges any query"
        FAMILY_TO_ONE = "family-to-one", "all queries of a family to one person"
        FAMILY_ROTATED = "family-rotated", "the queries of a family to different people"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="pools")
    name = models.CharField(max_length=120)
    strategy = models.CharField(max_length=16, choices=Strategy, default=Strategy.DEPTH_K)
    order = models.CharField(max_length=16, choices=Order, default=Order.LAYERED)
    parameters = models.JSONField(default=dict, blank=True)
    seed = models.PositiveBigIntegerField()
    overlap = models.PositiveSmallIntegerField(default=1)
    # Shares in [0, 1]: of the entries, those that get one label more than `overlap`; of a person's
    # labels, hidden repeats of their own and hidden documents whose grade is known.
    double_share = models.FloatField(default=0.0)
    repeat_share = models.FloatField(default=0.0)
    gold_share = models.FloatField(default=0.0)
    # So many practice documents graded right let a person judge; None: more than guessing would
    # reach once in a hundred times; 0: however many.
    practice_mark = models.PositiveSmallIntegerField(null=True, blank=True)
    assignment = models.CharField(max_length=16, choices=Assignment, default=Assignment.ANYBODY)
    # Whether annotators may search the corpus beside its queries, and grade what they find.
    may_search = models.BooleanField(default=False)
    # Whether annotators see, once the pool is closed, what machines said beside their own labels.
    shows_machine = models.BooleanField(default=False)
    # The day by which the labels are wanted; people are told, and nothing closes.
    due_on = models.DateField(null=True, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.BUILDING)
    n_entries = models.PositiveBigIntegerField(default=0)
    # Label slots, as many as labels are wanted; less what was waived.
    n_wanted = models.PositiveBigIntegerField(default=0)
    n_waived = models.PositiveBigIntegerField(default=0)
    statistics = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="pools")
    created_at = models.DateTimeField(default=timezone.now)
    # When its last wanted label came in, or it was closed before; null: not yet.
    finished_at = models.DateTimeField(null=True, blank=True)
    staged_by = models.ForeignKey(
        Job, models.SET_NULL, null=True, blank=True, related_name="staged_pools"
    )
    runs = models.ManyToManyField(Run, through="PoolRun", related_name="pools")
    candidate_list = models.ForeignKey(
        CandidateList, models.PROTECT, null=True, blank=True, related_name="pools"
    )
    # Nobody named: everybody who judges in the benchmark.
    annotators = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="PoolAnnotator", related_name="assigned_pools"
    )

    objects = PoolQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "name"],
                condition=~Q(state="building"),
                name="pool_name_once",
            ),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="pool_overlap_from_1"),
            models.CheckConstraint(
                condition=Q(
                    double_share__range=(0, 1), repeat_share__range=(0, 1), gold_share__range=(0, 1)
                ),
                name="pool_shares_are_shares",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotation:pool-detail", args=[self.benchmark.slug, self.pk])

    @property
    def has_shown_machine(self) -> bool:
        """Whether people may have seen what machines said: no label of theirs may follow."""
        return self.shows_machine and self.state == Pool.State.CLOSED

    @property
    def is_for_estimates(self) -> bool:
        """Whether its documents were drawn to estimate runs, and are no ground for a release."""
        return self.strategy == self.Strategy.ESTIMATE


class PoolRun(models.Model):
    pool = models.ForeignKey(Pool, models.CASCADE, related_name="pool_runs")
    run = models.ForeignKey(Run, models.PROTECT, related_name="pool_runs")
    depth = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pool", "run"], name="pool_run_once"),
            models.CheckConstraint(condition=Q(depth__gte=1), name="pool_run_depth_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.run} to {self.depth}"


class PoolAnnotator(models.Model):
    """A person who may judge a pool; with no row, everybody who judges in its benchmark may."""

    pool = models.ForeignKey(Pool, models.CASCADE, related_name="pool_annotators")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="pool_annotators"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pool", "annotator"], name="pool_annotator_once"),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in {self.pool}"


class PoolEntry(models.Model):
    """One document of one query in a pool, with what brought it in."""

    class Origin(models.TextChoices):
        RUN = "run", "a run ranked it"
        RANDOM = "random", "drawn at random, as a control"
        MANUAL = "manual", "added by hand"
        CARRIED = "carried", "judged before"
        CANDIDATE = "candidate", "from a list of candidates"
        KNOWN = "known", "its grade is known: for practice or as a check"

    # No index of the pool alone: see `Judgment.benchmark`.
    pool = models.ForeignKey(Pool, models.CASCADE, related_name="entries", db_index=False)
    query = models.ForeignKey(Query, models.PROTECT, related_name="pool_entries")
    document = models.ForeignKey(Document, models.PROTECT, related_name="pool_entries")
    origin = models.CharField(max_length=16, choices=Origin, default=Origin.RUN)
    contributors = models.JSONField(default=dict)
    best_rank = models.PositiveIntegerField(null=True, blank=True)
    priority = models.PositiveBigIntegerField()
    inclusion_probability = models.FloatField(default=1.0)

    class Meta:
        verbose_name_plural = "pool entries"
        constraints = [
            models.UniqueConstraint(fields=["pool", "query", "document"], name="pool_entry_once"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id}: {self.document_id}"


class KnownGrade(models.Model):
    """The grade that a document is known to deserve: hidden among the others, or for practice."""

    class Purpose(models.TextChoices):
        GOLD = "gold", "hidden check"
        PRACTICE = "practice"

    entry = models.OneToOneField(PoolEntry, models.CASCADE, related_name="known_grade")
    purpose = models.CharField(max_length=16, choices=Purpose)
    grade = models.SmallIntegerField()
    # Shown after a practice document was graded.
    explanation = models.TextField(blank=True)
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="known_grades"
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.entry} is {self.grade}"
