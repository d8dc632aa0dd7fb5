"""Taking a submission or another run back: it leaves every board, and stays where it was compared.

It is not undone, and a submission's place of the day is not given back: whoever has seen the score
of a run has used the try.
"""

from typing import cast

from django.db import transaction
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.models import Run, User
from benchmarks_app.permissions import Action, may
from scoring.models import GatePolicy, Submission
from scoring.scores.services.errors import NotWithdrawableError


def may_withdraw(user: User, submission: Submission) -> bool:
    """Whether somebody may take it back: who sent it, its team, and the benchmark's keepers."""
    if submission.submitter_id == user.pk or may(user, Action.EDIT, submission.phase.benchmark):
        return True
    team = submission.team
    return team is not None and team.members.filter(pk=user.pk).exists()


@transaction.atomic
def withdraw_submission(*, submission: Submission, user: User) -> Submission:
    """Take a scored submission back, and its run with it.

    A run that nothing was compared with is from then on seen by its owner, its team and the keepers
    alone.

    Raises
    ------
    NotWithdrawableError
        If it is not scored, or was withdrawn before.
    """
    locked = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
    if locked.state != Submission.State.SCORED:
        reason = f"it is {locked.get_state_display().lower()}, and only what is scored stands."
        raise NotWithdrawableError(name=locked.name, reason=reason)
    _check_standing(locked)
    now = timezone.now()
    # The same bytes in another phase are the same run: it is taken back everywhere.
    Submission.objects.filter(run=locked.run_id, withdrawn_at=None).update(withdrawn_at=now)
    # Every scored submission has a run (`submission_scored_has_run`).
    _withdraw(Run.objects.get(pk=cast(int, locked.run_id)), now)
    audit.record(
        actor=user,
        action="withdraw-run",
        benchmark=submission.phase.benchmark,
        target=locked.name,
        submission=locked.pk,
    )
    return Submission.objects.select_related("run", "phase__benchmark").get(pk=locked.pk)


@transaction.atomic
def withdraw_run(*, run: Run, user: User) -> None:
    """Take back a run that was imported, made here or asked of a live system.

    Raises
    ------
    NotWithdrawableError
        If it was submitted, for then its submission is, or if it was withdrawn before.
    """
    locked = Run.objects.select_for_update(of=("self",)).get(pk=run.pk)
    if locked.kind == Run.Kind.SUBMITTED:
        reason = "it was submitted. Withdraw the submission."
        raise NotWithdrawableError(name=locked.name, reason=reason)
    _check_standing(locked)
    _withdraw(locked, timezone.now())
    audit.record(actor=user, action="withdraw-run", benchmark=locked.benchmark, target=locked.name)


def _check_standing(row: Submission | Run) -> None:
    if row.withdrawn_at:
        reason = f"it was, on {row.withdrawn_at:%Y-%m-%d %H:%M} UTC."
        raise NotWithdrawableError(name=row.name, reason=reason)


def _withdraw(run: Run, now: object) -> None:
    changed = {"withdrawn_at": now}
    if not _was_compared(run):
        is_of_team = run.team_id is not None
        changed["visibility"] = Run.Visibility.TEAM if is_of_team else Run.Visibility.OWNER
        changed["public_from"] = None
    Run.objects.filter(pk=run.pk).update(**changed)


def _was_compared(run: Run) -> bool:
    """Whether a comparison, a gate or its policy refers to the run."""
    policies = GatePolicy.objects.filter(benchmark=run.benchmark_id)
    as_lexical = policies.filter(content__guard_rails__lexical=run.name)
    return any(
        related.exists()
        for related in (run.comparisons, run.gate_results, run.gate_policies, as_lexical)
    )
