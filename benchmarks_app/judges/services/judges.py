"""Judges: made, changed, deleted, and tried with one tiny case."""

from typing import Any

from django.db import IntegrityError, transaction

from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.jobs import RunningJob
from benchmarks_app.judges.selectors import uses_of
from benchmarks_app.judges.services.asking import asked_once
from benchmarks_app.judges.services.errors import JudgeInUseError, JudgeNameError
from benchmarks_app.judges.services.keys import (
    check_variable,
    checked_address,
    origin,
    refuse_moved_key,
    require_packages,
    seal,
)
from benchmarks_app.models import Benchmark, Job, JudgeEndpoint, User

TRY_KIND = "try-judge"
# What makes an earlier trial, and what was learned about the endpoint, worth nothing.
ABOUT_THE_MODEL = ("base_url", "model")


@transaction.atomic
def make_judge(
    *, benchmark: Benchmark, user: User, name: str, key: str = "", **facts: Any
) -> JudgeEndpoint:
    """A new judge; `key` is sealed, and what is in a variable is named by `key_variable`.

    Raises
    ------
    JudgeAddressError, JudgeKeyVariableError, JudgeNameError, JudgeExtraMissingError
    """
    judge = JudgeEndpoint(benchmark=benchmark, name=name, created_by=user, **facts)
    _check(judge)
    if key:
        judge.key_sealed, judge.key_variable = seal(key), ""
    _save(judge)
    _written_down(user, "make-judge", judge)
    return judge


@transaction.atomic
def change_judge(
    *, judge: JudgeEndpoint, user: User, key: str = "", is_key_forgotten: bool = False, **facts: Any
) -> JudgeEndpoint:
    """Change what is given; without a new key the old one stays, if it goes to the same host.

    Raises
    ------
    JudgeKeyMovedError
        If the stored key would be sent to another host.
    JudgeAddressError, JudgeKeyVariableError, JudgeNameError, JudgeExtraMissingError
    """
    _lock(judge)
    if facts.get("key_variable") or is_key_forgotten:
        judge.key_sealed = ""
    if key:
        judge.key_sealed, facts["key_variable"] = seal(key), ""
    else:
        refuse_moved_key(judge, facts.get("base_url", judge.base_url))
    if any(
        getattr(judge, name) != facts.get(name, getattr(judge, name)) for name in ABOUT_THE_MODEL
    ):
        judge.answer_format, judge.trial = "", {}
    for name, value in facts.items():
        setattr(judge, name, value)
    _check(judge)
    _save(judge)
    _written_down(user, "change-judge", judge)
    return judge


def _lock(judge: JudgeEndpoint) -> None:
    """What others do to it meanwhile waits, and what they have done before is seen."""
    judge.refresh_from_db(from_queryset=JudgeEndpoint.objects.select_for_update())


def _check(judge: JudgeEndpoint) -> None:
    checked_address(judge.base_url)
    if judge.key_variable:
        check_variable(judge.key_variable, judge.base_url)


def _save(judge: JudgeEndpoint) -> None:
    same = JudgeEndpoint.objects.filter(benchmark=judge.benchmark, name=judge.name)
    if same.exclude(pk=judge.pk).exists():
        raise JudgeNameError(name=judge.name)
    try:
        with transaction.atomic():
            judge.save()
    except IntegrityError as error:  # somebody else was quicker
        raise JudgeNameError(name=judge.name) from error


@transaction.atomic
def delete_judge(*, judge: JudgeEndpoint, user: User) -> None:
    """Delete a judge and its key; what it has judged stays, under its name.

    Raises
    ------
    JudgeInUseError
        If it is being tried or asked.
    """
    _lock(judge)
    if any(use.is_under_way for use in uses_of(judge)):
        raise JudgeInUseError(judge=judge.name, doing="judging")
    _refuse_tried(judge)
    _written_down(user, "delete-judge", judge)
    judge.delete()


def _written_down(user: User, action: str, judge: JudgeEndpoint) -> None:
    audit.record(
        actor=user,
        action=action,
        benchmark=judge.benchmark,
        target=judge.name,
        model=judge.model,
        host=origin(judge.base_url),
    )


# --- trying ----------------------------------------------------------------------------------


@transaction.atomic
def start_trial(*, judge: JudgeEndpoint, user: User) -> Job:
    """Ask the judge about one tiny case, in a worker.

    Raises
    ------
    JudgeInUseError
        If it is being tried already.
    JudgeExtraMissingError
    """
    require_packages()
    _lock(judge)
    _refuse_tried(judge)
    job = jobs.start(
        kind=TRY_KIND,
        title=f"Try the judge '{judge.name}'",
        benchmark=judge.benchmark,
        user=user,
        parameters={"judge": judge.pk},
    )
    JudgeEndpoint.objects.filter(pk=judge.pk).update(trial_job=job, trial={})
    audit.record(actor=user, action="try-judge", benchmark=judge.benchmark, target=judge.name)
    judge.trial_job, judge.trial = job, {}
    return job


def _refuse_tried(judge: JudgeEndpoint) -> None:
    if judge.trial_job and not judge.trial_job.is_finished:
        raise JudgeInUseError(judge=judge.name, doing="being tried")


def try_judge(job: RunningJob) -> None:
    """The handler: what came back is kept with the judge, be it good or bad."""
    judge = JudgeEndpoint.objects.get(pk=job.parameters["judge"])
    answer, answer_format = asked_once(judge)
    with job.commit() as result:
        JudgeEndpoint.objects.filter(pk=judge.pk, trial_job=job.row).update(
            trial=answer, answer_format=answer_format or judge.answer_format
        )
        result["url"] = judge.get_absolute_url()
