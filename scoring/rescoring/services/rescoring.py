"""Scoring the runs of a benchmark on a release, in the background and by several workers at once.

A job takes the first few runs that wait and are nobody's, and starts the next job when it is done:
a submission that comes meanwhile waits for a few runs and not for all of them, and what people
begin to look at while it goes on comes first.
"""

import contextlib
import logging
import time
import uuid
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any

from django.db import OperationalError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.common.services.analysing import analyse
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import JobFencedError, RunningJob, told_of
from benchmarks_app.jobs.services.retry import JobFinishedError, cancel
from benchmarks_app.models import Benchmark, Job, Release, Run, User
from benchmarks_app.store import file_store
from benchmarks_app.store.errors import StoreAwayError
from benchwright.errors import BenchmarkError
from benchwright.full_disk import is_disk_full
from benchwright.texts.counting import counted
from scoring.models import Score, ScoreSet
from scoring.scores.selectors.ladder import ladder_on, runs_in_the_way
from scoring.scores.selectors.phases import split_queries
from scoring.scores.selectors.releases import SCORER_VERSION, newest_release
from scoring.scores.selectors.rescoring import (
    OF_A_PART,
    RUNS_KIND,
    n_being_scored,
    outdated_parts,
    outdated_releases,
    runs_claimed,
    scoring_jobs,
    scoring_order,
)
from scoring.scores.selectors.score_sets import runs_without_scores
from scoring.scores.services import ladder
from scoring.scores.services.scoring import Target, score_run

log = logging.getLogger(__name__)

# Jobs of a release at the same time: more would keep submissions waiting.
LANES = 4
# Runs of a job: few, so that workers finish together; many, where many wait.
FEWEST, MOST = 4, 25
LOOKED_AT_EVERY = timedelta(hours=1)
OUTDATED_EVERY_SECONDS = 600.0
_looked = {"at": float("-inf")}


# --- starting ------------------------------------------------------------------------------


@transaction.atomic
def start_scoring_runs(*, release: Release, user: User | None, only_again: bool = False) -> Job:
    """Start jobs that score every run of the benchmark that this release has no scores of.

    Returns the first of them, or of those that are at it already. With `only_again` they score
    what an earlier version of the scorer has scored there.
    """
    _lock(release)
    active = list(scoring_jobs(release).active().order_by("pk"))
    batch = {"batch": uuid.uuid4().hex, "version": SCORER_VERSION, "again": only_again}
    next_job = partial(_start_next, release, user, batch)
    started = list(islice(iter(next_job, None), max(0, LANES - len(active))))
    if not started and not active:
        started = [_start(release, user, [], batch)]  # which says that nothing was to be done
    audit.record(
        actor=user, action="score-runs", benchmark=release.benchmark, target=release.version
    )
    return [*started, *active][0]


def stop_scoring_runs(*, release: Release, user: User) -> int:
    """Cancel the jobs that score runs on a release; what is scored stays. Returns how many."""
    n = 0
    # One that ends meanwhile has started the next.
    while active := list(scoring_jobs(release).active()):
        for job in active:
            with contextlib.suppress(JobFinishedError):
                cancel(job=job, user=user)
                n += 1
    return n


def _lock(release: Release) -> None:
    """One at a time: two must not take the same runs."""
    Release.objects.select_for_update(of=("self",)).get(pk=release.pk)


def _start_next(release: Release, user: User | None, batch: dict[str, Any]) -> Job | None:
    """A job for the first runs that are nobody's, or None where there are none."""
    claimed = runs_claimed(release, batch["batch"])
    order = scoring_order(release, only_again=batch["again"]).values_list("pk", "name")
    rows_left = [row for row in order if row[0] not in claimed]
    size = min(MOST, max(FEWEST, -(-len(rows_left) // (2 * LANES))))
    return _start(release, user, rows_left[:size], batch) if rows_left else None


def _start(
    release: Release, user: User | None, rows: list[tuple[int, str]], batch: dict[str, Any]
) -> Job:
    arguments = scoring_runs_arguments(release)
    if rows:
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        arguments["title"] = f"Score {rows[0][1]}{more} on {release.version}"
    arguments["parameters"] |= {"runs": [pk for pk, _ in rows], **batch}
    return jobs.start(benchmark=release.benchmark, user=user, **arguments)


def scoring_runs_arguments(release: Release) -> dict[str, Any]:
    """What `jobs.run_here` needs to score the runs of a benchmark, all of them in one job."""
    return {
        "kind": RUNS_KIND,
        "title": f"Score runs on {release.version}",
        "parameters": {"release": release.pk},
    }


def start_scoring_new_runs(benchmark: Benchmark, user: User | None) -> None:
    """Score what is not scored yet on the newest release, if there is one."""
    release = newest_release(benchmark)
    if release and runs_without_scores(release).exists():
        start_scoring_runs(release=release, user=user)


# --- after an upgrade ----------------------------------------------------------------------


def start_outdated() -> list[Release]:
    """Start scoring again what an earlier version of the scorer has scored; which releases.

    A release that was tried with this version is left alone: what failed is on its page.
    """
    started = []
    for release in outdated_releases().select_related("benchmark"):
        tried = scoring_jobs(release).filter(
            Q(parameters__version=SCORER_VERSION, parameters__again=True)
        )
        if not tried.exists():
            start_scoring_runs(release=release, user=None, only_again=True)
            started.append(release)
    return started


def start_outdated_now_and_then() -> None:
    """As `start_outdated`, for the sweeper: when it starts, and every ten minutes.

    What was scored before there was a Ladder is decided then too; until that nothing is told of it.
    """
    now = time.monotonic()
    if now - _looked["at"] >= OUTDATED_EVERY_SECONDS:
        _looked["at"] = now
        for release in start_outdated():
            log.warning("%s is scored again by version %s", release, SCORER_VERSION)
        for release in Release.objects.published().select_related("benchmark"):
            if release.hidden_splits:
                _decide(release)


def _decide(release: Release) -> None:
    """Decide what can be, and score what that waits for: what was sent to another release."""
    with transaction.atomic():
        n = ladder.decide_all(release)
    if n:
        log.warning("%s: it is decided of %s submissions what is told", release, n)
    if ladder_on(release):
        rows_left = [(run.pk, run.name) for run in runs_in_the_way(release)]
        for at in range(0, len(rows_left), MOST):
            _start(release, None, rows_left[at : at + MOST], {})


# --- at work -------------------------------------------------------------------------------


def score_runs(job: RunningJob) -> None:
    """The handler: each run is committed by itself; one that cannot be scored is told of."""
    release = (
        Release.objects.published().select_related("benchmark").get(pk=job.parameters["release"])
    )
    waiting = _runs_of(job, release)
    failed = list(_scored(job, release, waiting)) if waiting else []
    if len(waiting) > FEWEST:
        analyse(ScoreSet, Score)
    with job.commit() as result:
        result["made"] = [f"scores of {counted(len(waiting) - len(failed), 'run')}"]
        result["notes"] = [f"{failure['name']}: {failure['cause']}" for failure in failed]
        result["failed"] = failed
        result["url"] = reverse(
            "scoring:leaderboard-release", args=[release.benchmark.slug, release.version]
        )
        if "batch" in job.parameters:
            _go_on(job, release)


def _runs_of(job: RunningJob, release: Release) -> list[Run]:
    order = scoring_order(release, only_again=job.parameters.get("again", False))
    if "runs" in job.parameters:
        order = order.filter(pk__in=job.parameters["runs"])
    return list(order)


class _Targets:
    """What runs are scored on: all queries of a release, and each split that was scored alone."""

    def __init__(self, release: Release, runs: list[Run]) -> None:
        self.release = release
        keys = [run.pk for run in runs]
        self.whole = set(
            runs_without_scores(release).filter(pk__in=keys).values_list("pk", flat=True)
        )
        self.splits: dict[int, set[str]] = {}
        for part in outdated_parts().filter(release=release, run__in=keys):
            split = part.scorer_version.partition(OF_A_PART)[2]
            self.splits.setdefault(part.run_id, set()).add(split)
        self._made: dict[str, Target] = {}

    def of(self, run: Run) -> Iterator[Target]:
        if run.pk in self.whole:
            yield self._target("")
        for split in sorted(self.splits.get(run.pk, ())):
            yield self._target(split)

    def _target(self, split: str) -> Target:
        if split not in self._made:
            self._made[split] = (
                Target.of_split(self.release, split, split_queries(self.release, split))
                if split
                else Target.of(self.release)
            )
        return self._made[split]


def _scored(job: RunningJob, release: Release, waiting: list[Run]) -> Iterable[dict[str, Any]]:
    """Score runs one after the other; yields what went wrong with which."""
    targets = _Targets(release, waiting)
    for place, run in enumerate(waiting):
        job.progress(place, len(waiting), f"scoring {run.name}")
        try:
            for target in targets.of(run):
                folder = job.folder / target.scorer_version / str(run.pk)
                score_run(run=run, target=target, folder=folder, job=job)
        except (JobFencedError, OperationalError):
            raise
        except BenchmarkError as error:
            if isinstance(error, StoreAwayError):
                file_store().check()  # where it is away as a whole, the job comes back to all runs
            yield {"run": run.pk, "name": run.name, "cause": str(error)}
        except Exception as error:  # one broken run must not keep the others from their scores
            if is_disk_full(error):
                raise
            log.exception("run %s could not be scored on %s", run.pk, release)
            yield {"run": run.pk, "name": run.name, "cause": told_of(error)}


def _go_on(job: RunningJob, release: Release) -> None:
    """Start the next job of the batch; this one still counts as one of those at work."""
    _lock(release)
    if n_being_scored(release) <= LANES:
        names = ("batch", "version", "again")
        batch = {name: job.parameters[name] for name in names}
        _start_next(release, job.row.created_by, batch)


# --- looking -------------------------------------------------------------------------------


def mark_looked_at(score_sets: Iterable[ScoreSet]) -> None:
    """Write down that somebody looks at these, to the hour: they are scored anew first."""
    now = timezone.now()
    before = now - LOOKED_AT_EVERY
    due = [
        score_set.pk
        for score_set in score_sets
        if score_set.looked_at is None or score_set.looked_at < before
    ]
    if due:
        unseen = Q(looked_at=None) | Q(looked_at__lt=before)
        ScoreSet.objects.filter(unseen, pk__in=due).update(looked_at=now)
