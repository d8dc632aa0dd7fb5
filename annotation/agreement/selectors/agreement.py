"""Labels of a benchmark as the agreement page measures them."""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any, cast

import numpy as np
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from annotation.agreement.selectors.by_slice import agreement_by_slice
from annotation.common.selectors.names import pseudonyms_in
from annotation.models import Judgment, KnownGrade
from benchmarks_app.models import Benchmark, QrelSet
from benchwright.agreement import advice, report
from benchwright.agreement.bootstrap import alpha_with_interval
from benchwright.agreement.coefficients import Level, percent_agreement
from benchwright.agreement.labels import Labels

# So many judgments are measured while somebody waits for the page; more, in the background.
AT_ONCE = 10_000
SEED = 20_26
COLUMNS = (
    "query_id",
    "docid",
    "pk",
    "actor_id",
    "rater",
    "grade",
    "guideline__version",
    "pool_id",
    "dwell_ms",
    "shown_chars",
    "view",
)


@dataclass(frozen=True)
class Filters:
    """Which judgments are measured: of one pool, and of a time (`until` is not in it)."""

    pool: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "pool": self.pool,
            "since": self.since and self.since.isoformat(),
            "until": self.until and self.until.isoformat(),
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Filters":
        moments = {
            name: datetime.fromisoformat(values[name]) if values[name] else None
            for name in ("since", "until")
        }
        return cls(values["pool"], **moments)

    def of(self, events: QuerySet[Judgment]) -> QuerySet[Judgment]:
        if self.pool is not None:
            events = events.filter(pool=self.pool)
        if self.since is not None:
            events = events.filter(created_at__gte=self.since)
        if self.until is not None:
            events = events.filter(created_at__lt=self.until)
        return events


def is_quick(benchmark: Benchmark, filters: Filters) -> bool:
    """Whether there are so few judgments that they can be measured at once."""
    events = filters.of(Judgment.objects.filter(benchmark=benchmark))
    return events.order_by()[: AT_ONCE + 1].count() <= AT_ONCE


@dataclass
class Columns:
    """What is known of each label, in the order of queries and documents."""

    rows: list[tuple[int, str, tuple[int, str], int]] = field(default_factory=list)
    events: array = field(default_factory=lambda: array("q"))
    guidelines: list[int | None] = field(default_factory=list)
    pools: list[int | None] = field(default_factory=list)
    seconds: array = field(default_factory=lambda: array("d"))
    chars: array = field(default_factory=lambda: array("q"))
    views: list[str] = field(default_factory=list)


def agreement_report(
    benchmark: Benchmark,
    filters: Filters,
    as_of: int,
    progress: Any = None,
) -> dict[str, Any]:
    """Everything the page says of the labels up to an event; people are (actor, name in a file)."""
    tell = progress or (lambda done, total, message: None)
    tell(0, 4, "reading judgments")
    scale, relevant_from = scale_of(benchmark)
    columns = _columns(_standing(benchmark, filters, as_of), set(scale))
    labels = Labels.from_rows(columns.rows, scale)
    tell(1, 4, "measuring agreement")
    facts = {
        "as_of": as_of,
        "made_at": timezone.now().isoformat(),
        "threshold": scale[relevant_from],
        **report.sizes(labels),
        "overall": report.overall(labels, relevant_from, np.random.default_rng(SEED)),
        "boundaries": report.boundaries(labels),
        "confusion": report.against_consensus(labels),
    }
    tell(2, 4, "looking at queries and annotators")
    facts |= {
        "queries": report.by_query(labels, relevant_from),
        "raters": report.by_rater(labels),
        "pairs": report.pairs(labels),
        "guidelines": _grouped(labels, columns.guidelines),
        "pools": _grouped(labels, columns.pools),
        "slices": agreement_by_slice(benchmark, labels),
    }
    tell(3, 4, "comparing with known grades")
    facts |= {
        "gold": _beside_known(_gold(benchmark, filters, as_of), scale),
        "repeats": _beside_known(_repeats(benchmark, filters, as_of), scale),
        "advice": _advice(labels, columns),
    }
    tell(4, 4, "done")
    return facts


def scale_of(benchmark: Benchmark) -> tuple[list[int], int]:
    """Every grade of the benchmark, ascending, and the position of the lowest relevant one."""
    scale = sorted(benchmark.grades.values_list("value", flat=True))
    relevant = benchmark.grades.filter(is_relevant=True).values_list("value", flat=True)
    return scale, scale.index(min(relevant)) if relevant else len(scale) - 1


def _standing(benchmark: Benchmark, filters: Filters, as_of: int) -> QuerySet[Judgment]:
    """Labels that nothing up to the event has replaced or taken back."""
    events = Judgment.objects.wanted().filter(
        Q(superseded_by=None) | Q(superseded_by__gt=as_of),
        benchmark=benchmark,
        pk__lte=as_of,
        kind__in=Judgment.LABELS,
    )
    return filters.of(events).order_by("query_id", "docid", "pk")


def _columns(events: QuerySet[Judgment], scale: set[int]) -> Columns:
    """The newest word of each rater about each pair, where it says a grade of the scale."""
    columns = Columns()
    rows = events.values_list(*COLUMNS).iterator(chunk_size=5000)
    for (query, docid), group in groupby(rows, key=lambda row: row[:2]):
        newest = {(row[3], row[4]): row for row in group}
        for rater, row in newest.items():
            if row[5] not in scale:
                continue
            columns.rows.append((query, docid, rater, row[5]))
            columns.events.append(row[2])
            columns.guidelines.append(row[6])
            columns.pools.append(row[7])
            columns.seconds.append((row[8] or 0) / 1000)
            columns.chars.append(row[9] or 0)
            columns.views.append(row[10])
    return columns


def _grouped(labels: Labels, keys: list[Any]) -> list[dict[str, Any]]:
    """Agreement by what the labels have in common; labels without it are left out."""
    names = sorted({key for key in keys if key is not None})
    seat = {name: place for place, name in enumerate(names)}
    groups = np.array([seat.get(key, -1) for key in keys], dtype=np.int64)
    return report.by_group(labels, groups, tuple(names))


# --- checks: known grades, and one's own from before ----------------------------------------------

Compared = Iterable[tuple[int, int, int]]


def _gold(benchmark: Benchmark, filters: Filters, as_of: int) -> Compared:
    """(person, grade given, grade known) of every hidden check."""
    checks = Judgment.objects.current().filter(
        benchmark=benchmark, pk__lte=as_of, purpose="gold", grade__isnull=False
    )
    known_grade = KnownGrade.objects.filter(entry__slots=OuterRef("slot")).values("grade")[:1]
    rows = filters.of(checks).annotate(known=Subquery(known_grade)).exclude(known=None)
    return cast(Compared, rows.values_list("actor_id", "grade", "known"))  # all have a grade


def _repeats(benchmark: Benchmark, filters: Filters, as_of: int) -> Compared:
    """(person, grade given again, grade given first) of every hidden repeat."""
    again = Judgment.objects.current().filter(
        benchmark=benchmark, pk__lte=as_of, purpose="repeat", grade__isnull=False
    )
    first = (
        Judgment.objects.current()
        .wanted()
        .filter(
            benchmark=benchmark,
            query=OuterRef("query"),
            docid=OuterRef("docid"),
            actor=OuterRef("actor"),
            kind=Judgment.Kind.GRADE,
        )
        .order_by("-pk")
        .values("grade")[:1]
    )
    rows = filters.of(again).annotate(known=Subquery(first)).exclude(known=None)
    return cast(Compared, rows.values_list("actor_id", "grade", "known"))  # all have a grade


def _beside_known(compared: Compared, scale: list[int]) -> list[dict[str, Any]]:
    place = {grade: position for position, grade in enumerate(scale)}
    by_person: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for person, own_grade, known_grade in compared:
        if own_grade in place and known_grade in place:
            by_person[person].append((place[own_grade], place[known_grade]))
    return [
        {"rater": (person, ""), **_with_known(rows, scale)}
        for person, rows in sorted(by_person.items(), key=lambda item: (-len(item[1]), item[0]))
    ]


def _with_known(rows: list[tuple[int, int]], scale: list[int]) -> dict[str, Any]:
    table = np.array(rows, dtype=np.int64)
    return report.with_known(table[:, 0], table[:, 1], scale)


# --- advice ---------------------------------------------------------------------------------------


def _advice(labels: Labels, columns: Columns) -> list[dict[str, Any]]:
    """What is worth a look, with a document to begin with."""
    if not len(labels):
        return []
    seconds = np.frombuffer(columns.seconds, dtype=np.float64)
    chars = np.frombuffer(columns.chars, dtype=np.int64)
    events = np.frombuffer(columns.events, dtype=np.int64)
    n = len(labels.rater_keys)
    paces = advice.paces(labels.raters, seconds, chars, labels.grades, n)
    hints: list[dict[str, Any]] = []
    for rater, key in enumerate(labels.rater_keys):
        own = np.flatnonzero(labels.raters == rater)
        own = own[np.argsort(events[own], kind="stable")]
        pace = paces[rater]
        if pace.is_unusual:
            timed = own[seconds[own] > 0]
            first = timed[seconds[timed].argmin()]
            hints.append(
                {**_hint("pace", key, columns, int(first)), "ratio": pace.ratio, "n": pace.n_labels}
            )
        streak = advice.longest_streak(labels.grades[own])
        if streak is not None and streak.is_unusual:
            facts = {"length": streak.length, "grade": labels.scale[streak.grade]}
            hints.append({**_hint("streak", key, columns, int(own[streak.start])), **facts})
        short = [int(i) for i in own if columns.views[i] == Judgment.View.EXCERPT]
        n_full = sum(columns.views[i] == Judgment.View.FULL for i in own)
        if advice.never_opens(len(short), n_full):
            longest = max(short, key=lambda i: columns.chars[i])
            hints.append({**_hint("unopened", key, columns, longest), "n": len(short)})
    return hints


def _hint(kind: str, rater: Any, columns: Columns, place: int) -> dict[str, Any]:
    query, docid, _, _ = columns.rows[place]
    return {"kind": kind, "rater": rater, "query": query, "docid": docid}


LabelRow = tuple[int, str, tuple[int, str], int]


def labels_behind(qrel_set: QrelSet) -> list[LabelRow]:
    """Query, document, rater and grade of each label that a set of qrels was derived from.

    Of one person's view these are that person's; of a set without some people, not theirs.
    """
    benchmark, parameters = qrel_set.benchmark, qrel_set.parameters
    events = _standing(benchmark, Filters(), qrel_set.as_of_event or 0)
    if "annotator" in parameters:
        own = _of_people(benchmark, events, [parameters["annotator"]])
        events = events.filter(own)
    elif left_out := parameters.get("without"):
        events = events.exclude(_of_people(benchmark, events, left_out))
    scale = benchmark.grades.values_list("value", flat=True)
    return _columns(events, set(scale)).rows


def _of_people(benchmark: Benchmark, events: QuerySet[Judgment], names: Iterable[str]) -> Q:
    """What people of the site, known by their pseudonyms, said themselves."""
    name, wanted_names = pseudonyms_in(benchmark), set(names)
    actors = events.filter(rater="").order_by().values_list("actor", flat=True).distinct()
    return Q(actor__in=[actor for actor in actors if name(actor) in wanted_names], rater="")


def agreement_summary(benchmark: Benchmark, rows: Iterable[LabelRow]) -> dict[str, Any]:
    """How much annotators agree, in a few numbers; None where it is undefined."""
    scale = sorted(benchmark.grades.values_list("value", flat=True))
    labels = Labels.from_rows(rows, scale)
    counts = labels.counts()
    alpha = alpha_with_interval(labels, Level.ORDINAL, np.random.default_rng(SEED))
    return {
        "alpha": alpha.value,
        "low": alpha.low,
        "high": alpha.high,
        "exact": percent_agreement(counts).value,
        "n_labels": int(counts.sum()),
        "n_doubled": int((counts.sum(axis=1) > 1).sum()),
        "n_annotators": len(set(labels.raters.tolist())),
    }
