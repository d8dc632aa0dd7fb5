"""Writing down what people said about documents. The ledger is only ever appended to."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, cast
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from annotation.common.selectors.screen import (
    content_of,
    current_guideline,
    last_judgment_of,
    undoable_judgments,
)
from annotation.common.services import statements
from annotation.common.services.statements import Known, Target
from annotation.judging.protocol.errors import (
    ClientIdReusedError,
    GradeNotOnScaleError,
    NotHeldError,
    NothingToUndoError,
    PoolClosedError,
    ReasonMissingError,
    SlotTokenError,
)
from annotation.judging.protocol.exchange import Span
from annotation.judging.services.claiming import ASIDE, LEASE
from annotation.judging.services.tokens import Shown
from annotation.models import Judgment, Pool, Question, Slot
from benchmarks_app.models import User

MAX_REASON = 200

# SQLite lets one writer in at a time, and makes the others sleep and try again, some of them for
# long. The threads of this process queue up here instead.
_line = threading.Lock()


@contextmanager
def turn_of(annotator_id: int) -> Iterator[None]:
    """A transaction in which nothing else of the same person is being written.

    Each person's writes come one after the other, and hold up nobody else.
    """
    with _in_line(), transaction.atomic():
        statements.wait_for_own_turn(annotator_id)
        yield


def _in_line() -> AbstractContextManager[object]:
    """Within a transaction that has begun, the database has let us in already."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return nullcontext()
    return _line


def record_judgment(
    *,
    slot: Slot,
    actor: User,
    grade: int,
    client_id: UUID,
    display: Shown,
    note: str = "",
    evidence: Sequence[Span] = (),
    confidence: str = "",
) -> Judgment:
    """Append a grade to the ledger; the same `client_id` of the same actor changes nothing.

    A grade that comes too late (others have the document by now and no further label is wanted, or
    the pool was closed) is kept as an extra label. A second grade for one's own document replaces
    the first.

    Raises
    ------
    GradeNotOnScaleError
        If the benchmark has no such grade.
    ClientIdReusedError
        If the client id stands for another judgment already.
    """
    label = graded(grade, note=note, evidence=evidence, confidence=confidence)
    with turn_of(actor.pk):
        saved = record(slot.pk, actor.pk, client_id, display, label)
    return saved if isinstance(saved, Judgment) else Judgment.objects.get(pk=saved.pk)


def record_cant_judge(
    *,
    slot: Slot,
    actor: User,
    reason: str,
    client_id: UUID,
    display: Shown,
    note: str = "",
    evidence: Sequence[Span] = (),
    confidence: str = "",
) -> Judgment:
    """Append that a document cannot be judged, and why; otherwise as `record_judgment`.

    A reason longer than its column is kept whole in the note.

    Raises
    ------
    ReasonMissingError
        If the reason is blank.
    """
    label = not_judged(reason, note=note, evidence=evidence, confidence=confidence)
    with turn_of(actor.pk):
        saved = record(slot.pk, actor.pk, client_id, display, label)
    return saved if isinstance(saved, Judgment) else Judgment.objects.get(pk=saved.pk)


def graded(
    grade: int, *, note: str = "", evidence: Sequence[Span] = (), confidence: str = ""
) -> dict[str, Any]:
    """The fields of a judgment that say a grade."""
    return {
        "kind": Judgment.Kind.GRADE,
        "grade": grade,
        "reason": "",
        "note": note,
        "evidence": [span.as_json() for span in evidence],
        "confidence": confidence,
    }


def not_judged(
    reason: str, *, note: str = "", evidence: Sequence[Span] = (), confidence: str = ""
) -> dict[str, Any]:
    """The fields of a judgment that say why there is no grade; see `record_cant_judge`."""
    reason = reason.strip()
    if not reason:
        raise ReasonMissingError
    reason, note = fitting(reason, note)
    label = graded(0, note=note, evidence=evidence, confidence=confidence)
    return {**label, "kind": Judgment.Kind.CANT_JUDGE, "grade": None, "reason": reason}


def fitting(reason: str, note: str = "") -> tuple[str, str]:
    """Reason and note; a reason longer than its column is cut, and kept whole in the note."""
    if len(reason) <= MAX_REASON:
        return reason, note
    return f"{reason[: MAX_REASON - 1]}…", f"{reason}\n{note}".strip()


# --- within a person's turn ----------------------------------------------------------------------


def record(
    slot: int,
    actor: int,
    client_id: UUID,
    display: Shown,
    label: dict[str, Any],
    pool: int | None = None,
) -> Judgment | Known:
    """Append what `graded` or `not_judged` made; see `record_judgment` for what may be wrong.

    `pool` is where the slot is expected to be. Whatever is refused is refused before anything is
    written.
    """
    earlier = statements.known(actor, client_id)
    if earlier:
        return _same(earlier, slot, label)
    # The slot's row is the fence between this judgment and a claim of it by somebody else.
    target = _target(slot, pool)
    if label["grade"] is not None:
        refuse_unknown_grade(target.benchmark, label["grade"])
    place = _filled(target, actor)
    judgment = Judgment(
        benchmark_id=target.benchmark,
        query_id=target.query,
        docid=target.docid,
        actor_id=actor,
        slot_id=place or slot,
        pool_id=target.pool,
        purpose=target.kind,
        client_id=client_id,
        supersedes_id=statements.own_label_before(target, actor),
        is_surplus=place is None,
        **label,
        **display.as_fields(),
    )
    statements.append(judgment)
    return judgment


def _target(slot: int, pool: int | None) -> Target:
    target = statements.targets([slot]).get(slot)
    if target is None or pool not in (None, target.pool):
        raise SlotTokenError
    return target


def refuse_unknown_grade(benchmark: int, grade: int) -> None:
    """Raise GradeNotOnScaleError for a grade that the benchmark's scale has not."""
    scale = statements.scale(benchmark)
    if grade not in scale:
        raise GradeNotOnScaleError(grade=grade, scale=", ".join(map(str, scale)))


def _same(earlier: Known, slot: int, values: dict[str, Any]) -> Known:
    """The judgment that was saved before, if this is a repetition of it and not another one."""
    is_it = earlier.slot is not None and statements.is_of_same_document([earlier.slot, slot])
    if not is_it or any(
        getattr(earlier, field) != values[field] for field in ("kind", "grade", "reason")
    ):
        raise ClientIdReusedError
    return earlier


def _filled(target: Target, actor: int) -> int | None:
    """The slot that a label of `actor` fills, marked as done; None for an extra label.

    A lease that ran out without anybody taking the document over still counts, and so does another
    place of the document that nobody has: the label is wanted.
    """
    if target.pool_state == Pool.State.CLOSED:
        return None
    own = statements.own_slot(target, actor)
    slot, is_done = own or (statements.free_slot(target), False)
    if slot is not None and not is_done:
        statements.finish(slot, actor)
    return slot


def undo_last(*, pool: Pool, actor: User, client_id: UUID) -> Judgment:
    """Take back one's newest judgment in a pool; otherwise as `take_back`."""
    with turn_of(actor.pk):
        return take_back(pool, actor.pk, client_id, None)


def take_back(pool: Pool, actor: int, client_id: UUID, undoes: UUID | None) -> Judgment:
    """Within a person's turn: take back one of their newest judgments in a pool.

    `undoes` is its client id; without it the newest is meant. Its document is theirs again. Returns
    the event that takes it back; the same `client_id` again takes back nothing more.

    Raises
    ------
    PoolClosedError
        If the pool is closed.
    NothingToUndoError
        If it is not among their newest `UNDOABLE`, or was taken back or replaced already.
    ClientIdReusedError
        If the client id stands for a label.
    """
    earlier = Judgment.objects.filter(actor=actor, client_id=client_id).first()
    if earlier:
        if earlier.kind != Judgment.Kind.RETRACT:
            raise ClientIdReusedError
        return earlier
    if Pool.objects.filter(pk=pool.pk, state=Pool.State.CLOSED).exists():
        raise PoolClosedError(pool=pool.name)
    last = last_judgment_of(pool, actor) if undoes is None else _named(pool, actor, undoes)
    if last is None:
        raise NothingToUndoError
    slot = cast(int, last.slot_id)  # what may be undone was given in one
    Slot.objects.select_for_update().get(pk=slot)
    Slot.objects.filter(pk=slot, annotator=actor, state=Slot.State.DONE).update(
        state=Slot.State.CLAIMED, lease_expires_at=Now() + LEASE, is_later=False
    )
    return Judgment.objects.create(
        benchmark_id=last.benchmark_id,
        query_id=last.query_id,
        docid=last.docid,
        kind=Judgment.Kind.RETRACT,
        actor_id=actor,
        slot_id=last.slot_id,
        pool_id=last.pool_id,
        purpose=last.purpose,
        supersedes=last,
        client_id=client_id,
    )


def _named(pool: Pool, actor: int, undoes: UUID) -> Judgment | None:
    undoable = undoable_judgments(pool.pk, actor)
    return next((judgment for judgment in undoable if judgment.client_id == undoes), None)


def put_off(*, slot: Slot, actor: User) -> None:
    """Show a document after the others of its query; the same again changes nothing.

    Raises
    ------
    NotHeldError
        If the document is no longer the person's.
    """
    with turn_of(actor.pk):
        put_off_now(slot.pk, actor.pk)


def put_off_now(slot: int, actor: int, pool: int | None = None) -> None:
    """Within a person's turn: see `put_off`."""
    _target(slot, pool)
    held_slot = Slot.objects.filter(pk=slot, annotator=actor, state=Slot.State.CLAIMED)
    if not held_slot.update(is_later=True, lease_expires_at=Now() + LEASE):
        raise NotHeldError


def ask_question(*, slot: Slot, actor: User, client_id: UUID, text: str) -> Question:
    """Ask the owner about a document, which is set aside until there is an answer, or for `ASIDE`.

    The same `client_id` again changes nothing. A question about a document that went to somebody
    else meanwhile is kept; only the document stays where it is.
    """
    with turn_of(actor.pk):
        return ask(slot.pk, actor.pk, client_id, text)


def ask(slot: int, actor: int, client_id: UUID, text: str, pool: int | None = None) -> Question:
    """Within a person's turn: see `ask_question`."""
    earlier = Question.objects.filter(asked_by=actor, client_id=client_id).first()
    if earlier:
        return earlier
    target = _target(slot, pool)
    if target.annotator == actor and target.state == Slot.State.CLAIMED:
        Slot.objects.filter(pk=slot).update(
            state=Slot.State.ASIDE, lease_expires_at=Now() + ASIDE, is_later=False
        )
    return Question.objects.create(
        entry_id=target.entry, slot_id=slot, asked_by_id=actor, client_id=client_id, text=text
    )


@transaction.atomic
def change_own_judgment(
    *,
    judgment: Judgment,
    actor: User,
    client_id: UUID,
    grade: int | None = None,
    reason: str = "",
    note: str = "",
) -> Judgment:
    """Judge a document anew that one has judged; the new event takes the place of the old one.

    How sure one was stays, and what one marked as evidence, where the text still is what it was.

    Raises
    ------
    PoolClosedError
        If the pool is not open.
    GradeNotOnScaleError
        If the benchmark has no such grade.
    """
    # One's own judgments were given in slots, which are in pools.
    slot, pool = cast(Slot, judgment.slot), cast(Pool, judgment.pool)
    if not Pool.objects.open().filter(pk=pool.pk).exists():
        raise PoolClosedError(pool=pool.name)
    content, guideline = content_of(slot), current_guideline(pool.benchmark)
    display = Shown(
        content_hash=content.content_hash if content else "",
        guideline_id=guideline.pk if guideline else None,
        shown_position=judgment.shown_position,
        view=Judgment.View.FULL,
        shown_chars=len(content.text) if content else None,
    )
    record = (
        partial(record_cant_judge, reason=reason)
        if grade is None
        else partial(record_judgment, grade=grade)
    )
    is_same_text = judgment.content_hash == display.content_hash
    return record(
        slot=slot,
        actor=actor,
        client_id=client_id,
        display=display,
        note=note,
        evidence=[Span(**span) for span in judgment.evidence] if is_same_text else (),
        confidence=judgment.confidence,
    )
