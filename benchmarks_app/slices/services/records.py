"""The rows of slices and of their queries, as all that changes slices needs them."""

import hashlib
from collections.abc import Iterable

from django.db import IntegrityError, transaction

from benchmarks_app.models import Benchmark, Query, Slice, SliceMember
from benchwright.files.external_sort import batched
from benchwright.slices.errors import SliceRegisteredError, SliceTakenError
from benchwright.slices.names import checked_name

ROWS_PER_BATCH = 2_000


def refuse_name(benchmark: Benchmark, name: str, but: Slice | None = None) -> str:
    name = checked_name(name)
    others = Slice.objects.filter(benchmark=benchmark, name=name)
    if but is not None:
        others = others.exclude(pk=but.pk)
    if others.exists():
        raise SliceTakenError(name=name)
    return name


def save_named(row: Slice) -> Slice:
    """Save a slice whose name was free: somebody else may have chosen it at this moment.

    Raises
    ------
    SliceTakenError
        If they have.
    """
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise SliceTakenError(name=row.name) from error
    return row


def refuse_registered(of: Slice, what: str) -> None:
    if of.is_registered:
        raise SliceRegisteredError(name=of.name, what=what)


def registered_refusal(name: str) -> str:
    return str(SliceRegisteredError(name=name, what="members"))


def keys_of(benchmark: Benchmark, qids: Iterable[str]) -> dict[str, int]:
    wanted_qids = set(qids)
    rows = Query.objects.committed().filter(benchmark=benchmark).values_list("qid", "pk")
    return {qid: pk for qid, pk in rows.iterator(chunk_size=10_000) if qid in wanted_qids}


def insert_members(rows: Iterable[SliceMember]) -> None:
    for batch in batched(rows, ROWS_PER_BATCH):
        SliceMember.objects.bulk_create(batch, ignore_conflicts=True)


def members_of(of: Slice) -> list[str]:
    """Ids of the confirmed members, by their bytes."""
    members = of.members.filter(state=SliceMember.State.MEMBER, query__staged_by=None)
    return sorted(members.values_list("query__qid", flat=True), key=str.encode)


def members_digest(qids: Iterable[str]) -> str:
    """The SHA-256 of the members' ids, a line each, by their bytes."""
    ordered = sorted(qid.encode() for qid in qids)
    return hashlib.sha256(b"".join(qid + b"\n" for qid in ordered)).hexdigest()
