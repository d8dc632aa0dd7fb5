"""What an overview shows beside what the apps add: jobs and what happened last."""

from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from benchmarks_app.models import AuditEvent, Benchmark, Job

EVENTS_SHOWN = 6
# An older failure that nobody minded is on the page of jobs.
LATELY = timedelta(days=14)


def latest_events(benchmark: Benchmark) -> list[AuditEvent]:
    events = benchmark.audit_events.select_related("actor").order_by("-at", "-pk")
    return list(events[:EVENTS_SHOWN])


def active_jobs(benchmark: Benchmark) -> list[Job]:
    return list(benchmark.jobs.active().order_by("-pk")[:EVENTS_SHOWN])


def jobs_failed_lately(benchmark: Benchmark, user: Any) -> QuerySet[Job]:
    """Failures of the last two weeks that were not made good: nothing of that title is done since.

    The newest first. What was wrong with a file is for who sent it to mend.
    """
    done = Job.objects.filter(
        benchmark=benchmark,
        kind=OuterRef("kind"),
        title=OuterRef("title"),
        state=Job.State.DONE,
        pk__gt=OuterRef("pk"),
    )
    failed = benchmark.jobs.filter(
        Q(problems=[]) | Q(created_by=user),
        state=Job.State.FAILED,
        created_at__gt=timezone.now() - LATELY,
    )
    return failed.exclude(Exists(done)).order_by("-pk")
