"""Sending what waits: one attempt at a time, by one worker, until it is told or given up.

Who takes a delivery sets its due time ahead by a lease. A worker that dies leaves it due again,
so everything is told at least once; a receiver knows a repeat by its key.
"""

import json
import logging
import random
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from benchmarks_app.common.services.happening import send_soon
from benchmarks_app.models import Delivery, Notice, User, Webhook
from benchmarks_app.models.notices import TEST_EVENT
from benchmarks_app.notice_facts import may_be_told
from benchmarks_app.notices.errors import WebhookSecretError
from benchmarks_app.notices.services import signing
from benchmarks_app.notices.services.mailing import MAIL_PAUSE, send_mail_of
from benchmarks_app.permissions import Action, may
from benchwright.fetching.errors import AddressRefusedError, DownloadError
from benchwright.fetching.posting import Answer, post

log = logging.getLogger(__name__)
# Seconds to wait after each attempt that came to nothing; after the last it is given up.
PAUSES = (10, 60, 300, 1800, 2 * 3600, 5 * 3600, 10 * 3600)
# A pause is longer by up to this share, so that what failed together is not tried together.
JITTER = 0.25
# So many notices in a row that were given up switch a webhook off.
MOST_GIVEN_UP = 5
# How long who takes a delivery has it; a name may take long to be looked up.
LEASE = timedelta(seconds=120)
# What one turn may take of a worker that scores runs as well.
TURN_SECONDS = 30.0
EARLIER_SECRET_FOR = timedelta(hours=24)
KEPT_FOR = timedelta(days=30)
MOST_SAID = 500
GONE = 410


def send_due() -> int:
    """Send what is due, the longest waiting first, for one turn; returns how many attempts.

    What is left is for the next turn.
    """
    n, until = 0, time.monotonic() + TURN_SECONDS
    while delivery := _taken():
        _attempt(delivery)
        n += 1
        if time.monotonic() > until:
            send_soon()
            break
    return n


def _taken() -> Delivery | None:
    """The next delivery that is due, as this process's own until its lease is over."""
    parts = ("notice__benchmark", "webhook__benchmark", "webhook__created_by", "person")
    for delivery in Delivery.objects.due().select_related(*parts).order_by("due_at", "pk")[:10]:
        now = timezone.now()
        same = Delivery.objects.filter(
            pk=delivery.pk, state=Delivery.State.WAITING, due_at=delivery.due_at
        )
        if same.update(due_at=now + LEASE, tried_at=now, n_attempts=F("n_attempts") + 1):
            delivery.due_at, delivery.tried_at = now + LEASE, now
            delivery.n_attempts += 1
            return delivery
    return None


def _attempt(delivery: Delivery) -> None:
    try:
        if delivery.webhook is not None:
            _tell_webhook(delivery, delivery.webhook)
        elif delivery.person is not None:
            _mail(delivery, delivery.person)
    except Exception:  # process boundary: the others are sent all the same
        log.exception("notice %s could not be sent", delivery.pk)
        _again(delivery, fault="Unexpected error. The log has the details.")


def _ended(delivery: Delivery, state: Delivery.State, **facts: object) -> bool:
    """Write what became of an attempt; False where its lease was over and another has it."""
    mine = Delivery.objects.filter(
        pk=delivery.pk, state=Delivery.State.WAITING, due_at=delivery.due_at
    )
    return bool(mine.update(state=state, **facts))


def _again(delivery: Delivery, **facts: object) -> datetime | None:
    """Try it again after a pause that grows; None where that was the last attempt."""
    if delivery.n_attempts > len(PAUSES):
        _ended(delivery, Delivery.State.GIVEN_UP, **facts)
        return None
    pause = PAUSES[delivery.n_attempts - 1] * (1 + JITTER * random.random())
    due_at = timezone.now() + timedelta(seconds=pause)
    _ended(delivery, Delivery.State.WAITING, due_at=due_at, **facts)
    return due_at


# --- to webhooks -----------------------------------------------------------------------------


def body_of(notice: Notice) -> bytes:
    """What a webhook is sent of a notice, the same bytes each time."""
    benchmark = notice.benchmark
    data = {"benchmark": benchmark.slug if benchmark else None, **notice.about}
    data["url"] = f"{settings.SITE_URL}{notice.path}"
    if notice.api_path:
        data["api_url"] = f"{settings.SITE_URL}{notice.api_path}"
    at = notice.happened_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    body = {"id": str(notice.key), "type": notice.event, "timestamp": at, "data": data}
    return json.dumps(body, separators=(",", ":")).encode()


def _tell_webhook(delivery: Delivery, webhook: Webhook) -> None:
    maker = webhook.created_by
    if not webhook.is_on:
        _ended(delivery, Delivery.State.GIVEN_UP, fault=f"It was {webhook.get_off_display()}.")
        return
    if not maker.is_active or not may(maker, Action.EDIT, webhook.benchmark):
        _switch_off(webhook, Webhook.Off.LEFT)
        fault = "Who added the webhook does not keep the benchmark any more."
        _ended(delivery, Delivery.State.GIVEN_UP, fault=fault)
        return
    if not may_be_told(maker, delivery.notice):
        fault = "Who added the webhook may not see it, or it is gone."
        _ended(delivery, Delivery.State.GIVEN_UP, fault=fault)
        return
    _post(delivery, webhook)


def _post(delivery: Delivery, webhook: Webhook) -> None:
    body = body_of(delivery.notice)
    try:
        headers = signing.signed(
            str(delivery.notice.key), body, at=int(time.time()), with_=_secrets(webhook)
        )
        answer = post(
            webhook.url,
            body,
            headers,
            private=settings.WEBHOOK_PRIVATE_ADDRESSES,
            timeout=settings.WEBHOOK_SECONDS,
            most_characters=MOST_SAID,
        )
    except WebhookSecretError as error:
        _failed(delivery, webhook, fault=str(error))
    except AddressRefusedError as error:
        _failed(delivery, webhook, fault=f"It is not asked: {error.why}.")
    except DownloadError as error:
        _failed(delivery, webhook, fault=f"{error.why}.", is_silent=True)
    else:
        _answered(delivery, webhook, answer)


def _secrets(webhook: Webhook) -> list[str]:
    """The secret, and for a day after it was renewed the one before."""
    sealed = [webhook.secret_sealed]
    if webhook.renewed_at and timezone.now() - webhook.renewed_at < EARLIER_SECRET_FOR:
        sealed.append(webhook.earlier_sealed)
    return [signing.opened(secret, address=webhook.url) for secret in sealed]


def _answered(delivery: Delivery, webhook: Webhook, answer: Answer) -> None:
    facts: dict[str, Any] = {
        "status": answer.status,
        "milliseconds": round(1000 * answer.seconds),
        # A NUL, which PostgreSQL keeps in no text, says nothing.
        "answer": answer.text.replace("\x00", ""),
    }
    if 200 <= answer.status < 300:
        _ended(delivery, Delivery.State.DELIVERED, **facts, fault="")
        Webhook.objects.filter(pk=webhook.pk).update(failing_since=None, n_given_up=0)
        return
    fault = ""
    if answer.location:
        fault = f"It leads to {answer.location}, and nothing is sent elsewhere."[:300]
    if answer.status == GONE:
        _switch_off(webhook, Webhook.Off.GONE)
        _ended(delivery, Delivery.State.GIVEN_UP, **facts, fault=fault)
        return
    _failed(delivery, webhook, **facts, fault=fault)


@transaction.atomic
def _failed(
    delivery: Delivery, webhook: Webhook, *, fault: str, is_silent: bool = False, **facts: Any
) -> None:
    """Try it again later, or give it up; a long series of those switches the webhook off."""
    none = {"status": None, "milliseconds": None, "answer": ""}
    due_at = _again(delivery, **{**none, **facts, "fault": fault[:300]})
    if delivery.notice.event == TEST_EVENT:
        return
    row = Webhook.objects.filter(pk=webhook.pk)
    row.filter(failing_since=None).update(failing_since=timezone.now())
    if due_at is None:
        row.update(n_given_up=F("n_given_up") + 1)
        if row.filter(n_given_up__gte=MOST_GIVEN_UP).exists():
            _switch_off(webhook, Webhook.Off.FAILING)
    elif is_silent:
        # Nobody answers there: the others wait as well, and take no worker's time meanwhile.
        waiting = webhook.deliveries.due()
        waiting.update(due_at=due_at)


def _switch_off(webhook: Webhook, why: Webhook.Off) -> None:
    """Send nothing more; what waits is given up, and can be sent again by hand."""
    if Webhook.objects.filter(pk=webhook.pk, off="").update(off=why):
        others = webhook.deliveries.due()
        others.update(state=Delivery.State.GIVEN_UP, fault=f"It was off: {why.label}.")


# --- to people -------------------------------------------------------------------------------


def _mail(delivery: Delivery, person: User) -> None:
    """Mail what somebody wants, may know and can be reached with."""
    why_not = _why_no_mail(delivery, person)
    if why_not:
        _ended(delivery, Delivery.State.GIVEN_UP, fault=why_not)
        return
    try:
        send_mail_of(delivery.notice, person)
    except OSError as error:  # SMTPException is one
        _again(delivery, fault=f"The mail server did not take it ({type(error).__name__}).")
        return
    _ended(delivery, Delivery.State.DELIVERED, fault="")


def _why_no_mail(delivery: Delivery, person: User) -> str:
    notice = delivery.notice
    if not person.is_active or not person.has_verified_email:
        return "Their address is not confirmed."
    if not person.mail_choices.filter(event=notice.event).exists():
        return "They do not want it any more."
    if not may_be_told(person, notice):
        return "They may not see it, or it is gone."
    sent_mails = Delivery.objects.filter(
        person=person,
        state=Delivery.State.DELIVERED,
        tried_at__gt=timezone.now() - MAIL_PAUSE,
    )
    if sent_mails.count() >= settings.NOTICE_MAILS_PER_HOUR:
        return "They were sent as many as there may be in an hour."
    return ""


# --- the sweeper -----------------------------------------------------------------------------


def send_what_waits() -> None:
    """Have sent what is due: first attempts whose message was lost, and all later ones."""
    if Delivery.objects.due().exists():
        send_soon()


def drop_old_notices() -> None:
    """Delete a batch of what happened long ago, with what became of it."""
    old = Notice.objects.filter(happened_at__lt=timezone.now() - KEPT_FOR)
    keys = list(old.order_by("happened_at").values_list("pk", flat=True)[:1000])
    if keys:
        Notice.objects.filter(pk__in=keys).delete()
