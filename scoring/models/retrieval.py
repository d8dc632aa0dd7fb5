"""Runs that systems of this site made, and retrievals that several workers share."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from benchmarks_app.models import CorpusVersion, Job, Run


class Retrieval(models.Model):
    """How a run was made here: by which system, on which texts, and what it took."""

    run = models.OneToOneField(Run, models.CASCADE, related_name="retrieval")
    # Null once that version is gone.
    corpus_version = models.ForeignKey(
        CorpusVersion, models.SET_NULL, null=True, blank=True, related_name="retrievals"
    )
    system = models.CharField(max_length=40)
    language = models.CharField(max_length=35)
    depth = models.PositiveIntegerField()
    # How many queries it was asked, whether it found anything for them or not.
    n_queries = models.PositiveIntegerField()
    n_shards = models.PositiveSmallIntegerField(default=1)
    # Of the slowest shard where there are several: they are at work side by side.
    indexing_seconds = models.FloatField()
    # The most it took at a time beyond what the process held before; of the largest shard.
    memory_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(depth__gte=1), name="retrieval_depth_from_1"),
            models.CheckConstraint(condition=Q(n_shards__gte=1), name="retrieval_shards_from_1"),
            models.CheckConstraint(
                condition=Q(indexing_seconds__gte=0), name="retrieval_took_no_less_than_nothing"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run} by {self.system}"


class ShardJob(models.Model):
    """A step of a retrieval that several workers share: a job of its own, below that of the run.

    `turn` is the parent's token from the moment it left its work to these: where the parent has
    another one, or none, they have nothing to do any more.
    """

    class Step(models.TextChoices):
        COUNT = "count", "count"
        STATISTICS = "statistics", "add up the counts"
        SEARCH = "search", "search"
        MERGE = "merge", "merge"

    parent = models.ForeignKey(Job, models.CASCADE, related_name="shard_jobs")
    job = models.OneToOneField(Job, models.CASCADE, related_name="shard_of")
    turn = models.UUIDField()
    step = models.CharField(max_length=12, choices=Step)
    number = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            # Of the last shards of a step that end at once, one starts the next step.
            models.UniqueConstraint(
                fields=["parent", "turn", "step", "number"], name="shard_job_once"
            ),
            models.CheckConstraint(
                condition=~Q(parent=F("job")), name="shard_job_not_its_own_parent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_step_display()} {self.number} of job {self.parent_id}"
