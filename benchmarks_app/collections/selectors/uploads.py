"""Files that were put down: those that wait to be imported, and what others have become."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db.models import QuerySet

from benchmarks_app.models import Benchmark, Job, Upload

# Who tries a file again sees why it failed last, not what was a year ago.
JOBS_LOOKED_AT = 500


def waiting_uploads(benchmark: Benchmark) -> QuerySet[Upload]:
    """Files put down on the import page, in the order they came; not those in a job by now."""
    busy = Job.objects.active().filter(benchmark=benchmark, kind="import-file")
    taken = [
        pk for listed in busy.values_list("parameters__uploads", flat=True) for pk in listed or ()
    ]
    rows = benchmark.uploads.filter(is_waiting=True).exclude(pk__in=taken)
    return rows.select_related("benchmark__corpus", "owner").order_by("created_at", "pk")


class Refusal(NamedTuple):
    """Why the last import of a file imported nothing of it: the words, and rows of problems."""

    job: int
    error: str
    problems: list[dict[str, Any]]


def refusals(benchmark: Benchmark, uploads: Iterable[Upload]) -> dict[int, Refusal]:
    """{upload: refusal} of those whose last import, alone or with others, has failed."""
    waiting = {upload.pk for upload in uploads}
    rows = Job.objects.filter(benchmark=benchmark, kind="import-file").order_by("-pk")
    last: dict[int, int] = {}
    for pk, uploads_of in rows.values_list("pk", "parameters__uploads")[:JOBS_LOOKED_AT]:
        for upload in waiting.intersection(uploads_of or ()):
            last.setdefault(upload, pk)
    jobs = Job.objects.in_bulk(set(last.values()))
    pairs = ((upload, _refusal(jobs[pk], upload)) for upload, pk in last.items())
    return {upload: refusal for upload, refusal in pairs if refusal}


def _refusal(job: Job, upload: int) -> Refusal | None:
    if job.state == Job.State.FAILED:
        return Refusal(job.pk, job.error, job.problems)
    told = job.result.get("refused", {}).get(str(upload))
    return Refusal(job.pk, told["error"], told["problems"]) if told else None


def imported_uploads(benchmark: Benchmark) -> QuerySet[Upload]:
    """Files that became something, the newest first."""
    return benchmark.uploads.exclude(imported_as="").order_by("-pk")
