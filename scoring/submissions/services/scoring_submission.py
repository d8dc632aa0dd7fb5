"""Scoring one submission: its file is checked, then becomes a run with its scores, or nothing."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.urls import reverse

from benchmarks_app.collections.services import runs, uploading
from benchmarks_app.common.selectors.reading import missing_documents
from benchmarks_app.common.services import reading_apart
from benchmarks_app.common.services.happening import happened
from benchmarks_app.jobs.services.jobs import JobFencedError, RunningJob, told_of
from benchmarks_app.models import Benchmark, CorpusVersion, Job, Query, Run, Upload
from benchmarks_app.models.notices import Event
from benchmarks_app.prepared import prepared
from benchmarks_app.releases.selectors import hidden_queries
from benchmarks_app.store.errors import StoreAwayError
from benchwright.errors import BenchmarkError, FileProblemsError, Problem, Problems
from benchwright.evaluation.stored_hits import StoredHits
from benchwright.full_disk import is_disk_full
from benchwright.ids import some_ids
from benchwright.retrieval.dense.bundles import is_bundle
from benchwright.runs.aggregation import DEFAULT
from benchwright.runs.facts import RunFactsError, checked
from benchwright.runs.store import document_ids
from benchwright.uploads import Place
from benchwright.uploads.submissions import READ, take_submitted
from scoring.models import Submission
from scoring.scores.selectors.phases import Scope, scope_of, split_counts
from scoring.scores.services import scoring
from scoring.scores.services.errors import FewHiddenError, NothingJudgedError, WrongSplitError
from scoring.scores.services.scoring import LEFT_OUT, Target, held_target
from scoring.submissions.services import probing
from scoring.submissions.services.embedding_retrieving import read_submitted_embeddings

ENDED = (Submission.State.SCORED, Submission.State.INVALID, Submission.State.FAILED)
# How far each stage brings a submission, in percent.
CHECKED, WRITTEN, COMPUTED, WHOLE = 50, 70, 95, 100
LINES_LEFT_OUT = "lines left out"
# The share of hidden queries, graded or not, that a submission has to answer.
FEWEST_HIDDEN = 0.8
OUR_FAULT = "The fault is on our side, and its log has the details. Nothing is counted; try again."


def score_submission(job: RunningJob) -> None:
    """The handler: validate the file, make the run, score it; visible all at once or not at all."""
    (submission,) = _submissions(job.parameters["submission"])
    if submission.state == Submission.State.SCORED:
        return
    # It is one already that was just sent in.
    if submission.state != Submission.State.RECEIVED or submission.job_id != job.row.pk:
        _move(job, submission, Submission.State.RECEIVED, job=job.row, problems=[])
    try:
        _score_submission(job, submission)
    except (JobFencedError, OperationalError, StoreAwayError):
        raise  # nothing is decided: another attempt writes what becomes of it
    except BenchmarkError as error:
        _move(job, submission, Submission.State.INVALID, problems=problems_of(error))
        raise
    except Exception as error:
        text = told_of(error) if is_disk_full(error) else OUR_FAULT
        problems = [{"file": "", "line": 0, "text": text, "code": "unexpected"}]
        _move(job, submission, Submission.State.FAILED, problems=problems)
        raise
    probing.flag(submission)


@prepared
def _submissions(pk: int) -> QuerySet[Submission]:
    related = ("phase__release", "phase__benchmark__corpus", "submitter", "team")
    return Submission.objects.filter(pk=pk).select_related(*related)


def problems_of(error: BenchmarkError) -> list[dict[str, Any]]:
    """What is wrong with a submission, line by line, as its row keeps it."""
    if isinstance(error, FileProblemsError):
        return _as_json(error.problems, error.code)
    return [{"file": "", "line": 0, "text": str(error), "code": error.code}]


def _as_json(problems: Sequence[Problem], code: str) -> list[dict[str, Any]]:
    return [
        {"file": problem.file, "line": problem.line, "text": problem.text, "code": code}
        for problem in problems
    ]


def _move(running: RunningJob, submission: Submission, state: str, **values: Any) -> None:
    with running.fenced():
        Submission.objects.filter(pk=submission.pk).update(state=state, **values)


@dataclass(frozen=True)
class _Valid:
    """A submitted file that was found right, with the queries it is scored on."""

    submission: Submission
    upload: Upload
    staged: runs.StagedRun
    # What the file says of its system.
    metadata: dict[str, Any]
    target: Target
    hits: StoredHits
    left_out: Sequence[Problem] = ()


def _score_submission(job: RunningJob, submission: Submission) -> None:
    valid = _validated(job, submission)
    # Nobody sees a stage of a job that is over before it could be told.
    if job.is_slow:
        job.progress(WRITTEN, WHOLE, "the file is right")
        _move(job, submission, Submission.State.SCORING)
    staged, target = valid.staged, valid.target
    scored = scoring.scored_run(hits=valid.hits, target=target, folder=job.folder / "scores")
    if job.is_slow:
        job.progress(COMPUTED, WHOLE, "storing the scores")
    with job.commit() as result:
        run, is_new = _run_of(job, valid)
        scoring.store_scores(
            run=run,
            target=target,
            scored=scored,
            n_left_out=staged.n_extra_queries,
            is_new_run=is_new,
        )
        Submission.objects.filter(pk=submission.pk).update(
            run=run, state=Submission.State.SCORED, left_out=_as_json(valid.left_out, "left-out")
        )
        _tell(submission)
        result["made"] = [f"run '{run.name}' scored on {target.release.version}"]
        result["notes"] = staged.warnings
        result["url"] = submission.get_absolute_url()


def _tell(submission: Submission) -> None:
    """That it is scored, and nothing of how: whose it is may be told before a phase is over."""
    benchmark = submission.phase.benchmark
    happened(
        Event.SUBMISSION_SCORED,
        benchmark=benchmark,
        about={"submission": submission.pk, "release": submission.phase.release.version},
        path=submission.get_absolute_url(),
        api_path=reverse("api:submission-detail", args=[benchmark.slug, submission.pk]),
        concerns=[submission.submitter_id],
    )


def _validated(job: RunningJob, submission: Submission) -> _Valid:
    phase = submission.phase
    (upload,) = _uploads(job.parameters["upload"])
    path = uploading.local(upload)
    version = phase.benchmark.current_corpus_version
    if is_bundle(path):
        staged, metadata = _read_embeddings(job, path, phase.benchmark)
        left_out: Sequence[Problem] = ()
    else:
        staged, metadata, left_out = _read_run(job, path, upload.name, phase.benchmark, version)
    parquet = staged.summary.parquet
    scope = scope_of(phase)
    target = held_target(phase.release, scope.split if scope.is_apart else "", scope.qids)
    hits = target.hits_of(parquet)
    _refuse_other_split(hits, upload.name, submission, scope)
    _refuse_few_hidden(hits, upload.name, scope)
    # Where nobody knows the documents of the corpus, ids of another one would be a silent zero.
    if version is None:
        _refuse_nothing_judged(hits, parquet, upload.name, target)
    return _Valid(submission, upload, staged, metadata, target, hits, left_out)


@prepared
def _uploads(pk: int) -> QuerySet[Upload]:
    return Upload.objects.filter(pk=pk)


Reading = tuple[runs.StagedRun, dict[str, Any]]


def _read_embeddings(job: RunningJob, path: Path, benchmark: Benchmark) -> Reading:
    """What submitted embeddings find, and what they say of their system."""
    return read_submitted_embeddings(
        path=path,
        folder=job.folder,
        benchmark=benchmark,
        aggregation=job.parameters.get("aggregation") or DEFAULT,
        tell=lambda share, message: job.progress(int(WRITTEN * share), WHOLE, message),
    )


def _read_run(
    job: RunningJob, path: Path, file: str, benchmark: Benchmark, version: CorpusVersion | None
) -> tuple[runs.StagedRun, dict[str, Any], Sequence[Problem]]:
    """What a submitted run ranks, read in a process of its own, and what its comments say.

    With the bad lines that were left out, no more than its sender has agreed to.
    """
    folder = job.folder
    n_agreed = job.parameters.get("n_agreed", 0)
    problems = Problems()
    folder.mkdir(parents=True, exist_ok=True)

    def tell(what: str, n: int, total: int) -> None:
        if not job.is_slow:
            return
        if what == READ:
            job.progress(min(CHECKED, CHECKED * n // max(total, 1)), WHOLE, "checking the file")
        else:
            share = (WRITTEN - CHECKED) * n // max(total, 1)
            job.progress(CHECKED + share - 1, WHOLE, "ranking its documents")

    staged = runs.stage_run(
        file=file,
        folder=folder / "run",
        taken_apart=lambda terms: reading_apart.call(
            take_submitted,
            Place(path, file),
            folder,
            terms,
            leaves_out=n_agreed > 0,
            file=file,
            is_job=True,
            progress=tell,
        ),
        problems=problems,
        allowed_queries=set(_qids(benchmark.pk)),
        known_document=partial(missing_documents, version, benchmark) if version else None,
        benchmark=benchmark,
        aggregation=job.parameters.get("aggregation") or DEFAULT,
        max_depth=settings.RUN_MAX_DEPTH,
    )
    if problems.n_left_out > n_agreed:
        raise FileProblemsError(
            problems=problems.left_out, is_cut=problems.n_left_out > len(problems.left_out)
        )
    by_line = sorted(problems.left_out, key=lambda problem: problem.line)
    return staged, staged.said, by_line


@prepared
def _qids(benchmark: int) -> QuerySet:
    return Query.objects.committed().filter(benchmark=benchmark).values_list("qid", flat=True)


def _refuse_other_split(
    answered: Collection[str], file: str, submission: Submission, scope: Scope
) -> None:
    if scope.members.isdisjoint(answered):
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


def _refuse_few_hidden(answered: Collection[str], file: str, scope: Scope) -> None:
    """Who answers a handful of hidden queries learns what is known of them, and no system does."""
    if not scope.is_hidden:
        return
    n, n_all = len(scope.members.intersection(answered)), len(scope.members)
    n_needed = ceil(FEWEST_HIDDEN * n_all)
    if n < n_needed:
        raise FewHiddenError(file=file, n=n, n_all=n_all, n_needed=n_needed)


def _refuse_nothing_judged(hits: StoredHits, parquet: Path, file: str, target: Target) -> None:
    """By public queries alone: a refusal, which costs nothing, would tell what is judged for the
    hidden ones."""
    public = target.qrels.keys() - hidden_queries(target.release)
    answered = public & hits.keys()
    if not answered or any(hits[qid].hits for qid in answered):
        return
    known = {docid for qid in public for docid in target.qrels[qid]}
    docids = document_ids(parquet)
    if known.isdisjoint(docids):
        raise NothingJudgedError(
            file=file,
            found=some_ids(docids),
            known=some_ids(known),
            release=target.release.version,
        )


def _run_of(job: RunningJob, valid: _Valid) -> tuple[Run, bool]:
    """The submission's run and whether it is new: if not, of the same bytes in another phase."""
    submission = valid.submission
    same = _same_runs(
        submission.phase.benchmark_id,
        submission.name,
        submission.submitter_id,
        valid.upload.sha256,
    )
    # Passages that are summed up in another way are another run, which needs a name of its own.
    way = valid.staged.metadata.get("aggregation")
    if same and (way is None or same[0].metadata.get("aggregation") == way):
        return same[0], False
    return _create_run(job, valid), True


@prepared
def _same_runs(benchmark: int, name: str, owner: int, sha256: str) -> QuerySet[Run]:
    of_name = Run.objects.filter(benchmark=benchmark, name=name, kind=Run.Kind.SUBMITTED)
    return of_name.filter(owner=owner, sha256=sha256)


def _create_run(job: RunningJob, valid: _Valid) -> Run:
    submission, parameters = valid.submission, job.parameters
    run = runs.create_run(
        staged=valid.staged,
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
    facts = dict(job.parameters["metadata"])
    try:
        metadata = checked({**valid.metadata, **facts})
    except RunFactsError:  # of the file alone: what a form or the API gave was checked before
        metadata = facts
    if valid.staged.n_extra_queries:
        metadata[LEFT_OUT] = valid.staged.n_extra_queries
    if valid.left_out:
        metadata[LINES_LEFT_OUT] = len({problem.line for problem in valid.left_out})
    return metadata


def set_back_submission(job_id: int) -> None:
    """Bring a submission in line with its job, when an attempt begins or the job is given up."""
    unfinished = Submission.objects.filter(job=job_id).exclude(state__in=ENDED)
    job = Job.objects.filter(pk=job_id, state__in=Job.ENDED_EARLY).first()
    with transaction.atomic():
        if job is None:
            unfinished.update(state=Submission.State.QUEUED)
            return
        problems = [{"file": "", "line": 0, "text": job.error or OUR_FAULT, "code": "gave-up"}]
        unfinished.update(state=Submission.State.FAILED, problems=problems)
