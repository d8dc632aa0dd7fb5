"""Sharing the documents of a pool between people, so that none is handed out twice."""

from datetime import timedelta

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation import selectors
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.models import User

LEASE = timedelta(minutes=30)
# Activity renews a lease, but not at every key: the first five minutes need no write.
RENEWED_BELOW = timedelta(minutes=25)
DOCUMENTS_AHEAD = 6
ATTEMPTS = 3


def claim_slots(*, pool: Pool, annotator: User, n: int = DOCUMENTS_AHEAD) -> list[Slot]:
    """Lease up to `n` slots of one query to a person, those already held among them.

    The query the person is in the middle of comes first, one that somebody else is in the middle
    of last, the queue's order decides between others. Nobody gets an entry they have judged. Empty
    where the pool is not open or has nothing for this person.
    """
    for _ in range(ATTEMPTS):
        with transaction.atomic():
            slots = _claim(pool, annotator, n)
        # Where another person took every row between look and lock, the next look finds others.
        if slots or not selectors.claimable_by(pool, annotator).exists():
            break
    return selectors.in_shown_order(slots, annotator)


def _claim(pool: Pool, annotator: User, n: int) -> list[Slot]:
    if not Pool.objects.open().filter(pk=pool.pk).exists():
        return []
    _wait_for_own_claims(pool, annotator)
    query = _query_in_hand(pool, annotator) or _next_query(pool, annotator)
    if query is None:
        return []
    held = list(selectors.slots_held(pool, annotator).filter(query=query))
    _renew(held)
    taken = _take(pool, annotator, query, n - len(held))
    keys = [slot.pk for slot in [*held, *taken]]
    return list(Slot.objects.filter(pk__in=keys).select_related("pool", "query", "entry__document"))


def _wait_for_own_claims(pool: Pool, annotator: User) -> None:
    """Two tabs of one person claim one after the other; on SQLite all writers do anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            key = f"claim {pool.pk} {annotator.pk}"
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])


def _query_in_hand(pool: Pool, annotator: User) -> int | None:
    """The query of what the person holds, or else of their last judgment if it has more."""
    held = selectors.slots_held(pool, annotator).order_by("queue_position").first()
    if held:
        return held.query_id
    last = Judgment.objects.filter(actor=annotator, slot__pool=pool).order_by("-pk").first()
    if last is None:
        return None
    more = selectors.claimable_by(pool, annotator).filter(query=last.query_id)
    return last.query_id if more.exists() else None


def _next_query(pool: Pool, annotator: User) -> int | None:
    claimable = selectors.claimable_by(pool, annotator)
    others = selectors.queries_of_others(pool, annotator)
    first = _first_in_queue(claimable.exclude(query__in=others)) if others else None
    first = first or _first_in_queue(claimable)
    return first.query_id if first else None


def _first_in_queue(claimable: QuerySet[Slot]) -> Slot | None:
    """The earliest slot; each state is asked for alone, so that the index gives it in order."""
    heads = [
        claimable.filter(state=state).order_by("queue_position").first()
        for state in (Slot.State.FREE, Slot.State.CLAIMED)
    ]
    return min(filter(None, heads), key=lambda slot: slot.queue_position, default=None)


def _take(pool: Pool, annotator: User, query: int, n: int) -> list[Slot]:
    """Lease up to `n` more entries of the query, without rows that another claim has locked."""
    if n < 1:
        return []
    rows = (
        selectors.claimable_by(pool, annotator)
        .filter(query=query)
        .order_by("queue_position", "number")
        .select_for_update(skip_locked=True, of=("self",))
    )
    # An entry that wants several labels has several slots; one person gets one of them.
    one_each: dict[int, Slot] = {}
    for slot in rows[: n * pool.overlap]:
        one_each.setdefault(slot.entry_id, slot)
    taken = list(one_each.values())[:n]
    Slot.objects.filter(pk__in=[slot.pk for slot in taken]).update(
        state=Slot.State.CLAIMED, annotator=annotator, lease_expires_at=timezone.now() + LEASE
    )
    return taken


def _renew(held: list[Slot]) -> None:
    now = timezone.now()
    ageing = [slot.pk for slot in held if slot.lease_expires_at < now + RENEWED_BELOW]
    if ageing:
        Slot.objects.filter(pk__in=ageing).update(lease_expires_at=now + LEASE)


def release_slots(*, pool: Pool, annotator: User) -> int:
    """Give back every document the person holds in a pool; returns how many there were."""
    held = Slot.objects.filter(pool=pool, annotator=annotator, state=Slot.State.CLAIMED)
    return held.update(state=Slot.State.FREE, annotator=None, lease_expires_at=None)
