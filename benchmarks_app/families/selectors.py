"""Reads of families: lists, one family with its links, what waits for review, what is known."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from benchmarks_app.common.selectors.words import holds
from benchmarks_app.models import (
    Benchmark,
    FamilyChange,
    FamilyLink,
    Grouping,
    QrelSet,
    Query,
    QueryFamily,
)
from benchmarks_app.prepared import prepared
from benchmarks_app.splits.selectors import relevant_documents
from benchwright.families import GroupingOptions, Known, Link, QueryText, Reason
from benchwright.families.holding import Held, weakest_needed
from benchwright.files.external_sort import batched
from benchwright.formats.numbers import row_key
from benchwright.texts.images import IMAGE_KEY, digests_in

ORDERS = {
    "doubt": ("-is_flagged", "-doubt", "-n_queries", "pk"),
    "size": ("-n_queries", "-doubt", "pk"),
    "id": ("pk",),
}
STATES = ("review", "reviewed", "several")
ROWS_PER_STATEMENT = 500
# Of `families_of`: more than one wording.
SEVERAL = Q(n_queries__gt=1)


def families_of(benchmark: Benchmark) -> QuerySet[QueryFamily]:
    """The families that have a query, each with how many (`n_queries`)."""
    of_benchmark = QueryFamily.objects.filter(benchmark=benchmark)
    committed = Q(queries__staged_by=None)
    return of_benchmark.annotate(n_queries=Count("queries", filter=committed)).filter(
        Q(n_queries__gt=0)
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

    `state` is one of `STATES`: "review" (waiting), "reviewed", "several" (more than one query); or
    "" for all.
    """
    families = families_of(benchmark)
    if state == "review":
        families = families.filter(is_flagged=True)
    elif state == "reviewed":
        families = families.filter(reviewed_at__isnull=False)
    elif state == "several":
        families = families.filter(SEVERAL)
    if split is not None:
        families = families.filter(split=split)
    if wanted:
        matches = Query.objects.committed().filter(
            holds("text", wanted) | Q(qid=wanted), benchmark=benchmark
        )
        families = families.filter(pk__in=matches.values("family"))
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
        n_several=families.filter(SEVERAL).count(),
        n_queries=Query.objects.committed().filter(benchmark=benchmark).count(),
        n_waiting=n_waiting(benchmark),
        n_reviewed=QueryFamily.objects.filter(
            benchmark=benchmark, reviewed_at__isnull=False
        ).count(),
    )


def n_waiting(benchmark: Benchmark) -> int:
    """How many families wait for a person to look at them."""
    return sum(_n_flagged(benchmark.pk))


@prepared
def _n_flagged(benchmark: int) -> QuerySet:
    flagged = QueryFamily.objects.filter(benchmark=benchmark, is_flagged=True)
    return flagged.values("benchmark").annotate(n=Count("pk")).values_list("n", flat=True)


def waiting_families(benchmark: Benchmark) -> QuerySet[QueryFamily]:
    """Those that wait for review, the most doubtful first."""
    waiting = QueryFamily.objects.filter(benchmark=benchmark, is_flagged=True)
    return waiting.order_by("-doubt", "pk")


def with_wordings(families: Iterable[QueryFamily], n: int = 3) -> list[QueryFamily]:
    """The families of `families_of`, each with its first wordings as `wordings`; two statements.

    `seen` is the family as it is shown, or "" where it has more wordings than are shown.
    """
    listed = list(families)
    queries: dict[int, list[Query]] = {family.pk: [] for family in listed}
    rows = Query.objects.committed().filter(family__in=queries).order_by("pk")
    for query in rows.only("pk", "qid", "text", "metadata", "lang", "family_id"):
        if len(queries[query.family_id]) < n:
            queries[query.family_id].append(query)
    for family in listed:
        family.wordings = queries[family.pk]
        is_whole = vars(family)["n_queries"] == len(family.wordings)
        family.seen = seen_as(query.pk for query in family.wordings) if is_whole else ""
    return listed


def seen_as(members: Iterable[int]) -> str:
    """What a form says of the family it was made from, so that a stale one is refused."""
    return ".".join(str(pk) for pk in sorted(members))


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


def links_out_of(family: QueryFamily, *, sees_grades: bool) -> list[FamilyLink]:
    """The strongest links to queries of other families."""
    touching = FamilyLink.objects.filter(
        Q(query_a__family=family) | Q(query_b__family=family), benchmark=family.benchmark_id
    ).exclude(query_a__family=F("query_b__family"))
    if not sees_grades:
        touching = touching.exclude(reason=TELLS_OF_GRADES)
    rows = touching.select_related("query_a", "query_b").order_by("-similarity", "pk")
    return list(rows[:20])


def changes_of(family: QueryFamily) -> list[FamilyChange]:
    """What was changed of a family, newest first."""
    of_benchmark = FamilyChange.objects.filter(benchmark=family.benchmark_id)
    key = str(family.pk)
    touched = of_benchmark.filter(Q(before__has_key=key) | Q(after__has_key=key))
    return list(touched.select_related("actor", "undone_by").order_by("-pk")[:20])


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
    columns = ("pk", "qid", "text", f"metadata__{IMAGE_KEY}", "family_id")
    for pk, qid, text, images, family in rows.values_list(*columns).iterator():
        keys[qid] = (pk, family)
        # One text with another image is another need: what an image holds is a word of it.
        words = " ".join([*([text] if text else []), *digests_in({IMAGE_KEY: images})])
        texts.append(QueryText(qid, words, frozenset(relevant.get(pk, ()))))
    return keys, texts


def known_of(benchmark: Benchmark) -> Known:
    """What files and people said of pairs, the earliest verdict first.

    A family whose members no link holds together came from elsewhere as one, and stays one.
    """
    links = FamilyLink.objects.filter(benchmark=benchmark)
    columns = ("query_a__qid", "query_b__qid", "reason", "similarity", "verdict")
    verdicts = links.exclude(verdict="").order_by("decided_at", "pk")
    same: list[tuple[str, str]] = []
    different: list[tuple[str, str]] = []
    for a, b, _, _, verdict in verdicts.values_list(*columns):
        (same if verdict == FamilyLink.Verdict.SAME else different).append((a, b))
    stated_links = links.filter(reason__in=[Reason.HAND, Reason.GIVEN]).exclude(
        verdict=FamilyLink.Verdict.DIFFERENT
    )
    pair_links = [
        Link(a, b, Reason(reason), similarity)
        for a, b, reason, similarity, _ in stated_links.order_by("pk").values_list(*columns)
    ]
    return Known(links=[*pair_links, *_unexplained(benchmark)], same=same, different=different)


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
    unexplained = []
    for pk in sorted(family_of, key=lambda pk: qid_of[pk].encode()):
        own = head.setdefault(family_of[pk], pk)
        if first(own) != first(pk):
            unexplained.append(Link(qid_of[own], qid_of[pk], Reason.GIVEN, 1.0))
            root[first(pk)] = first(own)
    return unexplained


def exposed_queries(queries: Iterable[int]) -> set[int]:
    """Those of the queries whose grades were public once."""
    exposed_pks: set[int] = set()
    for keys in batched(queries, ROWS_PER_STATEMENT):
        exposed = Query.objects.filter(pk__in=keys, exposed_at__isnull=False)
        exposed_pks.update(exposed.values_list("pk", flat=True))
    return exposed_pks


# --- for the pages ---------------------------------------------------------------------------

# A link without a verdict that says something of grades: for those who may see them.
TELLS_OF_GRADES = FamilyLink.Reason.RELEVANT


@dataclass(frozen=True)
class FamilyPicture:
    """A family as its page and the review page show it.

    `weakest` is the link in question: the weakest of those that hold the family together.
    """

    family: QueryFamily
    members: list[Query]
    links: list[FamilyLink]
    weakest: FamilyLink | None
    seen: str

    @property
    def pair(self) -> tuple[Query, Query] | None:
        """The two wordings in question, or the first two."""
        if self.weakest:
            return self.weakest.query_a, self.weakest.query_b
        return (self.members[0], self.members[1]) if len(self.members) > 1 else None

    @property
    def pair_links(self) -> list[FamilyLink]:
        """Every link between the two."""
        pair = {query.pk for query in self.pair or ()}
        return [link for link in self.links if {link.query_a_id, link.query_b_id} == pair]

    @property
    def others(self) -> list[Query]:
        """The members beside the two in question."""
        pair = {query.pk for query in self.pair or ()}
        return [query for query in self.members if query.pk not in pair]


def family_picture(family: QueryFamily, *, sees_grades: bool) -> FamilyPicture:
    members = members_of(family)
    keys = {query.pk for query in members}
    links = list(links_between(keys))
    held_links = [
        Held(
            link.query_a_id,
            link.query_b_id,
            1.0 if link.verdict == FamilyLink.Verdict.SAME else link.similarity,
        )
        for link in links
        if link.verdict != FamilyLink.Verdict.DIFFERENT
    ]
    weakest_links = weakest_needed(keys, held_links)
    visible = [link for link in links if sees_grades or link.reason != TELLS_OF_GRADES]
    weakest = next(
        (
            link
            for link in visible
            if weakest_links and (link.query_a_id, link.query_b_id) == weakest_links[:2]
        ),
        None,
    )
    seen = ".".join(str(pk) for pk in sorted(keys))
    return FamilyPicture(family, members, visible, weakest, seen)


def next_to_review(benchmark: Benchmark, after: int | None) -> QueryFamily | None:
    """The most doubtful family that waits, or the one that follows `after` in that order."""
    waiting = waiting_families(benchmark)
    last = QueryFamily.objects.filter(benchmark=benchmark, pk=after).first() if after else None
    if last is not None:
        later = waiting.filter(Q(doubt__lt=last.doubt) | Q(doubt=last.doubt, pk__gt=last.pk))
        return later.first() or waiting.exclude(pk=last.pk).first()
    return waiting.first()


def family_named(benchmark: Benchmark, name: str) -> QueryFamily | None:
    """The family of this number, or of the query with this id."""
    families = QueryFamily.objects.filter(benchmark=benchmark)
    query = benchmark.queries.committed().filter(qid=name).select_related("family").first()
    if query is not None:
        return query.family
    key = row_key(name)
    return None if key is None else families.filter(pk=key).first()
