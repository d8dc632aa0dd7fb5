"""The job pages: who sees what, progress, failure, trying again."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import JobNotRetryableError, retry
from benchmarks_app.models import AuditEvent, Job, Notice, User, WorkerHeartbeat
from benchmarks_app.notice_facts import may_be_told
from tests import factories

PROBLEM = {"file": "bm25.run", "line": 412, "text": "score is 'n/a'; expected a number"}


def make_job(benchmark, user, **values) -> Job:
    values.setdefault("title", "Import bm25.run")
    if values.get("state") == "running":
        values.setdefault("token", uuid.uuid4())
    if values.get("state") in ("done", "failed"):
        values.setdefault("finished_at", timezone.now())
    values.setdefault("kind", "test")
    return Job.objects.create(benchmark=benchmark, created_by=user, **values)


def progress_of(client, job) -> str:
    return client.get(reverse("job-progress", args=[job.pk])).content.decode()


@pytest.fixture
def worker(db):
    return WorkerHeartbeat.objects.create(name="host:1")


# --- who -----------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["job-detail", "job-progress"])
@pytest.mark.parametrize(
    ("person", "status"),
    [("owner", 200), ("maintainer", 200), ("bo", 404), ("ada", 404), ("vi", 404), ("cy", 404)],
)
def test_job_is_for_those_who_edit_its_benchmark(
    request, signed_in, benchmark, owner, view, person, status
):
    job = make_job(benchmark, owner)
    client = signed_in(request.getfixturevalue(person))

    assert client.get(reverse(view, args=[job.pk])).status_code == status


def test_whoever_started_a_job_may_see_it(signed_in, benchmark, sam):
    job = make_job(benchmark, sam)

    assert signed_in(sam).get(job.get_absolute_url()).status_code == 200


@pytest.mark.parametrize("visibility", ["private", "public"])
def test_who_was_taken_out_of_a_private_benchmark_reads_nothing_of_their_job(
    signed_in, benchmark, sam, visibility
):
    """It goes on without them: what it says by now is of what they do not see any more."""
    job = make_job(benchmark, sam, state="running", title="Secret work", message="of a new run")
    failure = Notice(event="job.failed", benchmark=benchmark, about={"job": job.pk})
    benchmark.visibility = visibility
    benchmark.save()
    sam.memberships.all().delete()
    client, is_seen = signed_in(sam), visibility == "public"

    answers = [
        client.get(address)
        for address in (
            job.get_absolute_url(),
            reverse("job-progress", args=[job.pk]),
            reverse("api:job-detail", args=[job.pk]),
        )
    ]

    assert [answer.status_code for answer in answers] == [200 if is_seen else 404] * 3
    assert ("Secret work" in client.get("/").content.decode()) == is_seen
    assert may_be_told(User.objects.get(pk=sam.pk), failure) == is_seen


def test_stranger_is_sent_to_sign_in(client, benchmark, owner):
    job = make_job(benchmark, owner)

    assert client.get(job.get_absolute_url())["Location"].startswith("/sign-in/")


def test_job_list_is_for_those_who_edit(signed_in, benchmark, ada):
    assert signed_in(ada).get(reverse("job-list", args=[benchmark.slug])).status_code == 403


def test_staff_reads_jobs_of_benchmarks_they_do_not_belong_to(signed_in, benchmark, owner):
    job = make_job(benchmark, owner)
    page = signed_in(factories.user("operator", is_staff=True)).get(job.get_absolute_url())

    assert page.status_code == 200


# --- what ----------------------------------------------------------------------------------


def test_running_job_shows_how_far_it_is_and_asks_again(signed_in, benchmark, owner):
    job = make_job(benchmark, owner, state="running", done=1200, total=5000, message="documents")

    page = progress_of(signed_in(owner), job)

    assert "1,200 of 5,000" in page
    assert 'hx-trigger="every 1s"' in page
    assert f'hx-get="{reverse("job-progress", args=[job.pk])}"' in page
    assert f'href="{job.get_absolute_url()}"' in page  # without JavaScript


def test_finished_job_links_to_its_result_and_asks_no_more(signed_in, benchmark, owner):
    job = make_job(
        benchmark,
        owner,
        state="done",
        result_url="/b/stdlib/runs/1/",
        result={"notes": ["3 queries of the run are not in the benchmark."]},
        started_at=timezone.now(),
    )

    page = progress_of(signed_in(owner), job)

    assert 'href="/b/stdlib/runs/1/"' in page
    assert "3 queries of the run are not in the benchmark." in page
    assert "hx-trigger" not in page


def test_failed_job_shows_each_problem_with_file_and_line(signed_in, benchmark, owner):
    job = make_job(benchmark, owner, state="failed", error="It has problems.", problems=[PROBLEM])

    page = signed_in(owner).get(job.get_absolute_url()).content.decode()

    assert "bm25.run:412" in page
    assert "score is &#x27;n/a&#x27;" in page
    assert "It has problems." in page
    assert "Try again" not in page


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0 s"), (31, "31 s"), (125, "2 min 5 s")])
def test_finished_job_says_how_long_it_took(signed_in, benchmark, owner, seconds, words):
    now = timezone.now()
    started = now - timedelta(seconds=seconds)
    job = make_job(benchmark, owner, state="done", started_at=started, finished_at=now)

    assert f"after {words}." in progress_of(signed_in(owner), job)


def test_import_of_a_file_with_problems_leads_to_importing_it_again(signed_in, benchmark, owner):
    job = make_job(benchmark, owner, kind="import-file", state="failed", problems=[PROBLEM])

    page = progress_of(signed_in(owner), job)

    assert f'href="{reverse("import-new", args=[benchmark.slug])}"' in page


def test_queued_job_without_worker_says_so(signed_in, benchmark, owner):
    page = progress_of(signed_in(owner), make_job(benchmark, owner))

    assert "No worker was seen for two minutes" in page
    assert "celery -A benchmarks_app.celery worker" in page


def test_queued_job_with_a_worker_waits(signed_in, benchmark, owner, worker):
    page = progress_of(signed_in(owner), make_job(benchmark, owner))

    assert "No worker" not in page
    assert "Waiting for a free worker" in page


def test_page_of_a_job_without_benchmark_opens(signed_in, owner):
    job = make_job(None, owner, state="failed", error="Why")

    assert "Why" in signed_in(owner).get(job.get_absolute_url()).content.decode()


def test_what_a_file_says_is_escaped(signed_in, benchmark, owner):
    evil = {"file": "<script>", "line": 1, "text": "<img src=x>"}
    job = make_job(benchmark, owner, state="failed", error="<b>", problems=[evil])

    page = progress_of(signed_in(owner), job)

    assert "<img" not in page
    assert "<script>" not in page


# --- lists ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 20])
def test_job_list_asks_as_often_for_20_jobs_as_for_2(signed_in, benchmark, owner, n):
    for number in range(n):
        person = factories.member(benchmark, f"person{number}", "maintainer")
        make_job(benchmark, person, title=f"Job {number}", state="failed", error="Why")
    client, url = signed_in(owner), reverse("job-list", args=[benchmark.slug])
    client.get(url)  # the menu remembers the tab once

    with CaptureQueriesContext(connection) as queries:
        page = client.get(url).content.decode()

    assert f"person{n - 1}" in page
    assert len(queries) == 8, [query["sql"] for query in queries]


def test_job_list_has_pages_newest_first(signed_in, benchmark, owner):
    for number in range(30):
        make_job(benchmark, owner, title=f"Job {number:02}")
    client = signed_in(owner)
    url = reverse("job-list", args=[benchmark.slug])

    first, second = (client.get(f"{url}?page={page}").content.decode() for page in (1, 2))

    assert "Job 29" in first
    assert "Job 00" not in first
    assert "Job 00" in second


def test_job_list_holds_only_this_benchmarks_jobs(signed_in, benchmark, owner, cy):
    make_job(cy.memberships.get().benchmark, cy, title="Elsewhere")

    page = signed_in(owner).get(reverse("job-list", args=[benchmark.slug])).content.decode()

    assert "Elsewhere" not in page
    assert "No job yet" in page


# --- trying again --------------------------------------------------------------------------


def test_failed_job_is_queued_and_sent_again(
    signed_in, benchmark, owner, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr("benchmarks_app.jobs.services.jobs.send", lambda job: sent.append(job.pk))
    job = make_job(benchmark, owner, state="failed", error="Lost", attempt=3, done=5, total=9)

    with django_capture_on_commit_callbacks(execute=True):
        answer = signed_in(owner).post(reverse("job-retry", args=[job.pk]))

    job.refresh_from_db()
    assert answer["Location"] == job.get_absolute_url()
    assert (job.state, job.error, job.done, job.finished_at) == ("queued", "", 0, None)
    assert job.attempt == 3  # goes on counting: folders of attempts must not meet
    assert sent == [job.pk]
    assert AuditEvent.objects.filter(action="job-retry", actor=owner).exists()


@pytest.mark.parametrize("state", ["queued", "running", "done"])
def test_job_that_has_not_failed_is_not_started_again(benchmark, owner, state):
    job = make_job(benchmark, owner, state=state)

    with pytest.raises(JobNotRetryableError, match="it has not failed"):
        retry(job=job, user=owner)
    job.refresh_from_db()
    assert job.state == state


def test_job_of_a_file_with_problems_is_not_started_again(signed_in, benchmark, owner):
    job = make_job(benchmark, owner, state="failed", problems=[PROBLEM])

    answer = signed_in(owner).post(reverse("job-retry", args=[job.pk]))

    assert answer.status_code == 409
    assert "mend the file" in answer.content.decode()


def test_job_whose_file_is_forgotten_is_not_started_again(signed_in, benchmark, owner, monkeypatch):
    monkeypatch.setattr(jobs, "ONCE", {"test"})
    job = make_job(benchmark, owner, state="failed", error="Lost.")

    assert "Try again" not in progress_of(signed_in(owner), job)
    with pytest.raises(JobNotRetryableError, match="its file is forgotten; send it again"):
        retry(job=job, user=owner)


def test_who_no_longer_edits_does_not_start_their_job_again(signed_in, benchmark, owner, vi):
    job = make_job(benchmark, vi, state="failed", error="Lost")

    answer = signed_in(vi).post(reverse("job-retry", args=[job.pk]))

    assert answer.status_code == 403
    assert Job.objects.get(pk=job.pk).state == "failed"
    assert "Try again" not in progress_of(signed_in(vi), job)


def test_submitter_tries_their_own_submission_again_while_they_may_submit(
    signed_in, benchmark, sam
):
    job = make_job(benchmark, sam, kind="score-submission", state="failed", error="Lost")
    client = signed_in(sam)

    assert "Try again" in progress_of(client, job)
    benchmark.memberships.filter(user=sam).update(role="viewer")
    assert client.post(reverse("job-retry", args=[job.pk])).status_code == 403
    benchmark.memberships.filter(user=sam).update(role="submitter")
    client.post(reverse("job-retry", args=[job.pk]))

    assert Job.objects.get(pk=job.pk).state == "queued"


def test_member_of_another_benchmark_cannot_start_it_again(signed_in, benchmark, owner, cy):
    job = make_job(benchmark, owner, state="failed", error="Lost")

    assert signed_in(cy).post(reverse("job-retry", args=[job.pk])).status_code == 404
