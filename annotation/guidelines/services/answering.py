"""Answers of owners to what annotators ask about documents."""

from django.db import transaction
from django.utils import timezone

from annotation.guidelines.services.guidelines import add_guideline_line
from annotation.judging.protocol.errors import QuestionAnsweredError
from annotation.judging.services.claiming import return_slot
from annotation.models import Question
from benchmarks_app.common.services import audit
from benchmarks_app.models import User


@transaction.atomic
def answer_question(
    *, question: Question, answer: str, actor: User, guideline_line: str = ""
) -> Question:
    """Answer a question; its document goes back to who asked, with the answer beside it.

    `guideline_line` becomes a line of a new version of the guideline, for everybody.

    Raises
    ------
    QuestionAnsweredError
        If somebody has answered it already.
    """
    locked = Question.objects.select_for_update().get(pk=question.pk)
    if locked.answered_at is not None:
        raise QuestionAnsweredError(person=locked.answered_by)
    benchmark = locked.entry.pool.benchmark
    locked.answer = answer.strip()
    locked.answered_by = actor
    locked.answered_at = timezone.now()
    if guideline_line.strip():
        locked.guideline = add_guideline_line(benchmark=benchmark, line=guideline_line, actor=actor)
    locked.save(update_fields=["answer", "answered_by", "answered_at", "guideline"])
    return_slot(question=locked)
    audit.record(
        actor=actor,
        action="answer-question",
        benchmark=benchmark,
        target=locked.entry.query.qid,
        question=locked.pk,
    )
    return locked
