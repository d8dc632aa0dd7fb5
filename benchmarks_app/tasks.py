"""What the queue carries: a job's id, or that notices wait; both are safe to run twice."""

from celery import shared_task

from benchmarks_app.clicks import services as clicks
from benchmarks_app.collections.services import refreshing_texts
from benchmarks_app.common.services import audit, keyed_requests
from benchmarks_app.common.services.happening import TASK
from benchmarks_app.families.services import grouping
from benchmarks_app.importing.services import fetching, importing, reading_uploads
from benchmarks_app.jobs.services import cleaning, jobs
from benchmarks_app.judges.services import judges
from benchmarks_app.logs.services import importing_logs, sampling
from benchmarks_app.notices.services import sending
from benchmarks_app.people.services import freed_pages
from benchmarks_app.releases.services import drafting, exporting, releasing
from benchmarks_app.slices.services import importing_slices, slicing
from benchmarks_app.splits.services import contamination, leak_reports, splitting


@shared_task(name="benchmarks_app.run_job")
def run_job(job_id: int) -> None:
    jobs.execute_next(job_id)


@shared_task(name=TASK)
def send_notices() -> None:
    sending.send_due()


@jobs.handles(importing.JOB_KIND)
def import_file_task(job: jobs.RunningJob) -> None:
    importing.import_file(job)


@jobs.handles(reading_uploads.JOB_KIND)
def read_upload_task(job: jobs.RunningJob) -> None:
    reading_uploads.read_upload(job)


@jobs.handles(refreshing_texts.JOB_KIND)
def refresh_texts_task(job: jobs.RunningJob) -> None:
    refreshing_texts.refresh_texts(job)


@jobs.handles(freed_pages.JOB_KIND)
def erase_freed_pages_task(job: jobs.RunningJob) -> None:
    freed_pages.erase_job(job)


@jobs.handles(releasing.JOB_KIND)
def publish_release_task(job: jobs.RunningJob) -> None:
    releasing.publish_release(job)


@jobs.handles(drafting.CHECK_KIND)
def check_draft_task(job: jobs.RunningJob) -> None:
    drafting.check_draft(job)


@jobs.handles(fetching.JOB_KIND)
def fetch_collection_task(job: jobs.RunningJob) -> None:
    fetching.fetch_collection(job)


@jobs.handles(exporting.JOB_KIND)
def export_release_task(job: jobs.RunningJob) -> None:
    exporting.export_release(job)


@jobs.handles(grouping.JOB_KIND)
def group_queries_task(job: jobs.RunningJob) -> None:
    grouping.group_queries(job)


@jobs.handles(splitting.SPLIT_KIND)
def split_queries_task(job: jobs.RunningJob) -> None:
    splitting.split_job(job)


@jobs.handles(splitting.PREVIEW_KIND)
def preview_split_task(job: jobs.RunningJob) -> None:
    splitting.preview_job(job)


@jobs.handles(leak_reports.LEAKS_KIND)
def leak_report_task(job: jobs.RunningJob) -> None:
    leak_reports.leak_report_job(job)


@jobs.handles(importing_logs.JOB_KIND)
def import_log_task(job: jobs.RunningJob) -> None:
    importing_logs.import_log(job)


@jobs.handles(clicks.JOB_KIND, is_once=True)
def grade_clicks_task(job: jobs.RunningJob) -> None:
    clicks.grade_clicks(job)


@jobs.cleans
def forget_clicks(job_id: int) -> None:
    clicks.forget_logs_of_ended(job_id, kind=clicks.JOB_KIND)


@jobs.handles(sampling.JOB_KIND)
def sample_queries_task(job: jobs.RunningJob) -> None:
    sampling.sample_queries(job)


@jobs.handles(slicing.MAKE_KIND)
def make_slice_task(job: jobs.RunningJob) -> None:
    slicing.make_slice_job(job)


@jobs.handles(importing_slices.IMPORT_KIND)
def import_slices_task(job: jobs.RunningJob) -> None:
    importing_slices.import_slices(job)


@jobs.handles(contamination.JOB_KIND)
def check_contamination_task(job: jobs.RunningJob) -> None:
    contamination.contamination_job(job)


@jobs.handles(judges.TRY_KIND)
def try_judge_task(job: jobs.RunningJob) -> None:
    judges.try_judge(job)


@jobs.cleans
def remove_staged_rows(job_id: int) -> bool:
    return cleaning.remove_staged_rows(job_id)


@jobs.sweeps
def drop_old_sign_ins() -> None:
    audit.drop_old_sign_ins()


@jobs.sweeps
def drop_old_keyed_requests() -> None:
    keyed_requests.drop_old_keyed_requests()


@jobs.sweeps
def send_what_waits() -> None:
    sending.send_what_waits()


@jobs.sweeps
def drop_old_notices() -> None:
    sending.drop_old_notices()
