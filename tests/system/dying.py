"""A process of a site that does a job and dies of kill -9 at each point where something is kept.

Of each line `KIND JOB` it does the job of that number again and again: the first time it dies at
the first point, then at the second, and so on, until it lives to the end. In between it looks at
what others would see meanwhile, and lets the sweeper go by. It prints what it found.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import django

MOST_POINTS = 500


def main() -> None:
    """Print {"points": how many, "wrong": what was half done, after which point} for each line."""
    django.setup()
    _load()
    for line in sys.stdin:
        kind, job_id = line.split()
        print(json.dumps(_found(kind, int(job_id))), flush=True)  # noqa: T201 (the test reads it)


def _found(kind: str, job_id: int) -> dict[str, Any]:
    wrong: list[str] = []
    for n in range(1, MOST_POINTS):
        has_died = _died(job_id, n)
        state, faults = _seen(kind, job_id)
        wrong += [f"after point {n} the job is {state}, but {fault}" for fault in faults]
        if not has_died:
            break
        _swept(job_id)
    return {"points": n - 1, "wrong": wrong}


def _load() -> None:
    """Import what each child would import anew; nothing of polars is called before a fork."""
    import polars  # noqa: F401

    from benchmarks_app.jobs.services import jobs
    from benchwright.evaluation import evaluating as evaluation  # noqa: F401
    from benchwright.runs import store as run_store  # noqa: F401

    jobs.load_handlers()


def _died(job_id: int, n: int) -> bool:
    """Do the job in a child that dies at the nth point."""
    from django.db import connections

    from benchmarks_app.jobs.services import jobs

    connections.close_all()
    child = os.fork()
    if not child:
        _die_at(n)
        jobs.execute(job_id, has_heartbeat=False)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status and not os.WIFSIGNALED(status):
        raise AssertionError(f"the job failed at point {n}, where it should have died")
    return os.WIFSIGNALED(status)


def _die_at(n: int) -> None:
    """Before and after each commit and each file that is stored, before each note of progress."""
    from django.db.backends.base.base import BaseDatabaseWrapper

    from benchmarks_app import files
    from benchmarks_app.jobs.services.jobs import RunningJob

    left = [n]

    def point() -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def deadly(owner: Any, name: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            point()
            answer = original(*args, **kwargs)
            point()
            return answer

        setattr(owner, name, call)

    deadly(BaseDatabaseWrapper, "commit")
    deadly(files, "publish")
    deadly(RunningJob, "_write")


def _swept(job_id: int) -> None:
    """The sweeper finds the job lost, and queues it again."""
    from django.conf import settings
    from django.utils import timezone

    from benchmarks_app.jobs.services import sweeping
    from benchmarks_app.models import Job

    settings.JOB_MAX_ATTEMPTS = 10 * MOST_POINTS
    Job.objects.filter(pk=job_id, state="running").update(
        heartbeat_at=timezone.now() - timedelta(days=1)
    )
    sweeping.sweep()


# --- what others see -----------------------------------------------------------------------


def _seen(kind: str, job_id: int) -> tuple[str, list[str]]:
    """The state of the job, and what does not go with it."""
    from benchmarks_app.models import Job

    job = Job.objects.get(pk=job_id)
    looks = {"scoring": _of_scoring, "publishing": _of_publishing, "exporting": _of_exporting}
    return job.state, looks[kind](job, job.state == "done")


def _of_scoring(job: Any, is_done: bool) -> list[str]:
    from benchmarks_app.models import Run
    from scoring.models import Score, ScoreSet, Submission

    submission = Submission.objects.get(job=job)
    runs = Run.objects.filter(benchmark=job.benchmark, name=submission.name)
    seen = {
        "runs": runs.count(),
        "sets": ScoreSet.objects.filter(run__in=runs).count(),
        "has scores": Score.objects.filter(score_set__run__in=runs).exists(),
        "is scored": submission.state == Submission.State.SCORED,
    }
    return [] if seen == dict.fromkeys(seen, int(is_done)) else [str(seen)]


def _of_publishing(job: Any, is_done: bool) -> list[str]:
    from benchmarks_app.models import Release
    from scoring.models import Phase
    from scoring.scores.selectors.rescoring import scoring_jobs

    releases = Release.objects.filter(benchmark=job.benchmark, patch=1)
    seen = {
        "releases": releases.count(),
        "phases": Phase.objects.filter(release__in=releases).count(),
        "scoring started": sum(scoring_jobs(release).exists() for release in releases),
    }
    return [] if seen == dict.fromkeys(seen, int(is_done)) else [str(seen)]


def _of_exporting(job: Any, is_done: bool) -> list[str]:
    """A file that nobody committed yet may be there, but whole."""
    from benchmarks_app.models import Release
    from benchmarks_app.releases.services.exporting import stored_export
    from benchwright.exports import exporter_of
    from benchwright.files.sources import sha256_of

    release = Release.objects.get(pk=job.parameters["release"])
    path = stored_export(release, exporter_of(job.parameters["format"]))
    if path is None:
        return ["there is no file"] if is_done else []
    faults = [] if sha256_of(path) == path.stem else ["its file is not whole"]
    return faults + ["its size is another" for _ in [0] if _other_size(job, path, is_done)]


def _other_size(job: Any, path: Any, is_done: bool) -> bool:
    return bool(is_done and job.result["n_bytes"] != path.stat().st_size)


if __name__ == "__main__":
    main()
