"""Webhooks: added, changed, deleted, tried; each with a secret that is told once."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from benchmarks_app.common.services import audit
from benchmarks_app.common.services.happening import send_soon
from benchmarks_app.models import Benchmark, Delivery, Notice, User, Webhook
from benchmarks_app.models.notices import TEST_EVENT, Event
from benchmarks_app.notices.errors import ManyWebhooksError, WebhookAddressError, WebhookOffError
from benchmarks_app.notices.services.signing import new_secret, seal
from benchwright.fetching.addresses import is_public, may_be_private, read_address
from benchwright.fetching.errors import AddressRefusedError

MOST_WEBHOOKS = 10


@dataclass(frozen=True)
class Issued:
    """A webhook with its secret, which nobody is told again."""

    webhook: Webhook
    secret: str


def checked_url(url: str) -> str:
    """The address as it was given, if its text tells nothing against it.

    Raises
    ------
    WebhookAddressError
        If nothing is sent there.
    """
    try:
        parts = read_address(url)
    except AddressRefusedError as error:
        raise _refused(url, error.why, "Write it as https://ci.example.org/hooks/1.") from None
    if parts.fragment or any(letter.isspace() or ord(letter) < 33 for letter in url):
        raise _refused(url, "it holds a blank or a #", "Percent-encode it.")
    if may_be_private(parts, settings.WEBHOOK_PRIVATE_ADDRESSES):
        return url
    host = parts.hostname or ""
    allowing = f"Whoever runs the site can allow it (WEBHOOK_PRIVATE_ADDRESSES={host})."
    if _is_private(host):
        raise _refused(url, "it is not in the public network", allowing)
    if parts.scheme != "https":
        raise _refused(url, "over http what is told can be read on the way", "Use https.")
    return url


def _refused(url: str, why: str, advice: str) -> WebhookAddressError:
    return WebhookAddressError(address=url[:200], why=why, advice=advice)


def _is_private(host: str) -> bool:
    """As far as its text tells; a name is looked up when something is sent there."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not is_public(ip_address(host.partition("%")[0]))
    except ValueError:
        return False


@transaction.atomic
def add_webhook(*, benchmark: Benchmark, user: User, url: str, events: Sequence[str]) -> Issued:
    """A new webhook, told of what its maker may see as long as they keep the benchmark.

    Raises
    ------
    WebhookAddressError, ManyWebhooksError
    """
    checked_url(url)
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    if benchmark.webhooks.count() >= MOST_WEBHOOKS:
        raise ManyWebhooksError(most=MOST_WEBHOOKS)
    secret = new_secret()
    webhook = Webhook.objects.create(
        benchmark=benchmark,
        url=url,
        events=_in_order(events),
        secret_sealed=seal(secret),
        created_by=user,
    )
    _written_down(user, "webhook-add", webhook)
    return Issued(webhook, secret)


def _in_order(events: Sequence[str]) -> list[str]:
    return [event for event in Event.values if event in events]


@transaction.atomic
def change_webhook(
    *,
    webhook: Webhook,
    user: User,
    url: str | None = None,
    events: Sequence[str] | None = None,
    is_on: bool | None = None,
) -> Webhook:
    """Change what is given; who changes the address is from then on whose rights decide.

    Raises
    ------
    WebhookAddressError
    """
    _lock(webhook)
    if url is not None and url != webhook.url:
        webhook.url = checked_url(url)
        webhook.created_by = user
    if events is not None:
        webhook.events = _in_order(events)
    if is_on is not None and is_on != webhook.is_on:
        webhook.off = "" if is_on else Webhook.Off.BY_HAND
        webhook.failing_since, webhook.n_given_up = None, 0
        if is_on:
            webhook.created_by = user
    webhook.save()
    _written_down(user, "webhook-change", webhook)
    return webhook


@transaction.atomic
def renew_secret(*, webhook: Webhook, user: User) -> Issued:
    """A new secret; for a day notices are signed with the one before as well."""
    _lock(webhook)
    secret = new_secret()
    webhook.earlier_sealed, webhook.renewed_at = webhook.secret_sealed, timezone.now()
    webhook.secret_sealed = seal(secret)
    webhook.save(update_fields=["earlier_sealed", "renewed_at", "secret_sealed"])
    _written_down(user, "webhook-secret", webhook)
    return Issued(webhook, secret)


@transaction.atomic
def delete_webhook(*, webhook: Webhook, user: User) -> None:
    _lock(webhook)
    _written_down(user, "delete-webhook", webhook)
    webhook.delete()


def _lock(webhook: Webhook) -> None:
    """The webhook as it is now: what another has changed since it was read stays."""
    webhook.refresh_from_db(from_queryset=Webhook.objects.select_for_update())


def _written_down(user: User, action: str, webhook: Webhook) -> None:
    host = read_address(webhook.url).hostname
    audit.record(
        actor=user,
        action=action,
        benchmark=webhook.benchmark,
        target=f"webhook {webhook.pk}",
        host=host,
        events=webhook.events,
    )


# --- by hand ---------------------------------------------------------------------------------


@transaction.atomic
def send_test(*, webhook: Webhook) -> Delivery:
    """Send a notice of nothing, to see whether it arrives.

    Raises
    ------
    WebhookOffError
    """
    _refuse_off(webhook)
    notice = Notice.objects.create(
        event=TEST_EVENT, benchmark=webhook.benchmark, path=webhook.benchmark.get_absolute_url()
    )
    delivery = Delivery.objects.create(notice=notice, webhook=webhook)
    transaction.on_commit(send_soon)
    return delivery


@transaction.atomic
def send_again(*, delivery: Delivery) -> Delivery:
    """Send a notice once more, now, with the pauses of a new one; its key stays what it was.

    Raises
    ------
    WebhookOffError
    """
    webhook = delivery.webhook
    if webhook is not None:
        _refuse_off(webhook)
    delivery.state, delivery.n_attempts = Delivery.State.WAITING, 0
    delivery.due_at = timezone.now()
    delivery.save(update_fields=["state", "n_attempts", "due_at"])
    transaction.on_commit(send_soon)
    return delivery


def _refuse_off(webhook: Webhook) -> None:
    if not webhook.is_on:
        raise WebhookOffError(why=webhook.get_off_display())
