"""What is written down before somebody judges: that they have read, and how they practised."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation.common.selectors.screen import content_of, current_guideline
from annotation.common.services import statements
from annotation.judging.protocol.errors import PracticeDoneError
from annotation.judging.selectors.starting import practice_by
from annotation.judging.services.judging import record_judgment
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, KnownGrade, Pool, PoolStart, Slot
from benchmarks_app.models import User

# Held for the moment between the making of the slot and its judgment.
MOMENT = timedelta(minutes=1)


@transaction.atomic
def mark_read(*, pool: Pool, annotator: User, version: int | None) -> PoolStart:
    """Remember that a person has read the notice and this version of the guideline.

    A version that is not the benchmark's newest any more leaves the newest one to be read.
    """
    start = _start(pool, annotator)
    start.notice_at = start.notice_at or timezone.now()
    if version is not None:
        start.guideline = pool.benchmark.guidelines.filter(version=version).first()
    start.save(update_fields=["notice_at", "guideline"])
    return start


def _start(pool: Pool, annotator: User) -> PoolStart:
    PoolStart.objects.bulk_create(
        [PoolStart(pool=pool, annotator=annotator)], ignore_conflicts=True
    )
    return PoolStart.objects.select_for_update().get(pool=pool, annotator=annotator)


@transaction.atomic
def record_practice(
    *,
    known_grade: KnownGrade,
    annotator: User,
    grade: int,
    client_id: UUID,
    dwell_ms: int | None = None,
) -> Judgment:
    """Append a person's grade of a practice document; the last one ends the round.

    Who has enough of them right may judge; others may practise again (`practise_again`).

    Raises
    ------
    PracticeDoneError
        If they have graded it before.
    GradeNotOnScaleError
        If the benchmark has no such grade.
    """
    pool = known_grade.entry.pool
    start = _start(pool, annotator)
    earlier = Judgment.objects.filter(actor=annotator, client_id=client_id).first()
    if earlier is not None:
        return earlier
    slot = _practice_slot(known_grade, annotator, start.practice_round)
    content = content_of(slot)
    guideline = current_guideline(pool.benchmark)
    display = Shown(
        content_hash=content.content_hash if content else "",
        guideline_id=guideline.pk if guideline else None,
        dwell_ms=dwell_ms,
    )
    saved = record_judgment(
        slot=slot, actor=annotator, grade=grade, client_id=client_id, display=display
    )
    if start.practice_at is None and practice_by(pool, annotator).is_passed:
        start.practice_at = timezone.now()
        start.save(update_fields=["practice_at"])
    return saved


@transaction.atomic
def practise_again(*, pool: Pool, annotator: User) -> PoolStart:
    """Begin another round for who did not pass; in the middle of one it changes nothing."""
    start = _start(pool, annotator)
    practice = practice_by(pool, annotator)
    if practice.documents and practice.is_over and not practice.is_passed:
        start.practice_round += 1
        start.save(update_fields=["practice_round"])
    return start


def _practice_slot(known_grade: KnownGrade, annotator: User, practice_round: int) -> Slot:
    """A slot of the person's own: practice is asked of each, so it is made when it is done."""
    KnownGrade.objects.select_for_update().get(pk=known_grade.pk)
    slots = Slot.objects.filter(
        entry=known_grade.entry_id, kind=Slot.Kind.PRACTICE, round=practice_round
    )
    if slots.filter(annotator=annotator).exists():
        raise PracticeDoneError
    return Slot.objects.create(
        pool=known_grade.entry.pool,
        query=known_grade.entry.query,
        entry=known_grade.entry,
        kind=Slot.Kind.PRACTICE,
        round=practice_round,
        number=slots.count() + 1,
        queue_position=0,
        annotator=annotator,
        state=Slot.State.CLAIMED,
        lease_expires_at=statements.clock() + MOMENT,
    )
