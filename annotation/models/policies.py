"""How a benchmark makes one grade of several."""

from django.db import models

from benchmarks_app.models import Benchmark


class AggregationPolicy(models.Model):
    """The rule and its parameters that a benchmark's inbox and next qrels follow."""

    class Unresolved(models.TextChoices):
        """What becomes of a pair whose disagreement nobody has settled."""

        LOWER_MEDIAN = "lower-median", "take the lower median"
        LEAVE_OUT = "leave-out", "leave the document out"
        REFUSE = "refuse", "do not publish"

    benchmark = models.OneToOneField(Benchmark, models.CASCADE, related_name="aggregation_policy")
    rule = models.CharField(max_length=40)
    rule_version = models.PositiveIntegerField(default=1)
    parameters = models.JSONField(default=dict, blank=True)
    # Grades this far apart go to the inbox; 2 lets neighbours pass.
    adjudicate_from = models.PositiveSmallIntegerField(default=2)
    unresolved = models.CharField(
        max_length=16, choices=Unresolved, default=Unresolved.LOWER_MEDIAN
    )

    def __str__(self) -> str:
        return f"{self.rule} v{self.rule_version}"
