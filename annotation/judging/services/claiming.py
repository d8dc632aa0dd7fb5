"""Sharing the documents of a pool between people, so that none is handed out twice.

Nobody locks a pool. A person's own requests wait for each other; between people, a slot goes to
whoever has its row first, and a row that somebody is at is passed over.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from annotation.common.selectors import holding
from annotation.common.services import hidden, statements
from annotation.common.services.statements import Card
from annotation.judging.protocol.shuffling import InHand, shown_order
from annotation.judging.selectors import work
from annotation.models import Pool, Question, Slot
from benchmarks_app.common.services import audit
from benchmarks_app.models import User
from benchwright.ids import LONGEST_NAME
from benchwright.pools.adaptive import BURN_IN, AdaptiveEntry, choose

LEASE = timedelta(seconds=settings.LEASE_SECONDS)
# Activity renews a lease, but not at every key: its first sixth needs no write.
RENEWED_BELOW = LEASE * 5 / 6
# A document that comes back with an answer waits longer for who asked.
ANSWER_LEASE = max(LEASE, timedelta(days=7))
# What was set aside for a question that nobody answers goes to others then.
ASIDE = timedelta(days=settings.ASIDE_DAYS)
DOCUMENTS_AHEAD = 6


def held_now(pool: Pool, me: int, *, now: datetime) -> list[Card]:
    """What a person holds in a pool, its lease renewed where it has begun to run out."""
    cards = statements.held(pool.pk, me, renew_below=now + RENEWED_BELOW)
    ageing = [card.slot for card in cards if card.is_ageing]
    if ageing:
        statements.renew(ageing, me, until=now + LEASE)
    return cards


def claim(pool: Pool, me: int, n: int, held: list[Card], *, now: datetime) -> list[Card]:
    """Lease up to `n` documents to a person, with what they hold, in the order to show.

    Within the person's turn and an open pool. The query the person is in the middle of comes first,
    one that somebody else is in the middle of last, the queue's order decides between others.
    Nobody gets an entry they have judged. Where their query has no more, the next one begins as
    well. Documents that were put off do not count as long as their query has others.
    """
    begun = query_in_hand(pool, me, held)
    cards = list(held)
    if n > n_at_hand(held):
        cards += _more(pool, me, n - n_at_hand(held), held, begun, now)
    return in_shown_order(cards, pool, me, begun)


def in_shown_order(cards: Iterable[Card], pool: Pool, me: int, begun: int | None) -> list[Card]:
    """The cards as this person sees them, who is in the middle of a query."""
    by_key = {card.entry: card for card in cards}
    documents = [
        InHand(card.entry, card.query, card.position, is_later=bool(card.is_later))
        for card in by_key.values()
    ]
    ordered = shown_order(documents, seed=pool.seed, person=me, first=begun)
    return [by_key[document.key] for document in ordered]


def _more(
    pool: Pool,
    me: int,
    n: int,
    held: Sequence[Card],
    begun: int | None,
    now: datetime,
) -> list[Card]:
    """Up to `n` more of the query in hand, and then of the next ones."""
    more = [] if begun is None else _take(pool, me, begun, n, now)
    passed = {card.query for card in [*held, *more]}
    while len(more) < n:
        query = _next_query(pool, me, passed, now, is_urgent=not held and not more)
        if query is None or query in passed:
            break
        passed.add(query)
        taken = _take(pool, me, query, n - len(more), now)
        if taken and query != begun:
            more += hidden.repeats(pool, me, {begun, query}, until=now + LEASE)
        more += taken
    return more


def n_at_hand(cards: Iterable[Card]) -> int:
    """How many of the cards were not put off."""
    return sum(not card.is_later for card in cards)


def query_in_hand(pool: Pool, me: int, cards: Sequence[Card]) -> int | None:
    """The query that the person is in the middle of: of what they hold, or else judged last."""
    queries = {card.query for card in cards}
    if len(queries) == 1:
        return queries.pop()
    last = statements.query_of_last_label(pool.pk, me)
    if not cards or last in queries:
        return last
    return cards[0].query


# --- the next query ------------------------------------------------------------------------------


def _next_query(
    pool: Pool, me: int, passed: Collection[int], now: datetime, *, is_urgent: bool
) -> int | None:
    """The first in the queue that nobody else is in the middle of; theirs only if `is_urgent`.

    Where families are shared out, the families this person should have come first; but a person
    who has nothing else to do gets whatever is left, so that no team, however small, comes to a
    standstill.
    """
    others = statements.queries_of_others(pool.pk, me, now=now)
    ended = work.ended_queries(pool)
    tries = [(family, {*passed, *ended, *others}) for family in _families(pool)]
    if is_urgent and others:
        tries += [(family, {*passed, *ended}) for family in _families(pool)]
    for family, but in tries:
        query = statements.first_open_query(
            pool.pk, pool.benchmark_id, me, now=now, but=but, family=family
        )
        if query is not None:
            return query
    return None


def _families(pool: Pool) -> tuple[str, ...]:
    """Which families come first for a person, by the pool's way to share them out."""
    return {
        Pool.Assignment.FAMILY_TO_ONE: ("mine", "nobody else's", "any"),
        Pool.Assignment.FAMILY_ROTATED: ("not mine", "any"),
    }.get(Pool.Assignment(pool.assignment), ("any",))


# --- documents of a query ------------------------------------------------------------------------


def _take(pool: Pool, me: int, query: int, n: int, now: datetime) -> list[Card]:
    """Lease up to `n` more entries of the query, without rows that another claim has locked."""
    if n < 1:
        return []
    if pool.order in work.LEARNING:
        taken = _take_by_learning(pool, me, query, n, now)
    else:
        wanted = n * (pool.overlap + (pool.double_share > 0))
        cards = statements.open_of_query(
            pool.pk, pool.benchmark_id, query, me, now=now, n=wanted, locked=True
        )
        taken = _one_each(cards)[:n]
        if taken:
            statements.take([card.slot for card in taken], me, until=now + LEASE)
    return taken + hidden.checks(pool, me, query, taken, until=now + LEASE)


def _one_each(cards: Iterable[Card]) -> list[Card]:
    """An entry that wants several labels has several slots; one person gets one of them."""
    first: dict[int, Card] = {}
    for card in cards:
        first.setdefault(card.entry, card)
    return [card._replace(is_later=False) for card in first.values()]


def _take_by_learning(pool: Pool, me: int, query: int, n: int, now: datetime) -> list[Card]:
    """As `_take`, the next documents chosen by what the query's judged ones turned out to be."""
    budget = work.budget_of(pool)
    if budget is not None:
        n = min(n, budget - statements.n_begun(pool.pk, query))
    many = pool.n_entries * (pool.overlap + 1)
    cards = statements.open_of_query(
        pool.pk, pool.benchmark_id, query, me, now=now, n=many, locked=False
    )
    within_reach = {card.entry: card for card in _one_each(cards)}
    entries = [
        AdaptiveEntry(key, contributors, best_rank or 0)
        for key, contributors, best_rank in statements.entries_of_query(pool.pk, query)
    ]
    burn_in = pool.parameters.get("burn_in")
    grades = statements.relevance_in_query(pool.pk, pool.benchmark_id, query)
    chosen = choose(
        entries,
        {key: is_relevant for key, is_relevant in grades.items() if key not in within_reach},
        order=pool.order,
        n=max(n, 0),
        burn_in=BURN_IN if burn_in is None else burn_in,
        held=[entry.key for entry in entries if entry.key not in within_reach],
    )
    arms = {within_reach[key].slot: arm for key, arm in chosen}
    still = [card._replace(is_later=False) for card in statements.open_still([*arms], now=now)]
    for card in still:
        statements.take([card.slot], me, until=now + LEASE, arm=arms[card.slot][:LONGEST_NAME])
    return still


# --- giving back ---------------------------------------------------------------------------------


def release_slots(*, pool: Pool, annotator: User) -> int:
    """Give back every document the person holds in a pool; returns how many there were."""
    return _release(pool, annotator, [Slot.State.CLAIMED])


@transaction.atomic
def release_slots_of(*, pool: Pool, annotator: User, actor: User) -> int:
    """Give back what somebody else holds, and what waits for an answer; returns how many."""
    n = _release(pool, annotator, [Slot.State.CLAIMED, Slot.State.ASIDE])
    if n:
        audit.record(
            actor=actor,
            action="release-documents",
            benchmark=pool.benchmark,
            target=pool.name,
            annotator=annotator.pk,
            n_documents=n,
        )
    return n


def release_all_slots(annotator: int, benchmark: int | None = None) -> int:
    """Give back what somebody holds or has set aside, in a benchmark or in all; returns how many.

    For who judges there no more: nobody would answer them, and nobody wait.
    """
    where = {} if benchmark is None else {"pool__benchmark": benchmark}
    states = [Slot.State.CLAIMED, Slot.State.ASIDE]
    return _given_back(Slot.objects.filter(annotator=annotator, state__in=states, **where))


def _release(pool: Pool, annotator: User, states: list[str]) -> int:
    return _given_back(Slot.objects.filter(pool=pool, annotator=annotator, state__in=states))


def _given_back(held: QuerySet[Slot]) -> int:
    """Documents that are there for one person alone stay theirs, for when they come again."""
    own = held.filter(kind__in=hidden.KINDS, state=Slot.State.CLAIMED)
    own.update(lease_expires_at=Now())
    return held.exclude(kind__in=hidden.KINDS).update(
        state=Slot.State.FREE, annotator=None, lease_expires_at=None, is_later=False, arm=""
    )


@transaction.atomic
def return_slot(*, question: Question) -> bool:
    """Give a document that was set aside for a question back to who asked it.

    False where it no longer waits: the owner gave it back to the others, or it was judged.
    """
    waiting = Slot.objects.filter(
        pk=question.slot_id, annotator=question.asked_by_id, state=Slot.State.ASIDE
    )
    n = waiting.update(
        state=Slot.State.CLAIMED, lease_expires_at=Now() + ANSWER_LEASE, is_later=False
    )
    return bool(n)


@transaction.atomic
def waive_double_labels(*, pool: Pool, actor: User) -> int:
    """No longer want the further labels of documents that have a grade; returns how many.

    Labels that somebody is about to give stay wanted.
    """
    n = holding.second_labels(pool).update(
        state=Slot.State.WAIVED, annotator=None, lease_expires_at=None, is_later=False, arm=""
    )
    if n:
        Pool.objects.filter(pk=pool.pk).update(
            n_wanted=F("n_wanted") - n, n_waived=F("n_waived") + n
        )
        audit.record(
            actor=actor,
            action="waive-double-labels",
            benchmark=pool.benchmark,
            target=pool.name,
            n_labels=n,
        )
    return n
