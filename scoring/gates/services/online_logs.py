"""The log of an A/B test becomes a gate's online result; the log is forgotten, for it tells of
people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from benchmarks_app.clicks.services import forget_logs, why_no_clicks
from benchmarks_app.collections.services import uploading
from benchmarks_app.common.services import reading_apart
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import Job, Upload, User
from benchwright.clicks.errors import NoClicksError
from benchwright.errors import BenchmarkError
from benchwright.recipes import clicks as recipe
from scoring.gates.services.errors import GateUndecidedError
from scoring.gates.services.online import record_online_result
from scoring.models import GateResult

JOB_KIND = "online-outcomes"


@dataclass(frozen=True)
class LogAsked:
    """How a log is read; without names the arms are called as the gate's runs."""

    baseline_arm: str = ""
    candidate_arm: str = ""
    metric: str = str(recipe.OUTCOME.default)
    cutoff: int = int(recipe.CUTOFF.default or 0)
    note: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    actions: Sequence[str] = ()


def start_reading(
    *, gate: GateResult, user: User, uploads: Sequence[Upload], options: LogAsked
) -> Job:
    """Start a job that reads a log of both arms and records what it says of the candidate.

    Raises
    ------
    GateUndecidedError
        If the gate has no verdict yet.
    """
    if not gate.verdict:
        raise GateUndecidedError(gate=str(gate))
    return jobs.start(
        benchmark=gate.policy.benchmark,
        user=user,
        kind=JOB_KIND,
        title=f"Read the A/B test of {uploads[0].name}",
        parameters={
            "gate": gate.pk,
            "uploads": [upload.pk for upload in uploads],
            "arms": [
                options.baseline_arm or gate.policy.baseline.name,
                options.candidate_arm or gate.candidate.name,
            ],
            "metric": options.metric,
            "cutoff": options.cutoff,
            "note": options.note,
            "columns": dict(options.columns),
            "actions": list(options.actions),
        },
    )


def read_online(job: jobs.RunningJob) -> None:
    """The handler: reads the log apart, records the result, and forgets the log either way."""
    uploads = list(Upload.objects.filter(pk__in=job.parameters["uploads"]).order_by("pk"))
    gate = GateResult.objects.filter(pk=job.parameters["gate"]).first()
    if not uploads or gate is None:
        raise NoClicksError(file="The A/B test", why="its log, or its gate, is no longer there.")
    try:
        outcomes = _outcomes(job, uploads)
    except BenchmarkError:
        with transaction.atomic():
            forget_logs(uploads)
        raise
    with job.commit() as result:
        _record(job, gate, outcomes)
        forget_logs(uploads)
        result["made"] = [f"an online result of {gate}"]
        result["notes"] = ["The log is forgotten.", *outcomes["reading"]["problems"]]
        result["url"] = gate.get_absolute_url()


def _outcomes(job: jobs.RunningJob, uploads: Sequence[Upload]) -> dict[str, Any]:
    from benchwright.clicks.outcomes import outcomes_apart

    parameters = job.parameters
    outcomes: dict[str, Any] = reading_apart.call(
        outcomes_apart,
        [uploading.local(upload) for upload in uploads],
        [upload.name for upload in uploads],
        job.folder,
        tuple(parameters["arms"]),
        cutoff=parameters["cutoff"],
        columns=parameters["columns"],
        actions=parameters["actions"],
        file=uploads[0].name,
        is_job=True,
        progress=job.progress,
    )
    reading = outcomes["reading"]
    if not reading["n_clicks"] and parameters["metric"] != "zero results":
        # Two arms that nobody clicked on would be called the same.
        raise NoClicksError(file=uploads[0].name, why=why_no_clicks(reading))
    return outcomes


def _record(job: jobs.RunningJob, gate: GateResult, outcomes: Mapping[str, Any]) -> None:
    from benchwright.clicks.outcomes import Estimate, direction

    parameters, user = job.parameters, job.user
    metric, cutoff = parameters["metric"], parameters["cutoff"]
    estimate = Estimate(*outcomes["differences"][metric])
    record_online_result(
        gate=gate,
        outcome=direction(metric, estimate),
        metric=metric if metric == "zero results" else f"{metric}@{cutoff}",
        difference=estimate.value,
        low=estimate.low,
        high=estimate.high,
        note=parameters["note"],
        from_log={
            "cutoff": cutoff,
            "arms": outcomes["arms"],
            "differences": outcomes["differences"],
        },
        user=user,
    )
