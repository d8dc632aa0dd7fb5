"""Evaluations of case sets: started, taken up again, ended, deleted; `contextual_judging` judges.

Each chosen case has its row from the beginning, and a job asks about those that wait.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import cancel
from benchmarks_app.judges.services.keys import require_packages
from benchmarks_app.models import Job, JudgeEndpoint, User
from benchwright.contextual.prompts import TEMPLATE
from scoring.contextual.selectors import cases_chosen, counts_of
from scoring.contextual.services.errors import (
    CasesChosenTwiceError,
    CostCapUsedError,
    CostUnknownError,
    EvaluationActiveError,
    JudgeGoneError,
    NoCasesChosenError,
    NothingToRetryError,
)
from scoring.models import CaseOutcome, CaseSet, ContextualEvaluation

JOB_KIND = "judge-contextual"
STATES = ContextualEvaluation.State
ACTIVE = (STATES.QUEUED, STATES.RUNNING)


# --- starting --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """How cases are to be judged, and which: `only_slice` or `only_first`, or all."""

    threshold: float | None = 0.5
    is_strict: bool = False
    has_reasons: bool = True
    only_slice: str = ""
    only_first: int | None = None
    cost_cap: float | None = None


@transaction.atomic
def start_evaluation(
    *, case_set: CaseSet, judge: JudgeEndpoint, user: User, **options: Any
) -> ContextualEvaluation:
    """An evaluation with a row for every chosen case, and the job that judges them.

    `options` are what `Wanted` holds.

    Raises
    ------
    CasesChosenTwiceError
        If both a slice and the first are chosen.
    NoCasesChosenError
        If the choice leaves none.
    CostUnknownError
        If a limit is wanted and the judge has no prices.
    JudgeExtraMissingError
    """
    evaluation = _prepared(case_set, judge, user, Wanted(**options))
    _start_job(evaluation, user)
    return evaluation


def judge_here(
    *,
    case_set: CaseSet,
    judge: JudgeEndpoint,
    user: User,
    on_progress: Callable[[int, int, str], None] | None = None,
    **options: Any,
) -> ContextualEvaluation:
    """As `start_evaluation`, judged in this process; for commands."""
    with transaction.atomic():
        evaluation = _prepared(case_set, judge, user, Wanted(**options))
    job = jobs.run_here(user=user, on_progress=on_progress, **_job_arguments(evaluation))
    ContextualEvaluation.objects.filter(pk=evaluation.pk, job=None).update(job=job)
    evaluation.refresh_from_db()
    return evaluation


def _prepared(
    case_set: CaseSet, judge: JudgeEndpoint, user: User, options: Wanted
) -> ContextualEvaluation:
    require_packages()
    if options.cost_cap is not None and not judge.has_prices:
        raise CostUnknownError(judge=judge.name)
    CasesChosenTwiceError.refuse(options.only_slice, options.only_first)
    evaluation = ContextualEvaluation.objects.create(
        case_set=case_set,
        endpoint=judge,
        judge_name=judge.name,
        model=judge.model,
        price_in=judge.price_in,
        price_out=judge.price_out,
        prompt_hash=TEMPLATE,
        created_by=user,
        **asdict(options),
    )
    _wait_for_all(evaluation)
    audit.record(
        actor=user,
        action="judge-cases",
        benchmark=case_set.benchmark,
        target=str(evaluation),
        model=judge.model,
    )
    return evaluation


def _wait_for_all(evaluation: ContextualEvaluation) -> None:
    of, only = evaluation.case_set, evaluation.only_slice
    chosen = cases_chosen(of, only_slice=only, only_first=evaluation.only_first)
    keys = list(chosen.values_list("pk", flat=True))
    if not keys:
        choice = f"in the slice '{only}'" if only else "to judge"
        raise NoCasesChosenError(case_set=of.name, choice=choice)
    evaluation.n_cases = len(keys)
    evaluation.save(update_fields=["n_cases"])
    CaseOutcome.objects.bulk_create(
        (CaseOutcome(evaluation=evaluation, case_id=key) for key in keys), batch_size=1000
    )


def _start_job(evaluation: ContextualEvaluation, user: User) -> Job:
    job = jobs.start(user=user, **_job_arguments(evaluation))
    evaluation.job, evaluation.state = job, STATES.QUEUED
    evaluation.error, evaluation.finished_at = "", None
    evaluation.save(update_fields=["job", "state", "error", "finished_at", "cost_cap"])
    return job


def _job_arguments(evaluation: ContextualEvaluation) -> dict[str, Any]:
    return {
        "kind": JOB_KIND,
        "title": f"Judge the cases of '{evaluation.case_set}'",
        "benchmark": evaluation.case_set.benchmark,
        "parameters": {"evaluation": evaluation.pk},
    }


@transaction.atomic
def retry_evaluation(
    *, evaluation: ContextualEvaluation, user: User, cost_cap: float | None = None
) -> Job:
    """Ask again about the cases that failed, and about those that were never asked.

    Raises
    ------
    EvaluationActiveError, NothingToRetryError, JudgeGoneError, JudgeExtraMissingError
    CostCapUsedError
        If the limit is spent; `cost_cap` is a new one.
    """
    locked = ContextualEvaluation.objects.select_for_update(of=("self",))
    evaluation = locked.select_related("case_set__benchmark", "endpoint").get(pk=evaluation.pk)
    if evaluation.is_active:
        raise EvaluationActiveError(what=str(evaluation))
    require_judge(evaluation)
    require_packages()
    counts = counts_of(evaluation)
    if not counts.n_failed + counts.n_waiting:
        raise NothingToRetryError
    evaluation.cost_cap = evaluation.cost_cap if cost_cap is None else cost_cap
    if evaluation.cost_cap is not None and counts.cost >= evaluation.cost_cap:
        raise CostCapUsedError(cost=counts.cost, cap=evaluation.cost_cap)
    evaluation.outcomes.failed().update(state=CaseOutcome.State.WAITING, error_code="", error="")
    audit.record(
        actor=user,
        action="judge-cases",
        benchmark=evaluation.case_set.benchmark,
        target=str(evaluation),
        model=evaluation.model,
    )
    return _start_job(evaluation, user)


def require_judge(evaluation: ContextualEvaluation) -> JudgeEndpoint:
    judge = evaluation.endpoint
    if judge is None:
        raise JudgeGoneError(judge=evaluation.judge_name)
    if judge.model != evaluation.model:
        reason = f"{evaluation.judge_name} ({evaluation.model})"
        raise JudgeGoneError(judge=reason)
    return judge


def cancel_evaluation(*, evaluation: ContextualEvaluation, user: User) -> None:
    """End the job: what is judged stays, what is under way is dropped.

    Raises
    ------
    JobFinishedError
        If there is nothing to end.
    """
    if evaluation.job is not None:
        cancel(job=evaluation.job, user=user)


@transaction.atomic
def delete_evaluation(*, evaluation: ContextualEvaluation, user: User) -> None:
    """Delete an evaluation with its verdicts.

    Raises
    ------
    EvaluationActiveError
        If it is under way.
    """
    evaluation = ContextualEvaluation.objects.select_for_update().get(pk=evaluation.pk)
    if evaluation.is_active:
        raise EvaluationActiveError(what=str(evaluation))
    of = evaluation.case_set.benchmark
    audit.record(actor=user, action="delete-verdicts", benchmark=of, target=str(evaluation))
    evaluation.delete()
