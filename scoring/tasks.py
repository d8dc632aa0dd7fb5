"""The jobs of this app; `benchmarks_app.services.jobs` finds them here by their kind."""

from benchmarks_app.services import jobs
from benchmarks_app.services.jobs import RunningJob
from scoring.services import baselines, scoring, submitting


@jobs.handles(submitting.JOB_KIND)
def score_submission_task(job: RunningJob) -> None:
    scoring.score_submission(job)


@jobs.handles(scoring.RUNS_KIND)
def score_runs_task(job: RunningJob) -> None:
    scoring.score_runs(job)


@jobs.handles(baselines.JOB_KIND)
def make_baselines_task(job: RunningJob) -> None:
    baselines.make_baselines(job)


@jobs.cleans
def set_back_submission(job_id: int) -> None:
    scoring.set_back_submission(job_id)
