"""The Celery application: `celery -A benchmarks_app.celery worker`."""

import contextlib
import gc
import os
import socket
import sys
import threading
import time
from typing import Any

from billiard import active_children
from celery import Celery, bootsteps
from celery.signals import (
    celeryd_after_setup,
    celeryd_init,
    task_prerun,
    worker_process_init,
    worker_shutting_down,
)

from benchmarks_app import message_files

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks_app.settings")
# `up` and `check` look at the settings: a worker would load every page to do so once more.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

message_files.take_over()
app = Celery("benchwright")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

SEEN_EVERY_SECONDS = 15
LOOKS_EVERY_SECONDS = 0.05
KEEPS_CONNECTION_SECONDS = 600


def worker_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


class SeenInDatabase(bootsteps.StartStopStep):
    """Writes now and then that this worker is alive, so that pages can say when none is."""

    requires = ("celery.worker.components:Timer",)

    def __init__(self, parent: Any, **kwargs: Any) -> None:
        super().__init__(parent, **kwargs)
        self.name = worker_name()

    def start(self, parent: Any) -> None:
        from benchmarks_app.supervisor import tell_started

        self.seen()
        tell_started()
        self.timer = parent.timer.call_repeatedly(SEEN_EVERY_SECONDS, self.seen)

    def stop(self, parent: Any) -> None:
        from benchmarks_app.jobs.services.workers import forget_worker

        self.timer.cancel()
        forget_worker(self.name)

    def seen(self) -> None:
        from benchmarks_app.jobs.services.workers import see_worker

        see_worker(self.name)


app.steps["worker"].add(SeenInDatabase)


@celeryd_init.connect
def have_no_pool(**kwargs: Any) -> None:
    """A pool belongs to one process, and a worker is several: each opens what it needs."""
    from django.db import connections

    for connection in connections.all():
        connection.settings_dict["OPTIONS"].pop("pool", None)


@celeryd_after_setup.connect
def share_memory(**kwargs: Any) -> None:
    """What is loaded by now stays: processes that are forked share it, if nobody looks through it.

    Python's collector writes to every object that it looks at, and so to every page.
    """
    gc.collect()
    gc.freeze()


@worker_process_init.connect
def keep_connection(**kwargs: Any) -> None:
    """One connection for many jobs: opened anew, SQLite reads the whole schema, and for each.

    PostgreSQL starts a process for each. One whose database has gone is opened anew all the same.
    """
    from django.db import close_old_connections, connections

    for connection in connections.all():
        connection.settings_dict["CONN_MAX_AGE"] = KEEPS_CONNECTION_SECONDS
        connection.settings_dict["CONN_HEALTH_CHECKS"] = True
    task_prerun.connect(close_old_connections)


@worker_shutting_down.connect
def give_jobs_back(**kwargs: Any) -> None:
    """What is at work is left to the next worker: who waits for a long job is killed instead."""
    from benchmarks_app.jobs.services.limits import GIVE_BACK

    for child in active_children():
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, GIVE_BACK)
    threading.Thread(target=_end_when_idle, daemon=True).start()


def _end_when_idle() -> None:
    """End the worker as soon as it has nothing in hand.

    Celery's threads and timers would look round for five seconds more, which no supervisor waits
    for. A message that comes in just now is lost with it, and sent again by the sweeper.
    """
    from celery.worker import state

    from benchmarks_app.jobs.services.workers import forget_worker

    while state.reserved_requests:
        time.sleep(LOOKS_EVERY_SECONDS)
    forget_worker(worker_name())
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)
