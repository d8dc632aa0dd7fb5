"""Comparisons: asked once, worked out here or in a job, stored, and found again by their key."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.db import transaction

from benchmarks_app import files
from benchmarks_app.services import jobs
from benchmarks_app.services.jobs import RunningJob
from scoring import selectors
from scoring.models import Comparison
from scoring.services.comparing_errors import ComparisonNotReadyError, ComparisonSignInError
from scoring.services.comparing_numbers import computed
from scoring.services.comparison_questions import Question, question_of
from scoring.shown import measures_on

KIND = "compare-runs"


def stored_comparison(question: Question) -> Comparison | None:
    """The row of a question, whether its numbers are there yet or not."""
    return Comparison.objects.filter(key=question.key).select_related("job").first()


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
    found = stored_comparison(question)
    if found and found.result:
        return found
    if question.is_large:
        raise ComparisonNotReadyError(
            n_runs=len(question.score_sets), n_queries=question.n_queries, job=found and found.job
        )
    standard = {
        shown.name for shown in measures_on(selectors.relevance_threshold(question.release))
    }
    if not user.is_authenticated and question.measure not in standard:
        raise ComparisonSignInError
    return store(question, computed(question), user)


@transaction.atomic
def start_comparison(question: Question, user: Any) -> Comparison:
    """The row of a question, with the job that works it out; one that is under way is kept."""
    row = _row(question, user)
    row = Comparison.objects.select_for_update().get(pk=row.pk)
    if row.result or (row.job and not row.job.is_finished):
        return row
    row.job = jobs.start(
        kind=KIND,
        title=f"Compare {len(question.score_sets)} runs on {question.release.version}",
        benchmark=question.release.benchmark,
        user=user,
        parameters={"comparison": row.pk},
    )
    row.save(update_fields=["job"])
    return row


def _row(question: Question, user: Any) -> Comparison:
    row, is_new = Comparison.objects.get_or_create(
        key=question.key,
        defaults={
            "benchmark": question.release.benchmark,
            "release": question.release,
            "parameters": question.parameters,
            "created_by": user if user.is_authenticated else None,
        },
    )
    if is_new:
        row.runs.set(question.runs)
    return row


def compare_runs(job: RunningJob) -> None:
    """Work a comparison out; every step is told."""
    row = Comparison.objects.select_related("release__benchmark").get(
        pk=job.parameters["comparison"]
    )
    question = question_of(row)
    result = computed(question, job.progress)
    name = _published(result, question.key, job.folder)
    with job.commit() as told:
        Comparison.objects.filter(pk=row.pk).update(result=name)
        told["url"] = question.url
        told["runs"] = len(question.score_sets)


def store(question: Question, result: Mapping[str, Any], user: Any) -> Comparison:
    """Write the numbers down, once."""
    with TemporaryDirectory(dir=_staging()) as folder:
        name = _published(result, question.key, Path(folder))
    row = _row(question, user)
    Comparison.objects.filter(pk=row.pk).update(result=name)
    row.result = name
    return row


def _staging() -> Path:
    settings.STAGING_DIR.mkdir(parents=True, exist_ok=True)
    return settings.STAGING_DIR


def _published(result: Mapping[str, Any], key: str, folder: Path) -> str:
    staged = folder / f"{key}.json"
    staged.write_text(json.dumps(result, sort_keys=True, allow_nan=False))
    return files.publish(staged, f"comparisons/{key}.json")


def result_of(row: Comparison) -> dict[str, Any]:
    """The numbers as they were stored, nothing withheld."""
    found: dict[str, Any] = json.loads(files.local_path(row.result).read_text())
    return found
