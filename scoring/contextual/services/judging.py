"""The job that judges: outcomes are written one by one, as they come.

It asks about the cases that wait, so an attempt that follows a lost one goes on where that was:
what is written is neither asked nor paid again.
"""

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict
from typing import Any, Literal, cast

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.judges.services.asking import client_of, remember_format
from benchmarks_app.models import Job, JudgeEndpoint
from benchwright.contextual.judging import outcomes_of
from benchwright.contextual.types import Options, Outcome
from benchwright.ids import storable
from scoring.contextual.selectors import StoredImages, core_case, counts_of
from scoring.contextual.services.errors import EvaluationActiveError
from scoring.contextual.services.evaluating import ACTIVE, STATES, require_judge
from scoring.models import CaseOutcome, ContextualEvaluation

# So many cases are held in memory, with their images.
CASES_AT_ONCE = 200
# The next case would be told the same.
HOPELESS = "judge-access"


def judge_contextual(job: RunningJob) -> None:
    """The handler."""
    evaluation = ContextualEvaluation.objects.select_related("case_set", "endpoint", "job").get(
        pk=job.parameters["evaluation"]
    )
    if evaluation.job_id not in (None, job.row.pk):
        raise EvaluationActiveError(what=str(evaluation))
    with job.fenced():
        ContextualEvaluation.objects.filter(pk=evaluation.pk).update(
            job=job.row, state=STATES.RUNNING, error="", finished_at=None
        )
    judge = require_judge(evaluation)
    # What it costs is reckoned as it was announced, whatever the judge's prices are by now.
    judge.price_in, judge.price_out = evaluation.price_in, evaluation.price_out
    course, client = _Course(job, evaluation), client_of(judge)
    for outcome in _outcomes(course, client, judge):
        course.keep(outcome)
    remember_format(judge, client)
    with job.commit() as result:
        course.end()
        result["url"] = evaluation.get_absolute_url()


class _Course:
    """How far an evaluation is, and whether it shall go on."""

    def __init__(self, job: RunningJob, evaluation: ContextualEvaluation) -> None:
        counts = counts_of(evaluation)
        self.job, self.evaluation = job, evaluation
        self.total, self.n_done = counts.n, counts.n_done
        self.n_scored, self.n_failed = counts.n_scored, counts.n_failed
        self.spent = counts.cost
        self.hopeless = ""

    @property
    def is_capped(self) -> bool:
        cap = self.evaluation.cost_cap
        return cap is not None and self.spent >= cap

    def must_stop(self) -> bool:
        return self.is_capped or bool(self.hopeless)

    def keep(self, outcome: Outcome) -> None:
        """Write one outcome in a transaction of its own: it was paid for."""
        with self.job.fenced():
            rows = self.evaluation.outcomes.waiting()
            rows.filter(case__case_id=outcome.case_id).update(**_fields(outcome))
        self.n_done += 1
        self.n_scored += outcome.error is None
        self.n_failed += outcome.error is not None
        self.spent += outcome.cost or 0.0
        if outcome.error and outcome.error.code == HOPELESS and not self.n_scored:
            self.hopeless = outcome.error.message
        failed = f", {self.n_failed:,} failed" if self.n_failed else ""
        self.job.progress(self.n_done, self.total, f"{self.n_scored:,} judged{failed}")

    def end(self) -> None:
        has_waiting = self.evaluation.outcomes.waiting().exists()
        state = STATES.DONE
        if has_waiting and self.hopeless:
            state = STATES.FAILED
        elif has_waiting and self.is_capped:
            state = STATES.CAPPED
        error = self.hopeless if state == STATES.FAILED else ""
        _end(self.evaluation, state, error)


def _end(evaluation: ContextualEvaluation, state: str, error: str) -> None:
    """Sum up what there is, and say how it ended."""
    counts = counts_of(evaluation)
    ContextualEvaluation.objects.filter(pk=evaluation.pk).update(
        state=state,
        error=error,
        finished_at=timezone.now(),
        n_cases=counts.n,
        n_scored=counts.n_scored,
        n_failed=counts.n_failed,
        n_success=counts.n_success,
        mean=counts.mean,
        tokens_in=counts.tokens_in,
        tokens_out=counts.tokens_out,
        cost=counts.cost,
    )


def _outcomes(course: _Course, client: Any, judge: JudgeEndpoint) -> Iterator[Outcome]:
    """Outcomes of the cases that wait, as they come; a batch of cases is held at a time."""
    evaluation = course.evaluation
    images = StoredImages(evaluation.case_set)
    last = 0
    while not course.must_stop():
        waiting = evaluation.outcomes.waiting().filter(case__number__gt=last)
        ordered = waiting.select_related("case").order_by("case__number")
        rows = [entry.case for entry in ordered[:CASES_AT_ONCE]]
        if not rows:
            return
        last = rows[-1].number
        outcomes = outcomes_of(
            (core_case(row, images) for row in rows),
            client,
            options_of(evaluation),
            concurrency=judge.concurrency,
            cancel=course.must_stop,
        )
        # A generator, which its signature does not say: closed, it drops what is under way.
        with closing(cast(Generator[Outcome], outcomes)):
            yield from outcomes


def options_of(evaluation: ContextualEvaluation) -> Options:
    """How the library judges and scores these cases."""
    return Options(
        threshold=evaluation.threshold,
        include_reason=evaluation.has_reasons,
        strict_mode=evaluation.is_strict,
        # The settings refuse any other word.
        remote_images=cast(Literal["pass", "fetch", "refuse"], settings.JUDGE_REMOTE_IMAGES),
        may_fetch_private=settings.JUDGE_PRIVATE_ADDRESSES,
    )


def _fields(outcome: Outcome) -> dict[str, Any]:
    """The columns of an outcome; what it took is added to what the case took before."""
    error = outcome.error
    states = CaseOutcome.State
    return {
        "state": states.FAILED if error else states.SCORED,
        "score": outcome.score,
        "is_success": outcome.is_success,
        "verdicts": storable([asdict(verdict) for verdict in outcome.verdicts]),
        "reason": storable(outcome.reason or ""),
        "error_code": error.code if error else "",
        "error": storable(error.message) if error else _reason_error(outcome),
        "tokens_in": F("tokens_in") + (outcome.tokens_in or 0),
        "tokens_out": F("tokens_out") + (outcome.tokens_out or 0),
        "cost": F("cost") + (outcome.cost or 0.0),
        "seconds": outcome.seconds,
        "n_calls": F("n_calls") + len(outcome.answers),
        "answers": storable([asdict(answer) for answer in outcome.answers]),
        "finished_at": timezone.now(),
    }


def _reason_error(outcome: Outcome) -> str:
    """Why there is a score without its reason."""
    return storable(outcome.reason_error.message) if outcome.reason_error else ""


# --- when a job ends in another way ----------------------------------------------------------


def set_back_evaluation(job_id: int) -> None:
    """Bring an evaluation in line with a job that failed or was cancelled."""
    job = Job.objects.filter(pk=job_id).only("state", "error").first()
    ended: dict[str, ContextualEvaluation.State] = {
        Job.State.FAILED: STATES.FAILED,
        Job.State.CANCELLED: STATES.CANCELLED,
    }
    if job is None or job.state not in ended:
        return
    for evaluation in ContextualEvaluation.objects.filter(job=job_id, state__in=ACTIVE):
        _end(evaluation, ended[job.state], job.error)
