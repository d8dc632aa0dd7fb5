"""Measuring agreement in the background, where there are too many judgments to wait for."""

import json
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.urls import reverse

from annotation.agreement.selectors.agreement import Filters, agreement_report, is_quick
from annotation.common.selectors.ledger import last_event_of
from annotation.judging.protocol.errors import NothingJudgedError
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark, Job
from benchmarks_app.slices.selectors import slices_mark

JOB_KIND = "measure-agreement"
KEPT_SECONDS = 24 * 3600
JOBS_LOOKED_AT = 20


def measuring_arguments(*, benchmark: Benchmark, filters: Filters) -> dict:
    """What `jobs.start` needs to measure the agreement of a benchmark's judgments.

    Raises
    ------
    NothingJudgedError
        If there are none.
    """
    if not last_event_of(benchmark):
        raise NothingJudgedError
    return {"kind": JOB_KIND, "title": "Measure agreement", "parameters": filters.as_json()}


def measure_agreement(job: jobs.RunningJob) -> None:
    """The handler: measure, and keep the report with the job."""
    filters = Filters.from_json(job.parameters)
    as_of = last_event_of(job.benchmark)
    report = agreement_report(job.benchmark, filters, as_of, progress=job.progress)
    parameters = {key: value for key, value in job.parameters.items() if value}
    url = reverse("annotation:agreement", args=[job.benchmark.slug])
    with job.commit() as result:
        # Through JSON once: the page reads what the database will give back.
        result.update(report=json.loads(json.dumps(report)))
        result["url"] = f"{url}?{urlencode(parameters)}" if parameters else url


# --- which report --------------------------------------------------------------------------------


def report_of(benchmark: Benchmark, filters: Filters, last: int) -> dict[str, Any] | None:
    """The report as of now where that is quick, or else the newest that a job has made."""
    report = cache.get(_kept_as(benchmark, filters, last))
    if report is None and is_quick(benchmark, filters):
        fresh = agreement_report(benchmark, filters, last)
        report = json.loads(json.dumps(fresh))
        cache.set(_kept_as(benchmark, filters, last), report, KEPT_SECONDS)
    return report or _made_by_job(benchmark, filters)


def kept_report(benchmark: Benchmark) -> dict[str, Any] | None:
    """The report on all labels, if somebody had it measured; nothing is measured here.

    It may be older than the last label: `as_of` says up to which event it goes.
    """
    last = last_event_of(benchmark)
    if not last:
        return None
    return cache.get(_kept_as(benchmark, Filters(), last)) or _made_by_job(benchmark, Filters())


def _kept_as(benchmark: Benchmark, filters: Filters, last: int) -> str:
    chosen = json.dumps(filters.as_json(), sort_keys=True)
    digest = sha256(f"{benchmark.created_at} {chosen}".encode()).hexdigest()[:24]
    return f"agreement-{benchmark.pk}-{digest}-{last}-{slices_mark(benchmark)}"


def _made_by_job(benchmark: Benchmark, filters: Filters) -> dict[str, Any] | None:
    done = Job.objects.filter(benchmark=benchmark, kind=JOB_KIND, state=Job.State.DONE)
    # A report is large, and read of the one job alone that it is wanted of.
    for job in done.defer("result").order_by("-pk")[:JOBS_LOOKED_AT]:
        if job.parameters == filters.as_json():
            report: dict[str, Any] = job.result["report"]
            return report
    return None
