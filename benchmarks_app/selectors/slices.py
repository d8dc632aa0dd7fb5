"""Reads of slices: their members, sizes, and what is known of their queries."""

from collections.abc import Iterable

from django.db.models import Count, Q, QuerySet

from benchmarks_app.models import Benchmark, Slice, SliceMember

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
    found: dict[str, list[str]] = {name: [] for name in sorted(names.values(), key=str.encode)}
    rows = confirmed_members(slices).values_list("slice_id", "query__qid")
    for slice_id, qid in rows.iterator(chunk_size=10_000):
        found[names[slice_id]].append(qid)
    return {name: sorted(qids, key=str.encode) for name, qids in found.items()}


def counted_slices(benchmark: Benchmark) -> QuerySet[Slice]:
    """The slices by name, each with `n_members` and `n_suggested`."""
    return Slice.objects.filter(benchmark=benchmark).annotate(
        n_members=Count("members", filter=MEMBER),
        n_suggested=Count("members", filter=SUGGESTED),
    )
