"""What annotators asked, open questions first."""

from django.db.models import Case, F, QuerySet, Value, When

from annotation.models import Question
from benchmarks_app.models import Benchmark, User


def questions_in(benchmark: Benchmark) -> QuerySet[Question]:
    """All questions of a benchmark: the open ones, oldest first, then the newest answers."""
    return _in_order(Question.objects.filter(entry__pool__benchmark=benchmark))


def questions_of(annotator: User) -> QuerySet[Question]:
    """A person's own questions in the same order."""
    return _in_order(Question.objects.filter(asked_by=annotator))


def n_open_questions(benchmark: Benchmark) -> int:
    return Question.objects.filter(entry__pool__benchmark=benchmark, answered_at=None).count()


def _in_order(questions: QuerySet[Question]) -> QuerySet[Question]:
    is_answered = Case(When(answered_at=None, then=Value(0)), default=Value(1))
    return (
        questions.select_related(
            "entry__query",
            "entry__document",
            "entry__pool__benchmark__corpus",
            "asked_by",
            "answered_by",
            "guideline",
            "slot",
        )
        .annotate(is_answered=is_answered)
        .order_by("is_answered", F("answered_at").desc(nulls_first=True), "asked_at", "pk")
    )
