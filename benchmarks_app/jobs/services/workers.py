"""Which worker processes are alive."""

import logging
from datetime import timedelta

from django.db import DatabaseError, connection
from django.utils import timezone

from benchmarks_app.hosts import this_host
from benchmarks_app.models import WorkerHeartbeat

log = logging.getLogger(__name__)

# A worker that was killed could not sign off: for so long the system's page shows that it is gone.
SHOWN_AFTER_ITS_END = timedelta(days=1)


def see_worker(name: str) -> None:
    """Write that a worker is alive; a database that is away for a moment is no reason to die."""
    try:
        facts = {"seen_at": timezone.now(), **this_host()._asdict()}
        WorkerHeartbeat.objects.update_or_create(name=name, defaults=facts)
    except DatabaseError:
        log.warning("worker %s could not write that it is alive", name)
    finally:
        # The worker's parent process holds no connection that its children would inherit.
        connection.close()


def forget_worker(name: str) -> None:
    """A worker that stops in order is no longer counted."""
    try:
        WorkerHeartbeat.objects.filter(name=name).delete()
    except DatabaseError:
        log.warning("worker %s could not sign off", name)
    finally:
        connection.close()


def forget_lost_workers() -> None:
    WorkerHeartbeat.objects.filter(seen_at__lt=timezone.now() - SHOWN_AFTER_ITS_END).delete()
