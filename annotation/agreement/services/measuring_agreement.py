"""Measuring agreement in the background, where there are too many judgments to wait for."""

import json
from urllib.parse import urlencode

from django.urls import reverse

from annotation.agreement.selectors.agreement import Filters, agreement_report
from annotation.common.selectors.ledger import last_event_of
from annotation.judging.protocol.errors import NothingJudgedError
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Benchmark

JOB_KIND = "measure-agreement"


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
    asked = {key: value for key, value in job.parameters.items() if value}
    url = reverse("annotation:agreement", args=[job.benchmark.slug])
    with job.commit() as result:
        # Through JSON once: the page reads what the database will give back.
        result.update(report=json.loads(json.dumps(report)))
        result["url"] = f"{url}?{urlencode(asked)}" if asked else url
