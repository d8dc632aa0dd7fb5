"""Campaigns under way: started, paused, gone on with, cancelled, and their failures asked again."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.campaigns.selectors import Counts, conflicts_of, counts_of, judged_entries
from annotation.campaigns.services.drafting import refuse_conflict
from annotation.campaigns.services.errors import (
    CampaignActiveError,
    CampaignCapUsedError,
    CampaignDoneError,
    CampaignIdleError,
    CampaignJudgeError,
    TrialPairsError,
)
from annotation.models import Campaign, CampaignPair
from benchmarks_app.common.services import audit
from benchmarks_app.jobs.services import jobs
from benchmarks_app.jobs.services.retry import cancel
from benchmarks_app.judges.services.keys import require_packages
from benchmarks_app.models import Job, JudgeEndpoint, User

JOB_KIND, TRIAL_KIND = "judge-pool", "try-campaign"
STATES = Campaign.State


@transaction.atomic
def start_campaign(
    *, campaign: Campaign, user: User, cost_cap: float | None = None, with_failed: bool = False
) -> Job:
    """Ask about the documents that wait; `with_failed` also about those that failed before.

    Raises
    ------
    CampaignActiveError, CampaignDoneError, CampaignJudgeError, ConflictError
    CampaignCapUsedError
        If the limit is spent; `cost_cap` is a new one.
    JudgeExtraMissingError
    """
    campaign = _ready(campaign, user, cost_cap=cost_cap, with_failed=with_failed)
    job = jobs.start(user=user, **_job_arguments(campaign))
    campaign.job = job
    campaign.save(update_fields=["job"])
    return job


def judge_here(
    *,
    campaign: Campaign,
    user: User,
    cost_cap: float | None = None,
    with_failed: bool = False,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> Campaign:
    """As `start_campaign`, asked in this process; for commands."""
    with transaction.atomic():
        campaign = _ready(campaign, user, cost_cap=cost_cap, with_failed=with_failed)
        Campaign.objects.filter(pk=campaign.pk).update(job=None)
    job = jobs.run_here(user=user, on_progress=on_progress, **_job_arguments(campaign))
    Campaign.objects.filter(pk=campaign.pk, job=None).update(job=job)
    campaign.refresh_from_db()
    return campaign


def _ready(
    campaign: Campaign, user: User, *, cost_cap: float | None, with_failed: bool
) -> Campaign:
    campaign = locked(campaign)
    if campaign.is_under_way or is_being_tried(campaign):
        raise CampaignActiveError(campaign=campaign.name)
    judge = require_judge(campaign)
    require_packages()
    refuse_conflict(conflicts_of(judge, campaign.pool), judge, campaign.conflict_reason)
    if with_failed:
        campaign.pairs.failed().update(state=CampaignPair.State.WAITING, error_code="", error="")
    counts = counts_of(campaign)
    if not counts.n_waiting:
        raise CampaignDoneError(campaign=campaign.name)
    campaign.cost_cap = campaign.cost_cap if cost_cap is None else cost_cap
    refuse_spent(campaign, counts)
    campaign.state, campaign.error, campaign.is_pause_wanted = STATES.QUEUED, "", False
    campaign.started_at = campaign.started_at or timezone.now()
    campaign.finished_at = None
    campaign.save()
    audit.record(
        actor=user,
        action="judge-pool",
        benchmark=campaign.benchmark,
        target=campaign.name,
        model=campaign.model,
        n_waiting=counts.n_waiting,
    )
    return campaign


def _job_arguments(campaign: Campaign) -> dict[str, Any]:
    return {
        "kind": JOB_KIND,
        "title": f"Ask {campaign.judge_name} about {campaign.pool}",
        "benchmark": campaign.benchmark,
        "parameters": {"campaign": campaign.pk},
    }


def locked(campaign: Campaign) -> Campaign:
    """The campaign's row, for this transaction alone."""
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    # Asked for afterwards: PostgreSQL would join jobs as they were before it waited for the row.
    return Campaign.objects.select_related(
        "benchmark", "pool", "judge", "prompt", "job", "trial_job"
    ).get(pk=campaign.pk)


def require_judge(campaign: Campaign) -> JudgeEndpoint:
    """The judge, as long as it is the model that the campaign began with."""
    judge = campaign.judge
    if judge is None or judge.model != campaign.model:
        raise CampaignJudgeError(judge=f"{campaign.judge_name} ({campaign.model})")
    return judge


def refuse_spent(campaign: Campaign, counts: Counts) -> None:
    cap = campaign.cost_cap
    if cap is not None and counts.cost >= cap:
        raise CampaignCapUsedError(cost=counts.cost, cap=cap)


def is_being_tried(campaign: Campaign) -> bool:
    return bool(campaign.trial_job and not campaign.trial_job.is_finished)


@transaction.atomic
def pause_campaign(*, campaign: Campaign, user: User) -> None:
    """Have the job begin no further document; what is under way is finished, and kept.

    Raises
    ------
    CampaignIdleError
    """
    changed = Campaign.objects.filter(pk=campaign.pk, state__in=Campaign.UNDER_WAY)
    if not changed.update(is_pause_wanted=True):
        raise CampaignIdleError(campaign=campaign.name)
    audit.record(
        actor=user, action="pause-campaign", benchmark=campaign.benchmark, target=campaign.name
    )


def cancel_campaign(*, campaign: Campaign, user: User) -> None:
    """End the job: what is graded stays, what is under way is dropped.

    Raises
    ------
    JobFinishedError
        If there is nothing to end.
    """
    if campaign.job is not None:
        cancel(job=campaign.job, user=user)


@transaction.atomic
def start_trial(*, campaign: Campaign, user: User) -> Job:
    """Ask about ten documents that people judged; nothing of it comes into the ledger.

    Raises
    ------
    CampaignActiveError, CampaignJudgeError, CampaignCapUsedError, TrialPairsError
    JudgeExtraMissingError
    """
    campaign = locked(campaign)
    if campaign.is_under_way or is_being_tried(campaign):
        raise CampaignActiveError(campaign=campaign.name)
    require_judge(campaign)
    require_packages()
    refuse_spent(campaign, counts_of(campaign))
    if not judged_entries(campaign.pool).exists():
        raise TrialPairsError(pool=campaign.pool.name)
    job = jobs.start(
        kind=TRIAL_KIND,
        title=f"Try {campaign.judge_name} on {campaign.pool}",
        benchmark=campaign.benchmark,
        user=user,
        parameters={"campaign": campaign.pk},
    )
    campaign.trial_job = job
    campaign.save(update_fields=["trial_job"])
    audit.record(
        actor=user, action="try-campaign", benchmark=campaign.benchmark, target=campaign.name
    )
    return job
