"""Figures of a site in Prometheus' format, counted when they are asked for.

What an app above knows it registers (`counted`). Labels are few and of known values: kinds of
jobs and names of views, never of benchmarks or people.
"""

import os
from collections.abc import Iterator

from django.db import connection
from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from benchmarks_app.hosts import differences, site_version, this_host
from benchmarks_app.models import Job
from benchmarks_app.models.jobs import WAITS_SINCE
from benchmarks_app.operating.counted import COUNTERS, Figure
from benchmarks_app.site import selectors
from benchmarks_app.supervisor import FIGURES

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
REQUESTS = CollectorRegistry()
REQUEST_SECONDS = Histogram(
    "benchwright_request_seconds",
    "Time to answer, by view, method and class of status.",
    ["view", "method", "status"],
    registry=REQUESTS,
    buckets=SECONDS,
)


class SiteCollector(Collector):
    """Everything that is looked up, in a few statements of the database."""

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("benchwright_info", "The version.", labels=["version", "database"])
        info.add_metric([site_version(), connection.vendor], 1)
        yield info
        yield from _jobs()
        for figure in (*_site(), *(figure for counter in COUNTERS for figure in counter())):
            yield GaugeMetricFamily(figure.name, figure.about, value=figure.value)


def _jobs() -> Iterator[Metric]:
    """Unfinished jobs, and failed ones that are still listed, by kind; the oldest that waits."""
    about = "How long the first of a kind has waited."
    number = GaugeMetricFamily("benchwright_jobs", "Jobs by kind.", labels=["kind", "state"])
    waiting = GaugeMetricFamily("benchwright_job_waiting_seconds", about, labels=["kind"])
    states = (Job.State.QUEUED, Job.State.RUNNING, Job.State.FAILED)
    rows = Job.objects.filter(state__in=states).order_by().values_list("kind", "state")
    now = timezone.now()
    for kind, state, n, first in rows.annotate(n=Count("pk"), first=Min(WAITS_SINCE)):
        number.add_metric([kind, state], n)
        if state == Job.State.QUEUED:
            waiting.add_metric([kind], max((now - first).total_seconds(), 0.0))
    yield number
    yield waiting


def _site() -> Iterator[Figure]:
    workers = selectors.workers_seen()
    n_alive = sum(worker.is_alive for worker in workers)
    yield Figure("benchwright_workers", "Workers seen in the last two minutes.", n_alive)
    n_wrong = len(differences(workers, this_host()))
    yield Figure("benchwright_host_differences", "Things in which hosts do not fit.", n_wrong)
    for part, is_there in selectors.readiness().items():
        yield Figure(f"benchwright_ready_{part}", f"Whether {part} can be used.", is_there)
    storage = selectors.storage_state()
    if storage.n_used is not None and storage.n_free is not None:
        yield Figure("benchwright_storage_bytes", "Bytes of stored files.", storage.n_used)
        yield Figure("benchwright_storage_free_bytes", "Free on their disk.", storage.n_free)
    if storage.n_copied is not None and storage.n_copied_most is not None:
        yield Figure("benchwright_store_copies_bytes", "Copies on this host.", storage.n_copied)
        yield Figure("benchwright_store_copies_limit_bytes", "At most.", storage.n_copied_most)
    if storage.seconds is not None:
        yield Figure("benchwright_store_seconds", "Time of one answer.", storage.seconds)
    yield Figure("benchwright_database_bytes", "Size of the database.", _database_bytes())


def _database_bytes() -> float:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return float(cursor.fetchone()[0])


def exposition() -> bytes:
    """All figures as text; of several web processes together where they share a folder."""
    site = CollectorRegistry()
    site.register(SiteCollector())
    requests = REQUESTS
    if folder := os.environ.get(FIGURES):
        requests = CollectorRegistry()
        MultiProcessCollector(requests, path=folder)
    return generate_latest(site) + generate_latest(requests)
