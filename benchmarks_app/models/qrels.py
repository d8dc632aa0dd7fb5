"""Grades as a machine reads them: sets of qrels, each derived or imported whole."""

from typing import Self

from django.db import models
from django.utils import timezone

from benchmarks_app.models.collection import MAX_ID_BYTES, Benchmark
from benchmarks_app.models.queries import Query
from benchwright.formats.unlisted import NOT_RELEVANT, UNKNOWN


class QrelSetQuerySet(models.QuerySet):
    def ready(self) -> Self:
        return self.filter(state=QrelSet.State.READY)


class QrelSet(models.Model):
    """Official qrels, our own labels, one annotator's view: each is a set of its own."""

    class Kind(models.TextChoices):
        HUMAN = "human"
        IMPORTED = "imported"
        ANNOTATOR = "annotator"
        MACHINE = "machine"
        CLICK = "click"

    class State(models.TextChoices):
        BUILDING = "building"
        READY = "ready"

    class Unlisted(models.TextChoices):
        """What a document is that the set does not list; see `core.unlisted`."""

        UNKNOWN = UNKNOWN, "unknown: nobody has judged them"
        NOT_RELEVANT = NOT_RELEVANT, "not relevant"

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="qrel_sets")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=16, choices=Kind)
    state = models.CharField(max_length=16, choices=State, default=State.BUILDING)
    rule = models.CharField(max_length=40, blank=True)
    rule_version = models.PositiveIntegerField(default=1)
    parameters = models.JSONField(default=dict, blank=True)
    unlisted = models.CharField(max_length=16, choices=Unlisted, default=Unlisted.UNKNOWN)
    as_of_event = models.PositiveBigIntegerField(null=True, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    n_qrels = models.PositiveBigIntegerField(default=0)
    n_queries = models.PositiveIntegerField(default=0)
    n_relevant = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    staged_by = models.ForeignKey(
        "benchmarks_app.Job", models.CASCADE, null=True, blank=True, related_name="staged_qrel_sets"
    )

    objects = QrelSetQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "name"],
                condition=models.Q(state="ready"),
                name="qrel_set_name_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Qrel(models.Model):
    qrel_set = models.ForeignKey(QrelSet, models.CASCADE, related_name="qrels")
    query = models.ForeignKey(Query, models.CASCADE, related_name="qrels")
    docid = models.CharField(max_length=MAX_ID_BYTES)
    grade = models.SmallIntegerField()
    is_derived = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["qrel_set", "query", "docid"], name="qrel_once"),
        ]

    def __str__(self) -> str:
        return f"{self.docid}: {self.grade}"
