"""A retrieval that several jobs share: one run in the end, the same as one job makes, or none."""

import shutil
import uuid
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from benchmarks_app.backups.services import restoring
from benchmarks_app.collections.services import uploading
from benchmarks_app.jobs.services import jobs, retry, sweeping
from benchmarks_app.models import Job, Run
from scoring.models import Retrieval, ShardJob
from scoring.systems.services import sharded_steps, shards
from scoring.systems.services.baselines import start_baselines
from scoring.systems.services.shards import bounds

N_SHARDS, N_STEPS = 3, 2 * 3 + 2


@pytest.fixture
def parent(texts, tess):
    """A job whose work is left to three shards that wait."""
    (job,) = start_baselines(benchmark=texts, user=tess, systems=["bm25-stem"], n_shards=N_SHARDS)
    jobs.execute(job.pk, has_heartbeat=False)
    job.refresh_from_db()
    return job


def waiting() -> list[Job]:
    return list(Job.objects.filter(kind=shards.KIND, state="queued").order_by("pk"))


def do(job: Job) -> Job:
    jobs.execute(job.pk, has_heartbeat=False)
    job.refresh_from_db()
    return job


def do_step() -> list[Job]:
    return [do(job) for job in waiting()]


def folders() -> list[Path]:
    return list(settings.STAGING_DIR.glob("shards-*"))


def stored(run: Run) -> bytes:
    return uploading.local(run.upload).read_bytes()


# --- what comes of it ----------------------------------------------------------------------


@pytest.mark.parametrize("system", ["bm25-stem", "tfidf-char"])
def test_run_of_shards_has_the_bytes_of_that_of_one_job(texts, tess, system):
    start_baselines(benchmark=texts, user=tess, systems=[system], depth=2)
    jobs.run_queued()
    whole = Run.objects.get()
    Retrieval.objects.all().delete()
    start_baselines(benchmark=texts, user=tess, systems=[system], depth=2, n_shards=N_SHARDS)

    jobs.run_queued()

    shared = Run.objects.exclude(pk=whole.pk).get()
    assert stored(shared) == stored(whole)
    assert len(stored(whole).splitlines()) >= 3
    assert set(ShardJob.objects.values_list("job__state", flat=True)) == {"done"}
    assert ShardJob.objects.count() == N_STEPS


def test_run_of_shards_says_how_it_was_made(parent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        jobs.run_queued()

    parent.refresh_from_db()
    record = Retrieval.objects.get()
    assert (parent.state, parent.result["made"]) == ("done", ["run 'bm25-stem'"])
    assert (record.n_shards, record.n_queries, record.depth) == (N_SHARDS, 3, 100)
    assert record.run.latencies.n_queries == 3
    assert record.indexing_seconds > 0
    assert record.run.metadata["shards"] == "3"
    assert folders() == []


@pytest.mark.parametrize(("n_documents", "n_shards"), [(10, 3), (3, 3), (1, 1), (7, 2)])
def test_ranges_cover_every_row_once(n_documents, n_shards):
    ends = bounds(n_documents, n_shards)

    sizes = [stop - start for start, stop in pairwise(ends)]
    assert (ends[0], ends[-1]) == (0, n_documents)
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1


def test_more_shards_than_documents_are_as_many_as_documents(texts, tess):
    (job,) = start_baselines(benchmark=texts, user=tess, systems=["bm25"], n_shards=50)

    assert job.parameters["n_shards"] == 10


def test_large_corpus_is_shared_without_being_asked(texts, tess, settings):
    settings.SHARD_DOCUMENTS = 4

    (job,) = start_baselines(benchmark=texts, user=tess, systems=["bm25"])

    assert job.parameters["n_shards"] == 3


# --- steps ---------------------------------------------------------------------------------


def test_parent_waits_without_a_worker_and_tells_the_sum(parent):
    assert parent.state == Job.State.RUNNING
    assert parent.message == "0 of 3 shards counted"
    assert [job.title for job in waiting()] == [
        f"bm25-stem: shard {n} of 3, count" for n in (1, 2, 3)
    ]
    do(waiting()[0])
    parent.refresh_from_db()
    assert (parent.done, parent.total, parent.message) == (100, 800, "1 of 3 shards counted")
    sweeping.sweep()
    parent.refresh_from_db()
    assert (parent.state, parent.attempt) == (Job.State.RUNNING, 1)


def test_each_step_starts_when_the_last_of_the_one_before_ends(parent):
    steps = []
    while waiting():
        steps.append([job.shard_of.step for job in waiting()])
        do_step()

    assert steps == [["count"] * 3, ["statistics"], ["search"] * 3, ["merge"]]


def test_shard_that_is_done_twice_changes_nothing(parent):
    first = waiting()[0]
    do(first)
    Job.objects.filter(pk=first.pk).update(state="queued", token=None)

    do(first)
    jobs.run_queued()

    assert Run.objects.count() == 1
    assert ShardJob.objects.count() == N_STEPS


def test_shard_lost_with_its_worker_is_done_again(parent):
    lost = waiting()[1]
    ago = timezone.now() - timedelta(hours=1)
    Job.objects.filter(pk=lost.pk).update(
        state="running", token=uuid.uuid4(), attempt=1, heartbeat_at=ago
    )
    do_step()
    assert ShardJob.objects.filter(step="statistics").count() == 0

    sweeping.sweep()
    jobs.run_queued()

    parent.refresh_from_db()
    assert parent.state == Job.State.DONE
    assert Job.objects.get(pk=lost.pk).attempt == 2


def test_second_merge_cannot_be_written(parent):
    do_step(), do_step(), do_step()
    (merge,) = waiting()
    do(merge)
    Job.objects.filter(pk=merge.pk).update(state="queued", token=None)

    again = do(merge)

    assert again.state == Job.State.FAILED
    assert "has ended without it" in again.error
    assert Run.objects.count() == 1


# --- endings -------------------------------------------------------------------------------


def test_failed_shard_fails_the_parent_with_its_cause(parent, monkeypatch):
    def broken(*args, **options):
        reason = "no room"
        raise OSError(reason)

    do(waiting()[0])
    monkeypatch.setattr(sharded_steps, "count_shard", broken)
    do(waiting()[0])

    parent.refresh_from_db()
    assert parent.state == Job.State.FAILED
    assert parent.error.startswith("bm25-stem: shard 2 of 3, count: Unexpected error (OSError)")
    assert waiting() == []
    assert folders() == []
    assert not Run.objects.exists()


def test_cancelled_parent_cancels_its_shards(parent, tess):
    do(waiting()[0])

    retry.cancel(job=parent, user=tess)

    states = Job.objects.filter(kind=shards.KIND).values_list("state", flat=True)
    assert sorted(states) == ["cancelled", "cancelled", "done"]
    assert folders() == []


def test_cancelled_shard_cancels_the_parent(parent, tess):
    retry.cancel(job=waiting()[0], user=tess)

    parent.refresh_from_db()
    assert (parent.state, waiting()) == (Job.State.CANCELLED, [])
    assert "Cancelled by tess" in parent.error


def test_parent_that_is_tried_again_begins_anew(parent, tess):
    do(waiting()[0])
    retry.cancel(job=parent, user=tess)
    parent.refresh_from_db()

    retry.retry(job=parent, user=tess)
    jobs.run_queued()

    parent.refresh_from_db()
    assert (parent.state, parent.attempt) == (Job.State.DONE, 2)
    assert Run.objects.count() == 1


def test_parent_that_was_restored_from_a_backup_begins_anew(parent):
    """The common folder is in none; a shard that comes first finds that its retrieval is over."""
    do(waiting()[0])
    shutil.rmtree(folders()[0])

    restoring._begin_anew()
    assert do(waiting()[-1]).state == Job.State.FAILED
    jobs.run_queued()

    parent.refresh_from_db()
    assert (parent.state, parent.attempt) == (Job.State.DONE, 2)
    assert Run.objects.count() == 1


def test_shard_of_a_parent_that_ended_meanwhile_writes_nothing(parent):
    job = waiting()[0]
    Job.objects.filter(pk=parent.pk).update(state="cancelled", token=None)

    assert do(job).state == Job.State.FAILED
    assert "nothing to do" in job.error


def test_parent_that_ends_while_a_shard_is_at_work_gets_nothing_of_it(parent, monkeypatch):
    count = sharded_steps.count_shard

    def ends_meanwhile(*args, **options):
        count(*args, **options)
        Job.objects.filter(pk=parent.pk).update(state="failed", token=None)

    monkeypatch.setattr(sharded_steps, "count_shard", ends_meanwhile)
    job = do(waiting()[0])

    assert job.state == Job.State.FAILED
    assert "has ended without it" in job.error
    assert not list(folders()[0].glob("*-counted"))


def test_worker_without_the_common_folder_says_what_is_missing(parent):
    (folder,) = folders()
    folder.rename(folder.with_name("elsewhere"))

    job = do(waiting()[0])

    parent.refresh_from_db()
    assert parent.state == Job.State.FAILED
    assert "Workers on several hosts need one staging folder" in job.error
    assert folder.name in job.error


def test_sweeper_removes_folders_of_parents_that_ended(parent):
    left = settings.STAGING_DIR / f"shards-999999-{uuid.uuid4().hex}"
    left.mkdir()

    sweeping.sweep()

    assert len(folders()) == 1
    assert not left.exists()


def test_command_does_the_shards_here(texts, parent):
    assert shards.help_through(parent).state == Job.State.DONE
