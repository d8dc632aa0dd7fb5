"""Documents whose grade is known, and where such grades can be taken from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, When

from annotation.common.selectors.ledger import RATER
from annotation.common.selectors.screen import contents_of
from annotation.models import Judgment, KnownGrade, Pool, PoolEntry, Slot
from benchmarks_app.models import Query
from benchwright.qrels.events import SET_ASIDE

# A pair that this many people gave one grade is settled.
ENOUGH_PEOPLE = 2


def known_grades_of(pool: Pool, purpose: str = "") -> QuerySet[KnownGrade]:
    """The pool's known grades, the newest first; of one purpose if it is named.

    Each has `n_given`, how often it was graded as a check or for practice, and `n_right`, how often
    with this grade.
    """
    known_grades = KnownGrade.objects.filter(entry__pool=pool)
    if purpose:
        known_grades = known_grades.filter(purpose=purpose)
    checks = Q(
        entry__slots__judgments__purpose__in=[Slot.Kind.GOLD, Slot.Kind.PRACTICE],
        entry__slots__judgments__kind=Judgment.Kind.GRADE,
        entry__slots__judgments__superseded_by=None,
    )
    return (
        known_grades.annotate(
            n_given=Count("entry__slots__judgments", filter=checks),
            n_right=Count(
                "entry__slots__judgments",
                filter=checks & Q(entry__slots__judgments__grade=F("grade")),
            ),
            waits=Exists(
                Slot.objects.filter(
                    entry=OuterRef("entry"),
                    kind=Slot.Kind.LABEL,
                    state__in=Slot.TO_COME,
                )
            ),
        )
        .select_related("entry__query", "entry__document", "set_by")
        .order_by("-pk")
    )


def titles_of(known_grades: Iterable[KnownGrade]) -> dict[int, str]:
    """{document: its title, or the beginning of its text}."""
    contents = contents_of([known_grade.entry.document_id for known_grade in known_grades])
    return {key: content.title or content.text[:80] for key, content in contents.items()}


def counts_by_purpose(pool: Pool) -> dict[str, int]:
    rows = KnownGrade.objects.filter(entry__pool=pool).values("purpose").annotate(n=Count("pk"))
    return {row["purpose"]: row["n"] for row in rows.order_by()}


@dataclass(frozen=True)
class Settled:
    """A pair whose grade is beyond doubt: several gave it, or an adjudicator did."""

    query: Query
    docid: str
    grade: int
    n_people: int
    is_adjudicated: bool

    @property
    def key(self) -> str:
        return f"{self.query.pk} {self.docid}"


def settled_rows(pool: Pool) -> QuerySet[Judgment, Mapping[str, Any]]:
    """Rows of settled pairs of the pool that are not known grades yet: see `settled_pairs`.

    What an adjudicator found to have no grade is none of them, however many people agree.
    """
    is_known = KnownGrade.objects.filter(
        entry__pool=pool, entry__query=OuterRef("query"), entry__document__docid=OuterRef("docid")
    )
    in_pool = PoolEntry.objects.filter(
        pool=pool, query=OuterRef("query"), document__docid=OuterRef("docid")
    )
    labels = Judgment.objects.wanted().current().filter(benchmark=pool.benchmark_id)
    is_set_aside = Judgment.objects.current().filter(
        benchmark=pool.benchmark_id,
        query=OuterRef("query"),
        docid=OuterRef("docid"),
        kind=Judgment.Kind.ADJUDICATE,
        outcome__in=SET_ASIDE,
    )
    adjudicated = Case(When(kind=Judgment.Kind.ADJUDICATE, then="grade"))
    return (
        labels.filter(Exists(in_pool), grade__isnull=False)
        .exclude(Exists(is_known))
        .exclude(Exists(is_set_aside))
        .order_by()
        .values("query", "docid")
        .annotate(
            n=Count(RATER, distinct=True, filter=~Q(kind=Judgment.Kind.ADJUDICATE)),
            low=Min("grade"),
            high=Max("grade"),
            adjudicated=Max(adjudicated),
        )
        .filter(Q(n__gte=ENOUGH_PEOPLE, low=F("high")) | Q(adjudicated__isnull=False))
        .order_by("query", "docid")
    )


def settled_pairs(rows: Iterable[Mapping[str, Any]]) -> list[Settled]:
    """Rows of `settled_rows` with their queries."""
    rows = list(rows)
    queries = Query.objects.in_bulk([row["query"] for row in rows])
    return [
        Settled(
            query=queries[row["query"]],
            docid=row["docid"],
            grade=row["low"] if row["adjudicated"] is None else row["adjudicated"],
            n_people=row["n"],
            is_adjudicated=row["adjudicated"] is not None,
        )
        for row in rows
    ]
