"""Whether the processes of a site fit together: the same files, one version, clocks that agree.

Each worker writes with its sign of life what its host is like. Stored files are known by a mark
that lies beside them: who sees another mark looks into another folder.
"""

import logging
import uuid
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from django.db import connection
from django.utils import timezone

from benchmarks_app.models import WorkerHeartbeat
from benchmarks_app.store import file_store

log = logging.getLogger(__name__)
MARK = ".mark"
CLOCKS_APART_SECONDS = 2.0


class Host(NamedTuple):
    """What a process sees; `store` is empty where files cannot be read."""

    version: str
    store: str
    clock_ahead: float | None


def this_host() -> Host:
    return Host(site_version(), store_mark(), clock_ahead())


def site_version() -> str:
    try:
        return version("benchwright")
    except PackageNotFoundError:
        return "unknown: not installed as a package"


def store_mark() -> str:
    """The mark of the store of files, made by who comes first."""
    try:
        return file_store().put_first(MARK, uuid.uuid4().hex.encode()).decode()[:32]
    except OSError:
        log.warning("the mark of the stored files cannot be read", exc_info=True)
        return ""


def clock_ahead() -> float | None:
    """Seconds that this host's clock is before the database's; None where they are one."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return float((timezone.now() - cursor.fetchone()[0]).total_seconds())


def differences(workers: Iterable[WorkerHeartbeat], here: Host) -> list[str]:
    """What does not fit between this process and the workers that live, with what to do."""
    alive = [worker for worker in workers if worker.is_alive]
    wrong = []
    stores = {worker.store for worker in alive if worker.store}
    if here.store and stores - {here.store}:
        others = _named(worker for worker in alive if worker.store and worker.store != here.store)
        wrong.append(
            f"{others} and this process look into different folders of stored files: jobs find "
            "nothing of what was uploaded. Give all hosts the one folder"
        )
    if others := _named(
        worker for worker in alive if worker.version and worker.version != here.version
    ):
        versions = ", ".join(
            sorted({worker.version for worker in alive if worker.version} | {here.version})
        )
        wrong.append(f"{others} and this process run several versions ({versions}): start all anew")
    late = [worker for worker in alive if abs(worker.clock_ahead or 0.0) > CLOCKS_APART_SECONDS]
    if late or abs(here.clock_ahead or 0.0) > CLOCKS_APART_SECONDS:
        who = _named(late) or "this host"
        wrong.append(f"the clock of {who} is apart from the database's: let hosts keep time (NTP)")
    return wrong


def _named(workers: Iterable[WorkerHeartbeat]) -> str:
    return ", ".join(sorted(worker.name for worker in workers))
