"""Comparisons: asked once, worked out here or in a job, stored, and found again by their key."""

from typing import Any

from benchmarks_app.jobs.services.jobs import RunningJob
from scoring.comparisons.services import comparison_rows
from scoring.comparisons.services.errors import ComparisonNotReadyError, ComparisonSignInError
from scoring.comparisons.services.numbers import computed
from scoring.comparisons.services.questions import Question, question_of
from scoring.models import Comparison
from scoring.scores.selectors.releases import measures_stored

KIND = "compare-runs"


def answer(question: Question, user: Any) -> Comparison:
    """The comparison with its numbers, worked out now where that is quick.

    Raises
    ------
    ComparisonNotReadyError
        If it takes a job that nobody has started, or that is not done; `job` is that, or None.
    ComparisonSignInError
        If somebody who is not signed in asks for what would have to be computed.
    ScoringError
        If the runs cannot be compared at all.
    """
    row = comparison_rows.stored(question)
    if row and comparison_rows.has_numbers(row):
        return row
    if question.is_large:
        raise ComparisonNotReadyError(
            n_runs=len(question.score_sets), n_queries=question.n_queries, job=row and row.job
        )
    if not user.is_authenticated and question.measure not in measures_stored(question.release):
        raise ComparisonSignInError
    return comparison_rows.store(question, computed(question), user)


def start_comparison(question: Question, user: Any) -> Comparison:
    """The row of a question, with the job that works it out; one that is under way is kept."""
    title = f"Compare {len(question.score_sets)} runs on {question.release.version}"
    return comparison_rows.start(question, user, kind=KIND, title=title)


def compare_runs(job: RunningJob) -> None:
    """Work a comparison out; every step is told."""
    row = Comparison.objects.select_related("release__benchmark").get(
        pk=job.parameters["comparison"]
    )
    question = question_of(row)
    result = computed(question, job.progress)
    comparison_rows.commit(job, row, result, url=question.url, runs=len(question.score_sets))
