"""Background work: taken once, fenced, swept, and done together with its result or not at all."""

import logging
import os
import subprocess
import sys
import threading
import time
import uuid
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest
from django.conf import settings as site
from django.core.management import CommandError, call_command
from django.db import OperationalError, transaction
from django.db.models.signals import post_save
from django.utils import timezone

from benchmarks_app.jobs.services import jobs, sweeping
from benchmarks_app.jobs.services.jobs import send as send_for_real  # before the tests' fixture
from benchmarks_app.jobs.services.retry import cancel
from benchmarks_app.management.declared import refuse_failed
from benchmarks_app.models import Job, QueryFamily, WorkerHeartbeat
from benchmarks_app.models.jobs import JobQuerySet
from benchwright.errors import BenchmarkError, FileProblemsError, Problem
from tests import factories

pytestmark = pytest.mark.django_db


TEST = {"kind": "test", "title": "Test", "benchmark": None, "user": None, "parameters": {}}


class BasketError(BenchmarkError):
    code = "basket"
    message = "The basket {name} has a hole. Use another."


@pytest.fixture(autouse=True)
def cleaned(monkeypatch) -> list[int]:
    """The jobs that were cleaned; the apps' own cleaners are away."""
    jobs.load_handlers()
    calls: list[int] = []
    monkeypatch.setattr(jobs, "CLEANERS", [calls.append])
    return calls


@pytest.fixture
def sent(monkeypatch) -> list[int]:
    calls: list[int] = []
    monkeypatch.setattr(jobs, "send", lambda job: calls.append(job.pk))
    return calls


@pytest.fixture
def does(monkeypatch):
    """Make a function the handler of jobs of kind "test"."""
    return lambda handler: monkeypatch.setitem(jobs.HANDLERS, "test", handler)


def queued(benchmark=None, **values) -> Job:
    return Job.objects.create(kind="test", title="Test", benchmark=benchmark, **values)


def taken(job: Job) -> jobs.RunningJob:
    return jobs.RunningJob(jobs._take(job.pk))


def let_it_go_stale(job: Job) -> None:
    ago = timezone.now() - timedelta(seconds=site.JOB_LOST_AFTER_SECONDS + 1)
    Job.objects.filter(pk=job.pk).update(heartbeat_at=ago)


def taken_over(job: Job) -> tuple[jobs.RunningJob, jobs.RunningJob]:
    """An attempt that was given up for lost but lives, and the one that took over."""
    lost = taken(job)
    let_it_go_stale(job)
    sweeping.sweep()
    return lost, taken(job)


def run(job: Job) -> Job:
    jobs.execute(job.pk, has_heartbeat=False)
    job.refresh_from_db()
    return job


# --- taken once ----------------------------------------------------------------------------


def test_two_messages_of_one_job_do_it_once(does):
    done = []
    does(lambda running: done.append(running.row.attempt))
    job = queued()

    run(job)
    run(job)

    assert done == [1]
    assert job.state == "done"


def test_message_that_comes_while_the_job_runs_does_nothing(does):
    done = []

    def handler(running):
        done.append(running.row.attempt)
        jobs.execute(running.row.pk, has_heartbeat=False)

    does(handler)

    assert run(queued()).state == "done"
    assert done == [1]


@pytest.mark.parametrize("is_back_in_the_queue", [False, True])
def test_job_taken_between_look_and_grasp_is_left_alone(monkeypatch, is_back_in_the_queue):
    job = queued()
    look = jobs._queued
    quicker = []

    def look_while_another_takes_it(job_id):
        rows = look(job_id)
        if not quicker:
            quicker.append("is at it")
            quicker.append(jobs._take(job.pk))
            if is_back_in_the_queue:
                Job.objects.filter(pk=job.pk).update(state=Job.State.QUEUED, token=None)
        return rows

    monkeypatch.setattr(jobs, "_queued", look_while_another_takes_it)

    assert jobs._take(job.pk) is None
    assert quicker[1] is not None
    job.refresh_from_db()
    assert job.attempt == 1


# --- fenced --------------------------------------------------------------------------------


def test_fenced_attempt_cannot_write_progress():
    lost, current = taken_over(queued(done=5, total=9, message="five"))
    assert Job.objects.values_list("done", "total", "message").get() == (0, 0, "")
    current.progress(7, 9, "seven")

    with pytest.raises(jobs.JobFencedError, match="taken over by a later attempt"):
        lost.progress(3, 9, "three")
    assert Job.objects.get().done == 7
    assert not lost.beat()
    assert current.beat()


def test_fenced_attempt_cannot_write_staged_rows(benchmark):
    lost, current = taken_over(queued(benchmark))

    with pytest.raises(jobs.JobFencedError), lost.fenced():
        QueryFamily.objects.create(benchmark=benchmark)
    assert QueryFamily.objects.count() == 0

    with current.fenced():
        QueryFamily.objects.create(benchmark=benchmark)
    assert QueryFamily.objects.count() == 1


def test_fenced_attempt_cannot_commit(benchmark):
    job = queued(benchmark)
    lost, current = taken_over(job)

    with pytest.raises(jobs.JobFencedError), lost.commit() as result:
        QueryFamily.objects.create(benchmark=benchmark)
        result["n"] = 1
    job.refresh_from_db()
    assert (job.state, job.result, QueryFamily.objects.count()) == ("running", {}, 0)

    with current.commit() as result:
        result.update(n=2, url="/there/")
    job.refresh_from_db()
    assert (job.state, job.result, job.result_url) == ("done", {"n": 2}, "/there/")


def test_fenced_attempt_cannot_fail_the_job():
    job = queued()
    lost, _ = taken_over(job)

    lost.fail("too late", [])

    job.refresh_from_db()
    assert (job.state, job.error) == ("running", "")


def test_attempt_that_learns_late_of_its_loss_leaves_the_rows_of_the_next_alone(does, cleaned):
    def lose_it_then_stumble(running):
        let_it_go_stale(running.row)
        sweeping.sweep()
        taken(running.row)
        cleaned.clear()  # what follows would be the next attempt's rows
        raise BasketError(name="red")

    does(lose_it_then_stumble)
    job = run(queued())

    assert job.state == "running"
    assert cleaned == []


def test_commit_takes_its_rows_back_when_the_attempt_is_fenced_meanwhile(benchmark):
    job = queued(benchmark)
    running = taken(job)

    with pytest.raises(jobs.JobFencedError), running.commit():
        QueryFamily.objects.create(benchmark=benchmark)
        Job.objects.filter(pk=job.pk).update(token=uuid.uuid4())

    assert QueryFamily.objects.count() == 0
    assert Job.objects.get(pk=job.pk).state == "running"


# --- done together -------------------------------------------------------------------------


def test_rows_and_state_done_are_written_together(does, benchmark):
    def handler(running):
        with running.commit() as result:
            QueryFamily.objects.create(benchmark=benchmark)
            result["notes"] = ["no field is called a\0"]

    does(handler)
    job = run(queued(benchmark))

    notes = {"notes": ["no field is called a\N{REPLACEMENT CHARACTER}"]}
    assert (job.state, job.result, job.token) == ("done", notes, None)
    assert job.finished_at
    assert QueryFamily.objects.count() == 1


def test_error_inside_the_commit_leaves_neither_rows_nor_state_done(does, benchmark):
    def handler(running):
        with running.commit():
            QueryFamily.objects.create(benchmark=benchmark)
            raise BasketError(name="red \ud83d")

    does(handler)
    job = run(queued(benchmark))

    assert (job.state, job.error) == ("failed", "The basket red ? has a hole. Use another.")
    assert QueryFamily.objects.count() == 0


def test_problems_of_a_file_land_on_the_job_with_file_and_line(does, cleaned):
    def handler(running):
        raise FileProblemsError(problems=[Problem("bm25.run", 412, "score is 'n\0a'")])

    does(handler)
    job = run(queued())

    assert job.state == "failed"
    # As every database takes them.
    text = "score is 'n\N{REPLACEMENT CHARACTER}a'"
    assert job.problems == [{"file": "bm25.run", "line": 412, "text": text}]
    assert cleaned == [job.pk] * 2  # after the attempt, and with the row that says so


def test_only_what_was_begun_before_is_cleaned_first(does, cleaned):
    """A job given back by a worker that stops counts no attempt; what it staged is there."""
    does(lambda running: None)
    job = queued()
    taken(job).give_back()
    job.refresh_from_db()
    assert (job.state, job.attempt, cleaned) == ("queued", 0, [])

    run(job)
    run(queued())

    assert cleaned == [job.pk]


def test_unexpected_error_fails_the_job_and_keeps_its_text_in_the_log(does, caplog):
    def handler(running):
        raise ValueError("password=hunter2")

    does(handler)
    with caplog.at_level(logging.ERROR):
        job = run(queued())

    assert job.state == "failed"
    assert job.error == "Unexpected error (ValueError). The log has the details."
    assert "hunter2" in caplog.text


def test_database_that_is_away_leaves_the_job_to_the_sweeper(does, sent, caplog):
    def handler(running):
        raise OperationalError("database is locked")

    does(handler)
    job = run(queued())
    assert job.state == "running"

    let_it_go_stale(job)
    sweeping.sweep()

    job.refresh_from_db()
    assert job.state == "queued"
    assert sent == [job.pk]


def test_job_of_unknown_kind_fails(caplog):
    job = run(Job.objects.create(kind="no such kind", title="Test"))

    assert job.state == "failed"


# --- starting and sending ------------------------------------------------------------------


def start() -> Job:
    return jobs.start(kind="test", title="T" * 300, benchmark=None, user=None, parameters={"a": 1})


def test_job_is_sent_when_the_transaction_commits(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = start()
        assert sent == []

    assert sent == [job.pk]
    assert job.parameters == {"a": 1}
    assert len(job.title) == 200


def test_job_of_a_transaction_that_fails_is_never_sent(sent, django_capture_on_commit_callbacks):
    with (
        django_capture_on_commit_callbacks(execute=True),
        pytest.raises(ValueError, match="no"),
        transaction.atomic(),
    ):
        start()
        raise ValueError("no")

    assert sent == []
    assert not Job.objects.exists()


def test_queue_that_is_away_leaves_the_job_unsent(monkeypatch, caplog):
    def away(*args, **kwargs):
        raise ConnectionError("no broker")

    monkeypatch.setattr("celery.app.base.Celery.send_task", away)
    job = queued()

    send_for_real(job)

    job.refresh_from_db()
    assert job.sent_at is None
    assert "sweeper will try again" in caplog.text


def test_job_that_was_sent_knows_when(monkeypatch):
    messages = []
    monkeypatch.setattr(
        "celery.app.base.Celery.send_task",
        lambda self, name, args, **options: messages.append((name, args)),
    )
    job = queued()

    send_for_real(job)

    job.refresh_from_db()
    assert messages == [("benchmarks_app.run_job", [job.pk])]
    assert job.sent_at


def test_command_does_a_job_here_and_hears_its_progress(does):
    heard = []
    does(lambda running: running.progress(5, 5, "all five"))

    job = jobs.run_here(**TEST, on_progress=lambda *told: heard.append(told))

    assert job.state == "done"
    assert heard == [(5, 5, "all five")]


def test_no_worker_takes_a_job_that_is_done_here(does, sent):
    done = []
    does(lambda running: done.append(running.row.pk))
    done_by_others = []

    def look(instance: Job, **facts) -> None:
        # As a worker that got a message of another job, and the sweeper, after a while.
        jobs.execute_next(instance.pk)
        done_by_others.extend(done)
        Job.objects.filter(pk=instance.pk).update(
            created_at=timezone.now() - timedelta(seconds=site.JOB_RESEND_AFTER_SECONDS + 1),
            sent_at=timezone.now() - timedelta(seconds=site.JOB_RESEND_AFTER_SECONDS + 1),
        )
        sweeping.sweep()

    post_save.connect(look, sender=Job)
    try:
        job = jobs.run_here(**TEST)
    finally:
        post_save.disconnect(look, sender=Job)

    assert (done_by_others, sent, done) == ([], [], [job.pk])
    assert (job.state, job.attempt) == ("done", 1)


def test_command_whose_job_is_given_another_attempt_says_who_goes_on(does):
    def fail(running: jobs.RunningJob) -> None:
        msg = "database is locked"
        raise OperationalError(msg)

    does(fail)
    job = jobs.run_here(**TEST)

    with pytest.raises(CommandError, match=rf"Job {job.pk} was not finished here \(Running\): a"):
        refuse_failed(job)


# --- sweeping ------------------------------------------------------------------------------


def test_job_whose_heartbeat_stopped_is_queued_again_and_sent(sent):
    job = queued()
    taken(job)
    let_it_go_stale(job)

    swept = sweeping.sweep()

    job.refresh_from_db()
    assert (job.state, job.token) == ("queued", None)
    assert "worker lost" in job.message
    assert sent == [job.pk]
    assert swept == sweeping.Swept(n_requeued=1, n_given_up=0, n_resent=0)


def test_job_that_beats_is_left_alone(sent):
    job = queued()
    running = taken(job)
    let_it_go_stale(job)
    running.beat()

    assert sweeping.sweep().n_requeued == 0
    assert Job.objects.get().state == "running"


def test_job_lost_too_often_is_given_up_and_cleaned(sent, cleaned):
    job = queued()
    for _ in range(site.JOB_MAX_ATTEMPTS):
        taken(job)
        let_it_go_stale(job)
        assert cleaned == []
        swept = sweeping.sweep()

    job.refresh_from_db()
    assert swept.n_given_up == 1
    assert job.state == "failed"
    assert f"lost {site.JOB_MAX_ATTEMPTS} times" in job.error
    assert set(cleaned) == {job.pk}
    assert len(sent) == site.JOB_MAX_ATTEMPTS - 1


def test_waiting_jobs_are_sent_again_when_their_message_is_lost_or_never_left(sent):
    now = timezone.now()
    old = now - timedelta(seconds=site.JOB_RESEND_AFTER_SECONDS + 1)
    never_left = queued(created_at=now - timedelta(seconds=5))
    lost = queued(created_at=old, sent_at=old)
    queued(created_at=old, sent_at=now)  # on its way
    queued(created_at=now)  # about to be sent
    queued(created_at=old, sent_at=old, state="running", token=uuid.uuid4(), heartbeat_at=now)
    queued(created_at=old, sent_at=old, state="failed")

    swept = sweeping.sweep()

    assert sorted(sent) == [never_left.pk, lost.pk]
    assert swept.n_resent == 2


@pytest.fixture
def sweeps(monkeypatch) -> list[str]:
    """What the sweepers did of which the first fails."""
    done: list[str] = []

    def fails() -> None:
        done.append("failed")
        raise PermissionError("no")

    monkeypatch.setattr(jobs, "SWEEPERS", [fails, lambda: done.append("done")])
    return done


def test_step_of_a_sweep_that_fails_is_logged_and_the_others_are_done(sent, sweeps, caplog):
    lost = queued()
    taken(lost)
    let_it_go_stale(lost)

    swept = sweeping.sweep()

    assert swept == sweeping.Swept(n_requeued=1, n_failed=1)
    assert sweeps == ["failed", "done"]
    assert "PermissionError: no" in caplog.text


def test_sweep_that_failed_ends_with_1(sweeps):
    with pytest.raises(SystemExit) as ended:
        call_command("sweep")

    assert ended.value.code == 1


def test_sweeper_has_started_though_its_first_sweep_fails(monkeypatch, tmp_path):
    started = tmp_path / "started"
    monkeypatch.setenv("BENCHWRIGHT_STARTED", str(started))
    monkeypatch.setattr(jobs, "SWEEPERS", [lambda: results.append(started.exists())])
    results: list[bool] = []

    call_command("sweep")

    assert results == [True]


def test_loop_sweeps_at_once_and_again_after_each_wait_though_a_sweep_breaks(
    monkeypatch, settings, caplog
):
    done: list[str | int] = []

    def sweep() -> sweeping.Swept:
        done.append("swept")
        if done == ["swept"]:
            msg = "an answer that is none"
            raise ValueError(msg)
        return sweeping.Swept()

    def wait(seconds: int) -> None:
        done.append(seconds)
        if done.count(seconds) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks_app.jobs.services.sweeping.sweep", sweep)
    monkeypatch.setattr("time.sleep", wait)
    settings.SWEEP_SECONDS = 7

    with pytest.raises(KeyboardInterrupt):
        call_command("sweep", loop=True)

    assert done == ["swept", 7, "swept", 7]
    assert "an answer that is none" in caplog.text


def test_sweep_passes_over_folders_whose_names_tell_of_no_attempt(settings):
    other = settings.STAGING_DIR / "job-1-x"
    other.mkdir()

    assert sweeping.sweep().n_failed == 0
    assert other.exists()


def test_sweep_removes_folders_of_attempts_that_are_over_and_no_others(settings):
    running = taken(queued())
    over = queued(state="done")
    mine = running.folder
    left = settings.STAGING_DIR / f"job-{over.pk}-1"
    other = settings.STAGING_DIR / "upload-of-somebody"
    for folder in (mine, left, other):
        folder.mkdir()

    sweeping.sweep()

    assert (mine.exists(), left.exists(), other.exists()) == (True, False, True)


def test_sweep_forgets_a_worker_that_was_killed_a_day_ago():
    now = timezone.now()
    for name, hours in {"at:1": 0, "killed:2": 23, "killed:3": 25}.items():
        WorkerHeartbeat.objects.create(name=name, seen_at=now - timedelta(hours=hours))

    sweeping.sweep()

    left = WorkerHeartbeat.objects.order_by("name").values_list("name", flat=True)
    assert list(left) == ["at:1", "killed:2"]


def test_sweep_removes_what_nobody_waits_for_any_more_and_nothing_that_is_written_to(
    settings, monkeypatch
):
    later = time.time() + 2 * 24 * 3600
    monkeypatch.setattr(sweeping.time, "time", lambda: later)
    old, young = later - 2 * 24 * 3600, later - 3600
    kept = {"job-7-1", "shards-3-ab", "downloads", "live", "export-young", "upload-young"}
    for name in ("export-old", "upload-old", *kept):
        path = settings.STAGING_DIR / name
        path.mkdir(parents=True)
        (path / "part").touch()
        os.utime(path / "part", (young, young) if "young" in name else (old, old))
        os.utime(path, (old, old))
    Job.objects.create(kind="test", state="running", attempt=1, token=uuid.uuid4(), pk=7)

    sweeping.sweep()

    left = {path.name for path in settings.STAGING_DIR.iterdir()}
    assert kept - left <= {"shards-3-ab"}  # which goes with its job
    assert not {"export-old", "upload-old"} & left


def test_what_another_attempt_would_go_on_with_is_kept_for_a_week(settings, monkeypatch):
    later = time.time() + 8 * 24 * 3600
    monkeypatch.setattr(sweeping.time, "time", lambda: later)
    for kind, job, days in product(("downloads", "live"), ("1", "2"), (6, 8)):
        part = settings.STAGING_DIR / kind / job / f"part-{days}"
        if (job, days) != ("2", 6):
            part.parent.mkdir(parents=True, exist_ok=True)
            part.touch()
            os.utime(part, (later - days * 24 * 3600,) * 2)

    sweeping.sweep()

    left = {path.parent.name + path.name for path in settings.STAGING_DIR.glob("*/*")}
    assert left == {"downloads1", "live1"}


def test_sweep_removes_what_a_cut_off_upload_left_and_nothing_that_is_received(settings):
    code = (
        "import django, os; django.setup()\n"
        "from django.core.files.uploadhandler import load_handler\n"
        "from django.conf import settings\n"
        "spool = load_handler(settings.FILE_UPLOAD_HANDLERS[-1], None)\n"
        "spool.new_file('run', 'my.run', 'text/plain', 10)\n"
        "spool.receive_data_chunk(b'q1 Q0 d1', 0)\n"
        "print('received', flush=True)\n"
        "input()"
    )
    fields = {
        "DJANGO_SETTINGS_MODULE": "benchmarks_app.settings",
        "BENCHWRIGHT_DATA": str(settings.DATA_DIR),
    }
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **fields},
    ) as web:
        assert web.stdout.readline() == b"received\n"
        (spooled,) = Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir()
        os.utime(spooled, (0, 0))
        sweeping.sweep()
        assert spooled.exists()
        web.kill()
    assert spooled.exists()

    sweeping.sweep()

    assert not spooled.exists()


# --- the attempt ---------------------------------------------------------------------------


@pytest.mark.parametrize("hole", [None, BasketError(name="A"), RuntimeError("bug")])
def test_private_folder_is_gone_before_anybody_sees_that_the_job_is_over(does, monkeypatch, hole):
    def work(running):
        (running.folder / "part").write_text("x")
        if hole:
            raise hole

    left = []
    update = JobQuerySet.update

    def watched(rows, **values):
        if values.get("state") in {Job.State.DONE, Job.State.FAILED}:
            left.append(list(site.STAGING_DIR.glob("job-*")))
        return update(rows, **values)

    does(work)
    monkeypatch.setattr(JobQuerySet, "update", watched)
    jobs.execute(queued().pk, has_heartbeat=False)

    assert left == [[]]


def test_private_folder_is_there_for_the_handler_and_gone_afterwards(does):
    seen = []

    def handler(running):
        (running.folder / "part").write_text("x")
        seen.append(running.folder)
        raise BasketError(name="red")

    does(handler)
    run(queued())

    assert not seen[0].exists()


def test_progress_is_written_at_most_twice_a_second_but_the_end_always(
    django_assert_num_queries,
):
    running = taken(queued())

    with django_assert_num_queries(2):
        for done in range(1, 101):
            running.progress(done, 100, "documents" * 100)

    job = Job.objects.get()
    assert (job.done, len(job.message)) == (100, 200)


def test_attempt_beats_while_it_works_and_stops_when_its_turn_is_over(settings):
    settings.JOB_HEARTBEAT_SECONDS = 0.01
    running = taken(queued())
    over = threading.Event()
    beats = []

    def beat() -> bool:
        beats.append(1)
        if len(beats) == 3:
            over.set()
        return len(beats) < 3

    running.beat = beat
    with jobs._watched(running, is_on=True, is_worker=False):
        assert over.wait(10)
        time.sleep(0.1)  # time for the beats that must not come

    assert len(beats) == 3


# --- whose turn it is ------------------------------------------------------------------------


def burst(n: int, person, **values) -> list[Job]:
    """Jobs of one person that were sent, in one statement."""
    rows = (Job(kind="test", title="Test", created_by=person, **values) for _ in range(n))
    created_jobs = Job.objects.bulk_create(rows)
    Job.objects.filter(pk__in=[job.pk for job in created_jobs]).update(sent_at=timezone.now())
    return created_jobs


def test_job_of_another_does_not_wait_for_a_burst_of_a_thousand(does):
    done: list[str] = []
    does(lambda job: done.append(job.user.username))
    sam, sue = factories.user("sam"), factories.user("sue")
    messages = [job.pk for job in (*burst(1_000, sam), *burst(1, sue))]

    for pk in messages[:4]:
        jobs.execute_next(pk)

    assert done == ["sam", "sue", "sam", "sam"]


def test_two_bursts_take_turns_and_no_job_is_left(does):
    done: list[int] = []
    does(lambda job: done.append(job.row.pk))
    first, second = burst(4, factories.user("sam")), burst(3, factories.user("sue"))

    for job in (*first, *second):
        jobs.execute_next(job.pk)

    one, two = [job.pk for job in first], [job.pk for job in second]
    assert done == [one[0], two[0], one[1], two[1], one[2], two[2], one[3]]


def test_who_has_a_job_at_work_waits_for_who_has_none(does):
    done: list[str] = []
    does(lambda job: done.append(job.user.username))
    sam, sue = factories.user("sam"), factories.user("sue")
    jobs.execute_next(burst(1, sue)[0].pk)
    (at_work, *waiting) = burst(2, sam)
    taken(at_work)
    long_ago = timezone.now() - timedelta(hours=1)
    Job.objects.filter(pk=at_work.pk).update(started_at=long_ago)
    (hers,) = burst(1, sue)

    jobs.execute_next(waiting[0].pk)

    assert done == ["sue", "sue"]
    assert Job.objects.get(pk=hers.pk).state == Job.State.DONE


def test_who_cancelled_a_job_before_it_began_was_not_served_by_it(does):
    done: list[str] = []
    does(lambda job: done.append(job.user.username))
    sam, sue = factories.user("sam"), factories.user("sue")
    jobs.execute_next(burst(1, sue)[0].pk)
    cancel(job=burst(1, sam)[0], user=sam)

    (hers, *_) = burst(1, sue) + burst(1, sam)
    jobs.execute_next(hers.pk)

    assert done == ["sue", "sam"]


def test_message_whose_job_another_worker_took_does_the_next(does, monkeypatch):
    done: list[int] = []
    does(lambda job: done.append(job.row.pk))
    first, second = burst(2, factories.user("sam"))
    take = jobs._take

    def quicker(pk: int) -> Job | None:
        if pk == first.pk:
            take(pk)  # by another, between the choice and this
        return take(pk)

    monkeypatch.setattr(jobs, "_take", quicker)

    jobs.execute_next(first.pk)

    assert done == [second.pk]


def test_job_of_a_kind_that_only_the_next_version_knows_waits_for_its_worker(does):
    done: list[int] = []
    does(lambda job: done.append(job.row.pk))
    sam = factories.user("sam")
    (newer, older) = burst(2, sam)
    Job.objects.filter(pk=newer.pk).update(kind="of the next version")

    jobs.execute_next(newer.pk)
    jobs.execute_next(newer.pk)

    assert done == [older.pk]
    newer.refresh_from_db()
    assert (newer.state, newer.attempt) == (Job.State.QUEUED, 0)


def test_job_that_was_given_back_is_left_to_the_sweeper(does):
    done: list[int] = []
    does(lambda job: done.append(job.row.pk))
    given_back, ended = queued(), queued(state=Job.State.DONE)

    jobs.execute_next(ended.pk)
    assert done == []

    jobs.execute_next(given_back.pk)
    assert done == [given_back.pk]
