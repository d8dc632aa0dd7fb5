"""Submissions, as their submitters, their teams and the keepers see them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from benchmarks_app.models import Benchmark, Job
from benchmarks_app.permissions import KEEPERS, role_in
from benchmarks_app.selectors.naming import team_ids_of
from scoring.models import Score, ScoreSet, Submission
from scoring.selectors.phases import is_apart, scope_of, version_of
from scoring.selectors.releases import relevance_threshold
from scoring.selectors.score_sets import n_answered
from scoring.shown import MEASURES


def submissions_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[Submission]:
    """One's own and one's teams', and all of the benchmark for its keepers; newest first."""
    seen = Submission.objects.filter(phase__benchmark=benchmark)
    if role_in(user, benchmark) not in KEEPERS:
        seen = seen.filter(Q(submitter=user) | Q(team__in=team_ids_of(user)))
    return seen.select_related(
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
    submission: Submission
    state: Submission.State
    scores: dict[str, float | None]


def submission_rows(submissions: Iterable[Submission]) -> list[SubmissionRow]:
    """Submissions with their means on the release they were made for; one query for all."""
    rows = list(submissions)
    wanted = Q(pk=None)
    for one in rows:
        if one.run_id:
            wanted |= Q(
                score_set__run=one.run_id,
                score_set__release=one.phase.release_id,
                score_set__scorer_version=version_of(one.phase),
            )
    found: dict[tuple[int, int, str], dict[str, float | None]] = {}
    scores = Score.objects.filter(wanted, slice_name="").values_list(
        "score_set__run", "score_set__release", "score_set__scorer_version", "measure", "mean"
    )
    for run, release, version, measure, mean in scores:
        found.setdefault((run, release, version), {})[measure] = mean
    return [
        _submission_row(
            one, found.get((one.run_id, one.phase.release_id, version_of(one.phase)), {})
        )
        for one in rows
    ]


def _submission_row(submission: Submission, stored: dict[str, float | None]) -> SubmissionRow:
    threshold = relevance_threshold(submission.phase.release)
    scores = {shown.name: stored.get(shown.counting_from(threshold)) for shown in MEASURES}
    return SubmissionRow(submission, state_of(submission), scores)


def submission_scores(submission: Submission) -> ScoreSet | None:
    """The score set that a submission is about, as its page shows it, or None.

    It has `means` and `ranges` by the bare names of measures, and `of_split`: those over the split
    of the phase, where the release grades other queries as well.
    """
    if submission.run_id is None:
        return None
    score_set = ScoreSet.objects.filter(
        run=submission.run_id,
        release=submission.phase.release_id,
        scorer_version=version_of(submission.phase),
    ).first()
    if score_set is None:
        return None
    part = "" if is_apart(submission.phase) else scope_of(submission.phase).slice_name
    by_slice: dict[str, dict[str, Score]] = {}
    for score in score_set.scores.filter(slice_name__in={"", part}):
        by_slice.setdefault(score.slice_name, {})[score.measure] = score
    threshold = relevance_threshold(submission.phase.release)
    overall = _by_bare_name(by_slice.get("", {}), threshold)
    score_set.means = {name: score.mean for name, score in overall.items()}
    score_set.ranges = {
        name: (score.ci_low, score.ci_high)
        for name, score in overall.items()
        if score.ci_low is not None and score.ci_high is not None
    }
    score_set.of_split = _by_bare_name(by_slice.get(part, {}), threshold) if part else {}
    score_set.overall = list(overall.values())
    score_set.added = score_set.weighted = []
    score_set.n_answered = n_answered(score_set)
    return score_set


def _by_bare_name(scores: dict[str, Score], threshold: int) -> dict[str, Score]:
    named = {shown.name: scores.get(shown.counting_from(threshold)) for shown in MEASURES}
    return {name: score for name, score in named.items() if score is not None}
