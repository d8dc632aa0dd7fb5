"""A retrieval that several workers share: jobs below the job of the run, step by step.

The parent splits the corpus version into ranges of rows and leaves its work to a job for each.
They count their texts; what they counted is added up; each searches its part with the statistics of
the whole; the results are merged, which makes the run and ends the parent. The last job of a step
to end starts the next step, inside the transaction that ends it, with the parent's row held: so
each step starts once, and there is one merge. A shard lost with its worker is done again like any
other job. Files lie in a folder of the parent's in the staging folder, which all workers must see.
"""

import json
import shutil
import uuid
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import BigIntegerField, Case, F, Sum, When
from django.utils import timezone

from benchmarks_app.jobs.services import jobs, sweeping
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Job
from benchmarks_app.site_path import kept_address
from scoring.models import ShardJob
from scoring.systems.services.baseline_errors import RetrievalOverError, ShardFilesError
from scoring.systems.services.baseline_runs import Asked

KIND = "retrieve-shard"
OnProgress = Callable[[int, int, str], None]
Step = ShardJob.Step
NEXT = {Step.COUNT: Step.STATISTICS, Step.STATISTICS: Step.SEARCH, Step.SEARCH: Step.MERGE}
IN_EACH_SHARD = (Step.COUNT, Step.SEARCH)
TOLD = {
    Step.COUNT: "shards counted",
    Step.STATISTICS: "adding up what the shards counted",
    Step.SEARCH: "shards searched",
    Step.MERGE: "merging the results",
}
# No worker beats for the parent: its jobs do the work, and each of them has its own heartbeat.
NOT_WAITED_FOR = timedelta(days=3650)
HELPER_LOOKS_EVERY = 0.5
PART = 100  # what each job counts for in the parent's progress
QUERIES, STATISTICS = "queries.json", "statistics"


def bounds(n_documents: int, n_shards: int) -> list[int]:
    """Where each shard starts, and where the last one ends; sizes differ by one at most.

    Examples
    --------
    >>> bounds(10, 3)
    [0, 3, 6, 10]
    """
    return [n_documents * number // n_shards for number in range(n_shards + 1)]


# --- the parent ----------------------------------------------------------------------------


def start_shards(job: RunningJob, baseline: Asked, queries: list[tuple[str, str]]) -> None:
    """Leave the work of `job` to jobs of its own, one a shard; it ends when they have."""
    turn = uuid.uuid4()
    folder = shared_folder(job.row.pk, turn)
    folder.mkdir(parents=True)
    (folder / QUERIES).write_text(json.dumps(queries))
    with job.fenced():
        _start_step(job.row, turn, Step.COUNT, baseline)
        job.mine().update(
            token=turn,
            heartbeat_at=timezone.now() + NOT_WAITED_FOR,
            done=0,
            total=_total(baseline),
            message=f"0 of {baseline.n_shards} {TOLD[Step.COUNT]}",
        )


def _start_step(parent: Job, turn: uuid.UUID, step: str, baseline: Asked) -> None:
    for number in range(baseline.n_shards if step in IN_EACH_SHARD else 1):
        where = f"shard {number + 1} of {baseline.n_shards}, " if step in IN_EACH_SHARD else ""
        job = jobs.start(
            kind=KIND,
            title=f"{baseline.system}: {where}{Step(step).label}",
            benchmark=parent.benchmark,
            user=parent.created_by,
            parameters={"parent": parent.pk, "step": step, "shard": number},
        )
        ShardJob.objects.create(parent=parent, job=job, turn=turn, step=step, number=number)


def _total(baseline: Asked) -> int:
    return PART * (2 * baseline.n_shards + 2)


def shared_folder(parent: int, turn: uuid.UUID) -> Path:
    """Where the jobs of one parent put what the others need."""
    folder: Path = settings.STAGING_DIR / f"shards-{parent}-{turn.hex}"
    return folder


# --- one of its jobs -----------------------------------------------------------------------


class Piece:
    """What a running job of a shared retrieval holds: its place, the common folder, the parent."""

    def __init__(self, job: RunningJob) -> None:
        self.job = job
        self.row = ShardJob.objects.select_related("parent__benchmark", "parent__created_by").get(
            job=job.row
        )
        self.parent: Job = self.row.parent
        self.asked = Asked.of(self.parent.parameters)
        self.number = self.row.number
        self.folder = shared_folder(self.parent.pk, self.row.turn)
        self._told_at = timezone.now()
        if not self._parent_rows().exists():
            raise RetrievalOverError(parent=self.parent.pk)
        if not self.folder.is_dir():
            raise ShardFilesError(folder=self.folder)

    @property
    def rows(self) -> tuple[int, int]:
        """Which rows of the corpus version are its own."""
        ends = bounds(self.asked.version.n_documents, self.asked.n_shards)
        return list(pairwise(ends))[self.number]

    def queries(self) -> list[tuple[str, str]]:
        return [(qid, text) for qid, text in json.loads(self.shared(QUERIES).read_text())]

    def shared(self, name: str) -> Path:
        """A file or folder that an earlier job has put down."""
        path = self.folder / name
        if not path.exists():
            raise ShardFilesError(folder=path)
        return path

    def progress(self, done: int, total: int) -> None:
        """Tell how far this job is, and with it the parent."""
        part = min((PART - 1) * done // max(total, 1), PART - 1)
        self.job.progress(part, PART, f"{done:,} of {total:,}")
        now = timezone.now()
        if (now - self._told_at).total_seconds() >= jobs.PROGRESS_EVERY_SECONDS:
            self._told_at = now
            if not self._parent_rows().update(**self._so_far(self.row.step)):
                raise RetrievalOverError(parent=self.parent.pk)

    def _so_far(self, step: str) -> dict[str, Any]:
        """The sum over all jobs, and how many of a step have ended."""
        of_turn = ShardJob.objects.filter(parent=self.parent, turn=self.row.turn)
        parts = Case(
            When(job__state=Job.State.DONE, then=PART),
            default=F("job__done"),
            output_field=BigIntegerField(),
        )
        done = of_turn.aggregate(done=Sum(parts))["done"] or 0
        message = TOLD[Step(step)]
        if step in IN_EACH_SHARD:
            n_ended = of_turn.filter(step=step, job__state=Job.State.DONE).count()
            message = f"{n_ended} of {self.asked.n_shards} {message}"
        return {"done": done, "total": _total(self.asked), "message": message}

    def _parent_rows(self) -> Any:
        """The parent's row while it waits for these jobs, as a queryset."""
        return Job.objects.filter(pk=self.parent.pk, token=self.row.turn, state=Job.State.RUNNING)

    def end(self, put_down: Callable[[], object]) -> None:
        """End this job with what `put_down` does, and start the next step if it was the last."""
        step = Step(self.row.step)
        with self.job.commit():
            self._hold_parent()
            put_down()
            if self._is_last():
                step = NEXT[step]
                _start_step(self.parent, self.row.turn, step, self.asked)
        self._parent_rows().update(**self._so_far(step))

    def end_with_parent(self, make: Callable[[], dict[str, Any]]) -> None:
        """End this job and the parent with what `make` makes: both, or neither."""
        with self.job.commit():
            self._hold_parent()
            result = make()
            url = kept_address(result.pop("url", ""))
            self._parent_rows().update(
                state=Job.State.DONE,
                done=_total(self.asked),
                total=_total(self.asked),
                result=result,
                result_url=url,
                token=None,
                finished_at=timezone.now(),
            )
            transaction.on_commit(lambda: shutil.rmtree(self.folder, ignore_errors=True))

    def _is_last(self) -> bool:
        """Whether every other job of this step has ended."""
        same = ShardJob.objects.filter(parent=self.parent, turn=self.row.turn, step=self.row.step)
        return not same.exclude(pk=self.row.pk).exclude(job__state=Job.State.DONE).exists()

    def _hold_parent(self) -> None:
        """Lock the parent's row until the commit: of jobs that end at once, one is the last."""
        if not self._parent_rows().update(message=F("message")):
            raise RetrievalOverError(parent=self.parent.pk)


def put_in_place(path: Path, target: Path) -> None:
    """Move what a job wrote to where the others look; again, if an attempt died in between."""
    if target.is_dir():
        shutil.rmtree(target)
    path.replace(target)


# --- endings -------------------------------------------------------------------------------


def set_back_shards(job_id: int) -> None:
    """What follows where a parent, or one of its jobs, ended early: the others end as well.

    It is called when a job begins, fails or is cancelled; and does nothing to one that has no part
    in a shared retrieval.
    """
    if ShardJob.objects.filter(parent=job_id).exists():
        _end_jobs_of(job_id)
    piece = ShardJob.objects.filter(job=job_id).select_related("job").first()
    if piece and piece.job.state in Job.ENDED_EARLY:
        _end_parent_of(piece)


def _end_jobs_of(parent: int) -> None:
    # Who is in the middle of a commit is left alone: it holds its own row and waits for the
    # parent's, which is held here. It finds there that all is over.
    unfinished = (
        Job.objects.active()
        .filter(shard_of__parent=parent)
        .select_for_update(skip_locked=True, of=("self",))
    )
    Job.objects.filter(pk__in=list(unfinished.values_list("pk", flat=True))).update(
        state=Job.State.CANCELLED,
        token=None,
        error=f"Job {parent}, which this is a part of, has ended.",
        finished_at=timezone.now(),
    )
    for folder in settings.STAGING_DIR.glob(f"shards-{parent}-*"):
        shutil.rmtree(folder, ignore_errors=True)


def _end_parent_of(piece: ShardJob) -> None:
    parent = Job.objects.filter(pk=piece.parent_id, token=piece.turn, state=Job.State.RUNNING)
    is_cancelled = piece.job.state == Job.State.CANCELLED
    ended = parent.update(
        state=Job.State.CANCELLED if is_cancelled else Job.State.FAILED,
        token=None,
        error=f"{piece.job.title}: {piece.job.error}",
        finished_at=timezone.now(),
    )
    if ended:
        _end_jobs_of(piece.parent_id)


def help_through(parent: Job, on_progress: OnProgress | None = None) -> Job:
    """Do the jobs of a shared retrieval in this process, beside any workers, until it has ended."""
    swept_at = monotonic()
    while True:
        parent.refresh_from_db()
        if parent.is_finished:
            return parent
        if on_progress:
            on_progress(parent.done, parent.total, parent.message)
        waiting = Job.objects.filter(shard_of__parent=parent, state=Job.State.QUEUED)
        if (first := waiting.order_by("pk").first()) is not None:
            jobs.execute(first.pk, has_heartbeat=not connection.in_atomic_block)
            continue
        if monotonic() - swept_at > settings.SWEEP_SECONDS:
            swept_at = monotonic()
            sweeping.sweep()
        sleep(HELPER_LOOKS_EVERY)


def sweep_shared_folders() -> None:
    """Remove the folders of parents that have ended."""
    for folder in settings.STAGING_DIR.glob("shards-*-*"):
        _, parent, _ = folder.name.split("-")
        if not Job.objects.active().filter(pk=parent).exists():
            shutil.rmtree(folder, ignore_errors=True)
