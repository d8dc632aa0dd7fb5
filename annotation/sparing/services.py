"""Asking for a rule, following what people say of its documents, and stopping it."""

import logging
from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.campaigns.services.publishing import models_of
from annotation.models import Campaign, Pool, Slot, SparingRule, ZeroEntry
from annotation.sparing.errors import (
    SparingActiveError,
    SparingCampaignError,
    SparingIdleError,
    SparingPoolError,
    TooFewZerosError,
)
from annotation.sparing.selectors import Sparing, Zero, groups_of, sparing_of, zeros_of
from benchmarks_app.common.services import audit
from benchmarks_app.models import User
from benchwright.recipes import campaigns as recipe

STATES = SparingRule.State
PARTS = ZeroEntry.Part
ROWS_PER_BATCH = 1000
log = logging.getLogger(__name__)


@transaction.atomic
def ask_to_spare(
    *,
    campaign: Campaign,
    user: User,
    n_audit: int = recipe.AUDITED.default,
    most_missed: float = recipe.MOST_MISSED.default,
    checked_share: float = recipe.CHECKED_SHARE.default,
) -> SparingRule:
    """Draw an audit of what a campaign gave 0 in its pool; until it is judged the others wait.

    The order of the draw hangs on the pool's seed alone, so nobody draws until they like it.

    Raises
    ------
    SparingPoolError, SparingCampaignError
        If the pool or the campaign is none that people can be spared by.
    SparingActiveError
        If a rule of the pool lives already.
    TooFewZerosError
        If the audit would leave nothing to spare.
    """
    pool = Pool.objects.select_for_update(of=("self",)).get(pk=campaign.pool_id)
    _refuse(pool, campaign)
    zeros = zeros_of(campaign)
    if len(zeros) <= n_audit:
        raise TooFewZerosError(
            campaign=campaign.name, pool=pool.name, n_zeros=len(zeros), n_audit=n_audit
        )
    rule = SparingRule.objects.create(
        pool=pool,
        campaign=campaign,
        n_audit=n_audit,
        n_zeros=len(zeros),
        most_missed=most_missed,
        checked_share=checked_share,
        seed=pool.seed,
        created_by=user,
    )
    ZeroEntry.objects.bulk_create(_drawn(rule, zeros), batch_size=ROWS_PER_BATCH)
    n_waiting = _set_aside(rule)
    audit.record(
        actor=user,
        action="sparing-audit",
        benchmark=pool.benchmark,
        target=pool.name,
        campaign=campaign.name,
        n_audit=n_audit,
        n_zeros=len(zeros),
        most_missed=most_missed,
        checked_share=checked_share,
        n_labels=n_waiting,
    )
    return rule


def _refuse(pool: Pool, campaign: Campaign) -> None:
    live = pool.sparing_rules.live().select_related("campaign").first()
    if live:
        raise SparingActiveError(pool=pool.name, campaign=live.campaign.name)
    if pool.state not in (Pool.State.OPEN, Pool.State.PAUSED):
        raise SparingPoolError(pool=pool.name, why=f"is {pool.get_state_display().lower()}")
    if pool.is_for_estimates:
        raise SparingPoolError(pool=pool.name, why="needs every document that was drawn")
    if campaign.state != Campaign.State.DONE:
        why = f"is not done ({campaign.get_state_display()})"
        raise SparingCampaignError(campaign=campaign.name, why=why)
    if len(models_of(campaign)) > 1:
        raise SparingCampaignError(campaign=campaign.name, why="was answered by several models")


def _drawn(rule: SparingRule, zeros: list[Zero]) -> list[ZeroEntry]:
    from benchwright.estimation.auditing import audit_order, is_checked

    pairs = [(zero.qid, zero.docid) for zero in zeros]
    order = audit_order(groups_of(rule.pool.benchmark, zeros), pairs, seed=rule.seed)
    audited = set(order[: rule.n_audit])
    rows = []
    for place, zero in enumerate(zeros):
        part, probability = PARTS.SPARED, None
        if place in audited:
            part, probability = PARTS.AUDIT, rule.n_audit / rule.n_zeros
        elif is_checked(zero.qid, zero.docid, seed=rule.seed, share=rule.checked_share):
            part, probability = PARTS.CHECK, rule.checked_share
        rows.append(ZeroEntry(rule=rule, entry_id=zero.entry, part=part, probability=probability))
    return rows


# --- following -----------------------------------------------------------------------------------


@transaction.atomic
def follow(*, rule: SparingRule) -> Sparing:
    """Switch a rule on, or off, where what people said of its documents says so; what it says."""
    Pool.objects.select_for_update(of=("self",)).get(pk=rule.pool_id)
    locked = SparingRule.objects.select_related("pool__benchmark", "campaign").get(pk=rule.pk)
    sparing = sparing_of(locked)
    if locked.state == STATES.AUDITING:
        if sparing.is_complete and sparing.audit.is_allowed:
            _allow(sparing)
        elif sparing.is_complete or sparing.is_beyond_hope:
            _end(locked, STATES.REFUSED, None, _numbers(sparing))
    elif locked.state == STATES.ON and sparing.running and not sparing.running.is_allowed:
        _end(locked, STATES.OFF, None, _numbers(sparing))
    return sparing_of(locked)


def follow_all() -> None:
    """Look at every rule that lives; the sweeper does."""
    for rule in SparingRule.objects.live().order_by("pk"):
        try:
            follow(rule=rule)
        except Exception:
            log.exception("rule %s could not be followed; the next sweep tries it again", rule.pk)


def _allow(sparing: Sparing) -> None:
    rule = sparing.rule
    rule.state, rule.allowed_at = STATES.ON, timezone.now()
    rule.save(update_fields=["state", "allowed_at"])
    _give_back(rule, [PARTS.CHECK])
    _say(rule, actor=None, **_numbers(sparing))


def stop_sparing(*, pool: Pool, user: User) -> SparingRule:
    """End the rule that lives: every document is asked again.

    Raises
    ------
    SparingIdleError
        If none does.
    """
    with transaction.atomic():
        locked = Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
        rule = locked.sparing_rules.live().select_related("campaign").first()
        if rule is None:
            raise SparingIdleError(pool=pool.name)
        _end(rule, STATES.STOPPED, user, {})
    return rule


def follow_pool(*, pool: Pool, actor: User, **_: Any) -> None:
    """End the rule of a pool that is closed; one that is opened asks about every document.

    While it is closed nobody is asked, and what was spared is not counted as lacking.
    """
    if pool.state == Pool.State.CLOSED:
        if rule := pool.sparing_rules.live().select_related("campaign", "pool__benchmark").first():
            _close(rule, STATES.STOPPED)
            _say(rule, actor=actor)
    elif pool.state == Pool.State.OPEN and not pool.sparing_rules.live().exists():
        spared = pool.slots.filter(kind=Slot.Kind.LABEL, state=Slot.State.SPARED)
        n_back = spared.update(state=Slot.State.FREE)
        Pool.objects.filter(pk=pool.pk).update(n_wanted=F("n_wanted") + n_back)


def _end(rule: SparingRule, state: str, actor: User | None, numbers: dict[str, float]) -> None:
    _close(rule, state)
    n_back = _give_back(rule, [PARTS.CHECK, PARTS.SPARED])
    _say(rule, actor=actor, n_labels=n_back, **numbers)


def _close(rule: SparingRule, state: str) -> None:
    rule.state, rule.ended_at = state, timezone.now()
    rule.save(update_fields=["state", "ended_at"])


def _say(rule: SparingRule, *, actor: User | None, **numbers: float) -> None:
    """An entry of the audit log; without an actor the rule itself did it."""
    audit.record(
        actor=actor,
        action=f"sparing-{rule.state}",
        benchmark=rule.pool.benchmark,
        target=rule.pool.name,
        campaign=rule.campaign.name,
        **numbers,
    )


def _numbers(sparing: Sparing) -> dict[str, float]:
    return {
        "n_audited": sparing.audit.n_audited,
        "n_relevant": sparing.audit.n_relevant,
        "n_checked": sparing.n_checked,
        "n_checked_relevant": sparing.n_checked_relevant,
        "bound": round(sparing.bound, 6),
    }


# --- places in the queue -------------------------------------------------------------------------


def _set_aside(rule: SparingRule) -> int:
    """Labels of all but the audit are not to be given; returns how many they are."""
    return _moved(rule, [PARTS.CHECK, PARTS.SPARED], Slot.State.FREE, Slot.State.SPARED)


def _give_back(rule: SparingRule, parts: Collection[str]) -> int:
    return _moved(rule, parts, Slot.State.SPARED, Slot.State.FREE)


def _moved(rule: SparingRule, parts: Collection[str], before: str, after: str) -> int:
    """What is wanted follows, so that a pool's progress has no place for what is not asked."""
    entries = rule.zeros.filter(part__in=parts).values("entry")
    slots = Slot.objects.filter(pool=rule.pool_id, kind=Slot.Kind.LABEL, state=before)
    n = slots.filter(entry__in=entries).update(state=after)
    more = n if after == Slot.State.FREE else -n
    Pool.objects.filter(pk=rule.pool_id).update(n_wanted=F("n_wanted") + more)
    return n
