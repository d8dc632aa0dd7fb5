"""What happened is told: once it is so, at least once, signed, and to nobody who may not see it."""

import json
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.common.services.happening import happened
from benchmarks_app.jobs.services import jobs
from benchmarks_app.models import (
    Benchmark,
    Delivery,
    Job,
    MailChoice,
    Notice,
    Role,
    User,
    Webhook,
)
from benchmarks_app.models.notices import Event
from benchmarks_app.notices.services import sending, webhooks
from benchmarks_app.notices.services.mailing import stop_token
from benchmarks_app.notices.services.sending import PAUSES, drop_old_notices, send_due
from benchmarks_app.people.services.forgetting import delete_person
from benchwright.fetching.posting import Answer
from tests import factories
from tests.benchmarks_app.notices.receiving import Receiver, receiving
from tests.open_pages import opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings) -> Any:
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]
    settings.SITE_URL = "https://bench.example.org"
    with receiving() as made:
        yield made


@pytest.fixture
def issued(benchmark, owner, receiver) -> webhooks.Issued:
    url = f"{receiver.address}/hook?x=1"
    return webhooks.add_webhook(benchmark=benchmark, user=owner, url=url, events=Event.values)


def fail_a_job(benchmark: Benchmark, user: User | None) -> Job:
    """A job that fails for what nobody foresaw."""
    facts = {"title": "Boil", "benchmark": benchmark, "user": user}
    return jobs.run_here(kind="no-such-kind", parameters={}, **facts)


def due_now() -> None:
    """As if every pause were over."""
    Delivery.objects.filter(state="waiting").update(due_at=timezone.now())


def told(receiver: Receiver) -> list[dict[str, Any]]:
    return [json.loads(body) for _, _, body in receiver.came]


# --- webhooks --------------------------------------------------------------------------------


def test_failed_job_is_told_with_a_signature_that_the_documented_code_takes(
    benchmark, owner, receiver, issued
):
    job = fail_a_job(benchmark, owner)

    assert send_due() == 1

    (path, headers, body) = receiver.came[0]
    notice = Notice.objects.get()
    assert path == "/hook?x=1"
    assert json.loads(body) == {
        "id": str(notice.key),
        "type": "job.failed",
        "timestamp": notice.happened_at.isoformat().replace("+00:00", "Z"),
        "data": {
            "benchmark": benchmark.slug,
            "job": job.pk,
            "url": f"https://bench.example.org/jobs/{job.pk}/",
            "api_url": f"https://bench.example.org/api/v1/jobs/{job.pk}/",
        },
    }
    assert headers["webhook-id"] == str(notice.key)
    verify = verifier_of_docs()
    assert verify(body, headers, issued.secret, now=time.time())["type"] == "job.failed"
    for bad_body, bad_headers, secret, late in (
        (body + b" ", headers, issued.secret, 0),
        (body, {**headers, "webhook-id": "other"}, issued.secret, 0),
        (body, headers, "whsec_AAAA", 0),
        (body, headers, issued.secret, 301),
    ):
        with pytest.raises(ValueError, match=r"signature|old"):
            verify(bad_body, bad_headers, secret, now=time.time() + late)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.status, delivery.answer) == ("delivered", 200, "ok")
    assert issued.secret not in issued.webhook.secret_sealed
    # Renewed, both secrets verify for a day, then the new one alone.
    renewed = webhooks.renew_secret(webhook=issued.webhook, user=owner)
    for hours, takes_old in ((1, True), (25, False)):
        Webhook.objects.update(renewed_at=timezone.now() - timedelta(hours=hours))
        webhooks.send_again(delivery=delivery)
        send_due()
        _, again, same = receiver.came[-1]
        assert same == body
        assert again["webhook-id"] == headers["webhook-id"]
        verify(same, again, renewed.secret, now=time.time())
        assert (len(again["webhook-signature"].split()) == 2) is takes_old


def verifier_of_docs() -> Any:
    space: dict[str, Any] = {}
    page = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text(encoding="utf-8")
    exec(page.partition("```python\n")[2].partition("```")[0], space)
    return space["verified"]


def test_what_was_rolled_back_is_not_told_and_who_dies_with_it_loses_nothing(
    benchmark, owner, receiver, issued, monkeypatch
):
    class TakenBackError(Exception):
        pass

    with pytest.raises(TakenBackError), transaction.atomic():
        tell(benchmark)
        raise TakenBackError
    assert send_due() == 0

    tell(benchmark)
    with monkeypatch.context() as patched:
        # Taken, sent, and the worker is gone before it wrote so.
        patched.setattr(sending, "_ended", lambda *unused, **also_unused: False)
        assert send_due() == 1
    assert send_due() == 0, "it is the other's until its lease is over"
    due_now()
    assert send_due() == 1
    assert len({body["id"] for body in told(receiver)}) == 1
    assert len(receiver.came) == 2


def tell(benchmark: Benchmark, event: Event = Event.RELEASE_PUBLISHED) -> Notice | None:
    return happened(event, benchmark=benchmark, about={"release": "1.0.0"}, path="/b/")


def test_attempts_come_with_pauses_that_grow_and_end(benchmark, receiver, issued):
    tell(benchmark)
    receiver.answers, receiver.text = [500] * 20, "<b>no</b>\x00" + 600 * "x"

    pauses = []
    for _ in PAUSES:
        due_now()
        send_due()
        delivery = Delivery.objects.get()
        pauses.append((delivery.due_at - timezone.now()).total_seconds())
    due_now()
    send_due()

    for pause, least in zip(pauses, PAUSES, strict=True):
        assert least - 5 < pause < 1.26 * least
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.n_attempts) == ("given_up", len(PAUSES) + 1)
    assert (delivery.status, len(delivery.answer)) == (500, 499)  # of 500, one is a NUL
    webhook = Webhook.objects.get()
    assert webhook.failing_since < delivery.tried_at
    assert webhook.is_on
    # A long series switches it off; what waits then is given up as well.
    Webhook.objects.update(n_given_up=4)
    tell(benchmark)
    tell(benchmark)
    Delivery.objects.filter(state="waiting").update(n_attempts=len(PAUSES))
    send_due()
    assert Webhook.objects.get().off == "failing"
    assert set(Delivery.objects.values_list("state", flat=True)) == {"given_up"}
    assert tell(benchmark) is None
    # On again by hand, and one that arrives ends the series.
    webhook = webhooks.change_webhook(
        webhook=Webhook.objects.get(), user=webhook.created_by, is_on=True
    )
    receiver.answers = []
    Webhook.objects.update(n_given_up=3, failing_since=timezone.now())
    tell(benchmark)
    send_due()
    webhook.refresh_from_db()
    assert (webhook.failing_since, webhook.n_given_up) == (None, 0)


def test_five_given_up_in_a_row_switch_it_off_and_tests_do_not_count(benchmark, receiver, issued):
    receiver.answers = [500] * 20

    states = []
    for _ in range(5):
        webhooks.send_test(webhook=Webhook.objects.get())
        tell(benchmark)
        Delivery.objects.filter(state="waiting").update(n_attempts=len(PAUSES))
        send_due()
        states.append(Webhook.objects.get().off)

    assert states == ["", "", "", "", "failing"]


def test_pauses_are_those_that_the_page_names():
    page = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text(encoding="utf-8")

    assert PAUSES == (10, 60, 300, 1800, 7200, 18_000, 36_000)
    assert "after 10 s, 1 min, 5 min, 30 min, 2 h, 5 h and 10 h, each up to a quarter" in page


def test_attempt_whose_lease_is_over_changes_nothing_of_who_has_it_now(
    benchmark, receiver, issued, monkeypatch
):
    tell(benchmark)
    later = timezone.now() + timedelta(minutes=3)

    def post_slowly(*args, **kwargs):
        Delivery.objects.update(due_at=later, n_attempts=2)
        return Answer(200, "ok", 130.0)

    monkeypatch.setattr(sending, "post", post_slowly)
    send_due()

    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.due_at, delivery.status) == ("waiting", later, None)


def test_webhook_that_was_switched_off_since_its_page_was_opened_stays_off(
    benchmark, owner, issued, client
):
    client.force_login(owner)
    page = reverse("webhook-detail", args=[benchmark.slug, issued.webhook.pk])
    initials = opened(client.get(page).content.decode())
    Webhook.objects.update(off="gone")

    fields = {"url": issued.webhook.url, "events": ["job.failed"], "is_on": "on"}
    assert client.post(page, {**initials, **fields}).status_code == 302

    webhook = Webhook.objects.get()
    assert (webhook.off, webhook.events) == ("gone", ["job.failed"])


def test_who_reads_a_webhook_before_another_changes_it_takes_nothing_back(owner, issued):
    of_ada, of_bo, of_cy = Webhook.objects.get(), Webhook.objects.get(), Webhook.objects.get()

    renewed = webhooks.renew_secret(webhook=of_ada, user=owner)
    webhooks.change_webhook(webhook=of_bo, user=owner, events=["job.failed"])
    once_more = webhooks.renew_secret(webhook=of_cy, user=owner)

    webhook = Webhook.objects.get()
    assert sending._secrets(webhook) == [once_more.secret, renewed.secret]
    assert webhook.events == ["job.failed"]
    webhooks.delete_webhook(webhook=webhook, user=owner)
    with pytest.raises(Webhook.DoesNotExist):
        webhooks.change_webhook(webhook=of_bo, user=owner, is_on=False)
    assert not Webhook.objects.exists()


def test_rights_of_who_gives_the_address_or_switches_it_on_decide(benchmark, owner, issued):
    mia = factories.member(benchmark, "mia", Role.MAINTAINER)

    def maker(user: User, **changes: Any) -> User:
        webhook = webhooks.change_webhook(webhook=Webhook.objects.get(), user=user, **changes)
        return webhook.created_by

    assert maker(mia, events=["job.failed"], url=issued.webhook.url) == owner
    assert maker(mia, url=f"{issued.webhook.url}&y=2") == mia
    assert maker(owner, is_on=False) == mia
    assert maker(owner, is_on=True) == owner


def test_nothing_is_followed_waited_for_or_sent_where_it_may_not_go(
    benchmark, owner, receiver, issued, settings
):
    tell(benchmark)
    receiver.answers = [302]
    send_due()
    assert "leads to" in Delivery.objects.get().fault
    assert [path for path, _, _ in receiver.came] == ["/hook?x=1"]

    # Who does not answer keeps nobody long, and what else waits for them waits as well.
    settings.WEBHOOK_SECONDS, receiver.wait = 1, 1.8
    tell(benchmark)
    due_now()
    began = time.monotonic()
    assert send_due() == 1
    assert time.monotonic() - began < 3
    assert "no whole answer within 1 s" in Delivery.objects.earliest("pk").fault
    receiver.wait = 0

    # The operator has taken the leave back, and a name may lead where a number may not.
    settings.WEBHOOK_PRIVATE_ADDRESSES = []
    for url in (issued.webhook.url, "https://localhost.example.invalid/"):
        Webhook.objects.update(url=url)
        due_now()
        n_came = len(receiver.came)
        send_due()
        assert len(receiver.came) == n_came
    assert "127.0.0.1" not in Delivery.objects.earliest("pk").fault

    receiver.answers = [410]
    settings.WEBHOOK_PRIVATE_ADDRESSES = ["127.0.0.1"]
    Webhook.objects.update(url=f"{receiver.address}/hook")
    due_now()
    send_due()
    assert Webhook.objects.get().off == "gone"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://ci.example.org/", "Use https"),
        ("https://10.0.0.1/", "WEBHOOK_PRIVATE_ADDRESSES=10.0.0.1"),
        ("https://[::1]/", "not in the public network"),
        ("https://169.254.169.254/latest/", "not in the public network"),
        ("https://localhost/", "not in the public network"),
        ("ftp://ci.example.org/", "not http or https"),
        ("https://me:you@ci.example.org/", "carries a user name"),
        ("https://ci.example.org/#a", "Percent-encode"),
    ],
)
def test_address_is_refused_when_it_is_entered(benchmark, owner, url, why):
    with pytest.raises(webhooks.WebhookAddressError, match=why):
        webhooks.add_webhook(benchmark=benchmark, user=owner, url=url, events=["job.failed"])


def test_who_may_not_see_it_any_more_is_told_nothing(benchmark, owner, receiver, issued):
    """Not by a webhook they added while they kept the benchmark, and not by mail."""
    mia = factories.member(benchmark, "mia", Role.MAINTAINER)
    url = f"{receiver.address}/of-mia"
    of_mia = webhooks.add_webhook(benchmark=benchmark, user=mia, url=url, events=Event.values)
    tell(benchmark)
    mia.memberships.update(role=Role.SUBMITTER)

    send_due()

    assert [path for path, _, _ in receiver.came] == ["/hook?x=1"]
    of_mia.webhook.refresh_from_db()
    assert of_mia.webhook.off == "left"
    User.objects.filter(pk=mia.pk).update(is_active=False)
    mia.memberships.update(role=Role.OWNER)
    Webhook.objects.filter(created_by=mia).update(off="")
    tell(benchmark)
    send_due()
    assert [path for path, _, _ in receiver.came] == ["/hook?x=1", "/hook?x=1"]
    # What is gone meanwhile, or was never theirs to see, is not told either.
    happened(Event.JOB_FAILED, benchmark=benchmark, about={"job": 999}, path="/jobs/999/")
    happened(Event.SUBMISSION_SCORED, benchmark=benchmark, about={"submission": 999}, path="/x/")
    happened(Event.GATE_DECIDED, benchmark=benchmark, about={"gate": 999}, path="/x/")
    send_due()
    assert len(receiver.came) == 2
    assert Delivery.objects.filter(fault__contains="may not see it").count() == 3

    factories.member(benchmark, "second", Role.OWNER)
    delete_person(user=owner, actor=None, is_erased_later=False)
    assert not Webhook.objects.filter(created_by=owner).exists()


def test_old_notices_are_dropped_with_what_became_of_them(benchmark, issued):
    old = tell(benchmark)
    new = tell(benchmark)
    for notice, hours in ((old, 1), (new, -1)):
        at = timezone.now() - timedelta(days=30, hours=hours)
        Notice.objects.filter(pk=notice.pk).update(happened_at=at)

    drop_old_notices()

    assert list(Notice.objects.all()) == [new]
    assert Delivery.objects.get().notice == new


# --- pages -----------------------------------------------------------------------------------


def test_page_adds_shows_once_tries_and_tells_answers_as_text(
    benchmark, owner, receiver, signed_in, monkeypatch
):
    client, at = signed_in(owner), f"/b/{benchmark.slug}/webhooks/"
    sent = {"url": f"{receiver.address}/<i>", "events": ["job.failed", "release.published"]}
    assert client.post(at, {**sent, "url": "http://10.0.0.1/"}).status_code == 422

    answer = client.post(at, sent)

    webhook = Webhook.objects.get()
    secret = webhooks_secret(webhook)
    assert secret in answer.content.decode()
    assert webhook.events == ["release.published", "job.failed"]
    monkeypatch.setattr(webhooks, "MOST_WEBHOOKS", 1)
    one_more = client.post(at, sent)
    assert (one_more.status_code, b"at most 1 webhooks" in one_more.content) == (422, True)
    of = f"{at}{webhook.pk}/"
    client.post(f"{of}test/")
    receiver.text = "<script>alert(1)</script>"
    send_due()
    page = client.get(of).content.decode()
    assert secret not in page + client.get(at).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    delivery = Delivery.objects.get()
    Delivery.objects.update(n_attempts=len(PAUSES))
    client.post(f"{of}sent/{delivery.pk}/")
    send_due()
    assert Delivery.objects.get().n_attempts == 1
    assert [body["type"] for body in told(receiver)] == ["test", "test"]
    client.post(of, {**sent, "events": ["job.failed"]})
    webhook.refresh_from_db()
    assert (webhook.off, webhook.events) == ("by_hand", ["job.failed"])
    assert client.post(f"{of}test/").status_code == 409
    assert client.post(f"{of}sent/{delivery.pk}/").status_code == 409
    renewed = client.post(f"{of}secret/").content.decode()
    webhook.refresh_from_db()
    assert webhooks_secret(webhook) in renewed
    assert secret not in renewed
    client.post(f"{of}delete/")
    assert not Webhook.objects.exists()


def webhooks_secret(webhook: Webhook) -> str:
    from benchmarks_app.notices.services.signing import opened

    return opened(webhook.secret_sealed, address=webhook.url)


# --- mails -----------------------------------------------------------------------------------


def test_mail_goes_to_who_wants_it_and_a_link_in_it_ends_that(
    benchmark, owner, ada, client, signed_in, settings
):
    settings.SITE_URL = "https://bench.example.org"
    settings.NOTICE_MAILS_PER_HOUR = 2
    for person in (owner, ada):
        person.email = person.verified_email = f"{person.username}@example.org"
        person.save()
    signed_in(owner).post("/account/mails/", {"events": ["job.failed", "release.published"]})
    signed_in(ada).post("/account/mails/", {"events": ["job.failed", "gate.decided"]})
    signed_in(ada).post("/account/mails/", {"events": ["job.failed"]})
    assert list(ada.mail_choices.values_list("event", flat=True)) == ["job.failed"]

    job = fail_a_job(benchmark, owner)
    send_due()

    (letter,) = mail.outbox  # Ada's jobs are others
    assert letter.to == ["olga@example.org"]
    assert letter.subject == f"{benchmark.name}: a job failed"
    assert f"https://bench.example.org/jobs/{job.pk}/" in letter.body
    assert "Unexpected error" not in letter.body
    stop = letter.extra_headers["List-Unsubscribe"].strip("<>")
    assert letter.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    path = stop.removeprefix("https://bench.example.org")
    # Following the link changes nothing; a POST without cookies does.
    assert b"Stop these mails?" in client.get(path).content
    assert MailChoice.objects.filter(person=owner).count() == 2
    stopped = client.post(path, {"List-Unsubscribe": "One-Click"})
    assert b"not mailed any more" in stopped.content
    assert list(owner.mail_choices.values_list("event", flat=True)) == ["release.published"]
    assert client.post(f"{path[:-4]}xyz/").status_code == 410
    fail_a_job(benchmark, owner)
    for _ in range(4):
        tell(benchmark)
    send_due()
    assert len(mail.outbox) == 2, "so many in an hour"
    # Nor to who may not see the benchmark any more.
    Delivery.objects.all().delete()
    Benchmark.objects.update(visibility="private")
    tell(benchmark)
    role = owner.memberships.get()
    role.delete()
    send_due()
    assert Delivery.objects.get().fault == "They may not see it, or it is gone."
    assert len(mail.outbox) == 2
    role.save(force_insert=True)
    # Nothing is sent to who does not want it any more, whose address is not their own for certain,
    # or whose account was closed.
    Delivery.objects.all().delete()
    tell(benchmark)
    choice = MailChoice.objects.get(person=owner)
    choice.delete()
    send_due()
    assert len(mail.outbox) == 2
    choice.save(force_insert=True)
    for change in ({"verified_email": ""}, {"verified_email": owner.email, "is_active": False}):
        Delivery.objects.all().delete()
        tell(benchmark)
        User.objects.filter(pk=owner.pk).update(**change)
        send_due()
        assert len(mail.outbox) == 2
    assert stop_token(owner, "job.failed") not in Delivery.objects.get().fault
