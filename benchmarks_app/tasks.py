"""The one Celery task: it takes a job's id, and is safe to run twice."""

from celery import shared_task

from benchmarks_app.services import (
    cleaning,
    exporting,
    importing,
    jobs,
    refreshing_texts,
    releasing,
)


@shared_task(name="benchmarks_app.run_job")
def run_job(job_id: int) -> None:
    jobs.execute(job_id)


@jobs.handles(importing.JOB_KIND)
def import_file_task(job: jobs.RunningJob) -> None:
    importing.import_file(job)


@jobs.handles(refreshing_texts.JOB_KIND)
def refresh_texts_task(job: jobs.RunningJob) -> None:
    refreshing_texts.refresh_texts(job)


@jobs.handles(releasing.JOB_KIND)
def publish_release_task(job: jobs.RunningJob) -> None:
    releasing.publish_release(job)


@jobs.handles(exporting.JOB_KIND)
def export_release_task(job: jobs.RunningJob) -> None:
    exporting.export_release(job)


@jobs.cleans
def remove_staged_rows(job_id: int) -> bool:
    return cleaning.remove_staged_rows(job_id)
