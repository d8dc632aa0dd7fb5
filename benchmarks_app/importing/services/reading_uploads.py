"""Reading a waiting file to its end, before it is called ready."""

from typing import Any

from benchmarks_app.collections.services import uploading
from benchmarks_app.common.selectors.reading import unknown_names
from benchmarks_app.importing.services.importing import short_name
from benchmarks_app.importing.services.previewing_uploads import Preview, parts_said, preview
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, Upload, User
from benchwright.errors import Problem
from benchwright.uploads import Look

JOB_KIND = "read-upload"
# What is read while somebody waits for the page; more is read by a job.
READ_AT_ONCE = 8 << 20
PROBLEMS_KEPT = UNKNOWN_KEPT = 100
# Limits of which a job has higher ones than a page (`reading_apart.limits`).
HIGHER_IN_JOBS = ("cpu", "silence", "answer")


def begin_reading(upload: Upload, user: User) -> None:
    """Read a file to its end: a small one now, a large one by a job, if none is at it.

    So is a small one that takes longer than a page may wait.
    """
    if is_read_at_once(upload):
        read_through(upload)
        if upload.reading.get("limit") not in HIGHER_IN_JOBS:
            return
    if not Job.objects.active().filter(kind=JOB_KIND, parameters__upload=upload.pk).exists():
        jobs.start(
            benchmark=upload.benchmark,
            user=user,
            kind=JOB_KIND,
            title=f"Check {short_name(upload)}",
            parameters={"upload": upload.pk},
        )


def read_again(upload: Upload, user: User) -> None:
    """Read a file anew, since how it is to be read was changed."""
    if is_read_at_once(upload):
        read_through(upload)
    else:
        begin_reading(upload, user)


def is_read_at_once(upload: Upload) -> bool:
    """Whether a page may read all of it: it is small, and no job had to."""
    return upload.size <= READ_AT_ONCE and not upload.reading.get("is_job")


def read_through(upload: Upload, *, is_job: bool = False) -> Preview:
    """Read a file as it is to be read, and keep what was found; where it was read at all.

    Where somebody says meanwhile that it is to be read otherwise, it is read once more.
    """
    parts = parts_said(upload)
    upload_preview = preview(upload, parts, is_whole=True, is_job=is_job)
    if upload_preview.error:
        return upload_preview
    problems = [problem for look in upload_preview.taken for problem in _problems_of(look)]
    problems = problems[:PROBLEMS_KEPT]
    reading = {
        "rows": sum(look.n_rows_read for look in upload_preview.taken),
        "problems": [
            {"file": problem.file, "line": problem.line, "text": problem.text}
            for problem in problems
        ],
        "is_job": is_job,
        "looks": [look.as_json() for look in upload_preview.looks],
        "is_collection": upload_preview.is_collection,
        "unlisted": upload_preview.unlisted,
        "unknown": {} if upload_preview.is_collection else _unknown(upload, upload_preview),
    }
    uploading.keep_reading(upload, reading)
    return upload_preview if parts_said(upload) == parts else read_through(upload, is_job=is_job)


def _unknown(upload: Upload, upload_preview: Preview) -> dict[str, Any]:
    """Which ids that its grades, or its run, name the benchmark lacks; the first of them."""
    qids = dict.fromkeys(qid for look in upload_preview.taken for qid in look.qids)
    docids = dict.fromkeys(docid for look in upload_preview.taken for docid in look.docids)
    known_qids = (
        set(upload.benchmark.queries.committed().values_list("qid", flat=True)) if qids else ()
    )
    unknown_qids = [qid for qid in qids if qid not in known_qids]
    unknown_docids = sorted(unknown_names(upload.benchmark, docids)) if docids else []
    return {
        "queries": unknown_qids[:UNKNOWN_KEPT],
        "n_queries": len(unknown_qids),
        "of_queries": len(qids),
        "documents": unknown_docids[:UNKNOWN_KEPT],
        "n_documents": len(unknown_docids),
        "of_documents": len(docids),
    }


def _problems_of(look: Look) -> list[Problem]:
    """What is wrong with its records, and what kept the reader from its end."""
    problems = (
        [Problem(look.name, 0, look.error.removeprefix(f"{look.name}: "))] if look.error else []
    )
    return [*problems, *look.problems]


def read_upload(job: jobs.RunningJob) -> None:
    """The handler of a reading job."""
    rows = Upload.objects.select_related("benchmark__corpus")
    upload = rows.filter(pk=job.parameters["upload"], is_waiting=True).first()
    if upload is None:
        return  # taken away or imported meanwhile
    preview = read_through(upload, is_job=True)
    n_bad = len(preview.bad_records)
    with job.commit() as result:
        note = preview.error or f"{upload.reading['rows']:,} rows of {upload.name} read"
        result.update(made=[], notes=[f"{note}; problems found: {n_bad}" if n_bad else note])
