"""Reads of pools, slots and the ledger."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import (
    Count,
    Exists,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.core.rules import Event
from annotation.models import Judgment, Pool, PoolEntry, Slot
from benchmarks_app.models import Benchmark, DocumentContent, Guideline, Query, User
from benchmarks_app.permissions import ALLOWED, Action

SECONDS_PER_HOUR = 3600
DEFAULT_SECONDS = 20
# A median of fewer times says little; until then the stated seconds are used.
ENOUGH_TIMES = 20


# --- who may take which slot -------------------------------------------------------------------


def claimable_by(pool: Pool, annotator: User) -> QuerySet[Slot]:
    """Free and expired slots of entries that this person neither judged nor holds otherwise."""
    held_otherwise = Slot.objects.filter(entry=OuterRef("entry"), annotator=annotator)
    judged = Judgment.objects.current().filter(slot__entry=OuterRef("entry"), actor=annotator)
    return (
        Slot.objects.filter(pool=pool)
        .claimable()
        .exclude(Exists(held_otherwise.exclude(pk=OuterRef("pk"))))
        .exclude(Exists(judged))
    )


def slots_held(pool: Pool, annotator: User) -> QuerySet[Slot]:
    return Slot.objects.held_by(annotator).filter(pool=pool)


def queries_of_others(pool: Pool, annotator: User) -> list[int]:
    """Queries that somebody else is in the middle of: they hold documents of it now."""
    held = Slot.objects.filter(
        pool=pool, state=Slot.State.CLAIMED, lease_expires_at__gt=timezone.now()
    )
    return list(held.exclude(annotator=annotator).values_list("query", flat=True).distinct())


def in_shown_order(slots: Iterable[Slot], annotator: User) -> list[Slot]:
    """The leased slots shuffled, each person's own way and always the same."""

    def place(slot: Slot) -> bytes:
        return hashlib.sha256(f"{slot.pool.seed} {annotator.pk} {slot.entry_id}".encode()).digest()

    return sorted(slots, key=place)


class Work(StrEnum):
    """Whether a pool has a document for a person, and why not where it has none."""

    READY = "ready"
    FINISHED = "finished"
    SECOND_PERSON = "second_person"
    HELD = "held"
    PAUSED = "paused"
    CLOSED = "closed"
    NO_TEXTS = "no_texts"


@dataclass(frozen=True)
class WorkState:
    """`until` is when the next held document comes free, where others hold what is left."""

    work: Work
    n_left: int = 0
    until: datetime | None = None


def work_state(pool: Pool, annotator: User) -> WorkState:
    """What a pool has to do for a person."""
    if not pool.benchmark.corpus.has_texts:
        return WorkState(Work.NO_TEXTS)
    if pool.state != Pool.State.OPEN:
        return WorkState(Work.PAUSED if pool.state == Pool.State.PAUSED else Work.CLOSED)
    if slots_held(pool, annotator).exists() or claimable_by(pool, annotator).exists():
        return WorkState(Work.READY)
    return _why_nothing(pool)


def _why_nothing(pool: Pool) -> WorkState:
    open_slots = Slot.objects.filter(pool=pool).exclude(state=Slot.State.DONE)
    counts = open_slots.aggregate(
        n=Count("pk"),
        n_free=Count("pk", filter=Q(state=Slot.State.FREE)),
        until=Min("lease_expires_at"),
    )
    if not counts["n"]:
        return WorkState(Work.FINISHED)
    if counts["n_free"]:
        return WorkState(Work.SECOND_PERSON, counts["n"])
    return WorkState(Work.HELD, counts["n"], counts["until"])


# --- the labeling page -------------------------------------------------------------------------


def content_of(slot: Slot) -> DocumentContent | None:
    """What the document of a slot says now; None where the corpus has no texts."""
    return slot.entry.document.contents.order_by("-first_seen", "-pk").first()


def current_guideline(benchmark: Benchmark) -> Guideline | None:
    return benchmark.guidelines.order_by("-version").first()


@dataclass(frozen=True)
class Place:
    """Where a person is: the number of the document before them, from 1, of how many."""

    number: int
    total: int

    @property
    def share_done(self) -> float:
        return (self.number - 1) / self.total if self.total else 0.0


def place_in_query(slot: Slot, annotator: User) -> Place:
    """Documents of the query that are settled for this person, plus one, of all of them."""
    entries = PoolEntry.objects.filter(pool=slot.pool_id, query=slot.query_id)
    is_open = Exists(
        Slot.objects.filter(entry=OuterRef("pk")).exclude(state=Slot.State.DONE).order_by()
    )
    is_mine = Exists(
        Slot.objects.filter(entry=OuterRef("pk"), annotator=annotator, state=Slot.State.DONE)
    )
    counts = entries.aggregate(n=Count("pk"), n_left=Count("pk", filter=is_open & ~is_mine))
    return Place(counts["n"] - max(counts["n_left"], 1) + 1, counts["n"])


def labels_in_pool(pool: Pool) -> Place:
    """Which label of the pool comes next, of all it wants."""
    n_done = Slot.objects.filter(pool=pool, state=Slot.State.DONE).count()
    return Place(n_done + 1, pool.n_entries * pool.overlap)


def last_judgment_of(pool: Pool, annotator: User) -> Judgment | None:
    """The newest judgment that this person may undo."""
    own = Judgment.objects.current().filter(
        actor=annotator,
        slot__pool=pool,
        kind__in=[Judgment.Kind.GRADE, Judgment.Kind.CANT_JUDGE],
    )
    return own.order_by("-pk").first()


# --- pools -------------------------------------------------------------------------------------


def _n_slots(**conditions: Any) -> Coalesce:
    counted = (
        Slot.objects.filter(pool=OuterRef("pk"), **conditions)
        .order_by()
        .values("pool")
        .annotate(n=Count("pk"))
        .values("n")
    )
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def with_counts(pools: QuerySet[Pool]) -> QuerySet[Pool]:
    """Each pool with the labels it wants and has, counted by the database."""
    return pools.annotate(
        n_wanted=F("n_entries") * F("overlap"), n_done=_n_slots(state=Slot.State.DONE)
    )


def pools_of(benchmark: Benchmark) -> QuerySet[Pool]:
    return with_counts(Pool.objects.built().filter(benchmark=benchmark)).order_by("-pk")


def pools_to_judge(annotator: User) -> QuerySet[Pool]:
    """Open and paused pools of the benchmarks where this person judges, with their own count."""
    where = annotator.memberships.filter(role__in=ALLOWED[Action.JUDGE]).values("benchmark")
    pools = Pool.objects.filter(
        benchmark__in=where, state__in=[Pool.State.OPEN, Pool.State.PAUSED]
    ).select_related("benchmark")
    own = _n_slots(state=Slot.State.DONE, annotator=annotator)
    return with_counts(pools).annotate(n_own=own).order_by("benchmark__name", "pk")


@dataclass(frozen=True)
class PoolProgress:
    """How far a pool is: labels are wanted one for each slot, documents are judged once or more."""

    n_wanted: int
    n_done: int
    n_held: int
    n_entries: int
    n_judged: int
    n_cant_judge: int
    n_extra: int
    seconds: float
    is_measured: bool

    @property
    def n_left(self) -> int:
        return self.n_wanted - self.n_done

    @property
    def share(self) -> float:
        return self.n_done / self.n_wanted if self.n_wanted else 0.0

    @property
    def judged_share(self) -> float:
        return self.n_judged / self.n_entries if self.n_entries else 0.0

    @property
    def hours_left(self) -> float:
        return self.n_left * self.seconds / SECONDS_PER_HOUR

    @property
    def wanted(self) -> str:
        return f"{self.n_wanted:,}"

    @property
    def judged_note(self) -> str:
        return f"{self.n_judged:,} of {self.n_entries:,} documents have a grade"

    @property
    def seconds_note(self) -> str:
        how = "measured median" if self.is_measured else "as expected when it was built"
        return f"at {self.seconds:.0f} seconds a label, {how}"


def pool_progress(pool: Pool) -> PoolProgress:
    slots = Slot.objects.filter(pool=pool).aggregate(
        n=Count("pk"),
        n_done=Count("pk", filter=Q(state=Slot.State.DONE)),
        n_held=Count("pk", filter=Q(state=Slot.State.CLAIMED, lease_expires_at__gt=timezone.now())),
    )
    said = _current_labels(pool).aggregate(
        n_judged=Count("slot__entry", distinct=True, filter=Q(grade__isnull=False)),
        n_cant=Count("pk", filter=Q(kind=Judgment.Kind.CANT_JUDGE)),
        n_extra=Count("pk", filter=Q(is_surplus=True)),
    )
    measured = _median_seconds(pool)
    stated = pool.parameters.get("seconds", DEFAULT_SECONDS)
    return PoolProgress(
        n_wanted=slots["n"],
        n_done=slots["n_done"],
        n_held=slots["n_held"],
        n_entries=pool.n_entries,
        n_judged=said["n_judged"],
        n_cant_judge=said["n_cant"],
        n_extra=said["n_extra"],
        seconds=stated if measured is None else measured,
        is_measured=measured is not None,
    )


def _current_labels(pool: Pool) -> QuerySet[Judgment]:
    return Judgment.objects.current().filter(slot__pool=pool)


def _median_seconds(pool: Pool) -> float | None:
    """The lower median of the measured times of a label, or None while there are too few."""
    times = _current_labels(pool).filter(dwell_ms__isnull=False).order_by("dwell_ms")
    n_times = times.count()
    if n_times < ENOUGH_TIMES:
        return None
    return times.values_list("dwell_ms", flat=True)[(n_times - 1) // 2] / 1000


def people_of(pool: Pool) -> list[dict[str, Any]]:
    """Who judged how much, most first: person, n_grades, n_cant_judge, n_extra, last_at."""
    rows = list(
        _current_labels(pool)
        .order_by()
        .values("actor")
        .annotate(
            n_labels=Count("pk"),
            n_grades=Count("pk", filter=Q(grade__isnull=False)),
            n_cant_judge=Count("pk", filter=Q(kind=Judgment.Kind.CANT_JUDGE)),
            n_extra=Count("pk", filter=Q(is_surplus=True)),
            last_at=Max("created_at"),
        )
        .order_by("-n_labels", "actor")
    )
    people = User.objects.in_bulk([row["actor"] for row in rows])
    return [{**row, "person": people[row["actor"]]} for row in rows]


# --- the ledger --------------------------------------------------------------------------------


LABEL_KINDS = [
    Judgment.Kind.GRADE,
    Judgment.Kind.CANT_JUDGE,
    Judgment.Kind.RETRACT,
    Judgment.Kind.IMPORT,
]


def ledger_events(benchmark: Benchmark, as_of: int) -> Iterable[Event]:
    """The events up to `as_of`, those of a pair next to each other, streamed from the database.

    Labels that were entered from a file count as their importer's, who vouches for them; a
    machine's are a set of their own.
    """
    rows = (
        Judgment.objects.filter(benchmark=benchmark, pk__lte=as_of, kind__in=LABEL_KINDS)
        .order_by("query_id", "docid", "pk")
        .values_list("pk", "query__qid", "docid", "kind", "grade", "actor_id", "supersedes_id")
    )
    return (Event(*row) for row in rows.iterator(chunk_size=5000))


def query_keys(benchmark: Benchmark) -> dict[str, int]:
    """{qid: primary key} of the benchmark's queries."""
    return dict(Query.objects.committed().filter(benchmark=benchmark).values_list("qid", "pk"))


def n_events_since(benchmark: Benchmark, event: int) -> int:
    """How many judgments the ledger of a benchmark got after an event."""
    return Judgment.objects.filter(benchmark=benchmark, pk__gt=event).count()
