"""What this app knows of a person, and where names of people are written."""

from collections.abc import Iterator
from typing import Any

from annotation.models import Judgment, KnownGrade, Pool, PoolAnnotator, Question, Slot
from benchmarks_app.models import User
from benchmarks_app.person_records import WRITTEN, records
from benchmarks_app.selectors.people import told

WRITTEN.update(
    {
        Judgment: ("note", "rater", "source"),
        KnownGrade: ("explanation",),
        Pool: ("name",),
        Question: ("text", "answer"),
        Slot: ("rater",),
    }
)


@records("labels")
def _labels(user: User) -> Iterator[dict[str, Any]]:
    """What they said; not what a label was asked for, which would tell hidden checks."""
    yield from told(
        Judgment.objects.filter(actor=user, rater="").order_by("pk"),
        event="pk",
        at="created_at",
        benchmark="benchmark__slug",
        query="query__qid",
        document="docid",
        kind="kind",
        grade="grade",
        reason="reason",
        note="note",
        evidence="evidence",
        confidence="confidence",
        pool="pool__name",
        supersedes="supersedes_id",
    )


@records("pools")
def _pools(user: User) -> Iterator[dict[str, Any]]:
    named = PoolAnnotator.objects.filter(annotator=user).order_by("pk")
    yield from told(named, benchmark="pool__benchmark__slug", pool="pool__name")


@records("questions")
def _questions(user: User) -> Iterator[dict[str, Any]]:
    asked = Question.objects.filter(asked_by=user).order_by("pk")
    yield from told(asked, text="text", answer="answer", at="asked_at")
