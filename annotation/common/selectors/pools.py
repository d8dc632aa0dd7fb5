"""Pools with their counts and their progress."""

from collections import Counter
from dataclasses import dataclass
from datetime import date
from itertools import chain, count
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Now

from annotation.models import Judgment, Pool, PoolEntry, Slot
from benchmarks_app.models import Benchmark, User
from benchmarks_app.permissions import ALLOWED, Action
from benchwright.progress.pace import in_seconds
from benchwright.recipes import pools as recipe

SECONDS_PER_HOUR = 3600
# A person's newest labels tell what was judged last.
LABELS_READ = 2000
DEFAULT_SECONDS: float = recipe.SECONDS.default


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
    return pools.annotate(n_done=_n_slots(state=Slot.State.DONE, kind=Slot.Kind.LABEL))


def pools_of(benchmark: Benchmark) -> QuerySet[Pool]:
    built = Pool.objects.built().filter(benchmark=benchmark).select_related("benchmark")
    return with_counts(built).order_by("-pk")


def labelled_for_estimates(benchmark: Benchmark) -> int:
    """How many documents have people's labels only as they were drawn to estimate runs."""
    drawn = PoolEntry.objects.filter(
        pool__benchmark=benchmark,
        pool__strategy=Pool.Strategy.ESTIMATE,
        origin=PoolEntry.Origin.RUN,
    )
    elsewhere = PoolEntry.objects.filter(query=OuterRef("query"), document=OuterRef("document"))
    labels = Judgment.objects.current().wanted().filter(grade__isnull=False)
    labels = labels.filter(
        benchmark=benchmark, query=OuterRef("query"), docid=OuterRef("document__docid")
    )
    alone = drawn.exclude(Exists(elsewhere.exclude(pool__strategy=Pool.Strategy.ESTIMATE)))
    return alone.filter(Exists(labels)).order_by().values("query", "document").distinct().count()


def n_not_asked(benchmark: Benchmark) -> int:
    """How many documents of a benchmark's pools people are spared by an audited rule, now."""
    spared = Slot.objects.filter(pool__benchmark=benchmark, state=Slot.State.SPARED).order_by()
    return spared.values("query", "entry__document").distinct().count()


def free_pool_name(benchmark: Benchmark, name: str) -> str:
    """The name, with a number behind it where the benchmark has a pool of that name."""
    pools = Pool.objects.built().filter(benchmark=benchmark, name__startswith=name)
    taken_names = set(pools.values_list("name", flat=True))
    numbered = (f"{name} ({n})" for n in count(2))
    return next(free for free in chain([name], numbered) if free not in taken_names)


def pools_to_judge(annotator: User) -> QuerySet[Pool]:
    """Open and paused pools of the benchmarks where this person judges.

    What is due comes first, by its day; then what was judged last, and the rest by its benchmark.
    """
    where = annotator.memberships.filter(role__in=ALLOWED[Action.JUDGE]).values("benchmark")
    pools = Pool.objects.filter(benchmark__in=where, state__in=[Pool.State.OPEN, Pool.State.PAUSED])
    own = Judgment.objects.filter(actor=annotator).order_by("-pk")
    newest_first = dict.fromkeys(own.values_list("pool", flat=True)[:LABELS_READ])
    places = [When(pk=key, then=Value(place)) for place, key in enumerate(newest_first) if key]
    # Without a place it would be a bare number, which PostgreSQL takes for that of a column.
    judged_last = (
        [Case(*places, default=Value(LABELS_READ), output_field=IntegerField())] if places else []
    )
    due_first = F("due_on").asc(nulls_last=True)
    return pools.select_related("benchmark__corpus").order_by(
        due_first, *judged_last, "benchmark__name", "pk"
    )


@dataclass(frozen=True)
class Due:
    """The day by which labels are wanted; `n_days` from today to it, below 0 once it is past."""

    on: date
    n_days: int

    @property
    def is_past(self) -> bool:
        return self.n_days < 0


def due_of(pool: Pool, today: date) -> Due | None:
    """None where a pool is due on no day."""
    return Due(pool.due_on, (pool.due_on - today).days) if pool.due_on else None


@dataclass(frozen=True)
class PoolProgress:
    """How far a pool is: labels are wanted one for each slot, less what was waived.

    `n_again` are labels to be given again, for texts that changed; they are not among the wanted.
    """

    n_wanted: int
    n_done: int
    n_held: int
    n_aside: int
    n_waived: int
    n_again: int
    n_again_done: int
    n_entries: int
    seconds: float
    is_measured: bool

    @property
    def n_left(self) -> int:
        """Labels still to be given, those to be given again among them."""
        return max(self.n_wanted - self.n_done, 0) + self.n_again - self.n_again_done

    @property
    def share(self) -> float:
        return self.n_done / self.n_wanted if self.n_wanted else 0.0

    @property
    def hours_left(self) -> float:
        return self.n_left * self.seconds / SECONDS_PER_HOUR

    @property
    def wanted(self) -> str:
        return f"{self.n_wanted:,}"

    @property
    def entries(self) -> str:
        return f"{self.n_entries:,}"

    @property
    def other_note(self) -> str:
        """What the number of labels leaves out."""
        n_again = self.n_again - self.n_again_done
        counts = [(self.n_waived, "waived"), (n_again, "to be judged again")]
        return ", ".join(f"{n:,} {what}" for n, what in counts if n)

    @property
    def held_note(self) -> str:
        words = "documents people hold"
        return f"{words}, {self.n_aside:,} wait for an answer" if self.n_aside else words

    @property
    def seconds_note(self) -> str:
        how = "measured" if self.is_measured else "as expected"
        return f"at {in_seconds(self.seconds)} seconds a label, {how}"


def pool_progress(pool: Pool, measured_seconds: float | None = None) -> PoolProgress:
    """Counted now; `measured_seconds` is the median that the labels tell, if they do."""
    counts = slot_counts(pool)
    label, again = Slot.Kind.LABEL, Slot.Kind.REJUDGE
    stated = pool.parameters.get("seconds", DEFAULT_SECONDS)
    return PoolProgress(
        n_wanted=pool.n_wanted,
        n_done=counts[label, Slot.State.DONE],
        n_held=_n_held(pool),
        n_aside=sum(n for (_, state), n in counts.items() if state == Slot.State.ASIDE),
        n_waived=pool.n_waived,
        n_again=sum(n for (kind, _), n in counts.items() if kind == again),
        n_again_done=counts[again, Slot.State.DONE] + counts[again, Slot.State.WAIVED],
        n_entries=pool.n_entries,
        seconds=stated if measured_seconds is None else measured_seconds,
        is_measured=measured_seconds is not None,
    )


def slot_counts(pool: Pool) -> Counter[tuple[str, str]]:
    """How many slots of each kind are in each state; those that are spared are as if never made.

    An index counts states without the rows. Where there are no more slots than labels were ever
    wanted, all of them are labels; only with others among them are the rows read.
    """
    slots = Slot.objects.filter(pool=pool).exclude(state=Slot.State.SPARED).order_by()
    states = slots.values("state").annotate(n=Count("*"))
    labels = {(str(Slot.Kind.LABEL), row["state"]): row["n"] for row in states}
    if sum(labels.values()) == pool.n_wanted + pool.n_waived:
        return Counter(labels)
    rows = slots.values("kind", "state").annotate(n=Count("*"))
    return Counter({(row["kind"], row["state"]): row["n"] for row in rows})


def _n_held(pool: Pool) -> int:
    """Documents on people's screens now."""
    claimed = Slot.objects.filter(pool=pool, state=Slot.State.CLAIMED)
    return claimed.filter(lease_expires_at__gt=Now()).count()
