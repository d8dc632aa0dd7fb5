"""Reads of families: lists, one family with its links, what waits for review, what is known."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from benchmarks_app.core.batches import batched
from benchmarks_app.core.families import GroupingOptions, Known, Link, QueryText, Reason
from benchmarks_app.models import (
    Benchmark,
    FamilyChange,
    FamilyLink,
    Grouping,
    QrelSet,
    Query,
    QueryFamily,
)
from benchmarks_app.selectors.splits import relevant_documents

ORDERS = {
    "doubt": ("-is_flagged", "-doubt", "-n_queries", "pk"),
    "size": ("-n_queries", "-doubt", "pk"),
    "id": ("pk",),
}
SHOWN_LINKS = 400
ROWS_PER_STATEMENT = 500


def families_of(benchmark: Benchmark) -> QuerySet[QueryFamily]:
    """The families that have a query, each with how many (`n_queries`)."""
    of_benchmark = QueryFamily.objects.filter(benchmark=benchmark)
    committed = Q(queries__staged_by=None)
    return of_benchmark.annotate(n_queries=Count("queries", filter=committed)).filter(
        n_queries__gt=0
    )


def listed_families(
    benchmark: Benchmark,
    *,
    state: str = "",
    split: str | None = None,
    wanted: str = "",
    order: str = "doubt",
) -> QuerySet[QueryFamily]:
    """Families of a list: by what they wait for, by split, by words or id of one of their queries.

    `state` is "review" (waiting), "reviewed", "several" (more than one query) or "" for all.
    """
    families = families_of(benchmark)
    if state == "review":
        families = families.filter(is_flagged=True)
    elif state == "reviewed":
        families = families.filter(reviewed_at__isnull=False)
    elif state == "several":
        families = families.filter(n_queries__gt=1)
    if split is not None:
        families = families.filter(split=split)
    if wanted:
        found = Query.objects.committed().filter(
            Q(text__icontains=wanted) | Q(qid=wanted), benchmark=benchmark
        )
        families = families.filter(pk__in=found.values("family"))
    return families.order_by(*ORDERS.get(order, ORDERS["doubt"]))


@dataclass(frozen=True)
class FamilyCounts:
    """What the list says first."""

    n_families: int
    n_several: int
    n_queries: int
    n_waiting: int
    n_reviewed: int


def family_counts(benchmark: Benchmark) -> FamilyCounts:
    families = families_of(benchmark)
    return FamilyCounts(
        n_families=families.count(),
        n_several=families.filter(n_queries__gt=1).count(),
        n_queries=Query.objects.committed().filter(benchmark=benchmark).count(),
        n_waiting=n_waiting(benchmark),
        n_reviewed=QueryFamily.objects.filter(
            benchmark=benchmark, reviewed_at__isnull=False
        ).count(),
    )


def n_waiting(benchmark: Benchmark) -> int:
    """How many families wait for a person to look at them."""
    return QueryFamily.objects.filter(benchmark=benchmark, is_flagged=True).count()


def waiting_families(benchmark: Benchmark) -> QuerySet[QueryFamily]:
    """Those that wait for review, the most doubtful first."""
    waiting = QueryFamily.objects.filter(benchmark=benchmark, is_flagged=True)
    return waiting.order_by("-doubt", "pk")


def with_wordings(families: Iterable[QueryFamily], n: int = 3) -> list[QueryFamily]:
    """The families, each with its first wordings as `wordings`; two statements for all."""
    found = list(families)
    queries: dict[int, list[Query]] = {family.pk: [] for family in found}
    rows = Query.objects.committed().filter(family__in=queries).order_by("pk")
    for query in rows.only("pk", "qid", "text", "lang", "family_id"):
        if len(queries[query.family_id]) < n:
            queries[query.family_id].append(query)
    for family in found:
        family.wordings = queries[family.pk]
    return found


# --- one family ------------------------------------------------------------------------------


def members_of(family: QueryFamily) -> list[Query]:
    """Its queries, in the order of their ids."""
    return sorted(family.queries.committed(), key=lambda query: query.qid.encode())


def links_between(members: Collection[int]) -> QuerySet[FamilyLink]:
    """The links of queries with each other, the strongest first."""
    inside = FamilyLink.objects.filter(query_a__in=members, query_b__in=members)
    return inside.select_related("query_a", "query_b", "decided_by").order_by(
        F("similarity").desc(), "query_a_id", "query_b_id", "reason"
    )


def links_out_of(family: QueryFamily, n: int = 20) -> list[FamilyLink]:
    """The strongest links to queries of other families."""
    touching = FamilyLink.objects.filter(
        Q(query_a__family=family) | Q(query_b__family=family), benchmark=family.benchmark_id
    ).exclude(query_a__family=F("query_b__family"))
    rows = touching.select_related("query_a", "query_b").order_by("-similarity", "pk")
    return list(rows[:n])


def changes_of(family: QueryFamily, n: int = 20) -> list[FamilyChange]:
    """What was changed of a family, newest first."""
    of_benchmark = FamilyChange.objects.filter(benchmark=family.benchmark_id)
    key = str(family.pk)
    touched = of_benchmark.filter(Q(before__has_key=key) | Q(after__has_key=key))
    return list(touched.select_related("actor", "undone_by").order_by("-pk")[:n])


def last_change(benchmark: Benchmark, actor: Any) -> FamilyChange | None:
    """The newest change by this person that was not undone."""
    changes = FamilyChange.objects.filter(benchmark=benchmark, actor=actor, undone_by=None)
    return changes.exclude(kind=FamilyChange.Kind.UNDO).order_by("-pk").first()


def last_grouping(benchmark: Benchmark) -> Grouping | None:
    groupings = Grouping.objects.filter(benchmark=benchmark).select_related("created_by")
    return groupings.order_by("-pk").first()


def options_in_force(benchmark: Benchmark) -> GroupingOptions:
    """The options of the last grouping, or the defaults."""
    grouping = last_grouping(benchmark)
    if grouping is None:
        return GroupingOptions()
    return GroupingOptions.from_json(grouping.parameters.get("options") or {})


# --- for the grouping ------------------------------------------------------------------------


def texts_to_group(
    benchmark: Benchmark, qrel_set: QrelSet | None
) -> tuple[dict[str, tuple[int, int]], list[QueryText]]:
    """{query id: (primary key, family)}, and the queries as the grouping sees them."""
    relevant = relevant_documents(qrel_set) if qrel_set else {}
    rows = Query.objects.committed().filter(benchmark=benchmark).order_by("pk")
    keys, texts = {}, []
    for pk, qid, text, family in rows.values_list("pk", "qid", "text", "family_id").iterator():
        keys[qid] = (pk, family)
        texts.append(QueryText(qid, text, frozenset(relevant.get(pk, ()))))
    return keys, texts


def known_of(benchmark: Benchmark) -> Known:
    """What files and people said of pairs, the earliest verdict first.

    A family whose members no link holds together came from elsewhere as one, and stays one.
    """
    links = FamilyLink.objects.filter(benchmark=benchmark)
    columns = ("query_a__qid", "query_b__qid", "reason", "similarity", "verdict")
    said = links.exclude(verdict="").order_by("decided_at", "pk")
    same, different = [], []
    for a, b, _, _, verdict in said.values_list(*columns):
        (same if verdict == FamilyLink.Verdict.SAME else different).append((a, b))
    given = links.filter(reason__in=[Reason.HAND, Reason.GIVEN]).exclude(
        verdict=FamilyLink.Verdict.DIFFERENT
    )
    kept = [
        Link(a, b, Reason(reason), similarity)
        for a, b, reason, similarity, _ in given.order_by("pk").values_list(*columns)
    ]
    return Known(links=[*kept, *_unexplained(benchmark)], same=same, different=different)


def _unexplained(benchmark: Benchmark) -> list[Link]:
    """A given link from the first query of each family to every member that no link explains."""
    rows = Query.objects.committed().filter(benchmark=benchmark)
    family_of = dict(rows.values_list("pk", "family_id"))
    qid_of = dict(rows.values_list("pk", "qid"))
    root = {pk: pk for pk in family_of}

    def first(pk: int) -> int:
        while root[pk] != pk:
            root[pk] = pk = root[root[pk]]
        return pk

    links = FamilyLink.objects.filter(benchmark=benchmark).exclude(
        verdict=FamilyLink.Verdict.DIFFERENT
    )
    for a, b in links.values_list("query_a_id", "query_b_id").iterator():
        if a in root and b in root and family_of[a] == family_of[b]:
            root[first(b)] = first(a)
    head: dict[int, int] = {}
    found = []
    for pk in sorted(family_of, key=lambda pk: qid_of[pk].encode()):
        own = head.setdefault(family_of[pk], pk)
        if first(own) != first(pk):
            found.append(Link(qid_of[own], qid_of[pk], Reason.GIVEN, 1.0))
            root[first(pk)] = first(own)
    return found


def exposed_queries(queries: Iterable[int]) -> set[int]:
    """Those of the queries whose grades were public once."""
    found: set[int] = set()
    for keys in batched(queries, ROWS_PER_STATEMENT):
        exposed = Query.objects.filter(pk__in=keys, exposed_at__isnull=False)
        found.update(exposed.values_list("pk", flat=True))
    return found
