"""Examples of grades: kept in the owner's words, and withdrawn."""

from django.db import transaction
from django.utils import timezone

from annotation.contradictions.errors import (
    ExampleKnownError,
    ExamplesFullError,
    ExampleTextError,
    NoWordError,
)
from annotation.contradictions.selectors import word_on
from annotation.models import GradeExample
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, Query, User

# More would make every question longer than most documents.
MOST_OF_GRADE = 5


@transaction.atomic
def make_example(
    *, benchmark: Benchmark, query: Query, docid: str, text: str, actor: User
) -> GradeExample:
    """Keep what people say of a pair as an example of its grade, for the next campaign's prompt.

    Raises
    ------
    NoWordError
        If no person has graded the pair.
    ExampleTextError
        If the text is empty, or longer than 1,000 characters.
    ExampleKnownError, ExamplesFullError
        If the judgment is an example already, or its grade has as many as a prompt holds.
    """
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)  # one at a time
    # A browser sends lines that end in two characters, and counts them as one.
    words = text.replace("\r\n", "\n").strip()
    if not 1 <= len(words) <= GradeExample.MOST_CHARACTERS:
        raise ExampleTextError(n=len(words), most=GradeExample.MOST_CHARACTERS)
    word = word_on(benchmark, query, docid)
    if word is None or word.grade is None:
        raise NoWordError(document=docid, query=query.qid)
    standing = benchmark.grade_examples.standing()
    if standing.filter(judgment=word).exists():
        raise ExampleKnownError
    if standing.filter(judgment__grade=word.grade).count() >= MOST_OF_GRADE:
        raise ExamplesFullError(grade=word.grade, most=MOST_OF_GRADE)
    example = GradeExample.objects.create(
        benchmark=benchmark, judgment=word, text=words, created_by=actor
    )
    _record(actor, "make-example", example)
    return example


@transaction.atomic
def withdraw_example(*, example: GradeExample, actor: User) -> None:
    """Leave an example out of every further prompt; withdrawn before, it changes nothing."""
    standing = GradeExample.objects.filter(pk=example.pk, withdrawn_at=None)
    if standing.update(withdrawn_at=timezone.now()):
        _record(actor, "withdraw-example", example)


def record_read(benchmark: Benchmark, actor: User, what: str) -> None:
    """Grades are read that may have to be hidden one day."""
    audit.record(actor=actor, action="read-judgments", benchmark=benchmark, target=what)


def _record(actor: User, action: str, example: GradeExample) -> None:
    word = example.judgment
    audit.record(
        actor=actor,
        action=action,
        benchmark=example.benchmark,
        target=f"{word.query.qid} {word.docid}"[:200],
        grade=word.grade,
    )
