"""The guideline, of which each change is a new version; and answers to what annotators ask."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from annotation.judging.protocol.errors import GuidelineChangedError, QuestionAnsweredError
from annotation.judging.services.claiming import return_slot
from annotation.models import Question
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, Guideline, User


@transaction.atomic
def save_guideline(
    *,
    benchmark: Benchmark,
    text: str,
    actor: User,
    written_upon: int | None = None,
    anchors: Mapping[int, str] | None = None,
) -> Guideline | None:
    """Make a changed text the newest version, and set what each grade means; returns the newest.

    `written_upon` is the version that was on the screen; None where that does not matter. Anchors
    are by grade; what is left out stays.

    Raises
    ------
    GuidelineChangedError
        If another version was saved meanwhile.
    """
    locked = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    newest = locked.guidelines.order_by("-version").first()
    version = newest.version if newest else 0
    if written_upon is not None and written_upon != version:
        raise GuidelineChangedError(newest=version)
    _set_anchors(locked, anchors or {}, actor)
    text = text.replace("\r\n", "\n").strip()
    if not text or (newest and newest.text == text):
        return newest
    guideline = Guideline.objects.create(benchmark=locked, version=version + 1, text=text)
    audit.record(
        actor=actor,
        action="guideline-version",
        benchmark=locked,
        target=f"version {guideline.version}",
    )
    return guideline


def _set_anchors(benchmark: Benchmark, anchors: Mapping[int, str], actor: User) -> None:
    changed = {}
    for grade in benchmark.grades.filter(value__in=anchors):
        anchor = anchors[grade.value].strip()
        if anchor != grade.anchor:
            changed[str(grade.value)] = [grade.anchor, anchor]
            grade.anchor = anchor
            grade.save(update_fields=["anchor"])
    if changed:
        audit.record(
            actor=actor,
            action="guideline-anchors",
            benchmark=benchmark,
            target="the scale",
            changed=changed,
        )


@transaction.atomic
def add_guideline_line(*, benchmark: Benchmark, line: str, actor: User) -> Guideline | None:
    """A new version with one more line at its end, as an item of a list."""
    locked = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    newest = locked.guidelines.order_by("-version").first()
    text = newest.text.rstrip() if newest else ""
    last = text.splitlines()[-1] if text else ""
    gap = "\n" if last.startswith("- ") else "\n\n"
    words = " ".join(line.split())
    return save_guideline(benchmark=benchmark, text=f"{text}{gap}- {words}", actor=actor)


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
