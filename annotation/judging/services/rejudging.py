"""Asking again for labels that were given for a text which has changed since."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Max

from annotation.common.selectors.stale import not_offered, stale_labels
from annotation.judging.protocol.errors import PoolClosedError
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.common.services import audit
from benchmarks_app.models import User


@transaction.atomic
def offer_rejudging(*, pool: Pool, actor: User) -> int:
    """Queue every stale label of a pool to be given again, once; returns how many were queued.

    They come after what is in the queue already, in the order in which they were first given.

    Raises
    ------
    PoolClosedError
        If the pool is closed.
    """
    locked = Pool.objects.select_for_update().get(pk=pool.pk)
    if locked.state == Pool.State.CLOSED:
        raise PoolClosedError(pool=locked.name)
    stale = not_offered(stale_labels(locked)).select_related("slot")
    last = locked.slots.aggregate(last=Max("queue_position"))["last"] or 0
    offered = Slot.objects.bulk_create(_again(locked, stale, after=last))
    if offered:
        audit.record(
            actor=actor,
            action="offer-rejudging",
            benchmark=locked.benchmark,
            target=locked.name,
            n_labels=len(offered),
        )
    return len(offered)


def _again(pool: Pool, stale: Iterable[Judgment], *, after: int) -> list[Slot]:
    """One slot for each place whose label is stale, whoever gave it."""
    places = {
        (label.slot.entry_id, label.slot.round, label.slot.number): label
        for label in stale
        if label.slot
    }
    return [
        Slot(
            pool=pool,
            query_id=label.query_id,
            entry_id=entry,
            kind=Slot.Kind.REJUDGE,
            round=round_ + 1,
            number=number,
            queue_position=after + place,
        )
        for place, ((entry, round_, number), label) in enumerate(places.items(), start=1)
    ]
