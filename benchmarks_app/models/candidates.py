"""Documents worth judging, in an order: how they travel from scoring to annotation."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from benchmarks_app.models.collection import Benchmark


class CandidateList(models.Model):
    """Unjudged documents by query, the most worth judging first; a pool can be made of them.

    The rows are a Parquet file, written once: qid, docid, priority (from 1, in the list's order).
    """

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="candidate_lists")
    name = models.CharField(max_length=120)
    origin = models.CharField(max_length=200, help_text="Which runs and which rule it came from")
    parquet = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    n_documents = models.PositiveBigIntegerField()
    n_queries = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="candidate_lists"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name"], name="candidate_list_name_once"),
        ]

    def __str__(self) -> str:
        return self.name
