"""Query logs: a file is taken in, masked and counted; what is kept of it names nobody.

The raw file is deleted once it has been read, unless its owner asks to keep it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from benchmarks_app import files
from benchmarks_app.collections.services import uploading
from benchmarks_app.common.services import audit, reading_apart
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job, PendingLog, QueryLog, Upload, User
from benchmarks_app.models.logs import links_name
from benchwright.files.sources import sha256_of
from benchwright.ids import LONGEST_NAME
from benchwright.logs.columns import LogColumns, checked_columns, detected_columns
from benchwright.logs.distinct import Options
from benchwright.logs.errors import LogGoneError, LogNameTakenError
from benchwright.logs.masking import KIND_LABELS, checked_kinds, checked_regions
from benchwright.logs.preparing import Prepared, prepared_apart, table_at
from benchwright.logs.tables import LogTable
from benchwright.texts.counting import counted

JOB_KIND = "import-log"
HEAD_ROWS = 20


@dataclass(frozen=True)
class Reading:
    """How a log is to be read; without columns they are told by their names."""

    name: str = ""
    columns: LogColumns | None = None
    kinds: tuple[str, ...] = tuple(KIND_LABELS)
    # Without any named the site's are taken.
    regions: tuple[str, ...] | None = None
    floor: int = 1
    is_lenient: bool = False
    keeps_raw: bool = False


@dataclass(frozen=True)
class LogHead:
    """A log as a table, and its first rows."""

    table: LogTable
    rows: Sequence[Mapping[str, Any]]


def head_of(upload: Upload, *, is_job: bool = False) -> LogHead:
    """The uploaded file as a table; raises where it is none."""
    path = uploading.local(upload)
    table, rows = reading_apart.call(
        table_at, path, upload.name, HEAD_ROWS, file=upload.name, is_job=is_job
    )
    return LogHead(table, rows)


def columns_of(head: LogHead) -> LogColumns:
    """The columns as their names and first values tell them; raises where they do not."""
    return detected_columns(head.table.columns, head.rows, file=head.table.file)


def receive_log(*, benchmark: Benchmark, user: User, file: Any) -> PendingLog:
    """Keep an uploaded log until its columns are named.

    Raises
    ------
    ArchiveError, LogColumnsError, LogEmptyError
        If it is no table; nothing of it is kept then.
    """
    return _pending(uploading.receive_upload(benchmark=benchmark, owner=user, file=file))


def receive_log_path(*, benchmark: Benchmark, user: User, path: Path) -> PendingLog:
    """As `receive_log`, of a file of this machine."""
    return _pending(uploading.receive_path(benchmark=benchmark, owner=user, path=path))


def _pending(upload: Upload) -> PendingLog:
    try:
        head_of(upload)
    except Exception:
        with transaction.atomic():
            uploading.forget(upload)
        raise
    return PendingLog.objects.create(upload=upload)


def log_arguments(*, pending: PendingLog, reading: Reading) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to read a log.

    Raises
    ------
    LogColumnsError
        If the columns are not those of the file, or tell nothing of queries.
    LogNameTakenError
        If the benchmark has a log of this name.
    MaskKindError, MaskRegionError
        If a kind of personal data, or a country, is not known.
    """
    upload = pending.upload
    name = reading.name.strip()[:LONGEST_NAME] or _stem(upload.name)
    _refuse_taken(upload.benchmark, name)
    head = head_of(upload)
    table = head.table
    columns = reading.columns or columns_of(head)
    regions = settings.LOG_REGIONS if reading.regions is None else reading.regions
    checked_columns(columns, table.columns, file=table.file)
    return {
        "kind": JOB_KIND,
        "title": f"Read log {name}",
        "parameters": {
            "pending": pending.pk,
            "name": name,
            "columns": columns.named,
            "kinds": checked_kinds(reading.kinds),
            "regions": checked_regions(regions),
            "floor": reading.floor,
            "lenient": reading.is_lenient,
            "keeps_raw": reading.keeps_raw,
        },
    }


@transaction.atomic
def start_log(*, pending: PendingLog, user: User, reading: Reading) -> Job:
    """Start the job that reads a log; raises as `log_arguments` does."""
    benchmark = pending.upload.benchmark
    arguments = log_arguments(pending=pending, reading=reading)
    job = jobs.start(benchmark=benchmark, user=user, **arguments)
    PendingLog.objects.filter(pk=pending.pk).update(job=job)
    audit.record(
        actor=user,
        action="import-log",
        benchmark=benchmark,
        target=arguments["parameters"]["name"],
        job=job.pk,
        masks=arguments["parameters"]["kinds"],
        regions=arguments["parameters"]["regions"],
    )
    return job


def free_name(upload: Upload) -> str:
    """What the log is called if nobody says otherwise: the file's name, numbered if it is taken."""
    stem = _stem(upload.name)
    taken_names = set(upload.benchmark.query_logs.values_list("name", flat=True))
    numbered = (f"{stem[:110]} {number}" for number in range(2, len(taken_names) + 3))
    return next(name for name in (stem, *numbered) if name not in taken_names)


def _stem(name: str) -> str:
    for ending in (".gz", ".zst", ".csv", ".tsv", ".jsonl", ".json", ".txt", ".parquet"):
        name = name.removesuffix(ending)
    return name[:LONGEST_NAME] or "log"


def _refuse_taken(benchmark: Benchmark, name: str) -> None:
    if benchmark.query_logs.filter(name=name).exists():
        raise LogNameTakenError(name=name)


# --- the job -------------------------------------------------------------------------------


def import_log(job: jobs.RunningJob) -> None:
    """The handler: read, mask, count and group, then make the log visible in one go."""
    # Jobs that were started before logs had regions name none.
    parameters = {"regions": list(settings.LOG_REGIONS), **job.parameters}
    pending = PendingLog.objects.select_related("upload").filter(pk=parameters["pending"]).first()
    if pending is None:
        raise LogGoneError
    _refuse_taken(job.benchmark, parameters["name"])
    table = head_of(pending.upload, is_job=True).table
    prepared = reading_apart.call(
        prepared_apart,
        table,
        LogColumns.of(parameters["columns"]),
        job.folder,
        Options(
            kinds=parameters["kinds"],
            floor=parameters["floor"],
            regions=tuple(parameters["regions"]),
        ),
        file=pending.upload.name,
        is_job=True,
        is_lenient=parameters["lenient"],
        progress=job.progress,
    )
    job.progress(1, 1, "making it visible")
    _commit(job, parameters, pending, table, prepared)


def _commit(
    job: jobs.RunningJob,
    parameters: dict[str, Any],
    pending: PendingLog,
    table: LogTable,
    prepared: Prepared,
) -> None:
    upload, totals = pending.upload, prepared.counted
    digest = sha256_of(prepared.log)
    stored = files.publish(prepared.log, f"logs/{job.benchmark.pk}/{digest}.parquet")
    links_sha256 = sha256_of(prepared.links)
    files.publish(prepared.links, links_name(stored, links_sha256))
    with job.commit() as result:
        _refuse_taken(job.benchmark, parameters["name"])
        log = QueryLog.objects.create(
            benchmark=job.benchmark,
            name=parameters["name"],
            upload=upload if parameters["keeps_raw"] else None,
            parquet=stored,
            sha256=digest,
            first_day=_day(totals.first),
            last_day=_day(totals.last),
            n_rows=prepared.n_rows,
            n_distinct=totals.n_distinct,
            n_traffic=totals.n_traffic,
            masked=dict(sorted(totals.masked.items())),
            facts=_facts(upload, parameters, table, prepared) | {"links_sha256": links_sha256},
            created_by=job.row.created_by or upload.owner,
        )
        pending.delete()
        if parameters["keeps_raw"]:
            uploading.mark_imported(upload, f"query log: {log.name}")
        else:
            uploading.forget(upload)
        result["made"] = [f"log '{log.name}' of {counted(log.n_distinct, 'distinct query')}"]
        result["notes"] = _notes(log)
        result["url"] = reverse("log-detail", args=[job.benchmark.slug, log.pk])


def _day(ordinal: int) -> date | None:
    return date.fromordinal(ordinal) if ordinal else None


def _facts(
    upload: Upload, parameters: dict[str, Any], table: LogTable, prepared: Prepared
) -> dict[str, Any]:
    counted = prepared.counted
    return {
        "file": upload.name,
        "sha256": upload.sha256,
        "bytes": upload.size,
        "form": table.form,
        "columns": parameters["columns"],
        "never_read": [
            name for name in table.columns if name not in parameters["columns"].values()
        ],
        "kinds": parameters["kinds"],
        "regions": parameters["regions"],
        "floor": parameters["floor"],
        "left_out": prepared.left.as_dict(),
        "only_personal": counted.n_only_personal,
        "below_floor": counted.n_below_floor,
        "traffic_below_floor": counted.n_traffic_below_floor,
        "spellings": counted.n_spellings,
        "families": prepared.grouped.n_families,
        "grouped_by": prepared.grouped.by,
        "raw_kept": parameters["keeps_raw"],
    }


def _notes(log: QueryLog) -> list[str]:
    facts = log.facts
    notes = [
        f"{counted(n, 'row')} {'was' if n == 1 else 'were'} left out ({why})."
        for why, n in facts["left_out"].items()
    ]
    if log.masked:
        masks = ", ".join(f"{kind} in {n:,}" for kind, n in log.masked.items())
        notes.append(f"Masked, in searches: {masks}.")
    if n := facts["only_personal"]:
        were, are = ("was", "is") if n == 1 else ("were", "are")
        searches = "search" if n == 1 else "searches"
        notes.append(f"{n:,} {searches} {were} personal data alone and {are} gone.")
    if n := facts["below_floor"]:
        were = "was" if n == 1 else "were"
        notes.append(f"{counted(n, 'query')} below the floor {were} dropped.")
    if not facts["raw_kept"]:
        notes.append("The uploaded file was deleted.")
    return notes


# --- deleting ------------------------------------------------------------------------------


@transaction.atomic
def discard_pending(*, pending: PendingLog, user: User) -> None:
    """Delete a log's file that was not read."""
    upload = pending.upload
    audit.record(actor=user, action="discard-log", benchmark=upload.benchmark, target=upload.name)
    pending.delete()
    uploading.forget(upload)
