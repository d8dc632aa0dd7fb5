"""What this app knows of a person, and where names of people are written."""

from collections.abc import Iterator
from typing import Any

from annotation.models import (
    Campaign,
    GradeExample,
    JudgePrompt,
    Judgment,
    KeyMap,
    KnownGrade,
    MachineLabel,
    Pool,
    PoolAnnotator,
    PoolStart,
    Question,
    Slot,
)
from benchmarks_app.models import User
from benchmarks_app.person_records import LASTING, WRITTEN, columns, records, told

WRITTEN.update(
    {
        Campaign: ("name", "judge_name", "conflict_reason"),
        GradeExample: ("text",),
        Judgment: ("reason", "note", "rater", "source"),
        KnownGrade: ("explanation",),
        MachineLabel: ("judge_name",),
        Pool: ("name",),
        Question: ("text", "answer"),
        Slot: ("rater",),
    }
)


# What was asked stays as it was asked, as a guideline does.
LASTING.update({JudgePrompt: ("benchmark", ("template", "text"))})


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


columns(
    "pools",
    lambda user: PoolAnnotator.objects.filter(annotator=user),
    benchmark="pool__benchmark__slug",
    pool="pool__name",
)
columns(
    "campaigns",
    lambda user: user.campaigns,
    *("name", "conflict_reason", "created_at"),
    benchmark="benchmark__slug",
    pool="pool__name",
)
columns(
    "grade-examples",
    lambda user: user.grade_examples,
    *("text", "created_at", "withdrawn_at"),
    benchmark="benchmark__slug",
    query="judgment__query__qid",
    document="judgment__docid",
)
columns(
    "pool-starts",
    lambda user: PoolStart.objects.filter(annotator=user),
    *("notice_at", "practice_at"),
    benchmark="pool__benchmark__slug",
    pool="pool__name",
    guideline="guideline__version",
)
columns("keys", lambda user: KeyMap.objects.filter(annotator=user), "bindings", "is_on")
# Of a grade that is known what they said to it, not the grade: that would tell hidden checks.
columns(
    "known-grades",
    lambda user: KnownGrade.objects.filter(set_by=user),
    "explanation",
    pool="entry__pool__name",
)


@records("questions")
def _questions(user: User) -> Iterator[dict[str, Any]]:
    """Asked, and answered: of those the answer alone, for the question is another's."""
    questions = Question.objects.filter(asked_by=user).order_by("pk")
    for row in told(questions, text="text", answer="answer", at="asked_at"):
        yield {"as": "asker", **row}
    answered = Question.objects.filter(answered_by=user).order_by("pk")
    for row in told(answered, answer="answer", at="answered_at"):
        yield {"as": "answerer", **row}
