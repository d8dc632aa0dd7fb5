"""The pages, the API and the command of campaigns."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.models import Campaign, Judgment
from benchmarks_app.models import AuditEvent
from tests import factories
from tests.annotation.campaigns.making import GRADES, draft, labels, say

pytestmark = pytest.mark.django_db


def url(benchmark, name: str, *args) -> str:
    return reverse(f"annotation:campaign-{name}", args=[benchmark.slug, *args])


def asked(pool, judge, **more) -> dict:
    return {"pool": pool.pk, "judge": judge.pk, "choice": "all", **more}


def test_from_the_form_to_labels_without_a_script(
    benchmark, owner, pool, judge, stub, signed_in, do_jobs
):
    client = signed_in(owner)
    page = client.get(url(benchmark, "new"), asked(pool, judge, cost_cap="2"))
    assert "5" in page.content.decode()
    assert not Campaign.objects.exists()

    drafted = client.post(url(benchmark, "new"), asked(pool, judge, cost_cap="2", name="mine"))
    campaign = Campaign.objects.get()
    assert drafted.headers["Location"] == url(benchmark, "detail", campaign.pk)
    page = client.get(drafted.headers["Location"]).content.decode()
    assert "Start: 5 documents" in page
    client.post(url(benchmark, "start", campaign.pk))
    do_jobs()

    page = client.get(url(benchmark, "detail", campaign.pk)).content.decode()
    assert labels() == GRADES
    assert "It says so 3 times." in page
    listed = client.get(url(benchmark, "list")).content.decode()
    assert "mine" in listed


def test_the_estimate_follows_the_form_and_says_where_texts_go(
    benchmark, owner, pool, judge, stub, signed_in
):
    part = signed_in(owner).get(url(benchmark, "estimate"), asked(pool, judge))

    text = part.content.decode()
    assert stub.url.removesuffix("/v1") in text
    assert "2 queries" in text


def test_a_conflict_is_shown_before_and_blocks(benchmark, owner, pool, judge, own_work, signed_in):
    client = signed_in(owner)

    text = client.get(url(benchmark, "estimate"), asked(pool, judge)).content.decode()
    refused = client.post(url(benchmark, "new"), asked(pool, judge))

    assert "reranked (openai)" in text
    assert refused.status_code == 422
    assert "would judge its own work" in refused.content.decode()
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("template", "{query}", "document"),
        ("template", "{query} {document} {colour}", "colour"),
        ("n_sample", "0", "Expected a whole number from 1"),
        ("cost_cap", "0", "Expected a number"),
        ("judge", "999", "Select a valid choice"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field(
    benchmark, owner, pool, judge, signed_in, field, value, words
):
    sent = asked(pool, judge) | {field: value}

    answer = signed_in(owner).post(url(benchmark, "new"), sent)

    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_the_pages_of_a_campaign_write_down_who_read_grades(
    benchmark, owner, pool, judge, signed_in, do_jobs
):
    campaign = draft(pool, judge)
    client = signed_in(owner)
    client.post(url(benchmark, "start", campaign.pk))
    do_jobs()

    client.get(url(benchmark, "detail", campaign.pk))

    target = f"campaign {campaign.name}"
    assert AuditEvent.objects.filter(action="read-judgments", target=target).exists()


def test_a_trial_is_shown_beside_peoples_grades(
    benchmark, owner, ada, pool, judge, signed_in, do_jobs
):
    say(ada, "d4", 1, pool)
    campaign = draft(pool, judge)
    client = signed_in(owner)
    client.post(url(benchmark, "try", campaign.pk))
    do_jobs()

    page = client.get(url(benchmark, "detail", campaign.pk)).content.decode()

    assert "Trial, beside what people said" in page
    assert "It says so 3 times." in page
    assert not Judgment.machines.exists()


def test_the_api_drafts_starts_and_tells(benchmark, owner, pool, judge, signed_in, do_jobs):
    client = signed_in(owner)
    sent = {"pool": pool.pk, "judge": judge.name, "choice": "all", "start": True, "cost_cap": 3}
    listed = reverse("api:campaign-list", args=[benchmark.slug])

    created = client.post(listed, sent, content_type="application/json")

    assert (created.status_code, created.json()["state"]) == (201, "queued")
    do_jobs()
    detail = reverse("api:campaign-detail", args=[benchmark.slug, created.json()["id"]])
    answer = client.get(detail).json()
    assert (answer["state"], answer["n_graded"], answer["n_waiting"]) == ("done", 5, 0)
    assert answer["estimate"]["n_pairs"] == 0
    assert "{document}" in answer["prompt"]
    refused = client.delete(detail)
    assert (refused.status_code, refused.json()["code"]) == (409, "campaign-begun")


def test_the_api_refuses_a_sample_of_all(benchmark, owner, pool, judge, signed_in):
    sent = {"pool": pool.pk, "judge": judge.name, "choice": "all", "n_sample": 2}
    listed = reverse("api:campaign-list", args=[benchmark.slug])

    refused = signed_in(owner).post(listed, sent, content_type="application/json")

    assert (refused.status_code, [*refused.json()["errors"]]) == (400, ["n_sample"])
    assert not Campaign.objects.exists()


def test_the_api_says_which_judges_there_are(benchmark, owner, pool, judge, signed_in):
    sent = {"pool": pool.pk, "judge": "another"}
    listed = reverse("api:campaign-list", args=[benchmark.slug])

    refused = signed_in(owner).post(listed, sent, content_type="application/json")

    assert refused.status_code == 400
    words = f"There is no judge 'another'; the benchmark has {judge.name}."
    assert refused.json()["errors"] == {"judge": [words]}


def test_the_command_asks_here_and_goes_on(benchmark, owner, pool, judge, stub):
    stub.script("nothing", "refusal")
    out, err = StringIO(), StringIO()
    words = ["judge_pool", benchmark.slug, pool.name]
    more = {"stdout": out, "stderr": err, "user": owner.username}

    call_command(*words, judge=judge.name, choice="all", dry_run=True, **more)
    assert "documents\t5\tqueries\t2" in out.getvalue()
    assert not Campaign.objects.exists()
    call_command(*words, judge=judge.name, choice="all", name="here", **more)
    assert "graded\t4\tfailed\t1\tleft\t0" in out.getvalue()
    call_command(*words, go_on="here", failed=True, **more)

    assert "graded\t5\tfailed\t0\tleft\t0" in out.getvalue()
    assert labels() == GRADES


def test_the_command_says_what_is_not_there(benchmark, owner, pool, judge):
    words = ["judge_pool", benchmark.slug, pool.name]

    with pytest.raises(CommandError, match="has no judge 'nobody'; it has"):
        call_command(*words, judge="nobody", user=owner.username)
    with pytest.raises(CommandError, match="--judge"):
        call_command(*words, user=owner.username)


def test_a_viewer_and_an_annotator_find_no_tab(benchmark, ada, pool, signed_in):
    vi = factories.member(benchmark, "vi", "viewer")

    for person in (ada, vi):
        page = signed_in(person).get(reverse("benchmark-detail", args=[benchmark.slug]))
        assert "machine-judges" not in page.content.decode()
