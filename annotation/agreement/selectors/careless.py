"""Signs of careless work in the pools of a benchmark: who, where, and by which figures."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import OuterRef, Subquery

from annotation.common.selectors.ledger import rule_events
from annotation.models import Judgment, KnownGrade, Pool, Slot
from benchmarks_app.models import AuditEvent, Benchmark, User
from benchwright.progress import careless
from benchwright.progress.careless import Read

# The newest labels of a benchmark; older ones were looked at when they were new.
NEWEST = 20_000
KEPT_SECONDS = 24 * 3600
COLUMNS = (
    *("pk", "actor_id", "pool_id", "query_id", "docid", "grade", "purpose"),
    *("dwell_ms", "shown_chars", "created_at", "known"),
)


class Kind(StrEnum):
    PACE = "pace"
    ONE_GRADE = "one-grade"
    CHECKS = "checks"
    OTHERS = "others"


@dataclass(frozen=True)
class CarelessSign:
    """Something to ask a person about before their labels in a pool are used.

    `n_labels` of theirs it is about; `figures` are what `words` is made of, by kind: pace
    `seconds`, `of`; one-grade `grade`, `n_queries`; checks `n_right`, `n`; others `n_same`, `n`,
    `kappa_high`.
    """

    annotator: User
    pool: Pool
    kind: Kind
    n_labels: int
    figures: Mapping[str, float]

    @property
    def url(self) -> str:
        """Where the pool's owner reads it."""
        return f"{self.pool.get_absolute_url()}#careless"

    @property
    def words(self) -> str:
        """What the figures say, as the rest of a sentence that begins with the person's name."""
        figures = {name: _readable(value) for name, value in self.figures.items()}
        return WORDS[self.kind].format(n_labels=f"{self.n_labels:,}", **figures)


WORDS = {
    Kind.PACE: "gave {n_labels} of {of} labels in {seconds} s each (median): faster than anybody "
    "skims these documents.",
    Kind.ONE_GRADE: "gave {n_queries} queries in a row, {n_labels} labels, grade {grade} alone.",
    Kind.CHECKS: "graded {n_right} of {n} hidden checks right.",
    Kind.OTHERS: "agrees with others on what is relevant as tossing a coin would: on {n_same} of "
    "{n} documents.",
}


def _readable(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.2g}"


def careless_signs(benchmark: Benchmark) -> list[CarelessSign]:
    """Every sign in the benchmark's pools, by pool, then by person; the strongest kind first.

    Computed anew when something was judged, or a known grade was set or forgotten. Labels that
    were replaced or taken back are no part of it, nor are labels from files. A person is held
    against those of whom there is no sign of their own: what a careless one says does not count
    against the others.
    """
    checks_changed = AuditEvent.objects.filter(
        benchmark=OuterRef("benchmark"), action__in=["known-grades", "known-grade-remove"]
    )
    newest = rule_events(benchmark).annotate(
        checks=Subquery(checks_changed.order_by("-pk").values("pk")[:1])
    )
    state = newest.order_by("-pk").values_list("pk", "checks").first()
    if state is None:
        return []
    kept_as = f"careless-{benchmark.pk}-{benchmark.created_at.timestamp()}-{state[0]}-{state[1]}"
    rows: list[tuple[Any, ...]] | None = cache.get(kept_as)
    if rows is None:
        rows = [*_signs(benchmark)]
        cache.set(kept_as, rows, KEPT_SECONDS)
    people = User.objects.in_bulk({person for person, *_ in rows})
    pools = Pool.objects.select_related("benchmark").in_bulk({pool for _, pool, *_ in rows})
    return [
        CarelessSign(people[person], pools[pool], Kind(kind), n_labels, figures)
        for person, pool, kind, n_labels, figures in rows
        if person in people and pool in pools
    ]


def careless_signs_in(pool: Pool) -> list[CarelessSign]:
    """Those of one pool."""
    return [sign for sign in careless_signs(pool.benchmark) if sign.pool.pk == pool.pk]


# --- reading -------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """A label as its columns in the ledger have it; `known` is the grade of a hidden check."""

    pk: int
    actor: int
    pool: int
    query: int
    docid: str
    grade: int
    purpose: str
    dwell_ms: int | None
    chars: int | None
    at: datetime
    known: int | None


@dataclass
class _Work:
    """What a person did in a pool, in the order they did it."""

    reads: list[Read] = field(default_factory=list)
    labels: list[Read] = field(default_factory=list)
    relevance: dict[tuple[int, str], bool] = field(default_factory=dict)
    checks: list[bool] = field(default_factory=list)


def _signs(benchmark: Benchmark) -> Iterator[tuple[int, int, str, int, dict[str, float]]]:
    relevant = set(benchmark.grades.filter(is_relevant=True).values_list("value", flat=True))
    for pool, rows in groupby(_rows(benchmark), key=lambda row: row.pool):
        works = _works(rows, relevant)
        alone = {person: [*_own_signs(person, works)] for person in sorted(works)}
        for person, signs in alone.items():
            others = {
                other: work for other, work in works.items() if other != person and not alone[other]
            }
            for kind, n_labels, figures in [*signs, *_beside(works[person], others)]:
                yield person, pool, kind, n_labels, figures


def _rows(benchmark: Benchmark) -> list[_Row]:
    """The newest labels from labeling pages, by pool in the order in which they were given."""
    known_grade = KnownGrade.objects.filter(entry__slots=OuterRef("slot")).values("grade")[:1]
    newest = (
        Judgment.objects.current()
        .filter(
            benchmark=benchmark,
            kind=Judgment.Kind.GRADE,
            rater="",
            pool__isnull=False,
            slot__isnull=False,
        )
        .exclude(purpose=Slot.Kind.PRACTICE)
        .annotate(known=Subquery(known_grade))
        .order_by("-pk")
        .values_list(*COLUMNS)[:NEWEST]
    )
    rows = [_Row(*row) for row in newest]
    return sorted(rows, key=lambda row: (row.pool, row.pk))


def _works(rows: Iterable[_Row], relevant: set[int]) -> dict[int, _Work]:
    works: dict[int, _Work] = defaultdict(_Work)
    before: dict[int, _Row] = {}
    for row in rows:
        work = works[row.actor]
        read = Read(row.query, row.grade, _seconds(row, before.get(row.actor)), row.chars)
        before[row.actor] = row
        work.reads.append(read)
        if row.purpose == Slot.Kind.GOLD:
            if row.known is not None:
                work.checks.append(row.grade == row.known)
        elif row.purpose != Slot.Kind.REPEAT:
            work.labels.append(read)
            work.relevance[row.query, row.docid] = row.grade in relevant
    return works


def _seconds(row: _Row, before: _Row | None) -> float | None:
    """The time the page measured; without its script, that since the person's label before.

    What a page had kept without a connection arrives at once: there the page's time counts alone.
    """
    if row.dwell_ms is not None:
        return row.dwell_ms / 1000
    if before is None or before.dwell_ms is not None:
        return None
    return (row.at - before.at).total_seconds()


# --- telling -------------------------------------------------------------------------------------


def _own_signs(
    person: int, works: Mapping[int, _Work]
) -> Iterator[tuple[Kind, int, dict[str, float]]]:
    """Signs of a person's own work, which need nobody to be right."""
    work = works[person]
    if hasty := careless.haste(work.reads):
        yield Kind.PACE, hasty.n_labels, {"seconds": hasty.seconds, "of": hasty.of}
    others = [
        grades
        for other, theirs in works.items()
        if other != person
        for grades in _by_query(theirs.labels)
    ]
    if row := careless.one_grade(work.labels, others):
        yield Kind.ONE_GRADE, row.n_labels, {"grade": row.grade, "n_queries": row.n_queries}
    n_right, n = sum(work.checks), len(work.checks)
    if careless.fails_checks(n_right, n):
        yield Kind.CHECKS, len(work.labels), {"n_right": n_right, "n": n}


def _by_query(labels: Iterable[Read]) -> list[list[int]]:
    grades_of: dict[int, list[int]] = defaultdict(list)
    for label in labels:
        grades_of[label.query].append(label.grade)
    return [*grades_of.values()]


def _beside(
    work: _Work, others: Mapping[int, _Work]
) -> Iterator[tuple[Kind, int, dict[str, float]]]:
    """Whether a person agrees with the others, of whom there is no sign of their own."""
    theirs: dict[tuple[int, str], list[bool]] = defaultdict(list)
    for other in others.values():
        for pair, is_relevant in other.relevance.items():
            theirs[pair].append(is_relevant)
    beside = careless.beside_others(work.relevance, theirs)
    if beside.is_chance:
        figures = {"n_same": beside.n_same, "n": beside.n, "kappa_high": beside.kappa_high}
        yield Kind.OTHERS, len(work.labels), figures
