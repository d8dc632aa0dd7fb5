"""Which documents a person may take, which they hold, and why there are none."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from annotation.models import Judgment, Pool, PoolAnnotator, PoolEntry, Slot
from benchmarks_app.models import User

# What any allowed person may take; checks, repeats and practice are one person's alone.
SHARED = [Slot.Kind.LABEL, Slot.Kind.REJUDGE]
# Orders that choose the next documents by what was judged.
LEARNING = {Pool.Order.MTF, Pool.Order.MAXMEAN}


def claimable_by(annotator: User | int) -> QuerySet[Slot]:
    """Free and expired slots that this person may take, as `services.statements` takes them.

    A label of an entry that they have in no other way and gave no extra label; a document to be
    judged anew, unless they hold it or have done so already.
    """
    label = Q(kind=Slot.Kind.LABEL)
    own = Slot.objects.filter(entry=OuterRef("entry"), annotator=annotator)
    own = own.exclude(pk=OuterRef("pk"))
    anew = own.exclude(state=Slot.State.DONE) | own.filter(
        kind=OuterRef("kind"), round=OuterRef("round")
    )
    judged = Judgment.objects.current().filter(
        slot__entry=OuterRef("entry"), actor=annotator, rater=""
    )
    return (
        Slot.objects.filter(kind__in=SHARED)
        .claimable()
        .exclude(label & Exists(own))
        .exclude(label & Exists(judged.filter(is_surplus=True)))
        .exclude(Exists(anew))
    )


class Work(StrEnum):
    """Whether a pool has a document for a person, and why not where it has none."""

    READY = "ready"
    FINISHED = "finished"
    SECOND_PERSON = "second_person"
    HELD = "held"
    PAUSED = "paused"
    CLOSED = "closed"
    NO_TEXTS = "no_texts"
    NOT_ASSIGNED = "not_assigned"
    WAITING_ANSWER = "waiting_answer"


@dataclass(frozen=True)
class WorkState:
    """`until` is when the next held document comes free, where others hold what is left."""

    work: Work
    n_left: int = 0
    until: datetime | None = None


def work_state(pool: Pool, annotator: User | int) -> WorkState:
    """What a pool has to do for a person."""
    if not pool.benchmark.corpus.has_texts:
        return WorkState(Work.NO_TEXTS)
    if pool.state != Pool.State.OPEN:
        return WorkState(Work.PAUSED if pool.state == Pool.State.PAUSED else Work.CLOSED)
    if not is_assigned(pool, annotator):
        return WorkState(Work.NOT_ASSIGNED)
    slots = Slot.objects.filter(pool=pool, kind__in=SHARED).exclude(
        state__in=[Slot.State.DONE, *Slot.NOT_WANTED]
    )
    slots = slots.exclude(query__in=ended_queries(pool))
    own = Slot.objects.filter(pool=pool, annotator=annotator, state=Slot.State.CLAIMED)
    if own.exclude(kind=Slot.Kind.PRACTICE).exists():
        return WorkState(Work.READY, slots.count())
    if claimable_by(annotator).filter(pk__in=slots).exists():
        return WorkState(Work.READY, slots.count())
    return _why_nothing(slots)


def is_assigned(pool: Pool, annotator: User | int) -> bool:
    """Whether the pool is this person's to judge: named, or nobody is."""
    named = PoolAnnotator.objects.filter(pool=pool)
    return not named.exists() or named.filter(annotator=annotator).exists()


def budget_of(pool: Pool) -> int | None:
    """How many documents of a query are judged at most, where the order learns; None: all."""
    return pool.parameters.get("budget") if pool.order in LEARNING else None


def ended_queries(pool: Pool) -> list[int]:
    """Queries whose budget is judged or in somebody's hand: their other documents stay unread."""
    budget = budget_of(pool)
    if budget is None:
        return []
    begun = Slot.objects.filter(
        pool=pool,
        kind=Slot.Kind.LABEL,
        state__in=[Slot.State.CLAIMED, Slot.State.DONE, Slot.State.ASIDE],
        entry__origin=PoolEntry.Origin.RUN,
    )
    enough = begun.values("query").annotate(n=Count("entry", distinct=True)).filter(n__gte=budget)
    return list(enough.order_by().values_list("query", flat=True))


def _why_nothing(slots: QuerySet[Slot]) -> WorkState:
    is_held = Q(state=Slot.State.CLAIMED, lease_expires_at__gt=Now())
    counts = slots.aggregate(
        n=Count("pk"),
        n_open=Count("pk", filter=Slot.is_claimable()),
        n_held=Count("pk", filter=is_held),
        until=Min("lease_expires_at", filter=is_held),
    )
    if not counts["n"]:
        return WorkState(Work.FINISHED)
    if counts["n_open"]:
        return WorkState(Work.SECOND_PERSON, counts["n"])
    if counts["n_held"]:
        return WorkState(Work.HELD, counts["n"], counts["until"])
    return WorkState(Work.WAITING_ANSWER, counts["n"])
