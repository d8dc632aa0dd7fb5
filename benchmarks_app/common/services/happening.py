"""Writing down that something happened, for those who want to be told: webhooks and mails.

What is written is the outbox: rows in the transaction of what happened, sent by the queue after
it, and again by the sweeper as long as they wait.
"""

import logging
from collections.abc import Collection
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from benchmarks_app.models import Benchmark, Delivery, MailChoice, Notice, Webhook
from benchmarks_app.models.notices import Event
from benchmarks_app.prepared import prepared
from benchmarks_app.site_path import kept_address

log = logging.getLogger(__name__)
TASK = "benchmarks_app.send_notices"


def happened(
    event: Event,
    *,
    benchmark: Benchmark | None,
    about: dict[str, Any],
    path: str,
    api_path: str = "",
    concerns: Collection[int] | None = None,
) -> Notice | None:
    """Write a notice for each webhook and person that wants this event; None where nobody does.

    Called inside the transaction of what happened. `about` has numbers and versions alone, for it
    leaves the site: no name, score or label. `concerns` are the keys of the people whose it is;
    None: all members. Whether somebody may see it is asked when it is sent.
    """
    hooks = _webhooks(event, benchmark)
    people = _people(event, benchmark, concerns)
    if not hooks and not people:
        return None
    notice = Notice.objects.create(
        event=event,
        benchmark=benchmark,
        about=about,
        path=kept_address(path),
        api_path=kept_address(api_path),
    )
    Delivery.objects.bulk_create(
        [
            *(Delivery(notice=notice, webhook_id=hook) for hook in hooks),
            *(Delivery(notice=notice, person_id=person) for person in people),
        ]
    )
    transaction.on_commit(send_soon)
    return notice


def _webhooks(event: Event, benchmark: Benchmark | None) -> list[int]:
    if benchmark is None:
        return []
    return [key for key, events in _hooks(benchmark.pk) if event in events]


@prepared
def _hooks(benchmark: int) -> QuerySet:
    return Webhook.objects.filter(benchmark=benchmark, off="").values_list("pk", "events")


def _people(
    event: Event, benchmark: Benchmark | None, concerns: Collection[int] | None
) -> list[int]:
    if concerns is not None:
        return [key for person in set(concerns) for key in _choices(str(event), person)]
    wanting = MailChoice.objects.filter(event=event, person__is_active=True)
    members = wanting.filter(person__memberships__benchmark=benchmark)
    return list(members.values_list("person", flat=True).distinct())


@prepared
def _choices(event: str, person: int) -> QuerySet:
    wanting = MailChoice.objects.filter(event=event, person__is_active=True, person=person)
    return wanting.values_list("person", flat=True)


def send_soon() -> None:
    """Have a worker send what is due. A queue that cannot be reached is tried by the sweeper."""
    try:
        # One that no worker takes before the next sweep is sent anew by that.
        current_app.send_task(TASK, retry=False, expires=2 * settings.SWEEP_SECONDS)
    except Exception:  # a broker fails in its own classes; the sweeper sends again
        log.exception("notices could not be sent; the sweeper will try again")
