"""Documents that look like any other and are there to learn about their assessor.

A check has a grade that is known; a repeat is a document that its assessor has judged before. Both
are slots of one person alone, made when that person's next documents are given out, and no label of
theirs becomes a qrel.
"""

import hashlib
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db.models import Max

from annotation.common.services import statements
from annotation.common.services.statements import Card
from annotation.models import Pool, Slot

# Slots that nobody else may take.
KINDS = [Slot.Kind.REPEAT, Slot.Kind.GOLD, Slot.Kind.PRACTICE]
# What was judged within as many labels is remembered too well to be asked again.
LABELS_BETWEEN = 20
# A handful would be noticed.
REPEATS_AT_ONCE = 2
CHECKS_AT_ONCE = 1


def checks(
    pool: Pool, me: int, query: int, cards: Sequence[Card], *, until: datetime
) -> list[Card]:
    """Documents of known grade of the query, as many as the pool's share still allows.

    A document whose own labels are not all there is no check yet: to give it as one would keep its
    assessor from giving a label that counts.
    """
    if not pool.gold_share or not cards:
        return []
    ready = statements.checks_ready(pool.pk, query, me)
    n = _n_allowed(pool, me, pool.gold_share, Slot.Kind.GOLD, len(cards)) if ready else 0
    chosen = sorted(ready, key=lambda entry: _drawn(pool, me, entry))[: min(n, CHECKS_AT_ONCE)]
    places = [cards[_drawn(pool, me, entry)[0] % len(cards)].position for entry in chosen]
    return _made(pool, me, Slot.Kind.GOLD, query, list(zip(chosen, places, strict=True)), until)


def repeats(pool: Pool, me: int, but: Collection[int | None], *, until: datetime) -> list[Card]:
    """Own labels of other queries to be given once more, as the pool's share still allows."""
    if not pool.repeat_share:
        return []
    n = min(_n_allowed(pool, me, pool.repeat_share, Slot.Kind.REPEAT, 0), REPEATS_AT_ONCE)
    if n < 1:
        return []
    queries = [query for query in but if query is not None]
    labels = statements.labels_to_repeat(pool.pk, me, but=queries, after=LABELS_BETWEEN)
    chosen = sorted(labels, key=lambda row: _drawn(pool, me, row[0]))[:n]
    cards = []
    for entry, query, position in chosen:
        cards += _made(pool, me, Slot.Kind.REPEAT, query, [(entry, position)], until)
    return cards


def _n_allowed(pool: Pool, me: int, share: float, kind: str, n_more: int) -> int:
    counts = statements.counts_of_kinds(pool.pk, me)
    return int(share * (counts.get(Slot.Kind.LABEL, 0) + n_more)) - counts.get(kind, 0)


def _drawn(pool: Pool, me: int, entry: int) -> bytes:
    return hashlib.sha256(f"{pool.seed} hidden {me} {entry}".encode()).digest()


def _made(
    pool: Pool, me: int, kind: str, query: int, places: list[tuple[int, int]], until: datetime
) -> list[Card]:
    """Slots of (entry, queue position); one that somebody else makes at this moment is left out."""
    for entry, position in places:
        numbers = Slot.objects.filter(entry=entry, kind=kind, round=1)
        slot = Slot(
            pool=pool,
            query_id=query,
            entry_id=entry,
            kind=kind,
            number=(numbers.aggregate(last=Max("number"))["last"] or 0) + 1,
            queue_position=position,
            annotator_id=me,
            lease_expires_at=until,
            state=Slot.State.CLAIMED,
        )
        Slot.objects.bulk_create([slot], ignore_conflicts=True)
    entries = {entry for entry, _ in places}
    if not entries:
        return []
    return [
        card
        for card in statements.held(pool.pk, me, renew_below=until)
        if card.kind == kind and card.entry in entries
    ]
