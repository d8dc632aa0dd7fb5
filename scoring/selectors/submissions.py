"""Submissions, as their submitters and the keepers see them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from benchmarks_app.models import Benchmark, Job
from benchmarks_app.permissions import KEEPERS, role_in
from scoring.models import Score, Submission
from scoring.selectors.releases import SCORER_VERSION, relevance_threshold
from scoring.shown import MEASURES


def submissions_seen_by(user: Any, benchmark: Benchmark) -> QuerySet[Submission]:
    """One's own, and all of the benchmark for who maintains it; newest first."""
    seen = Submission.objects.filter(phase__benchmark=benchmark)
    if role_in(user, benchmark) not in KEEPERS:
        seen = seen.filter(submitter=user)
    return seen.select_related(
        "phase__release", "phase__benchmark", "run", "submitter", "job"
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
            wanted |= Q(score_set__run=one.run_id, score_set__release=one.phase.release_id)
    found: dict[tuple[int, int], dict[str, float | None]] = {}
    scores = Score.objects.filter(
        wanted, slice_name="", score_set__scorer_version=SCORER_VERSION
    ).values_list("score_set__run", "score_set__release", "measure", "mean")
    for run, release, measure, mean in scores:
        found.setdefault((run, release), {})[measure] = mean
    return [_submission_row(one, found.get((one.run_id, one.phase.release_id), {})) for one in rows]


def _submission_row(submission: Submission, stored: dict[str, float | None]) -> SubmissionRow:
    threshold = relevance_threshold(submission.phase.release)
    scores = {shown.name: stored.get(shown.counting_from(threshold)) for shown in MEASURES}
    return SubmissionRow(submission, state_of(submission), scores)
