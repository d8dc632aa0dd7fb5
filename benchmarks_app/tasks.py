"""The one Celery task: it takes a job's id, and is safe to run twice."""

from celery import shared_task

from benchmarks_app.services import jobs


@shared_task(name="benchmarks_app.run_job")
def run_job(job_id: int) -> None:
    jobs.execute(job_id)
