"""The job that asks a live system every query and makes a run of its answers.

Answers are written down as they come, in a folder of the job that outlives its attempts: a worker
that is lost, or a failure that is mended, costs only what was not answered yet.
"""

import json
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.models import Benchmark, Job, Run, User
from benchwright.live.asking import Ask, Failed
from benchwright.live.keeping import AnswerLog, answers_at, ask_missing
from benchwright.live.writing import Noticed, run_lines
from scoring.live.selectors import JOB_KIND, job_at_work, queries_to_ask
from scoring.live.services.errors import LiveBusyError, LiveQueriesError, LiveRunNameError
from scoring.live.services.runs import create_live_run, file_stem, notes_on, staged_run
from scoring.live.services.systems import check_live_system, endpoint_of
from scoring.models import LiveSystem
from scoring.rescoring.services.rescoring import start_scoring_new_runs


def ask_arguments(
    *, system: LiveSystem, run: str, split: str = "", release: str = "", may_fail: int = 0
) -> dict[str, Any]:
    """What `jobs.start` or `jobs.run_here` need to ask a system and make a run of this name.

    `split` or `release` choose the queries, all by default; `may_fail` of them may stay
    unanswered.

    Raises
    ------
    LiveBusyError, LiveRunNameError, LiveQueriesError
    LiveError
        If the system cannot be asked as it is.
    """
    check_live_system(system)
    if job_at_work(system):
        raise LiveBusyError(name=system.name)
    _refuse_taken(system.benchmark, run)
    _refuse_no_queries(system.benchmark, split, release)
    parameters = {"system": system.pk, "run": run, "split": split, "release": release}
    return {
        "kind": JOB_KIND,
        "title": f"Ask {system.name}",
        "parameters": {**parameters, "may_fail": may_fail},
    }


@transaction.atomic
def start_asking(*, system: LiveSystem, user: User, **fields: Any) -> Job:
    """Start the job; takes and raises what `ask_arguments` does."""
    # Two that start at once wait for each other here, and the second finds the first's job.
    LiveSystem.objects.select_for_update().get(pk=system.pk)
    arguments = ask_arguments(system=system, **fields)
    job = jobs.start(benchmark=system.benchmark, user=user, **arguments)
    audit.record(
        actor=user, action="ask-system", benchmark=system.benchmark, target=system.name, job=job.pk
    )
    return job


def _refuse_taken(benchmark: Benchmark, name: str) -> None:
    if Run.objects.filter(benchmark=benchmark, name=name).exists():
        raise LiveRunNameError(name=name)


def _refuse_no_queries(benchmark: Benchmark, split: str, release: str) -> None:
    if not queries_to_ask(benchmark, split=split, release=release):
        which = _("The benchmark %(name)s") % {"name": benchmark.name}
        which = _("The split '%(name)s'") % {"name": split} if split else which
        which = _("Release %(version)s") % {"version": release} if release else which
        raise LiveQueriesError(which=which, advice=_("Import queries, or choose others."))


def free_run_name(system: LiveSystem) -> str:
    """A name for its next run: its own with the day, and a number where that is taken."""
    stem = f"{system.name} {timezone.now():%Y-%m-%d}"[:110]
    used = set(system.benchmark.runs.filter(name__startswith=stem).values_list("name", flat=True))
    names = (stem, *(f"{stem} {n}" for n in range(2, 1000)))
    return next((name for name in names if name not in used), stem)


# --- the handler -----------------------------------------------------------------------------


def ask_system(job: RunningJob) -> None:
    """The handler: ask what is not answered yet, then make the run in one commit."""
    parameters = job.parameters
    system = LiveSystem.objects.select_related("benchmark").get(pk=parameters["system"])
    _refuse_taken(job.benchmark, parameters["run"])
    queries = queries_to_ask(
        job.benchmark, split=parameters["split"], release=parameters["release"]
    )
    folder = answers_folder(job.row.pk)
    log = AnswerLog(folder, endpoint=fingerprint(system), attempt=job.row.attempt)
    failed = _ask_missing(job, system, queries, log)
    noticed = Noticed(len(queries), failed=failed)
    path = job.folder / f"{file_stem(parameters['run'])}.trec"
    answers = answers_at(log.known(queries), [qid for qid, _ in queries])
    with path.open("wb") as out:
        out.writelines(run_lines(answers, noticed, tag=system.name))
    staged = staged_run(job, system, noticed, path)
    job.progress(len(queries), len(queries), "making the run visible")
    with job.commit() as result:
        run = create_live_run(job, system, staged=staged, noticed=noticed, path=path)
        start_scoring_new_runs(job.benchmark, job.row.created_by)
        result.update(
            made=[f"run '{run.name}'"],
            notes=notes_on(noticed),
            url=reverse("run-detail", args=[job.benchmark.slug, run.pk]),
            run=run.pk,
        )
    shutil.rmtree(folder, ignore_errors=True)


def _ask_missing(
    job: RunningJob, system: LiveSystem, queries: Sequence[Ask], log: AnswerLog
) -> list[Failed]:
    """Ask every query without an answer; the ones that failed, if so many may."""

    def tell(n_answered: int, n_failed: int) -> None:
        message = f"{n_answered:,} queries answered"
        more = f", {n_failed:,} failed" if n_failed else ""
        job.progress(n_answered + n_failed, len(queries), message + more)

    with log:
        return ask_missing(
            # Also where nothing is missing: what is wrong with the system is told before a run is
            # made.
            endpoint_of(system),
            queries,
            log,
            may_fail=job.parameters["may_fail"],
            system=system.name,
            kept="for a week",
            tell=tell,
        )


def fingerprint(system: LiveSystem) -> str:
    """By which answers are known to be of the system as it is: how fast it was asked is no part."""
    parts = (
        *(system.url, system.method, system.template.strip(), system.headers.strip(), system.kind),
        *(system.results_path, system.id_path, system.score_path, str(system.k)),
    )
    return sha256(json.dumps(parts).encode()).hexdigest()


# --- the answers' folder -----------------------------------------------------------------------


def answers_folder(job_id: int) -> Path:
    """Where a job's answers are, whatever attempt it is at."""
    return Path(settings.STAGING_DIR) / "live" / str(job_id)


def forget_answers(job_id: int) -> None:
    """The cleaner: of a job that was cancelled nothing is kept, of a failed one the answers are."""
    if Job.objects.filter(pk=job_id, kind=JOB_KIND, state=Job.State.CANCELLED).exists():
        shutil.rmtree(answers_folder(job_id), ignore_errors=True)
