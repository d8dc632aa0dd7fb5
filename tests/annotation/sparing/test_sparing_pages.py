"""Sparing by page, API and command, and who sees none of it."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.models import SparingRule, ZeroEntry
from annotation.sparing.services import ask_to_spare, follow
from benchmarks_app.models import AuditEvent
from tests import factories
from tests.annotation.sparing.making import add_graded, entries, graded_pool, n_spared, say

pytestmark = pytest.mark.django_db
AUDIT = ZeroEntry.Part.AUDIT


@pytest.fixture
def campaign(benchmark):
    return graded_pool(benchmark)


@pytest.fixture
def pool(campaign):
    return campaign.pool


@pytest.fixture
def refused(campaign, owner, ada):
    rule = ask_to_spare(campaign=campaign, user=owner)
    say(entries(rule, AUDIT)[:9], ada, grade=1)
    say(entries(rule, AUDIT)[9:], ada)
    follow(rule=rule)
    return rule


def page_of(pool):
    return reverse("annotation:pool-sparing", args=[pool.benchmark.slug, pool.pk])


def api_of(pool):
    return reverse("api:pool-sparing", args=[pool.benchmark.slug, pool.pk])


def text(answer):
    return " ".join(answer.content.decode().split())


def test_page_asks_and_shows_the_verdict_and_stops(pool, campaign, owner, signed_in):
    client = signed_in(owner)
    assert "Not asked for: people judge every document." in text(client.get(page_of(pool)))

    answer = client.post(page_of(pool), {"campaign": campaign.pk})

    assert answer.status_code == 302
    rule = SparingRule.objects.get()
    assert (rule.n_audit, rule.most_missed, rule.checked_share) == (200, 0.02, 0.05)
    page_text = text(client.get(page_of(pool)))
    assert "Not allowed yet: 200 of 200 drawn documents wait for people" in page_text
    assert "100 other documents of grade 0 wait until the audit is judged" in page_text
    assert AuditEvent.objects.filter(action="read-judgments", target__contains="sparing").exists()
    stop = reverse("annotation:pool-sparing-stop", args=[pool.benchmark.slug, pool.pk])
    assert [client.post(stop).status_code for _ in range(2)] == [302, 302]
    assert n_spared(pool) == 0
    assert "so there is nothing to stop" in text(client.get(page_of(pool)))


def test_page_says_what_was_found_and_what_would_be_needed(refused, pool, owner, signed_in):
    page_text = text(signed_in(owner).get(page_of(pool)))

    assert "Not allowed: 9 of 200 documents that it gave 0 are relevant" in page_text
    assert "bound 0.0773 above 0.02. At least 782 audited in all would be needed" in page_text
    assert '<td class="num">0.0773</td>' in page_text
    # From 0 to the bound, the axis a little longer than both; the limit is dashed on it.
    low, high = -0.04 * 0.0772, 1.04 * 0.0772
    places = [round(100 * (at - low) / (high - low), 1) for at in (0.0, 0.0772, 0.02)]
    assert f'<line class="forest-line" x1="{places[0]}%" x2="{places[1]}%"' in page_text
    assert f'<line class="forest-zero" x1="{places[2]}%"' in page_text
    assert "<strong>0.045</strong>" in page_text


def test_judged_documents_of_an_earlier_audit_were_drawn_as_well(refused, pool, owner, signed_in):
    queries = [pool.benchmark.queries.get(qid="q0")]
    refused.campaign.pool.refresh_from_db()
    add_graded(refused.campaign, queries, [f"more{number:03}" for number in range(250)], 0)
    again = ask_to_spare(campaign=refused.campaign, user=owner)

    page_text = text(signed_in(owner).get(page_of(pool)))

    n_zeros = again.n_zeros + 200
    assert f'with earlier ones</th><td class="num">400 of {n_zeros}</td>' in page_text
    assert '<td class="num">200</td><td class="num">9</td>' in page_text


def test_page_refuses_what_cannot_be(pool, campaign, owner, signed_in):
    client = signed_in(owner)

    few = client.post(page_of(pool), {"campaign": campaign.pk, "n_audit": 300})
    low = client.post(page_of(pool), {"campaign": campaign.pk, "n_audit": 199})
    lax = client.post(page_of(pool), {"campaign": campaign.pk, "most_missed": 0.05})

    assert (few.status_code, low.status_code, lax.status_code) == (422, 422, 422)
    assert "would leave nothing to spare" in text(few)
    assert "from 200 to 20,000" in text(low)
    assert not SparingRule.objects.exists()


def test_pool_and_calibration_lead_there(pool, campaign, owner, bo, signed_in):
    detail = reverse("annotation:pool-detail", args=[pool.benchmark.slug, pool.pk])
    calibration = reverse(
        "annotation:campaign-calibration", args=[pool.benchmark.slug, campaign.pk]
    )

    assert page_of(pool) in text(signed_in(owner).get(detail))
    assert f"{page_of(pool)}?campaign={campaign.pk}" in text(signed_in(owner).get(calibration))
    # Adjudicators grade as well: a pool's page tells them nothing of it.
    assert "spar" not in text(signed_in(bo).get(detail)).lower()


def test_api_asks_tells_and_stops(pool, campaign, owner, signed_in):
    client = signed_in(owner)
    assert client.get(api_of(pool)).json()["rule"] is None

    sent = json.dumps({"campaign": campaign.name, "n_audit": 250, "checked_share": 0.1})
    answer = client.post(api_of(pool), sent, content_type="application/json")

    assert answer.status_code == 201
    assert (answer.json()["rule"]["state"], answer.json()["rule"]["n_audit"]) == ("auditing", 250)
    assert answer.json()["n_spared"] == 50
    ended = client.delete(api_of(pool)).json()
    assert (ended["rule"]["state"], ended["n_spared"], ended["is_allowed"]) == ("stopped", 0, False)
    assert client.delete(api_of(pool)).json()["code"] == "sparing-idle"
    unknown = client.post(api_of(pool), '{"campaign": "x"}', content_type="application/json")
    assert unknown.status_code == 400
    assert campaign.name in unknown.content.decode()


def test_command_asks_tells_and_stops(pool, campaign, benchmark, owner, ada, capsys):
    call_command("spare_work", benchmark.slug, pool.name, campaign=campaign.name)
    assert "Not allowed yet: 200 of 200" in capsys.readouterr().out
    rule = SparingRule.objects.get()
    say(entries(rule, AUDIT), ada)

    call_command("spare_work", benchmark.slug, pool.name)

    text = capsys.readouterr().out
    assert "Allowed: 0 of 200" in text
    assert "bound\t0.0149\tlimit\t0.02" in text
    call_command("spare_work", benchmark.slug, pool.name, stop=True, json=True)
    assert json.loads(capsys.readouterr().out)["rule"]["state"] == "stopped"
    factories.member(benchmark, "sub", "submitter")
    with pytest.raises(CommandError, match="may not spare"):
        call_command("spare_work", benchmark.slug, pool.name, user="sub")
    with pytest.raises(CommandError, match="has no 'x'"):
        call_command("spare_work", benchmark.slug, pool.name, campaign="x")
