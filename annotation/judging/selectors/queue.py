"""An annotator's queue: what each pool has for them, asked for all pools at once."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q
from django.db.models.functions import Now
from django.utils import timezone

from annotation.common.selectors.pools import Due, due_of
from annotation.judging.selectors.work import (
    SHARED,
    Work,
    WorkState,
    budget_of,
    claimable_by,
    work_state,
)
from annotation.models import Judgment, Pool, PoolAnnotator, PoolStart, Slot
from benchmarks_app.models import User
from benchwright.progress.pace import Timed, typical_chars, typical_seconds

# Of all pools together; each needs only its latest.
LAST_LABELS = 2000


@dataclass(frozen=True)
class QueueRow:
    """`n_own` labels are this person's; `n_left` are those they could still give."""

    pool: Pool
    state: WorkState
    n_done: int
    n_own: int
    n_left: int
    has_begun: bool
    has_practised: bool
    seconds: float | None
    due: Due | None = None

    @property
    def share(self) -> float:
        return self.n_done / self.pool.n_wanted if self.pool.n_wanted else 0.0

    @property
    def hours_left(self) -> float | None:
        return None if self.seconds is None else self.n_left * self.seconds / 3600

    @property
    def minutes_left(self) -> float | None:
        return None if self.seconds is None else self.n_left * self.seconds / 60


def queue_rows(pools: Sequence[Pool], annotator: User) -> list[QueueRow]:
    """A row for each pool, those with documents to judge first; otherwise in the given order."""
    keys = [pool.pk for pool in pools]
    counts = {row["pool"]: row for row in _counts(keys, annotator)}
    seconds = _seconds(keys, annotator)
    starts = {start.pool_id: start for start in annotator.pool_starts.filter(pool__in=keys)}
    states = _states(pools, annotator, counts)
    rows = [
        _row(pool, states[pool.pk], counts.get(pool.pk, {}), seconds, starts.get(pool.pk))
        for pool in pools
    ]
    return sorted(rows, key=lambda row: row.state.work != Work.READY)


def _row(
    pool: Pool,
    state: WorkState,
    counts: dict[str, Any],
    seconds: dict[int, float | None],
    start: PoolStart | None,
) -> QueueRow:
    n_done, n_own = counts.get("n_done", 0), counts.get("n_own", 0)
    return QueueRow(
        pool=pool,
        state=state,
        n_done=n_done,
        n_own=n_own,
        n_left=max(min(pool.n_wanted - n_done, pool.n_entries - n_own), 0),
        has_begun=n_own > 0,
        has_practised=bool(start and start.practice_at),
        seconds=seconds.get(pool.pk),
        due=due_of(pool, timezone.now().date()),
    )


def _counts(pools: Sequence[int], annotator: User) -> Any:
    is_held = Q(state=Slot.State.CLAIMED, lease_expires_at__gt=Now())
    label, done = Q(kind=Slot.Kind.LABEL), Q(state=Slot.State.DONE)
    shared, practice = Q(kind__in=SHARED), Q(kind=Slot.Kind.PRACTICE)
    return (
        Slot.objects.filter(shared | Q(annotator=annotator), pool__in=pools)
        .order_by()
        .values("pool")
        .annotate(
            n_done=Count("pk", filter=label & done),
            n_own=Count("pk", filter=label & done & Q(annotator=annotator)),
            n_mine=Count("pk", filter=Q(annotator=annotator, state=Slot.State.CLAIMED) & ~practice),
            n_free=Count("pk", filter=shared & Slot.is_claimable()),
            n_open=Count("pk", filter=shared & ~Q(state__in=[Slot.State.DONE, *Slot.NOT_WANTED])),
            until=Min("lease_expires_at", filter=shared & is_held),
        )
    )


def _states(
    pools: Sequence[Pool], annotator: User, counts: dict[int, dict[str, Any]]
) -> dict[int, WorkState]:
    keys = [pool.pk for pool in pools]
    named: dict[int, set[int]] = defaultdict(set)
    for pool, person in PoolAnnotator.objects.filter(pool__in=keys).values_list(
        "pool", "annotator"
    ):
        named[pool].add(person)
    free = _pools_with_free(keys, annotator)
    return {
        pool.pk: work_state(pool, annotator)
        if budget_of(pool) is not None
        else _state(pool, annotator, named[pool.pk], pool.pk in free, counts.get(pool.pk, {}))
        for pool in pools
    }


def _pools_with_free(pools: Sequence[int], annotator: User) -> set[int]:
    """Pools with a document that this person may take."""
    free = claimable_by(annotator).filter(pool=OuterRef("pk")).order_by()
    return set(Pool.objects.filter(Exists(free), pk__in=pools).values_list("pk", flat=True))


def _state(
    pool: Pool, annotator: User, named: set[int], has_free: bool, counts: dict[str, Any]
) -> WorkState:
    """As `work_state`, from what was counted for all pools at once."""
    if not pool.benchmark.corpus.has_texts:
        return WorkState(Work.NO_TEXTS)
    if pool.state != Pool.State.OPEN:
        return WorkState(Work.PAUSED if pool.state == Pool.State.PAUSED else Work.CLOSED)
    if named and annotator.pk not in named:
        return WorkState(Work.NOT_ASSIGNED)
    n_open: int = counts.get("n_open", 0)
    if has_free or counts.get("n_mine", 0):
        return WorkState(Work.READY, n_open)
    return _why_nothing(n_open, counts)


def _why_nothing(n_open: int, counts: dict[str, Any]) -> WorkState:
    if not n_open:
        return WorkState(Work.FINISHED)
    if counts["n_free"]:
        return WorkState(Work.SECOND_PERSON, n_open)
    if counts["until"] is not None:
        return WorkState(Work.HELD, n_open, counts["until"])
    return WorkState(Work.WAITING_ANSWER, n_open)


def _seconds(pools: Sequence[int], annotator: User) -> dict[int, float | None]:
    """Median seconds of a label by pool, for documents of the length they have there."""
    rows = Judgment.objects.filter(actor=annotator).order_by("-pk")[:LAST_LABELS]
    times: dict[int, list[Timed]] = defaultdict(list)
    for pool, dwell, chars in rows.values_list("pool", "dwell_ms", "shown_chars"):
        if pool in pools and dwell is not None:
            times[pool].append(Timed(dwell / 1000, chars))
    return {
        pool: typical_seconds(own[:200], at_chars=typical_chars(own)) for pool, own in times.items()
    }
