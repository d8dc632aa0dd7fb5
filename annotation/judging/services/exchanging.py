"""One exchange with a labeling page: what it says is written down, and what it lacks is given."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db import DatabaseError

from annotation.common.services import statements
from annotation.common.services.statements import Card
from annotation.judging.protocol.errors import NotSavedError
from annotation.judging.protocol.exchange import Do, Request, Said, client_id_of, said_of
from annotation.judging.selectors.work import Work, WorkState, work_state
from annotation.judging.services import judging
from annotation.judging.services.claiming import (
    claim,
    held_now,
    in_shown_order,
    n_at_hand,
    query_in_hand,
)
from annotation.judging.services.pacing import Saved, counts_of, progress
from annotation.judging.services.showing import items_of
from annotation.judging.services.tokens import key_of, opened_token
from annotation.models import Judgment, Pool, Slot
from benchmarks_app.language import told
from benchwright.errors import BenchmarkError

# A page gets more when so few are left, or when so many are missing: one by one would cost more.
REFILLED_AT = 2
GIVEN_FROM = 4
ATTEMPTS = 3
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one event; `again` is the slot that an undo gave back.

    `labels` is by how many labels the person has more, or fewer, for it, `purpose` the kind of
    document they are of; `is_extra` says that no place of the pool has them.
    """

    client_id: str
    state: str
    code: str = ""
    message: str = ""
    again: int | None = None
    labels: int = 0
    purpose: str = ""
    is_extra: bool = False

    def as_json(self) -> dict[str, str]:
        return {
            "client_id": self.client_id,
            "state": self.state,
            "code": self.code,
            "message": self.message,
        }


@dataclass(slots=True)
class Turn:
    """What one turn of a person came to."""

    outcomes: list[Outcome] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    pool_state: str = field(init=False)
    is_assigned: bool = field(init=False)


def exchange(*, pool: Pool, me: int, request: Request) -> dict[str, Any]:
    """Record every event on its own, then lease what the page wants; the answer as JSON.

    A refused event is told with its code and holds up no other. Repeating a request is safe: an
    event counts once, and documents that the page has already are not given again.
    """
    turn = _turn(pool, me, request)
    counted = progress(pool, me, _saved(turn))
    keys = {key_of(card.slot, me): card for card in turn.cards}
    again = {done.again for done in turn.outcomes}
    # While a pool is paused its documents stay whose they are, and are not shown.
    is_served = request.want and turn.pool_state == Pool.State.OPEN
    cards = [
        card
        for key, card in keys.items()
        if key not in request.have and (is_served or card.slot in again)
    ]
    return {
        "said": [done.as_json() for done in turn.outcomes],
        "items": items_of(pool, me, cards, turn.cards),
        "gone": sorted(request.have - keys.keys()),
        "work": _work(pool, me, turn),
        "progress": counted,
    }


def _turn(pool: Pool, me: int, request: Request) -> Turn:
    """One transaction for all; once more where the database gave up on it, at last in pieces."""
    for _ in range(ATTEMPTS):
        with suppress(DatabaseError), judging.turn_of(me):
            return _taken_turn(pool, me, request)
    outcomes = _recorded_in_pieces(pool, me, request.say)
    with judging.turn_of(me):
        turn = _taken_turn(pool, me, Request((), request.have, request.want))
    turn.outcomes = outcomes
    return turn


def _recorded_in_pieces(pool: Pool, me: int, say: Sequence[object]) -> list[Outcome]:
    """Each event in a transaction of its own: one that the database refuses holds up no other."""
    outcomes = []
    for raw in say:
        try:
            with judging.turn_of(me):
                outcomes.append(_recorded(pool, me, raw))
        except DatabaseError as error:
            log.exception("an event could not be saved")
            refusal = NotSavedError()
            outcomes.append(Outcome(client_id_of(raw), "refused", refusal.code, str(refusal)))
            last = error
    if outcomes and all(done.code == NotSavedError.code for done in outcomes):
        raise last
    return outcomes


def _taken_turn(pool: Pool, me: int, request: Request) -> Turn:
    if len(request.say) > 1:
        _lock_all(me, request.say)
    turn = Turn(outcomes=[_recorded(pool, me, raw) for raw in request.say])
    turn.pool_state, turn.is_assigned, now = statements.gate(pool.pk, me)
    turn.cards = held_now(pool, me, now=now)
    enough = max(REFILLED_AT, request.want - GIVEN_FROM)
    is_short = n_at_hand(turn.cards) <= min(enough, request.want - 1)
    may_take = turn.pool_state == Pool.State.OPEN and turn.is_assigned
    if may_take and is_short and pool.benchmark.corpus.has_texts:
        # At the end of a query the next one begins: the page always has what it wants ahead.
        turn.cards = claim(pool, me, request.want, turn.cards, now=now)
    elif turn.cards:
        turn.cards = in_shown_order(turn.cards, pool, me, query_in_hand(pool, me, turn.cards))
    return turn


def _work(pool: Pool, me: int, turn: Turn) -> dict[str, Any]:
    pool.state = turn.pool_state
    if turn.cards and turn.pool_state == Pool.State.OPEN:
        state = WorkState(Work.READY, counts_of(pool).n_left)
    else:
        state = work_state(pool, me)
    return {
        "state": state.work.value,
        "n_left": state.n_left,
        "until": state.until.isoformat() if state.until else None,
    }


# --- events --------------------------------------------------------------------------------------


def _lock_all(me: int, say: Sequence[object]) -> None:
    """Lock the documents of several events at once, in one order for everybody.

    Two people whose events cross (each has judged what the other has taken over) would otherwise
    wait for each other.
    """
    slots = set()
    for raw in say:
        try:
            event = said_of(raw)
            if event.token:
                slots.add(opened_token(event.token, me)[0])
        except BenchmarkError:
            continue
    statements.targets(sorted(slots))


def _recorded(pool: Pool, me: int, raw: object) -> Outcome:
    try:
        return _do(pool, me, said_of(raw))
    except BenchmarkError as error:
        return Outcome(client_id_of(raw), "refused", error.code, told(error))


def _do(pool: Pool, me: int, request: Said) -> Outcome:
    client_id = str(request.client_id)
    if request.do is Do.UNDO:
        is_known = statements.known(me, request.client_id) is not None
        event = judging.take_back(pool, me, request.client_id, request.undoes)
        undone = Outcome(client_id, "saved", again=event.slot_id)
        if is_known or event.supersedes is None:
            return undone
        is_extra = event.supersedes.is_surplus
        return replace(undone, labels=-1, purpose=event.purpose, is_extra=is_extra)
    slot, display = opened_token(request.token, me)
    if request.do is Do.LATER:
        judging.put_off_now(slot, me, pool.pk)
        return Outcome(client_id, "saved")
    if request.do is Do.ASK:
        judging.ask(slot, me, request.client_id, request.question, pool.pk)
        return Outcome(client_id, "saved")
    display = display.seen(view=request.view, dwell_ms=request.dwell_ms)
    fields = partial(judging.not_judged, request.reason)
    if request.do is Do.GRADE and request.grade is not None:
        fields = partial(judging.graded, request.grade)
    label = fields(note=request.note, evidence=request.evidence, confidence=request.confidence)
    saved = judging.record(slot, me, request.client_id, display, label, pool.pk)
    state = "extra" if saved.is_surplus else "saved"
    if not isinstance(saved, Judgment) or saved.supersedes_id:
        return Outcome(client_id, state)  # it was saved, or its document judged, and counted before
    return Outcome(client_id, state, labels=1, purpose=saved.purpose, is_extra=saved.is_surplus)


def _saved(turn: Turn) -> Saved:
    """What a count from before this turn lacks."""
    n = dict.fromkeys(("wanted", "uncounted", "extra"), 0)
    for done in turn.outcomes:
        is_wanted = done.purpose == Slot.Kind.LABEL
        kind = "extra" if done.is_extra else "wanted" if is_wanted else "uncounted"
        n[kind] += done.labels
    return Saved(n["wanted"], n["uncounted"], n["extra"])
