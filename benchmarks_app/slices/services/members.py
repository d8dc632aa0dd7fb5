"""The queries of a slice, and what people say of those that were suggested."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from benchmarks_app.common.services import audit
from benchmarks_app.models import Benchmark, Slice, SliceMember, User
from benchmarks_app.models.slices import SMALLEST_SLICE
from benchmarks_app.slices.services.records import (
    insert_members,
    keys_of,
    refuse_name,
    refuse_registered,
    save_named,
)
from benchwright.errors import FileProblemsError, Problem
from benchwright.files.external_sort import batched

CONFIRM, REJECT = "confirm", "reject"


@transaction.atomic
def make_hand_slice(
    *,
    benchmark: Benchmark,
    name: str,
    qids: Sequence[str],
    actor: User,
    description: str = "",
    minimum: int = SMALLEST_SLICE,
) -> Slice:
    """A slice of the queries that somebody names.

    Raises
    ------
    SliceNameError, SliceTakenError
        If the name will not do.
    FileProblemsError
        If there are queries that the benchmark lacks; each is told.
    """
    row = save_named(
        Slice(
            benchmark=benchmark,
            name=refuse_name(benchmark, name),
            kind=Slice.Kind.HAND,
            description=description,
            minimum=max(minimum, SMALLEST_SLICE),
        )
    )
    _add_named(row, qids, actor)
    audit.record(actor=actor, action="make-slice", benchmark=benchmark, target=row.name)
    return row


@transaction.atomic
def add_queries(*, to: Slice, qids: Sequence[str], actor: User) -> int:
    """Put queries into a slice by hand; returns how many it did not have.

    Raises
    ------
    SliceRegisteredError
        If the slice is registered.
    FileProblemsError
        If there are queries that the benchmark lacks; each is told.
    """
    locked = Slice.objects.select_for_update().get(pk=to.pk)
    refuse_registered(locked, "members")
    n_new = _add_named(locked, qids, actor)
    audit.record(
        actor=actor, action="change-slice", benchmark=to.benchmark, target=to.name, added=n_new
    )
    return n_new


def _add_named(to: Slice, qids: Sequence[str], actor: User) -> int:
    keys = keys_of(to.benchmark, qids)
    problems = [
        Problem("queries", line, f"query '{qid}' is not in the benchmark. Drop it, or import it.")
        for line, qid in enumerate(qids, start=1)
        if qid not in keys
    ]
    if problems:
        raise FileProblemsError(problems=problems[:100], is_cut=len(problems) > 100)
    before = to.members.filter(state=SliceMember.State.MEMBER).count()
    _confirm(to.members.filter(query__in=keys.values()), actor)
    insert_members(
        SliceMember(slice=to, query_id=pk, source=SliceMember.Source.HUMAN, decided_by=actor)
        for pk in keys.values()
    )
    return to.members.filter(state=SliceMember.State.MEMBER).count() - before


@transaction.atomic
def decide_members(
    *, of: Slice, actor: User, verdict: str, members: Sequence[int] | None = None
) -> int:
    """Confirm or reject rows of a slice by their keys, or every suggestion where none are named.

    Raises
    ------
    SliceRegisteredError
        If the slice is registered.
    """
    locked = Slice.objects.select_for_update().get(pk=of.pk)
    refuse_registered(locked, "members")
    if members is None:
        n = _decide(locked.members.filter(state=SliceMember.State.SUGGESTED), verdict, actor)
    else:
        chosen = batched(members, 500)
        n = sum(_decide(locked.members.filter(pk__in=keys), verdict, actor) for keys in chosen)
    if n:
        audit.record(
            actor=actor,
            action=f"{verdict}-slice-members",
            benchmark=locked.benchmark,
            target=locked.name,
            n=n,
        )
    return n


def _decide(rows: Any, verdict: str, actor: User) -> int:
    if verdict == CONFIRM:
        return _confirm(rows, actor)
    rejected = rows.exclude(state=SliceMember.State.REJECTED)
    return rejected.update(state=SliceMember.State.REJECTED, decided_by=actor)


def _confirm(rows: Any, actor: User) -> int:
    others = rows.exclude(state=SliceMember.State.MEMBER, decided_by__isnull=False)
    return others.update(state=SliceMember.State.MEMBER, decided_by=actor)
