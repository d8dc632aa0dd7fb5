"""Settling what annotators disagree about. An adjudicator's word is an event like any other."""

from uuid import UUID

from django.db import transaction
from django.db.models import F, Max

from annotation.agreement.selectors.adjudication import (
    CaseDetail,
    case_detail,
    decision_on,
    has_said_something,
)
from annotation.common.selectors.screen import current_guideline
from annotation.judging.protocol.errors import ClientIdReusedError, GradeNotOnScaleError
from annotation.judging.services.judging import fitting
from annotation.models import Judgment, Pool, PoolEntry, Slot
from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, Query, User
from benchmarks_app.permissions import Action, may
from benchwright.qrels.errors import (
    NoDisagreementError,
    NoSuchPickError,
    OverrideReasonError,
    OwnLabelError,
    ThirdOpinionError,
)

Outcome = Judgment.Outcome
GRADED = (Outcome.PICK, Outcome.OVERRIDE)


def case_to_settle(benchmark: Benchmark, query: Query, docid: str, user: User) -> CaseDetail | None:
    """What this person may settle: an open case, or for keepers any graded pair; None otherwise.

    Raises
    ------
    OwnLabelError
        If they have judged the document themselves.
    """
    case = case_detail(benchmark, query, docid)
    if case is None or not case.pair.labels:
        return None
    is_own_word = case.decision is not None and case.decision.actor_id == user.pk
    if not (case.is_open or is_own_word or may(user, Action.EDIT, benchmark)):
        return None
    if has_said_something(benchmark, query.pk, docid, user):
        raise OwnLabelError
    return case


@transaction.atomic
def adjudicate(
    *,
    benchmark: Benchmark,
    query: Query,
    docid: str,
    actor: User,
    outcome: str,
    client_id: UUID,
    grade: int | None = None,
    reason: str = "",
) -> Judgment:
    """Write down how a disagreement was settled; a later word about the pair replaces it.

    The same `client_id` of the same actor again changes nothing.

    Raises
    ------
    OwnLabelError
        If the actor has judged the document themselves.
    NoDisagreementError
        If nobody has graded it.
    GradeNotOnScaleError, NoSuchPickError, OverrideReasonError
        If the grade is none, was given by nobody, or is another one without a reason.
    ThirdOpinionError
        If no pool can ask for another label.
    """
    # Two adjudicators of one query settle one after the other.
    Query.objects.select_for_update(no_key=True).get(pk=query.pk)
    earlier = Judgment.objects.filter(actor=actor, client_id=client_id).first()
    if earlier:
        return _same(earlier, query, docid, outcome, grade)
    grades = _grades_to_settle(benchmark, query, docid, actor)
    if outcome in GRADED:
        _check_grade(benchmark, grades, outcome, grade, reason)
    elif outcome == Outcome.THIRD_OPINION:
        _ask_another(benchmark, query, docid)
    short_reason, note = fitting(reason.strip())
    decision = Judgment.objects.create(
        benchmark=benchmark,
        query=query,
        docid=docid,
        kind=Judgment.Kind.ADJUDICATE,
        outcome=outcome,
        grade=grade if outcome in GRADED else None,
        reason=short_reason,
        note=note,
        actor=actor,
        supersedes=decision_on(benchmark, query.pk, docid),
        client_id=client_id,
        guideline=current_guideline(benchmark),
    )
    audit.record(
        actor=actor,
        action="adjudicate",
        benchmark=benchmark,
        target=f"{query.qid} {docid}"[:200],
        outcome=outcome,
    )
    return decision


def _same(earlier: Judgment, query: Query, docid: str, outcome: str, grade: int | None) -> Judgment:
    """The word that was saved before, if this is a repetition of it and not another one."""
    is_same = (earlier.query_id, earlier.docid, earlier.outcome) == (query.pk, docid, outcome)
    if not is_same or (outcome in GRADED and earlier.grade != grade):
        raise ClientIdReusedError
    return earlier


def _grades_to_settle(benchmark: Benchmark, query: Query, docid: str, actor: User) -> list[int]:
    """The grades people gave, if there are any and this person's is none of them."""
    if has_said_something(benchmark, query.pk, docid, actor):
        raise OwnLabelError
    case = case_detail(benchmark, query, docid)
    if case is None or not case.pair.labels:
        raise NoDisagreementError
    return case.pair.grades


def _check_grade(
    benchmark: Benchmark, grades: list[int], outcome: str, grade: int | None, reason: str
) -> None:
    scale = sorted(benchmark.grades.values_list("value", flat=True))
    if grade not in scale:
        raise GradeNotOnScaleError(grade=grade, scale=", ".join(map(str, scale)))
    if outcome == Outcome.PICK and grade not in grades:
        raise NoSuchPickError(grade=grade)
    if outcome == Outcome.OVERRIDE and not reason.strip():
        raise OverrideReasonError


def _ask_another(benchmark: Benchmark, query: Query, docid: str) -> None:
    """One more label is wanted, of somebody who has not given one."""
    entries = PoolEntry.objects.filter(
        pool__benchmark=benchmark, query=query, document__docid=docid
    ).exclude(pool__state__in=[Pool.State.BUILDING, Pool.State.CLOSED])
    entry = entries.order_by("-pool_id").first()
    if entry is None:
        reason = "No pool that is open holds this document, so nobody can be asked about it."
        raise ThirdOpinionError(reason=f"{reason} Open its pool again, or settle it yourself.")
    labels = Slot.objects.filter(kind=Slot.Kind.LABEL)
    if labels.filter(entry__in=entries, state__in=Slot.TO_COME).exists():
        raise ThirdOpinionError(reason="Another label of this document is on its way already.")
    slots = labels.filter(entry=entry)
    highest = slots.aggregate(number=Max("number"), round=Max("round"))
    first = slots.order_by("queue_position").first()
    Slot.objects.create(
        pool_id=entry.pool_id,
        query=query,
        entry=entry,
        number=(highest["number"] or 0) + 1,
        round=highest["round"] or 1,
        # Early in the queue: somebody waits for it.
        queue_position=first.queue_position if first else entry.priority,
    )
    Pool.objects.filter(pk=entry.pool_id).update(n_wanted=F("n_wanted") + 1)
