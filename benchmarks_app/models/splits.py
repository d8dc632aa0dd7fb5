"""How families came to their splits, and whether outside queries are known to be among them."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark
from benchmarks_app.models.queries import Query
from benchmarks_app.models.runs import Upload


class SplitPlan(models.Model):
    """One way in which the families of a benchmark were split; the newest is in force."""

    class Mode(models.TextChoices):
        STRATIFIED = "stratified", "stratified by family"
        RANDOM = "random", "random by family"
        CHRONOLOGICAL = "chronological"
        LEAVE_SLICE_OUT = "leave_slice_out", "leave a slice out"
        GIVEN = "given"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="split_plans")
    mode = models.CharField(max_length=16, choices=Mode)
    seed = models.PositiveBigIntegerField(default=0)
    parameters = models.JSONField(default=dict)
    algorithm = models.CharField(max_length=60)
    inputs_sha256 = models.CharField(max_length=64)
    # Of (query id, split), as it was made.
    digest = models.CharField(max_length=64)
    # {split: number of queries}, and the queries that no split has.
    sizes = models.JSONField(default=dict)
    n_excluded = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            # splits page: the plan in force.
            models.Index(fields=["benchmark", "-created_at"], name="split_plan_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.get_mode_display()}, seed {self.seed}"


class ContaminationCheck(models.Model):
    """A benchmark's queries against a list from outside: a file of queries, or a sketch of one."""

    class Kind(models.TextChoices):
        QUERIES = "queries", "file of queries"
        SKETCH = "sketch", "sketch"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="contamination_checks")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=8, choices=Kind)
    upload = models.ForeignKey(Upload, models.PROTECT, null=True, blank=True, related_name="+")
    parameters = models.JSONField(default=dict)
    # Counts, over all queries and by slice.
    result = models.JSONField(default=dict)
    n_outside = models.PositiveBigIntegerField()
    n_exact = models.PositiveIntegerField()
    n_near = models.PositiveIntegerField()
    n_possible = models.PositiveIntegerField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "name"], name="contamination_check_name_once"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ContaminatedQuery(models.Model):
    """A query of ours that an outside list holds, or nearly; the others are the clean subset."""

    class Degree(models.TextChoices):
        EXACT = "exact", "the same after normalising"
        NEAR = "near", "nearly the same"
        POSSIBLE = "possible", "possibly the same"
        DOCUMENT = "document", "the same relevant document"

    check_made = models.ForeignKey(ContaminationCheck, models.CASCADE, related_name="matches")
    query = models.ForeignKey(Query, models.CASCADE, related_name="contaminations")
    degree = models.CharField(max_length=8, choices=Degree)
    similarity = models.FloatField()
    # The nearest query outside; unknown where only a sketch was seen.
    outside_text = models.TextField(blank=True)

    class Meta:
        verbose_name_plural = "contaminated queries"
        constraints = [
            models.UniqueConstraint(
                fields=["check_made", "query", "degree"], name="contaminated_query_once"
            ),
            models.CheckConstraint(
                condition=Q(similarity__gte=0, similarity__lte=1),
                name="contaminated_similarity_is_a_share",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.query_id}: {self.degree}"
