"""Reads behind the home, job and system pages."""

import logging
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.models import (
    Case,
    Count,
    IntegerField,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.utils import timezone

from benchmarks_app.hosts import differences, this_host
from benchmarks_app.migrated import NotMigratedError, unapplied
from benchmarks_app.models import (
    Backup,
    Benchmark,
    Job,
    Membership,
    Run,
    StoreCheck,
    Upload,
    WorkerHeartbeat,
)
from benchmarks_app.models.jobs import WAITS_SINCE
from benchmarks_app.permissions import ALLOWED, Action
from benchmarks_app.store import file_store

log = logging.getLogger(__name__)

STORAGE_SIZE_KEPT_SECONDS = 60
GROWTH_DAYS = 7
BACKUPS_LOOKED_AT = 20
BROKER_ANSWERS_WITHIN_SECONDS = 2


# --- home ----------------------------------------------------------------------------------


def home_benchmarks(user: Any) -> QuerySet[Benchmark]:
    """Every benchmark the user may see, with `role` ("" for who is no member) and counts.

    Own ones first. `n_runs` counts the runs this user may see.
    """
    return (
        Benchmark.objects.visible_to(user)
        .annotate(
            role=_role_of(user),
            n_queries=_count_of("queries", queries__staged_by=None),
            n_runs=_runs_seen_by(user),
            n_pools=_count_of("pools", ~Q(pools__state="building")),
        )
        .annotate(is_mine=Case(When(role="", then=Value(0)), default=Value(1)))
        .order_by("-is_mine", "name", "pk")
    )


def _role_of(user: Any) -> Any:
    if not user.is_authenticated:
        return Value("")
    mine = Membership.objects.filter(user=user, benchmark=OuterRef("pk")).values("role")
    return Coalesce(Subquery(mine[:1]), Value(""))


def _count_of(relation: str, *conditions: Q, **equals: Any) -> Any:
    """How many of a relation each benchmark has; other apps' relations are named, not imported."""
    counted = (
        Benchmark.objects.order_by()
        .filter(pk=OuterRef("pk"))
        .annotate(n=Count(relation, filter=Q(*conditions, **equals)))
    )
    return Subquery(counted.values("n")[:1], output_field=IntegerField())


def _runs_seen_by(user: Any) -> Any:
    visible_runs = (
        Run.objects.filter(pk__in=Run.objects.visible_to(user).order_by().values("pk"))
        .order_by()
        .filter(benchmark=OuterRef("pk"))
        .values("benchmark")
        .annotate(n=Count("pk"))
    )
    return Coalesce(Subquery(visible_runs.values("n")[:1], output_field=IntegerField()), Value(0))


# --- jobs ----------------------------------------------------------------------------------


def jobs_readable_by(user: Any) -> QuerySet[Job]:
    """Jobs whose state and errors a person may read: those where they edit, and their own.

    Of a private benchmark their own only as long as they are a member.

    An error of an import quotes the file, so being a member is not enough. The site's staff, who
    are shown failed jobs on the system page, may read all.
    """
    if not user.is_authenticated:
        return Job.objects.none()
    if user.is_staff:
        return Job.objects.all()
    edited = Membership.objects.filter(user=user, role__in=ALLOWED[Action.EDIT])
    return Job.objects.visible_to(user).filter(
        Q(created_by=user) | Q(benchmark__in=edited.values("benchmark"))
    )


def active_jobs_of(user: Any) -> QuerySet[Job]:
    """Unfinished jobs that the person has started or whose benchmark they edit, newest first."""
    if not user.is_authenticated:
        return Job.objects.none()
    edited = Membership.objects.filter(user=user, role__in=ALLOWED[Action.EDIT])
    return (
        Job.objects.visible_to(user)
        .active()
        .filter(Q(created_by=user) | Q(benchmark__in=edited.values("benchmark")))
        .select_related("benchmark")
        .order_by("-created_at", "-pk")
    )


def has_worker() -> bool:
    """Whether a worker was seen within the last two minutes."""
    return WorkerHeartbeat.objects.alive().exists()


# --- the state of the site -----------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One thing that must be right, and what is wrong with it where it is not."""

    name: str
    is_good: bool
    text: str


@dataclass(frozen=True)
class QueueState:
    """Unfinished jobs; `oldest` is since when the first queued one has waited, or None."""

    n_queued: int
    n_running: int
    oldest: Any

    @property
    def waits_too_long(self) -> bool:
        limit = timedelta(seconds=settings.WORKER_MISSING_AFTER_SECONDS)
        return self.oldest is not None and timezone.now() - self.oldest > limit


@dataclass(frozen=True)
class StorageState:
    """Bytes of stored files, of this disk, and of what was uploaded in the last week.

    `n_used`, `n_free` and `n_disk` are None where files are not on a disk of this machine; there
    `n_copied` of them, `n_copied_most` at the most, are copied here, and the store answered in
    `seconds` (None: it did not).
    """

    place: str
    n_used: int | None
    n_free: int | None
    n_disk: int | None
    n_uploaded: int
    n_copied: int | None = None
    n_copied_most: int | None = None
    seconds: float | None = None

    @property
    def is_tight(self) -> bool:
        if self.n_free is None or self.n_disk is None:
            return False
        return self.n_free < max(self.n_disk * 0.05, 1 << 30)


def queue_state() -> QueueState:
    queued = Job.objects.filter(state=Job.State.QUEUED)
    return QueueState(
        n_queued=queued.count(),
        n_running=Job.objects.filter(state=Job.State.RUNNING).count(),
        oldest=queued.aggregate(first=Min(WAITS_SINCE))["first"],
    )


def workers_seen() -> list[WorkerHeartbeat]:
    """Every worker that has not signed off, the latest first."""
    return list(WorkerHeartbeat.objects.order_by("-seen_at", "name"))


def storage_state() -> StorageState:
    since = timezone.now() - timedelta(days=GROWTH_DAYS)
    uploaded = Upload.objects.filter(created_at__gt=since).aggregate(n=Sum("size"))["n"] or 0
    folder, copies = file_store().folder, file_store().cached()
    if folder is None:
        place, (copied, most) = file_store().place, copies or (None, None)
        seconds = seconds_to_answer()
        return StorageState(place, None, None, None, uploaded, copied, most, seconds)
    disk = shutil.disk_usage(folder)
    used = cache.get_or_set(
        f"storage-size:{folder}", lambda: folder_size(folder), STORAGE_SIZE_KEPT_SECONDS
    )
    return StorageState(str(folder), used, disk.free, disk.total, uploaded)


def seconds_to_answer() -> float | None:
    """How long the store of files takes to say that it is there; None where it does not."""
    began = time.perf_counter()
    try:
        file_store().check()
    except OSError:
        return None
    return time.perf_counter() - began


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder; a file that goes away meanwhile counts nothing."""
    total = 0
    for entry in folder.rglob("*"):
        try:
            total += entry.stat().st_size if entry.is_file() else 0
        except OSError:
            continue
    return total


def n_failed_jobs() -> int:
    return Job.objects.filter(state=Job.State.FAILED).count()


def failed_jobs(limit: int) -> QuerySet[Job]:
    """The newest failed jobs of the whole site."""
    failed = Job.objects.filter(state=Job.State.FAILED).select_related("benchmark", "created_by")
    return failed.order_by("-finished_at", "-pk")[:limit]


def last_store_check() -> StoreCheck | None:
    """The newest check of all stored files that went to its end."""
    return StoreCheck.objects.filter(finished_at__isnull=False).order_by("-started_at").first()


def newest_backups() -> list[Backup]:
    """The last backups that were begun from this site, the newest first."""
    return list(Backup.objects.order_by("-started_at")[:BACKUPS_LOOKED_AT])


def state_of(
    workers: list[WorkerHeartbeat],
    queue: QueueState,
    storage: StorageState,
    store: StoreCheck | None = None,
    backups: Sequence[Backup] = (),
) -> list[Check]:
    """What an operator must know first: each part red or green, with the cause."""
    n_alive = sum(worker.is_alive for worker in workers)
    return [
        Check(
            "Workers",
            n_alive > 0,
            f"{n_alive} seen in the last two minutes"
            if n_alive
            else "none was seen for two minutes: start one with manage.py up",
        ),
        _said_of_hosts(workers),
        Check(
            "Queue",
            not queue.waits_too_long,
            "a job has waited for more than two minutes"
            if queue.waits_too_long
            else f"{queue.n_queued} waiting, {queue.n_running} running",
        ),
        Check(
            "Disk",
            not storage.is_tight,
            "less than a twentieth of the disk, or less than 1 GB, is free: "
            "move the data folder or free some space"
            if storage.is_tight
            else "enough is free",
        ),
        Check("Stored files", not (store and store.broken), _said_of_store(store)),
        Check("Backup", *_said_of_backups(backups)),
    ]


def _said_of_hosts(workers: Sequence[WorkerHeartbeat]) -> Check:
    wrong = differences(workers, this_host())
    return Check("Hosts", not wrong, "; ".join(wrong) or "same files, one version, one time")


def _said_of_store(store: StoreCheck | None) -> str:
    if store is None:
        return "never checked as a whole: manage.py verify_store reads them all"
    on = f"on {store.started_at:%Y-%m-%d %H:%M} UTC"
    if store.broken:
        return f"{len(store.broken):,} of {store.n_files:,} were broken {on}: restore them"
    return f"{store.n_files:,} were whole {on}"


def _said_of_backups(backups: Sequence[Backup]) -> tuple[bool, str]:
    """Whether all is well with the newest backup, and what is to say of it."""
    if not backups:
        return True, "none was written from here: manage.py backup DIR writes one while you work"
    newest = backups[0]
    whole = next((backup for backup in backups if backup.finished_at), None)
    last = f"on {whole.started_at:%Y-%m-%d %H:%M} UTC" if whole else ""
    before = f"; the last one was written {last}" if whole else ""
    if newest.is_under_way:
        return True, f"under way since {newest.started_at:%H:%M} UTC{before}"
    if whole is not newest:
        why = newest.error or "it was killed"
        on = f"{newest.started_at:%Y-%m-%d %H:%M} UTC"
        return False, f"that of {on} did not end ({why}){before}"
    if newest.broken:
        lacking = f"lacks what was broken here, {len(newest.broken):,} in number: verify_store"
        return False, f"that written {last} to {newest.place} {lacking}"
    counted = f"{newest.n_rows:,} rows and {newest.n_files:,} files"
    return True, f"{counted} {last}, to {newest.place}"


# --- readiness -----------------------------------------------------------------------------


def readiness() -> dict[str, bool]:
    """What is there of what a site needs; causes go to the log."""
    return {
        "database": is_database_there(),
        "migrations": is_database_migrated(),
        "storage": is_storage_there(),
        "broker": is_broker_there(),
    }


def is_database_there() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        log.exception("not ready: the database does not answer")
        return False
    return True


def is_database_migrated() -> bool:
    try:
        missing = unapplied()
    except DatabaseError:  # which `is_database_there` tells
        return False
    if missing:
        log.error("not ready: %s", NotMigratedError(n=len(missing)))
    return not missing


def is_storage_there() -> bool:
    try:
        file_store().check()
    except OSError as error:
        log.error("not ready: the stored files cannot be used: %s", error)
        return False
    return True


def is_broker_there() -> bool:
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    try:
        if folder := options.get("data_folder_out"):
            return _is_writable(Path(str(folder)))
        with current_app.connection_for_write(
            settings.CELERY_BROKER_URL,
            connect_timeout=BROKER_ANSWERS_WITHIN_SECONDS,
            transport_options={**options, **_limits_of(settings.CELERY_BROKER_URL)},
        ) as broker:
            broker.ensure_connection(max_retries=1, timeout=BROKER_ANSWERS_WITHIN_SECONDS)
    except Exception:
        log.exception("not ready: the broker does not answer")
        return False
    return True


def _limits_of(broker_url: str) -> dict[str, float]:
    """How long the client waits; that of Redis does not go by the time given for connecting."""
    if not broker_url.startswith("redis"):
        return {}
    names = ("socket_connect_timeout", "socket_timeout")
    return dict.fromkeys(names, BROKER_ANSWERS_WITHIN_SECONDS)


def _is_writable(folder: Path) -> bool:
    if folder.is_dir() and os.access(folder, os.W_OK):
        return True
    log.error("not ready: %s cannot be written", folder)
    return False
