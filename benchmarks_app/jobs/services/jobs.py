"""Background work: started in one place, fenced, and finished exactly once.

A `Job` row is the truth; the queue only carries its id, and may lose or repeat it. An attempt
takes the job by compare-and-swap and gets a token; every write it makes checks that token, so an
attempt that was given up for lost can no longer write anything.
"""

import logging
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, cast

from celery import current_app
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import Count, Max, Min, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules

from benchmarks_app.common.services.happening import happened
from benchmarks_app.jobs.services.limits import JobStopped, Limits, Stopper, watched
from benchmarks_app.models import Benchmark, Job, User
from benchmarks_app.models.notices import Event
from benchmarks_app.operating.spans import span
from benchmarks_app.operating.tracing import of_job
from benchmarks_app.prepared import prepared
from benchmarks_app.site_path import kept_address
from benchmarks_app.store import file_store
from benchmarks_app.store.errors import StoreAwayError
from benchwright.errors import BenchmarkError, FileProblemsError
from benchwright.full_disk import DiskFullError, is_disk_full
from benchwright.ids import storable

log = logging.getLogger(__name__)

PROGRESS_EVERY_SECONDS = 0.5
# Who had no job at work for so long is served before all who had.
SERVED_LATELY_SECONDS = 60
GIVES_WAY_AT_MOST_SECONDS = 0.3
Handler = Callable[["RunningJob"], None]
# Removes rows that a job has staged, or a batch of them: true while there may be more.
Cleaner = Callable[[int], bool | None]
HANDLERS: dict[str, Handler] = {}
# Kinds whose files are forgotten as they end: there is nothing to start them again with.
ONCE: set[str] = set()
# Raises what stands against it that this person starts a job again.
Readmission = Callable[[Job, Any], None]
READMISSIONS: dict[str, Readmission] = {}
CLEANERS: list[Cleaner] = []
# What else the sweeper does each time it looks.
SWEEPERS: list[Callable[[], object]] = []


class JobFencedError(BenchmarkError):
    """This attempt was given up for lost, and another may be running: it must not write."""

    code = "job-fenced"
    status = 409
    message = "Job {job} was taken over by a later attempt; this one stops."


def handles(kind: str, *, is_once: bool = False) -> Callable[[Handler], Handler]:
    """Register a function of an app's `tasks.py` as the one that does jobs of `kind`."""

    def register(handler: Handler) -> Handler:
        HANDLERS[kind] = handler
        if is_once:
            ONCE.add(kind)
        return handler

    return register


def readmits(kind: str) -> Callable[[Readmission], Readmission]:
    """Register what is asked before a job of `kind` that has ended is started again."""

    def register(readmission: Readmission) -> Readmission:
        READMISSIONS[kind] = readmission
        return readmission

    return register


def cleans(cleaner: Cleaner) -> Cleaner:
    """Register what removes the rows an unfinished attempt of a job has staged."""
    CLEANERS.append(cleaner)
    return cleaner


def sweeps(sweeper: Callable[[], object]) -> Callable[[], object]:
    """Register what the sweeper is to do as well: cheap where there is nothing to do."""
    SWEEPERS.append(sweeper)
    return sweeper


@cache
def load_handlers() -> None:
    """Import every app's `tasks.py`, which registers its handlers and cleaners; once is enough."""
    autodiscover_modules("tasks")


# --- starting ------------------------------------------------------------------------------


def start(
    *,
    kind: str,
    title: str,
    benchmark: Benchmark | None,
    user: User | None,
    parameters: dict[str, Any],
) -> Job:
    """Write the job's row, and send its id when the surrounding transaction commits."""
    job = _create(kind, title, benchmark, user, parameters)
    transaction.on_commit(lambda: send(job))
    return job


def run_here(
    *,
    kind: str,
    title: str,
    benchmark: Benchmark | None,
    user: User | None,
    parameters: dict[str, Any],
    on_progress: Callable[[int, int, str], None] | None = None,
) -> Job:
    """Do a job in this process, as the commands do; returns its row as it is then.

    It has ended, but for one that is given another attempt, which is a worker's. None takes this
    one before it has begun: it is at work from the first.
    """
    load_handlers()
    turn = _turn(attempt=1)
    row = _create(kind, title, benchmark, user, parameters, sent_at=timezone.now(), **turn)
    # Read again, as a worker does: what the caller has in memory may be older than its rows.
    job = Job.objects.get(pk=row.pk)
    job.is_first_attempt = True
    _do(job, has_heartbeat=not connection.in_atomic_block, on_progress=on_progress)
    job.refresh_from_db()
    return job


def _create(
    kind: str,
    title: str,
    benchmark: Benchmark | None,
    user: User | None,
    parameters: dict[str, Any],
    **more: Any,
) -> Job:
    return Job.objects.create(
        kind=kind,
        title=title[:200],
        benchmark=benchmark,
        created_by=user,
        parameters=parameters,
        **more,
    )


def send(job: Job) -> None:
    """Put the job's id on the queue. A queue that cannot be reached now is tried by the sweeper."""
    try:
        current_app.send_task("benchmarks_app.run_job", args=[job.pk], retry=False)
    except Exception:  # a broker fails in its own classes; the sweeper sends again
        log.exception("job %s could not be sent; the sweeper will try again", job.pk)
        return
    Job.objects.filter(pk=job.pk).update(sent_at=timezone.now())


# --- running -------------------------------------------------------------------------------


class RunningJob:
    """What a handler holds of its job: parameters, a private folder, progress, and the fence."""

    def __init__(
        self, job: Job, on_progress: Callable[[int, int, str], None] | None = None
    ) -> None:
        self.row = job
        self.parameters: dict[str, Any] = job.parameters
        self.folder: Path = settings.STAGING_DIR / f"job-{job.pk}-{job.attempt}"
        self.stopper = Stopper()
        # The folder of this attempt may be another's by now.
        self.is_given_back = False
        self._on_progress = on_progress
        self._told_at = 0.0
        self._began = time.monotonic()

    @property
    def benchmark(self) -> Benchmark:
        return cast(Benchmark, self.row.benchmark)  # handlers that ask are of a benchmark's jobs

    @property
    def user(self) -> User:
        """Whoever started it, for handlers of jobs that only people start."""
        return cast(User, self.row.created_by)

    @property
    def is_slow(self) -> bool:
        """Whether it takes so long that somebody may see how far it is."""
        return time.monotonic() - self._began >= PROGRESS_EVERY_SECONDS

    def mine(self) -> Any:
        """The job's row as long as it is this attempt's turn, as a queryset."""
        return Job.objects.filter(pk=self.row.pk, token=self.row.token, state=Job.State.RUNNING)

    def _write(self, **values: Any) -> None:
        if not self.mine().update(**values):
            raise JobFencedError(job=self.row.pk)

    def progress(self, done: int, total: int, message: str) -> None:
        """Tell how far the job is; cheap to call often, written at most twice a second.

        Raises
        ------
        JobFencedError
            If a later attempt has taken the job over.
        """
        now = time.monotonic()
        is_last = total and done >= total
        if now - self._told_at < PROGRESS_EVERY_SECONDS and not is_last:
            return
        self._told_at = now
        self._write(done=done, total=total, message=message[:200], heartbeat_at=timezone.now())
        if self._on_progress:
            self._on_progress(done, total, message)

    def beat(self) -> bool:
        """Say that the attempt is alive; False once it is no longer its turn."""
        return bool(self.mine().update(heartbeat_at=timezone.now()))

    @contextmanager
    def fenced(self) -> Iterator[None]:
        """A short transaction that may write staged rows while it is this attempt's turn."""
        with self.stopper.writing():
            with transaction.atomic():
                # The update also locks the row: nobody can take the job over before the commit.
                self._write(heartbeat_at=timezone.now())
                began = time.monotonic()
                yield
            _give_way(time.monotonic() - began)

    @contextmanager
    def commit(self) -> Iterator[dict[str, Any]]:
        """The transaction that makes the result visible and the job done, both or neither.

        Yields the result to fill; its `url` is where the result can be seen.
        """
        with self.fenced():
            result: dict[str, Any] = {}
            yield result
            url = kept_address(result.pop("url", ""))
            # Who sees that a job is over finds nothing staged.
            self.remove_folder()
            self._write(
                state=Job.State.DONE,
                result=storable(result),
                result_url=url,
                token=None,
                finished_at=timezone.now(),
            )
            self.stopper.close()

    def fail(self, error: str, problems: list[dict[str, Any]]) -> None:
        self.remove_folder()
        has_ended = self.mine().update(
            state=Job.State.FAILED,
            error=storable(error),
            problems=storable(problems),
            token=None,
            finished_at=timezone.now(),
        )
        if has_ended:
            happened(
                Event.JOB_FAILED,
                benchmark=self.row.benchmark,
                about={"job": self.row.pk},
                path=self.row.get_absolute_url(),
                api_path=reverse("api:job-detail", args=[self.row.pk]),
                concerns=[self.row.created_by_id] if self.row.created_by_id else [],
            )

    def give_back(self) -> None:
        """Leave the job to another worker, as if it had not been begun: it is no lost attempt."""
        self.put_off("worker stopped; starting again", is_attempt=False)

    def put_off(self, message: str, *, is_attempt: bool) -> None:
        """Leave the job to a later attempt, when the sweeper next looks."""
        self.remove_folder()
        self._write(
            state=Job.State.QUEUED,
            token=None,
            attempt=self.row.attempt - (not is_attempt),
            message=message,
            # The sweeper sends it: a message sent now this very worker would take at once.
            sent_at=None,
        )
        self.is_given_back = True

    def remove_folder(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _give_way(seconds: float) -> None:
    """Leave SQLite's one lock alone for as long as it was held.

    Who waits for it looks again only now and then: a job that writes batch after batch would let
    nobody in, and a judgment would take seconds.
    """
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        time.sleep(min(seconds, GIVES_WAY_AT_MOST_SECONDS))


def execute_next(sent: int) -> None:
    """Do one job of those that wait, for a message that was sent of one; as a worker does.

    A message lets one job be done, not just its own: so everybody's turn comes, however many jobs
    of somebody were sent before. There are as many messages as jobs that were sent, so where
    another worker was quicker the next is looked for: none is left without a message.
    """
    while (job_id := _next_in_turn(sent)) is not None:
        if execute(job_id, is_worker=True):
            return


def _next_in_turn(sent: int) -> int | None:
    """Of who has the fewest jobs at work, then of who was served longest ago, the first sent."""
    load_handlers()
    first_of: dict[int | None, int] = {}
    for person, kind, first in _first_waiting(sent):
        if kind in HANDLERS:  # or it waits for a worker of another version, which knows it
            first_of[person] = min(first, first_of.get(person, first))
    if len(first_of) < 2:
        return next(iter(first_of.values()), None)
    is_running = Q(state=Job.State.RUNNING)
    lately = timezone.now() - timedelta(seconds=SERVED_LATELY_SECONDS)
    served = Job.objects.filter(is_running | Q(state__in=Job.ENDED, heartbeat_at__gt=lately))
    rows = (
        # What was cancelled in the queue had no turn.
        served.exclude(started_at=None)
        .order_by()
        .values_list("created_by")
        .annotate(n_running=Count("pk", filter=is_running), last=Max("started_at"))
    )
    turns = {person: (n_running, last) for person, n_running, last in rows}
    never = (0, datetime.min.replace(tzinfo=UTC))
    person = min(first_of, key=lambda person: (*turns.get(person, never), first_of[person]))
    return first_of[person]


@prepared
def _first_waiting(sent: int) -> QuerySet:
    # What was given back waits for the sweeper, and `sent` may be taken before it is noted as sent.
    waiting = Job.objects.filter(Q(pk=sent) | Q(sent_at__isnull=False), state=Job.State.QUEUED)
    return waiting.order_by().values_list("created_by", "kind").annotate(first=Min("pk"))


def execute(
    job_id: int,
    *,
    has_heartbeat: bool = True,
    on_progress: Callable[[int, int, str], None] | None = None,
    is_worker: bool = False,
) -> bool:
    """Take the job if it is free, and do it; a job that is taken or finished is left alone: False.

    A process that is a worker may be ended where its job cannot be stopped in another way.
    """
    load_handlers()
    job = _take(job_id)
    if job is None:
        return False
    _do(job, has_heartbeat=has_heartbeat, on_progress=on_progress, is_worker=is_worker)
    return True


def _do(
    job: Job,
    *,
    has_heartbeat: bool,
    on_progress: Callable[[int, int, str], None] | None,
    is_worker: bool = False,
) -> None:
    """Do a job that this process has taken."""
    running = RunningJob(job, on_progress)
    try:
        watching = _watched(running, is_on=has_heartbeat, is_worker=is_worker)
        doing = span(f"job {job.kind}", benchwright__job_kind=job.kind)
        with of_job(job.pk), doing, watching, file_store().using():
            _run(running)
    finally:
        if not running.is_given_back:
            running.remove_folder()


def run_queued() -> int:
    """Do every queued job in this process, those they start as well; returns how many."""
    n = 0
    while queued := Job.objects.filter(state=Job.State.QUEUED).order_by("pk").first():
        execute(queued.pk, has_heartbeat=not connection.in_atomic_block)
        n += 1
    return n


def _take(job_id: int) -> Job | None:
    queued = _queued(job_id)
    if not queued:
        return None
    (job,) = queued
    values = _turn(job.attempt + 1)
    same = Job.objects.filter(pk=job_id, state=Job.State.QUEUED, attempt=job.attempt)
    if not same.update(**values):
        return None
    job.is_first_attempt = job.started_at is None
    for name, value in values.items():
        setattr(job, name, value)
    return job


def _turn(attempt: int) -> dict[str, Any]:
    """The values of a job's row from when an attempt begins."""
    now = timezone.now()
    return {
        "state": Job.State.RUNNING,
        "attempt": attempt,
        "token": uuid.uuid4(),
        "started_at": now,
        "heartbeat_at": now,
        "done": 0,
        "total": 0,
        "message": "",
    }


@prepared
def _queued(job_id: int) -> QuerySet[Job]:
    return Job.objects.filter(pk=job_id, state=Job.State.QUEUED)


def _run(running: RunningJob) -> None:
    job = running.row
    try:
        running.folder.mkdir(parents=True, exist_ok=True)
        if not job.is_first_attempt:
            clean_staged(running)
        with running.stopper.opened():
            HANDLERS[job.kind](running)
            if not running.stopper.is_over and running.mine().exists():
                with running.commit():
                    pass
    except JobStopped:
        _end_stopped(running)
    except JobFencedError:
        _say_fenced(running)
    except FileProblemsError as error:
        fail_attempt(running, "The file has problems; nothing was imported.", error.problems)
    except StoreAwayError as error:
        _put_off(running, error)
    except BenchmarkError as error:
        fail_attempt(running, str(error))
    except OperationalError:
        # A busy or restarting database: the sweeper gives the job another attempt.
        log.exception("job %s: the database could not be used", job.pk)
    except Exception as error:  # process boundary
        log.exception("job %s failed", job.pk)
        fail_attempt(running, told_of(error))


def _put_off(running: RunningJob, error: StoreAwayError) -> None:
    """Leave the job to a later attempt: of many, while the store of files is away as a whole."""
    log.exception("job %s: the stored files could not be used", running.row.pk)
    try:
        file_store().check()
        is_attempt = True
    except OSError:
        is_attempt = False
    if is_attempt and running.row.attempt >= settings.JOB_MAX_ATTEMPTS:
        fail_attempt(running, str(error))
        return
    with suppress(JobFencedError):
        running.put_off("stored files cannot be reached; starting again", is_attempt=is_attempt)


def told_of(error: Exception) -> str:
    """What to tell of an error that nobody foresaw."""
    if is_disk_full(error):
        return str(DiskFullError())
    return f"Unexpected error ({type(error).__name__}). The log has the details."


def _end_stopped(running: RunningJob) -> None:
    """Give the job back, tell the limit that was passed, or write nothing: the turn is over."""
    if running.stopper.gives_back:
        try:
            running.give_back()
        except JobFencedError:
            _say_fenced(running)
        else:
            log.info("job %s: the worker stops; another will start it again", running.row.pk)
    elif running.stopper.reason:
        log.warning("job %s: %s", running.row.pk, running.stopper.reason)
        fail_attempt(running, running.stopper.reason)
    else:
        _say_fenced(running)


def fail_attempt(running: RunningJob, error: str, problems: Any = ()) -> None:
    """End an attempt with what went wrong, and remove what it has staged."""
    rows = [{"file": p.file, "line": p.line, "text": p.text} for p in problems]
    try:
        clean_staged(running)
        with running.fenced():
            running.fail(error, rows)
            clean_batch(running.row.pk)  # again, for a cleaner that asks whether the job failed
    except JobFencedError:
        _say_fenced(running)


def _say_fenced(running: RunningJob) -> None:
    log.warning("job %s attempt %s was fenced off", running.row.pk, running.row.attempt)


def clean_staged(running: RunningJob) -> None:
    """Remove what the job has staged, in short transactions that others can pass between.

    Raises
    ------
    JobFencedError
        If a later attempt has taken the job over: what is staged by now is its own.
    """
    is_more = True
    while is_more:
        with running.fenced():
            is_more = clean_batch(running.row.pk)


def clean_batch(job_id: int) -> bool:
    """Call the cleaners, up to one that says there may be more: then true."""
    return any(cleaner(job_id) for cleaner in CLEANERS)


@contextmanager
def _watched(running: RunningJob, *, is_on: bool, is_worker: bool) -> Iterator[None]:
    """A thread says every few seconds that the attempt is alive, and ends it when it must end."""
    if not is_on:
        yield
        return
    with watched(
        name=str(running.row.pk),
        stopper=running.stopper,
        limits=Limits.of(running.row.kind),
        beat=running.beat,
        # Of its own: the one that does not stop is still at work in the other thread.
        fail=lambda reason: fail_attempt(RunningJob(running.row), reason),
        may_end_process=is_worker,
    ):
        yield
