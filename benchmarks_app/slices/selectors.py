"""Reads of slices: their members, sizes, and what is known of their queries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from django.db.models import Count, Max, Q, QuerySet, Sum

from benchmarks_app.models import Benchmark, Qrel, Slice, SliceMember
from benchmarks_app.queries.selectors import grades_set, relevant_grades, sliceable_queries
from benchmarks_app.result_facts import Reach, reach_of
from benchwright.slices.oversampling import Plan, oversampling_plan

MEMBER = Q(members__state=SliceMember.State.MEMBER, members__query__staged_by=None)
SUGGESTED = Q(members__state=SliceMember.State.SUGGESTED, members__query__staged_by=None)


def confirmed_members(slices: Iterable[Slice] | QuerySet[Slice]) -> QuerySet[SliceMember]:
    """The rows that put a query into one of these slices; suggestions are none."""
    return SliceMember.objects.filter(
        slice__in=slices, state=SliceMember.State.MEMBER, query__staged_by=None
    )


def slices_of(benchmark: Benchmark, *, is_registered: bool | None = None) -> dict[str, list[str]]:
    """{name: query ids} of the confirmed members, both by their bytes; also where there is none."""
    slices = Slice.objects.filter(benchmark=benchmark)
    if is_registered is not None:
        slices = slices.filter(is_registered=is_registered)
    names = dict(slices.values_list("pk", "name"))
    members: dict[str, list[str]] = {name: [] for name in sorted(names.values(), key=str.encode)}
    rows = confirmed_members(slices).values_list("slice_id", "query__qid")
    for slice_id, qid in rows.iterator(chunk_size=10_000):
        members[names[slice_id]].append(qid)
    return {name: sorted(qids, key=str.encode) for name, qids in members.items()}


def counted_slices(benchmark: Benchmark) -> QuerySet[Slice]:
    """The slices by name, each with `n_members` and `n_suggested`."""
    return (
        Slice.objects.filter(benchmark=benchmark)
        .annotate(
            n_members=Count("members", filter=MEMBER),
            n_suggested=Count("members", filter=SUGGESTED),
        )
        .order_by("name")
    )


@dataclass(frozen=True)
class Density:
    """How much is judged of a slice's queries, by one set of qrels."""

    n_queries_judged: int
    n_judged: int
    n_relevant: int


@dataclass(frozen=True)
class SliceRow:
    """A slice with all that lists show of it; `density` is None for who may not know."""

    slice: Slice
    n_members: int
    n_suggested: int
    share: float
    density: Density | None
    reach: Reach | None

    @property
    def judged_share(self) -> float:
        return self.density.n_queries_judged / self.n_members if self.density else 0.0

    @property
    def judged_per_query(self) -> float:
        return self.density.n_judged / self.n_members if self.density else 0.0

    @property
    def relevant_per_query(self) -> float:
        return self.density.n_relevant / self.n_members if self.density else 0.0

    @property
    def n_lacking(self) -> int:
        """How many members it lacks to be registered."""
        return max(0, self.slice.minimum - self.n_members)


def slice_rows(
    benchmark: Benchmark, *, has_density: bool, only: Slice | None = None
) -> list[SliceRow]:
    """The slices of a benchmark, by name, or one of them."""
    # A share is of the queries that no split leaves out, as they are counted beside it.
    asked = MEMBER & Q(members__query__excluded_reason="")
    slices = counted_slices(benchmark).annotate(n_asked=Count("members", filter=asked))
    chosen: list[Slice] = list(slices.filter(pk=only.pk) if only else slices)
    n_queries = sliceable_queries(benchmark).count()
    densities = _densities(benchmark, chosen) if has_density else {}
    names = {query_slice.name for query_slice in chosen}
    sets = {name: qids for name, qids in slices_of(benchmark).items() if name in names}
    reaches = reach_of(benchmark, {name: qids for name, qids in sets.items() if qids})
    rows = []
    for counted in chosen:
        numbers = ("n_members", "n_suggested", "n_asked")
        n_members, n_suggested, n_asked = (vars(counted)[name] for name in numbers)
        rows.append(
            SliceRow(
                slice=counted,
                n_members=n_members,
                n_suggested=n_suggested,
                share=n_asked / n_queries if n_queries else 0.0,
                density=densities.get(counted.pk) if n_members else None,
                reach=reaches.get(counted.name),
            )
        )
    return rows


def _densities(benchmark: Benchmark, slices: list[Slice]) -> dict[int, Density]:
    """By slice; empty where there are no grades yet."""
    grades = grades_set(benchmark)
    if grades is None:
        return {}
    in_slice = Q(
        query__slice_members__state=SliceMember.State.MEMBER,
        query__slice_members__slice__in=[each_slice.pk for each_slice in slices],
    )
    relevant = relevant_grades(benchmark)
    rows = (
        Qrel.objects.filter(in_slice, qrel_set=grades, grade__gte=0)
        .values("query__slice_members__slice")
        .annotate(
            n_queries=Count("query", distinct=True),
            n_judged=Count("pk"),
            n_relevant=Count("pk", filter=relevant),
        )
        .values_list("query__slice_members__slice", "n_queries", "n_judged", "n_relevant")
    )
    densities = {pk: Density(*numbers) for pk, *numbers in rows}
    return {each_slice.pk: densities.get(each_slice.pk, Density(0, 0, 0)) for each_slice in slices}


def plan_for(benchmark: Benchmark, rows: Sequence[SliceRow]) -> Plan | None:
    """What to add to the slices that are too small for a gate; None where none is."""
    n_wanted = {
        row.slice.name: row.reach.n_for_gate
        for row in rows
        if row.reach and row.n_members < row.reach.n_for_gate
    }
    if not n_wanted:
        return None
    members = slices_of(benchmark)
    queries = sliceable_queries(benchmark).values_list("qid", "weight")
    weights = dict(queries.iterator(chunk_size=10_000))
    known_weights = {qid: weight for qid, weight in weights.items() if weight is not None}
    return oversampling_plan(
        {name: members[name] for name in n_wanted}, n_wanted, list(weights), known_weights
    )


def n_by_state(of: Slice) -> dict[str, int]:
    """How many queries the slice has in each state."""
    rows = of.members.filter(query__staged_by=None).values_list("state").annotate(n=Count("pk"))
    return dict.fromkeys(SliceMember.State.values, 0) | dict(rows)


def member_rows(of: Slice, state: str) -> QuerySet[SliceMember]:
    """The queries of a slice in one state, with their texts, in the order they came."""
    rows = of.members.filter(state=state, query__staged_by=None)
    return rows.select_related("query", "decided_by").order_by("pk")


def member_row(of: Slice, pk: int) -> SliceMember | None:
    """One query of a slice with its text."""
    return of.members.filter(pk=pk).select_related("query", "decided_by").first()


def slice_query_keys(benchmark: Benchmark) -> dict[str, frozenset[int]]:
    """{name: primary keys of the confirmed members' queries}, by name, for joins."""
    slices = Slice.objects.filter(benchmark=benchmark)
    names = sorted(slices.values_list("name", flat=True), key=str.encode)
    members: dict[str, list[int]] = {name: [] for name in names}
    rows = confirmed_members(slices).values_list("slice__name", "query_id")
    for name, query_id in rows.iterator(chunk_size=10_000):
        members[name].append(query_id)
    return {name: frozenset(keys) for name, keys in members.items()}


def slices_mark(benchmark: Benchmark) -> str:
    """Changes with the benchmark's slices and their members: part of the name of what is kept."""
    members = confirmed_members(Slice.objects.filter(benchmark=benchmark))
    by_name = members.order_by("slice__name").values_list("slice__name")
    totals = by_name.annotate(n=Count("pk"), of_keys=Sum("pk"), last=Max("pk"))
    return sha256(repr(list(totals)).encode()).hexdigest()[:16]
