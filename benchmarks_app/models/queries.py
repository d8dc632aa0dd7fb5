"""What is asked: queries, and the families of wordings that must stay on one side of a split."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchmarks_app.models.collection import MAX_ID_BYTES, Benchmark
from benchwright.texts.images import IMAGE_KEY, shown_text


class QueryFamily(models.Model):
    """Wordings of one need. The split is stored here and nowhere else."""

    class Split(models.TextChoices):
        NONE = "", "not split"
        TRAIN = "train"
        DEV = "dev"
        TEST = "test"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="families")
    split = models.CharField(max_length=8, choices=Split, default=Split.NONE, blank=True)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)
    # From 0 (no question that its members are one need) to 1; its weakest link decides.
    doubt = models.FloatField(default=0.0)
    # Merged for splitting, to be looked at by a person.
    is_flagged = models.BooleanField(default=False)

    # Of `with_wordings`.
    wordings: "list[Query]"
    seen: str

    class Meta:
        verbose_name_plural = "query families"
        constraints = [
            models.CheckConstraint(
                condition=Q(doubt__gte=0, doubt__lte=1), name="family_doubt_is_a_share"
            ),
        ]
        indexes = [
            # families page: of one benchmark, the most doubtful first.
            models.Index(fields=["benchmark", "-doubt"], name="family_by_doubt"),
        ]

    def __str__(self) -> str:
        return f"family {self.pk}"


class QueryQuerySet(models.QuerySet):
    def committed(self) -> Self:
        """Without the rows of an import that has not finished."""
        return self.filter(staged_by=None)

    def in_words_alone(self) -> Self:
        """Without those that have images: what is known by its words is none of them."""
        return self.exclude(metadata__has_key=IMAGE_KEY)


class Query(models.Model):
    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="queries")
    qid = models.CharField(max_length=MAX_ID_BYTES)
    # Empty where images are asked with alone; their digests are in the metadata.
    text = models.TextField()
    lang = models.CharField(max_length=35, blank=True)
    description = models.TextField(blank=True)
    narrative = models.TextField(blank=True)
    first_seen_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    frequency = models.PositiveBigIntegerField(null=True, blank=True)
    # Clicks by document id, as a log tells them.
    clicks = models.JSONField(default=dict, blank=True)
    # Whatever else the file it came from says, by column.
    metadata = models.JSONField(default=dict, blank=True)
    sample = models.ForeignKey(
        "benchmarks_app.QuerySample",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="queries",
    )
    # How likely the sample was to hold it, and what it stands for in a weighted mean.
    inclusion_probability = models.FloatField(null=True, blank=True)
    weight = models.FloatField(null=True, blank=True)
    # When its grades were first public; they can never be hidden again.
    exposed_at = models.DateTimeField(null=True, blank=True)
    family = models.ForeignKey(QueryFamily, models.PROTECT, related_name="queries")
    excluded_reason = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    # Set while an import is not finished: such rows are shown nowhere and go away if it fails.
    staged_by = models.ForeignKey(
        "benchmarks_app.Job", models.CASCADE, null=True, blank=True, related_name="staged_queries"
    )

    objects = QueryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "queries"
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "qid"], name="query_qid_once"),
            models.CheckConstraint(
                condition=Q(inclusion_probability__isnull=True)
                | Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="query_inclusion_is_a_probability",
            ),
            models.CheckConstraint(
                condition=Q(weight__isnull=True) | Q(weight__gt=0), name="query_weight_above_0"
            ),
        ]

    def __str__(self) -> str:
        return self.shown_text

    @property
    def shown_text(self) -> str:
        """What it is called on a page: its text, else what stands for its images."""
        return self.text or shown_text(self.qid, self.text, self.metadata)


class QueryDraw(models.Model):
    """Families drawn at random for people to label, so that anybody can prove it.

    All draws of a benchmark have one seed: a later one goes on in the same order, and nobody draws
    again until they like what came.
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="query_draws")
    seed = models.PositiveBigIntegerField()
    # Digest of all families that it was drawn from, and how many they were.
    frame = models.CharField(max_length=32)
    n_population = models.PositiveIntegerField()
    # In their order, each called by its smallest query id.
    families = models.JSONField()
    n_drawn = models.PositiveIntegerField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "frame", "n_drawn"], name="query_draw_once"
            ),
            models.CheckConstraint(
                condition=Q(n_drawn__gte=1, n_drawn__lte=models.F("n_population")),
                name="query_draw_is_of_its_population",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.n_drawn} of {self.n_population} families"
