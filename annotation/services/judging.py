"""Writing down what people said about documents. The ledger is only ever appended to."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation import selectors
from annotation.core.judging_errors import (
    ClientIdReusedError,
    GradeNotOnScaleError,
    NothingToUndoError,
    PoolClosedError,
    ReasonMissingError,
)
from annotation.models import Judgment, Pool, Slot
from annotation.services.claiming import LEASE
from annotation.services.tokens import Shown
from benchmarks_app.models import User

MAX_REASON = 200


def record_judgment(
    *, slot: Slot, actor: User, grade: int, client_id: UUID, shown: Shown, note: str = ""
) -> Judgment:
    """Append a grade to the ledger; the same `client_id` of the same actor changes nothing.

    A grade that comes too late (another person has the document by now, or the pool was closed) is
    kept as an extra label. A second grade for one's own document replaces the first.

    Raises
    ------
    GradeNotOnScaleError
        If the benchmark has no such grade.
    ClientIdReusedError
        If the client id stands for another judgment already.
    """
    scale = sorted(slot.pool.benchmark.grades.values_list("value", flat=True))
    if grade not in scale:
        raise GradeNotOnScaleError(grade=grade, scale=", ".join(map(str, scale)))
    return _record(
        slot, actor, client_id, shown, kind=Judgment.Kind.GRADE, grade=grade, reason="", note=note
    )


def record_cant_judge(
    *, slot: Slot, actor: User, reason: str, client_id: UUID, shown: Shown, note: str = ""
) -> Judgment:
    """Append that a document cannot be judged, and why; otherwise as `record_judgment`.

    A reason longer than its column is kept whole in the note.

    Raises
    ------
    ReasonMissingError
        If the reason is blank.
    """
    reason = reason.strip()
    if not reason:
        raise ReasonMissingError
    if len(reason) > MAX_REASON:
        note = f"{reason}\n{note}".strip()
        reason = f"{reason[: MAX_REASON - 1]}…"
    return _record(
        slot,
        actor,
        client_id,
        shown,
        kind=Judgment.Kind.CANT_JUDGE,
        grade=None,
        reason=reason,
        note=note,
    )


@transaction.atomic
def _record(slot: Slot, actor: User, client_id: UUID, shown: Shown, **said: Any) -> Judgment:
    _one_at_a_time(actor)
    known = Judgment.objects.filter(actor=actor, client_id=client_id).first()
    if known:
        return _same(known, slot, said)
    # The slot's row is the fence between this judgment and a claim of it by somebody else.
    locked = Slot.objects.select_for_update().get(pk=slot.pk)
    earlier = Judgment.objects.current().filter(slot=slot, actor=actor).order_by("-pk").first()
    is_wanted = _finish(locked, actor)
    return Judgment.objects.create(
        benchmark_id=slot.pool.benchmark_id,
        query_id=slot.query_id,
        docid=slot.entry.document.docid,
        actor=actor,
        slot=slot,
        client_id=client_id,
        supersedes=earlier,
        is_surplus=not is_wanted,
        **said,
        **shown.as_fields(),
    )


def _one_at_a_time(actor: User) -> None:
    """What one person sends twice at once (two tabs, a repetition) is written one by one."""
    User.objects.select_for_update(no_key=True).get(pk=actor.pk)


def _same(known: Judgment, slot: Slot, said: dict[str, Any]) -> Judgment:
    """The judgment that was saved before, if this is a repetition of it and not another one."""
    if known.slot_id != slot.pk or any(
        getattr(known, field) != said[field] for field in ("kind", "grade", "reason")
    ):
        raise ClientIdReusedError
    return known


def _finish(slot: Slot, actor: User) -> bool:
    """Mark the slot done by `actor` if it is theirs to fill; False means an extra label.

    A lease that ran out without anybody taking the document over still counts: it is wanted.
    """
    is_closed = Pool.objects.filter(pk=slot.pool_id, state=Pool.State.CLOSED).exists()
    if is_closed:
        return False
    if slot.state == Slot.State.FREE:
        is_ours = not _has_other_slot(slot, actor)
    else:
        is_ours = slot.annotator_id == actor.pk
    if is_ours and slot.state != Slot.State.DONE:
        Slot.objects.filter(pk=slot.pk).update(
            state=Slot.State.DONE, annotator=actor, lease_expires_at=None
        )
    return is_ours


def _has_other_slot(slot: Slot, actor: User) -> bool:
    same = Slot.objects.filter(
        entry=slot.entry_id, kind=slot.kind, round=slot.round, annotator=actor
    )
    return same.exclude(pk=slot.pk).exists()


@transaction.atomic
def undo_last(*, pool: Pool, actor: User, client_id: UUID) -> Judgment:
    """Take back one's newest judgment in a pool; its document is one's own again.

    Returns the event that takes it back. The same `client_id` again takes back nothing more.

    Raises
    ------
    PoolClosedError
        If the pool is closed.
    NothingToUndoError
        If none of one's judgments is left.
    """
    _one_at_a_time(actor)
    known = Judgment.objects.filter(actor=actor, client_id=client_id).first()
    if known:
        return known
    if Pool.objects.filter(pk=pool.pk, state=Pool.State.CLOSED).exists():
        raise PoolClosedError(pool=pool.name)
    last = selectors.last_judgment_of(pool, actor)
    if last is None:
        raise NothingToUndoError
    Slot.objects.select_for_update().get(pk=last.slot_id)
    Slot.objects.filter(pk=last.slot_id, annotator=actor, state=Slot.State.DONE).update(
        state=Slot.State.CLAIMED, lease_expires_at=timezone.now() + LEASE
    )
    return Judgment.objects.create(
        benchmark_id=last.benchmark_id,
        query_id=last.query_id,
        docid=last.docid,
        kind=Judgment.Kind.RETRACT,
        actor=actor,
        slot_id=last.slot_id,
        supersedes=last,
        client_id=client_id,
    )
