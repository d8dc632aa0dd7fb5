"""Submissions, as their submitters, their teams and the keepers see them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Case, Q, QuerySet, When

from benchmarks_app.common.selectors.naming import team_ids_of
from benchmarks_app.models import Benchmark, Job, Run, User
from benchmarks_app.permissions import KEEPERS, role_in
from benchwright.runs.facts import APPROXIMATE_RUN
from scoring.models import ProbingFlag, Score, ScoreSet, Submission
from scoring.scores.selectors.phases import is_apart, scope_of, version_of
from scoring.scores.selectors.releases import (
    declared_alone,
    measures_stored,
    relevance_threshold,
)
from scoring.scores.selectors.runs import ScoreSheet
from scoring.scores.shown import MEASURES


def submissions_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[Submission]:
    """One's own and one's teams', and all of the benchmark for its keepers; newest first."""
    submissions = Submission.objects.filter(phase__benchmark=benchmark)
    if role_in(user, benchmark) not in KEEPERS:
        submissions = submissions.filter(Q(submitter=user) | Q(team__in=team_ids_of(user)))
    return submissions.select_related(
        "phase__release__benchmark", "phase__benchmark", "run", "submitter", "team", "job"
    ).order_by("-created_at", "-pk")


# What becomes of these is not decided.
WAITING = (
    Submission.State.RECEIVED,
    Submission.State.VALIDATED,
    Submission.State.QUEUED,
    Submission.State.SCORING,
)


def state_of(submission: Submission) -> Submission.State:
    """The state as it is shown: one whose worker was lost is queued until another takes it."""
    job = submission.job
    if submission.state in WAITING and job and job.state == Job.State.QUEUED and job.attempt:
        return Submission.State.QUEUED
    return Submission.State(submission.state)


def problems_of_submission(submission: Submission) -> list[dict[str, Any]]:
    """Why it is invalid or failed, line by line; what its job says where its row says nothing."""
    if submission.problems:
        return list(submission.problems)
    job = submission.job
    if job is None or submission.state in WAITING:
        return []
    if job.problems:
        return list(job.problems)
    return [{"file": "", "line": 0, "text": job.error}] if job.error else []


# --- their scores --------------------------------------------------------------------------


@dataclass(frozen=True)
class SubmissionRow:
    """A submission with its means; `stored` are their rows.

    Measures of every board have their bare names, those that its release declares whole ones.
    """

    submission: Submission
    state: Submission.State
    scores: dict[str, float | None]
    stored: tuple[Score, ...] = ()


def submission_rows(submissions: Iterable[Submission]) -> list[SubmissionRow]:
    """Submissions with their means on the release they were made for; one query for all."""
    rows = list(submissions)
    wanted = Q()
    for submission in rows:
        if submission.run_id:
            wanted |= Q(
                score_set__run=submission.run_id,
                score_set__release=submission.phase.release_id,
                score_set__scorer_version=version_of(submission.phase),
            )
    by_run: dict[tuple[int | None, int, str], list[Score]] = {}
    scores = Score.objects.filter(wanted, slice_name="").select_related("score_set")
    for score in scores if wanted else ():
        of = score.score_set
        by_run.setdefault((of.run_id, of.release_id, of.scorer_version), []).append(score)
    return [
        with_scores(
            SubmissionRow(submission, state_of(submission), {}),
            by_run.get(
                (submission.run_id, submission.phase.release_id, version_of(submission.phase)), []
            ),
        )
        for submission in rows
    ]


def with_scores(row: SubmissionRow, stored: Iterable[Score]) -> SubmissionRow:
    """The row with the means of these scores."""
    scores = tuple(stored)
    means = {score.measure: score.mean for score in scores}
    release = row.submission.phase.release
    threshold = relevance_threshold(release)
    names = {measure.name: measure.counting_from(threshold) for measure in MEASURES}
    names |= {measure.name: measure.name for measure in declared_alone(release)}
    means_by_name = {shown: means.get(name) for shown, name in names.items()}
    return replace(row, scores=means_by_name, stored=scores)


def submission_scores(submission: Submission) -> ScoreSheet | None:
    """The scores that a submission is about, or None.

    With those over the split of the phase, where the release grades other queries as well.
    """
    if submission.run_id is None:
        return None
    score_set = (
        ScoreSet.objects.filter(
            run=submission.run_id,
            release=submission.phase.release_id,
            scorer_version=version_of(submission.phase),
        )
        .select_related("run", "release__benchmark")
        .first()
    )
    if score_set is None:
        return None
    part = "" if is_apart(submission.phase) else scope_of(submission.phase).slice_name
    scores = list(score_set.scores.filter(slice_name__in={"", part}))
    names = set(measures_stored(score_set.release))
    return ScoreSheet(
        score_set,
        overall=[score for score in scores if not score.slice_name and score.measure in names],
        by_weight=[],
        of_part=[score for score in scores if part and score.slice_name == part],
    )


# --- flags -----------------------------------------------------------------------------------


def probing_flags(benchmark: Benchmark, *, is_settled: bool | None = None) -> QuerySet[ProbingFlag]:
    """The flags of a benchmark, those that wait first, then the newest; or one kind of them."""
    flags = ProbingFlag.objects.filter(submission__phase__benchmark=benchmark)
    if is_settled is not None:
        flags = flags.filter(settled_at__isnull=not is_settled)
    related = (
        "submission__submitter",
        "submission__team",
        "submission__run",
        "submission__phase__release",
        "submission__phase__benchmark",
        "earlier__run",
        "settled_by",
    )
    waits = Case(When(settled_at=None, then=0), default=1)
    return flags.select_related(*related).order_by(waits, "-pk")


def n_open_flags(benchmark: Benchmark) -> int:
    return probing_flags(benchmark, is_settled=False).count()


def corpus_size(benchmark: Benchmark) -> int:
    """How many documents can have a vector; 0 where nobody knows them."""
    version = benchmark.current_corpus_version
    return version.n_documents if version else 0


def approximate_run_of(run: Run | None, user: User) -> Run | None:
    """The run of an approximate index that was submitted beside a run, where the person sees it."""
    name = run.metadata.get(APPROXIMATE_RUN) if run else None
    if run is None or not isinstance(name, str):
        return None
    visible = Run.objects.visible_to(user).filter(benchmark=run.benchmark_id)
    return visible.filter(name=name).exclude(pk=run.pk).first()
