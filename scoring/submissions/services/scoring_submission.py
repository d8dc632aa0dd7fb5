"""Scoring one submission: its file is checked, then becomes a run with its scores, or nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.db import OperationalError, transaction

from benchmarks_app.collections.services import runs, uploading
from benchmarks_app.jobs.services.jobs import JobFencedError, RunningJob, told_of
from benchmarks_app.models import Benchmark, Job, Run, Upload
from benchmarks_app.releases.selectors import hidden_queries
from benchwright.errors import BenchmarkError, FileProblemsError
from benchwright.full_disk import is_disk_full
from benchwright.ids import some_ids
from benchwright.retrieval.dense.bundles import is_bundle
from benchwright.runs.aggregation import DEFAULT
from benchwright.runs.facts import RunFactsError, checked
from benchwright.runs.store import query_ids
from scoring.models import Submission
from scoring.scores.selectors.phases import Scope, scope_of, split_counts
from scoring.scores.services import scoring
from scoring.scores.services.errors import FewHiddenError, NothingJudgedError, WrongSplitError
from scoring.scores.services.scoring import LEFT_OUT, Target
from scoring.submissions.services import probing
from scoring.submissions.services.embedding_retrieving import read_submitted_embeddings
from scoring.submissions.services.files import Read, read_submitted

ENDED = (Submission.State.SCORED, Submission.State.INVALID, Submission.State.FAILED)
# How far each stage brings a submission, in percent.
CHECKED, WRITTEN, COMPUTED, WHOLE = 50, 70, 95, 100
# The share of graded hidden queries that a submission has to answer.
FEWEST_HIDDEN = 0.8
OUR_FAULT = "The fault is on our side, and its log has the details. Nothing is counted; try again."


def score_submission(job: RunningJob) -> None:
    """The handler: validate the file, make the run, score it; visible all at once or not at all."""
    submission = _submission_of(job.parameters["submission"])
    if submission.state == Submission.State.SCORED:
        return
    _move(job, submission, Submission.State.RECEIVED, job=job.row, problems=[])
    try:
        _score_submission(job, submission)
    except (JobFencedError, OperationalError):
        raise  # nothing is decided: another attempt writes what becomes of it
    except BenchmarkError as error:
        _move(job, submission, Submission.State.INVALID, problems=problems_of(error))
        raise
    except Exception as error:
        text = told_of(error) if is_disk_full(error) else OUR_FAULT
        told = [{"file": "", "line": 0, "text": text, "code": "unexpected"}]
        _move(job, submission, Submission.State.FAILED, problems=told)
        raise
    probing.flag(submission)


def problems_of(error: BenchmarkError) -> list[dict[str, Any]]:
    """What is wrong with a submission, line by line, as its row keeps it."""
    if isinstance(error, FileProblemsError):
        return [
            {"file": one.file, "line": one.line, "text": one.text, "code": error.code}
            for one in error.problems
        ]
    return [{"file": "", "line": 0, "text": str(error), "code": error.code}]


def _submission_of(pk: int) -> Submission:
    related = ("phase__release__benchmark", "phase__benchmark", "submitter", "team")
    return Submission.objects.select_related(*related).get(pk=pk)


def _move(running: RunningJob, submission: Submission, state: str, **values: Any) -> None:
    with running.fenced():
        Submission.objects.filter(pk=submission.pk).update(state=state, **values)


@dataclass(frozen=True)
class _Valid:
    """A submitted file that was found right, with the queries it is scored on."""

    submission: Submission
    upload: Upload
    read: Read
    scope: Scope
    target: Target


def _score_submission(job: RunningJob, submission: Submission) -> None:
    valid = _validated(job, submission)
    _move(job, submission, Submission.State.VALIDATED)
    job.progress(WRITTEN, WHOLE, "the file is right")
    _move(job, submission, Submission.State.SCORING)
    parquet = valid.read.staged.summary.parquet
    scored = scoring.scored_run(parquet=parquet, target=valid.target, folder=job.folder / "scores")
    job.progress(COMPUTED, WHOLE, "storing the scores")
    with job.commit() as result:
        run = _run_of(job, valid)
        scoring.store_scores(
            run=run,
            target=valid.target,
            scored=scored,
            n_left_out=valid.read.staged.n_extra_queries,
        )
        Submission.objects.filter(pk=submission.pk).update(run=run, state=Submission.State.SCORED)
        result["made"] = [f"run '{run.name}' scored on {valid.target.release.version}"]
        result["notes"] = valid.read.staged.warnings
        result["url"] = submission.get_absolute_url()


def _validated(job: RunningJob, submission: Submission) -> _Valid:
    phase = submission.phase
    upload = Upload.objects.get(pk=job.parameters["upload"])
    read = _read(job, upload, phase.benchmark)
    scope = scope_of(phase)
    _refuse_other_split(read, upload.name, submission, scope)
    target = (
        Target.of_split(phase.release, scope.split, scope.qids)
        if scope.is_apart
        else Target.of(phase.release)
    )
    _refuse_few_hidden(read, upload.name, target)
    _refuse_nothing_judged(read, upload.name, submission, target)
    return _Valid(submission, upload, read, scope, target)


def _read(job: RunningJob, upload: Upload, benchmark: Benchmark) -> Read:
    """The run of the file: what it ranks, or what its embeddings find."""
    path = uploading.local(upload)
    how = job.parameters.get("aggregation") or DEFAULT
    common: dict[str, Any] = {"path": path, "folder": job.folder, "benchmark": benchmark}
    if is_bundle(path):
        return read_submitted_embeddings(
            **common,
            aggregation=how,
            tell=lambda share, message: job.progress(int(WRITTEN * share), WHOLE, message),
        )
    return read_submitted(
        **common,
        name=upload.name,
        aggregation=how,
        tell_read=lambda n, size: job.progress(
            min(CHECKED, CHECKED * n // max(size, 1)), WHOLE, "checking the file"
        ),
        tell_written=lambda n, total: job.progress(
            CHECKED + (WRITTEN - CHECKED) * n // max(total, 1) - 1, WHOLE, "ranking its documents"
        ),
    )


def _refuse_other_split(read: Read, file: str, submission: Submission, scope: Scope) -> None:
    answered = query_ids(read.staged.summary.parquet)
    if scope.qids.isdisjoint(answered):
        release = submission.phase.release
        raise WrongSplitError(
            file=file,
            split=scope.split,
            release=release.version,
            others=_others(split_counts(release, answered)),
        )


def _others(counts: Mapping[str, int]) -> str:
    if not counts:
        return "its queries are in no split of the release"
    listed = ", ".join(f"{n:,} of {split}" for split, n in sorted(counts.items()))
    return f"its queries are {listed}"


def _refuse_few_hidden(read: Read, file: str, target: Target) -> None:
    """Who answers a handful of hidden queries learns what is known of them, and no system does."""
    hidden = hidden_queries(target.release) & target.qrels.keys()
    n = len(hidden.intersection(query_ids(read.staged.summary.parquet)))
    n_needed = ceil(FEWEST_HIDDEN * len(hidden))
    if n < n_needed:
        raise FewHiddenError(file=file, n=n, n_all=len(hidden), n_needed=n_needed)


def _refuse_nothing_judged(read: Read, file: str, submission: Submission, target: Target) -> None:
    """Where nobody knows the documents of the corpus, ids of another one would be a silent zero."""
    if submission.phase.benchmark.current_corpus_version is not None:
        return
    known = {docid for grades in target.qrels.values() for docid in grades}
    found = _documents_of(read)
    if known.isdisjoint(found):
        raise NothingJudgedError(
            file=file, found=some_ids(found), known=some_ids(known), release=target.release.version
        )


def _documents_of(read: Read) -> list[str]:
    from benchwright.runs.store import document_ids

    return document_ids(read.staged.summary.parquet)


def _run_of(job: RunningJob, valid: _Valid) -> Run:
    """The run of the submission: a new one, or that of the same bytes in another phase."""
    submission = valid.submission
    same = Run.objects.filter(
        benchmark=submission.phase.benchmark,
        name=submission.name,
        owner=submission.submitter,
        sha256=valid.upload.sha256,
        kind=Run.Kind.SUBMITTED,
    ).first()
    return same or _create_run(job, valid)


def _create_run(job: RunningJob, valid: _Valid) -> Run:
    submission, parameters = valid.submission, job.parameters
    run = runs.create_run(
        staged=valid.read.staged,
        benchmark=submission.phase.benchmark,
        name=submission.name,
        owner=submission.submitter,
        team=submission.team,
        sha256=valid.upload.sha256,
        upload=valid.upload,
        kind=Run.Kind.SUBMITTED,
        visibility=parameters["visibility"],
        description=parameters["description"],
        metadata=_metadata(job, valid),
    )
    dates = {name: parameters.get(name) for name in ("public_from", "anonymous_until")}
    if any(dates.values()):
        Run.objects.filter(pk=run.pk).update(**dates)
    return run


def _metadata(job: RunningJob, valid: _Valid) -> dict[str, Any]:
    """What was said of the system when it was sent, then what the file says itself."""
    given = dict(job.parameters["metadata"])
    try:
        metadata = checked({**valid.read.metadata, **given})
    except RunFactsError:  # of the file alone: what a form or the API gave was checked before
        metadata = given
    if valid.read.staged.n_extra_queries:
        metadata[LEFT_OUT] = valid.read.staged.n_extra_queries
    return metadata


def set_back_submission(job_id: int) -> None:
    """Bring a submission in line with its job, when an attempt begins or the job is given up."""
    unfinished = Submission.objects.filter(job=job_id).exclude(state__in=ENDED)
    job = Job.objects.filter(pk=job_id, state__in=[Job.State.FAILED, Job.State.CANCELLED]).first()
    with transaction.atomic():
        if job is None:
            unfinished.update(state=Submission.State.QUEUED)
            return
        told = [{"file": "", "line": 0, "text": job.error or OUR_FAULT, "code": "gave-up"}]
        unfinished.update(state=Submission.State.FAILED, problems=told)
