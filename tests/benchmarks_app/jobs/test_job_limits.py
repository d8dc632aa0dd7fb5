"""A job ends when it is cancelled, takes too long or too much; a write is whole."""

import contextlib
import os
import sqlite3
import threading
import time
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from benchmarks_app.jobs.services import jobs, retry, sweeping
from benchmarks_app.jobs.services.limits import GIVE_BACK, JobStopped, Limits, Stopper
from benchmarks_app.models import Job
from benchwright.full_disk import is_disk_full
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def snippet(settings):
    settings.JOB_HEARTBEAT_SECONDS = 0.02
    settings.JOB_GRACE_SECONDS = 30


@pytest.fixture
def does(monkeypatch):
    """Make a function the handler of jobs of kind "test"."""
    jobs.load_handlers()
    return lambda handler: monkeypatch.setitem(jobs.HANDLERS, "test", handler)


@pytest.fixture
def beats(monkeypatch):
    """A heartbeat that does not ask the database, which a test's other threads cannot see."""
    turns = {"is_mine": True}
    monkeypatch.setattr(jobs.RunningJob, "beat", lambda self: turns["is_mine"])
    return turns


def queued(of=None, **values) -> Job:
    return Job.objects.create(kind="test", title="Long work", benchmark=of, **values)


def run(job: Job) -> Job:
    jobs.execute(job.pk)
    job.refresh_from_db()
    return job


def sleep_on(running) -> None:
    time.sleep(20)


# --- workers that stop ---------------------------------------------------------------------


def test_job_of_a_worker_that_stops_is_given_back_and_counts_as_no_attempt(does, beats):
    done = []

    def handler(running):
        (running.folder / "half").touch()
        if not done:
            done.append("half")
            os.kill(os.getpid(), GIVE_BACK)
            time.sleep(20)
        assert list(running.folder.iterdir()) == [running.folder / "half"]
        done.append("whole")

    does(handler)

    job = run(queued(sent_at=timezone.now()))
    assert (job.state, job.attempt, job.token) == ("queued", 0, None)
    assert job.sent_at is None  # the sweeper sends it, and not to this worker at once
    assert job.message == "worker stopped; starting again"
    assert not jobs.RunningJob(job).folder.exists()

    job = run(job)
    assert (job.state, job.attempt, done) == ("done", 1, ["half", "whole"])


def test_folder_of_who_took_up_what_was_given_back_stays(does, beats, monkeypatch):
    give_back = jobs.RunningJob.give_back

    def taken_up(running):
        give_back(running)
        running.folder.mkdir()  # by another worker, whose attempt has the same number

    monkeypatch.setattr(jobs.RunningJob, "give_back", taken_up)
    does(lambda running: os.kill(os.getpid(), GIVE_BACK) or time.sleep(20))

    job = run(queued())

    job.attempt += 1
    assert jobs.RunningJob(job).folder.is_dir()


def test_job_of_a_worker_that_stops_is_not_given_back_once_it_is_done(does, beats):
    def handler(running):
        with running.commit():
            os.kill(os.getpid(), GIVE_BACK)

    does(handler)

    assert run(queued()).state == "done"


def test_process_without_a_job_does_not_mind_that_its_worker_stops():
    os.kill(os.getpid(), GIVE_BACK)


# --- limits --------------------------------------------------------------------------------


def test_job_that_takes_too_long_is_ended_with_what_to_do(settings, does, beats):
    settings.JOB_TIME_LIMITS = {"test": 1}
    does(sleep_on)
    began = time.monotonic()

    job = run(queued())

    assert job.state == "failed"
    assert job.error.startswith("Stopped after 1 s: a job of this kind may run for 1 s.")
    assert "raise JOB_TIME_LIMITS (test)" in job.error
    assert time.monotonic() - began < 20  # what it would take
    assert retry.is_retryable(job)


def test_job_that_takes_too_much_memory_is_ended(settings, does, beats):
    settings.JOB_MEMORY_LIMITS = {"*": 64}
    taken = []

    def handler(running):
        taken.append(bytearray(b"1") * (128 << 20))
        time.sleep(20)

    does(handler)

    job = run(queued())

    assert "a job of this kind may take 64 MB" in job.error


def test_stop_that_is_lost_in_a_finaliser_is_said_again(settings, does, beats):
    settings.JOB_TIME_LIMITS, settings.JOB_GRACE_SECONDS = {"test": 1}, 10
    slept = []

    def handler(running):
        with contextlib.suppress(JobStopped):
            time.sleep(20)
            slept.append("first")
        time.sleep(20)
        slept.append("second")

    does(handler)

    job = run(queued())

    assert job.error.startswith("Stopped after 1 s")
    assert slept == []


def test_kind_without_a_limit_has_that_of_all_others(settings):
    settings.JOB_TIME_LIMITS = {"*": 7, "test": 0}
    settings.JOB_MEMORY_LIMITS = {}

    assert Limits.of("other") == Limits("other", 7, 0)
    assert Limits.of("test").passed(seconds=1e9, megabytes=1e9) == ""


def test_what_is_being_written_is_written_whole_before_the_job_ends(settings, does, beats):
    settings.JOB_TIME_LIMITS = {"test": 1}
    written = []

    def handler(running):
        with running.fenced():
            time.sleep(1.3)
            written.append("all")
        time.sleep(20)  # the stop comes here at the latest
        written.append("never")

    does(handler)

    assert run(queued()).state == "failed"
    assert written == ["all"]


def test_job_that_was_done_when_its_time_was_over_stays_done(settings, does, beats):
    settings.JOB_TIME_LIMITS = {"test": 1}

    def handler(running):
        with running.commit() as result:
            time.sleep(1.3)
            result["made"] = ["something"]

    does(handler)

    job = run(queued())
    assert (job.state, job.result["made"]) == ("done", ["something"])


def test_what_follows_from_a_job_that_is_done_is_not_interrupted(settings, does, beats):
    settings.JOB_TIME_LIMITS = {"test": 1}
    followed = []

    def handler(running):
        with running.commit():
            pass
        beats["is_mine"] = False  # it is nobody's any more
        time.sleep(1.3)
        followed.append("to the end")

    does(handler)

    assert run(queued()).state == "done"
    assert followed == ["to the end"]


def test_work_in_another_thread_is_refused_at_its_next_write():
    stopper = Stopper()
    results = []

    def work():
        own = Stopper()
        with own.opened():
            own.stop("over")
            try:
                with own.writing():
                    results.append("wrote")
            except JobStopped:
                results.append("stopped")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert results == ["wrote", "stopped"]
    assert not stopper.is_due


def test_sweeper_gives_up_a_job_far_beyond_its_limit(settings, monkeypatch):
    settings.JOB_TIME_LIMITS = {"test": 60}
    long_ago = timezone.now() - timedelta(hours=2)
    job = queued()
    attempt = jobs.RunningJob(jobs._take(job.pk))
    Job.objects.filter(pk=job.pk).update(started_at=long_ago)

    assert sweeping.sweep().n_given_up == 1

    job.refresh_from_db()
    assert job.state == "failed"
    assert job.error.startswith("Stopped after 2.0 h")
    with pytest.raises(jobs.JobFencedError):
        attempt.progress(1, 1, "late")


# --- cancelling ----------------------------------------------------------------------------


def test_cancelled_job_in_the_queue_is_never_done(does, owner, benchmark):
    done = []
    does(done.append)
    job = retry.cancel(job=queued(benchmark), user=owner)

    run(job)

    assert (job.state, job.error, done) == ("cancelled", "Cancelled by olga.", [])


def test_cancelled_attempt_writes_no_more(benchmark, owner):
    attempt = jobs.RunningJob(jobs._take(queued(benchmark).pk))

    retry.cancel(job=attempt.row, user=owner)

    with pytest.raises(jobs.JobFencedError), attempt.commit():
        pass
    assert Job.objects.get().state == "cancelled"


def test_work_of_a_cancelled_job_is_interrupted(does, beats):
    def handler(running):
        Job.objects.filter(pk=running.row.pk).update(state=Job.State.CANCELLED)
        beats["is_mine"] = False
        time.sleep(20)

    does(handler)
    began = time.monotonic()

    assert run(queued()).state == "cancelled"
    assert time.monotonic() - began < 5


def test_finished_job_cannot_be_cancelled(owner):
    job = queued(state=Job.State.DONE)

    with pytest.raises(retry.JobFinishedError, match="there is nothing to cancel"):
        retry.cancel(job=job, user=owner)


def test_cancelled_job_can_be_started_again(does, beats, owner, benchmark):
    done = []
    does(done.append)
    job = retry.cancel(job=queued(benchmark), user=owner)

    retry.retry(job=job, user=owner)

    assert run(job).state == "done"
    assert len(done) == 1


def test_what_a_cancelled_job_staged_is_cleared_by_the_sweeper(monkeypatch, benchmark, owner):
    jobs.load_handlers()
    left = [True, True, False]
    monkeypatch.setattr(jobs, "CLEANERS", [lambda job_id: left.pop(0)])
    monkeypatch.setattr(retry, "CLEARS_SECONDS", 0)
    job = retry.cancel(job=queued(benchmark), user=owner)
    assert job.token
    assert not retry.is_retryable(job)

    sweeping.sweep()

    job.refresh_from_db()
    assert (left, job.token) == ([], None)


@pytest.mark.parametrize(("person", "status"), [("olga", 302), ("mia", 302), ("vi", 404)])
def test_keepers_may_cancel_and_others_do_not_see_the_job(
    client, benchmark, owner, maintainer, vi, person, status
):
    job = queued(benchmark)
    client.force_login(factories.user(person), backend="django.contrib.auth.backends.ModelBackend")

    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == status

    job.refresh_from_db()
    assert job.state == ("cancelled" if status == 302 else "queued")


def test_who_started_a_job_may_cancel_it_and_the_page_offers_it(signed_in, benchmark, sam):
    yesterday = timezone.now() - timedelta(days=1)
    job = queued(benchmark, created_by=sam, attempt=1, started_at=yesterday)
    page = signed_in(sam).get(job.get_absolute_url()).content.decode()
    assert "Cancel this job" in page

    answer = signed_in(sam).post(f"/api/v1/jobs/{job.pk}/cancel/")

    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert " after " not in signed_in(sam).get(job.get_absolute_url()).content.decode()
    page = signed_in(sam).get(job.get_absolute_url()).content.decode()
    assert "Cancelled by sam." in page
    assert "Cancel this job" not in page


# --- a full disk ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_begun", [True, False])
def test_job_on_a_full_disk_says_so(does, beats, monkeypatch, is_begun):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    does(full)
    if not is_begun:
        monkeypatch.setattr(Path, "mkdir", full)

    job = run(queued())

    assert job.error.startswith("The disk of this site is full: nothing was stored")
    assert retry.is_retryable(job)


@pytest.fixture
def no_room():
    """A function that raises what Django makes of a SQLite whose disk is full."""

    def refuse(*_: object, **__: object) -> None:
        with contextlib.closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE TABLE filled (content)")
            database.execute("PRAGMA max_page_count = 2")
            try:
                database.execute("INSERT INTO filled VALUES (zeroblob(100000))")
            except sqlite3.OperationalError as error:
                raise OperationalError(str(error)) from error

    return refuse


def not_opened(name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = getattr(sqlite3, name)
    return error


def test_database_without_room_is_a_full_disk(no_room):
    with pytest.raises(OperationalError) as caught:
        no_room()

    assert is_disk_full(caught.value)
    assert is_disk_full(psycopg.errors.DiskFull("could not extend file"))
    assert is_disk_full(not_opened("SQLITE_IOERR_SHMSIZE"))
    assert not is_disk_full(not_opened("SQLITE_IOERR_READ"))
    assert not is_disk_full(psycopg.errors.OutOfMemory("out of memory"))


def test_page_says_that_the_database_has_no_room(no_room, db):
    def write(execute, sql, *rest):
        return no_room() if sql.startswith(("INSERT", "UPDATE")) else execute(sql, *rest)

    client = Client(raise_request_exception=False)
    with connection.execute_wrapper(write):
        answer = client.post("/sign-in/", {"username": "ada", "password": "wrong"})

    assert (answer.status_code, answer.headers["X-Error-Code"]) == (507, "disk-full")
    assert "The disk of this site is full" in answer.content.decode()


def test_other_errors_are_not_taken_for_a_full_disk():
    assert not is_disk_full(OSError(2, "No such file"))
    assert not is_disk_full(ValueError("no space left on device"))


def test_what_a_killed_process_left_is_swept(tmp_path, monkeypatch, settings):
    settings.READERS_DIR = tmp_path / "readers"
    (settings.READERS_DIR / "benchwright-apart-x").mkdir(parents=True)
    (settings.READERS_DIR / "benchwright-apart-x" / "cell").write_bytes(b"9")
    (settings.STAGING_DIR / "upload-x").write_bytes(b"9")

    sweeping.sweep()
    assert list(settings.READERS_DIR.iterdir())
    assert list(settings.STAGING_DIR.iterdir())

    monkeypatch.setattr(sweeping, "ABANDONED_AFTER_SECONDS", -60)
    sweeping.sweep()
    assert not list(settings.READERS_DIR.iterdir())
    assert not list(settings.STAGING_DIR.iterdir())
