"""A file of slices: each line a slice and a query."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.urls import reverse

from benchmarks_app.collections.services import uploading
from benchmarks_app.collections.services.part_rows import said_apart
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, Slice, SliceMember, Upload, User
from benchmarks_app.slices.services.records import (
    insert_members,
    refuse_registered,
    registered_refusal,
)
from benchwright.errors import Problems
from benchwright.files.external_sort import batched
from benchwright.formats.errors import NothingImportedError
from benchwright.texts.counting import counted
from benchwright.uploads import Place
from benchwright.uploads.row_streams import slices_said

IMPORT_KIND = "import-slices"


@transaction.atomic
def start_import(*, benchmark: Benchmark, user: User, upload: Upload) -> Job:
    """Start a job that puts queries into slices as a file says."""
    job = jobs.start(benchmark=benchmark, user=user, **import_arguments(upload))
    audit.record(
        actor=user, action="import-slices", benchmark=benchmark, target=upload.name, job=job.pk
    )
    return job


def import_arguments(upload: Upload) -> dict[str, Any]:
    return {
        "kind": IMPORT_KIND,
        "title": f"Import slices from {upload.name}",
        "parameters": {"upload": upload.pk},
    }


def import_slices(job: jobs.RunningJob) -> None:
    """The handler: read the whole file, tell every wrong line, or else write all of it.

    Raises
    ------
    FileProblemsError
        If there are wrong lines.
    NothingImportedError
        If there is no line.
    """
    upload = Upload.objects.get(pk=job.parameters["upload"])
    benchmark, problems = job.benchmark, Problems()
    registered = Slice.objects.filter(benchmark=benchmark, is_registered=True)
    names = registered.values_list("name", flat=True)
    pk_of = dict(benchmark.queries.committed().values_list("qid", "pk"))
    slices = said_apart(
        problems,
        slices_said,
        Place(uploading.local(upload), upload.name),
        set(pk_of),
        {name: registered_refusal(name) for name in names},
    )
    problems.raise_found()
    if not slices:
        raise NothingImportedError(file=upload.name, what="slice")
    with job.commit() as result:
        for name, members in slices.items():
            import_members(benchmark, name, [pk_of[qid] for qid in members])
        n_rows = sum(map(len, slices.values()))
        result["made"] = [f"{counted(len(slices), 'slice')} with {counted(n_rows, 'query')} in all"]
        result["notes"] = [str(warning) for warning in problems.warnings]
        result["url"] = reverse("slice-list", args=[benchmark.slug])
        uploading.mark_imported(upload, "slices")


def import_members(benchmark: Benchmark, name: str, queries: Sequence[int]) -> None:
    row, _ = Slice.objects.get_or_create(
        benchmark=benchmark, name=name, defaults={"kind": Slice.Kind.IMPORT}
    )
    # Who registers it has the row as well, and counts the members that are there by then.
    into = Slice.objects.select_for_update().get(pk=row.pk)
    refuse_registered(into, "members")
    for keys in batched(queries, 500):
        known_members = into.members.filter(query__in=keys)
        # Who rejected a query has not confirmed it.
        known_members.exclude(state=SliceMember.State.MEMBER).update(decided_by=None)
        known_members.update(state=SliceMember.State.MEMBER, source=SliceMember.Source.IMPORT)
    insert_members(
        SliceMember(slice=into, query_id=pk, source=SliceMember.Source.IMPORT) for pk in queries
    )
