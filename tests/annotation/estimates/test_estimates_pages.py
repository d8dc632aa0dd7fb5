"""Estimates by page, API and command, and who may see them."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.estimates.services import estimates_of
from annotation.models import Pool
from benchmarks_app.models import AuditEvent
from tests import factories
from tests.annotation.estimates import making
from tests.annotation.estimates.making import DEPTH
from tests.annotation.making import pool

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(benchmark):
    making.queries(benchmark)
    return making.runs(benchmark)


@pytest.fixture
def drawn(benchmark, owner, runs):
    return making.estimation_pool(benchmark, owner, runs, labels=120)


@pytest.fixture
def labelled(drawn, ada):
    making.labelled(drawn, ada)
    return drawn


@pytest.fixture
def form(runs):
    more = {"overlap": 1, "seconds": 30, "doubles": 0, "control": 5, "seed": 7, "carry": "on"}
    asked = {"strategy": "estimate", "measure": "dcg", "labels": 60, "depth": DEPTH}
    return {"name": "mine", "runs": [run.pk for run in runs], **more, **asked}


def address(view, of):
    return reverse(view, args=[of.benchmark.slug, of.pk])


def text(answer):
    return answer.content.decode()


# --- building ------------------------------------------------------------------------------------


def test_page_builds_the_pool_that_the_library_draws(
    benchmark, owner, signed_in, form, drawn, do_jobs
):
    url = reverse("annotation:pool-new", args=[benchmark.slug])

    assert signed_in(owner).post(url, form).status_code == 302
    do_jobs()

    record = Pool.objects.get(name="mine")
    assert (record.strategy, record.parameters["measure"]) == ("estimate", "dcg")
    assert (record.parameters["labels"], record.parameters["depth"]) == (60, DEPTH)
    assert "control" not in record.parameters
    again = making.estimation_pool(benchmark, owner, list(record.runs.all()), name="again")
    assert record.digest == again.digest


def test_api_and_command_build_the_same_pool(benchmark, owner, signed_in, runs, do_jobs):
    asked = {"strategy": "estimate", "measure": "dcg", "labels": 60, "depth": DEPTH, "seed": 7}
    url = reverse("api:pool-list", args=[benchmark.slug])
    sent = {**asked, "name": "api", "runs": ["good", "other"]}
    answer = signed_in(owner).post(url, json.dumps(sent), content_type="application/json")
    assert answer.status_code == 202
    do_jobs()

    call_command("build_pool", benchmark.slug, runs="all", **asked)

    by_api, by_command = Pool.objects.order_by("pk")
    assert by_command.name == "DCG@5 estimated"
    assert by_api.digest == by_command.digest


def test_preview_holds_both_ways_against_each_other(benchmark, owner, signed_in, form):
    url = reverse("annotation:pool-new", args=[benchmark.slug])

    answer = signed_in(owner).post(url, {**form, "preview": "1"})

    ways = answer.context["ways"]
    assert (ways["n_documents"], ways["n_queries"], ways["source"]) == (173, 26, "")
    assert ways["drawn"]["n_labels"] == pytest.approx(60)
    assert ways["drawn"]["half_width"] < ways["whole"]["half_width"]
    assert ways["as_narrow"]["half_width"] <= ways["drawn"]["half_width"]
    # Hours by hand: labels of 30 seconds, queries of 20.
    whole = ways["as_narrow"]
    hours = (whole["n_labels"] * 30 + whole["n_queries"] * 20) / 3600
    assert whole["hours"] == pytest.approx(hours)
    page = text(answer)
    assert "DCG@5 of a run to about ±" in page
    assert "fewer than 20 queries have grades" in page
    assert "Judged@10" not in page
    assert not Pool.objects.exists()


def test_preview_takes_deviations_of_grades_that_there_are(benchmark, owner, signed_in, form):
    of = {
        (qid, docid): making.grade_of(qid, docid)
        for qid in making.ANSWERED
        for name in ("good", "other")
        for docid in making.ranked(qid, name)[:DEPTH]
    }
    factories.qrel_set(benchmark, of, name="known")
    url = reverse("annotation:pool-new", args=[benchmark.slug])

    answer = signed_in(owner).post(url, {**form, "preview": "1"})

    assert answer.context["ways"]["source"] == "known"
    assert "is that of known" in text(answer)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ""}, "An estimate has no budget"),
        ({"manual": "q1 a"}, "those documents alone that are drawn for it"),
        ({"measure": "ndcg"}, "Expected p or dcg"),
        ({"labels": 3}, "The budget is 3 labels for 173 documents; expected at least 4"),
    ],
)
def test_what_cannot_be_drawn_is_said_beside_the_form(
    benchmark, owner, signed_in, form, change, message
):
    url = reverse("annotation:pool-new", args=[benchmark.slug])

    answer = signed_in(owner).post(url, {**form, **change, "preview": "1"})

    assert answer.status_code == 422
    assert message in text(answer)


# --- looking -------------------------------------------------------------------------------------


def test_pools_page_says_what_it_is_for(drawn, owner, signed_in):
    page = text(signed_in(owner).get(address("annotation:pool-detail", drawn)))

    assert "An estimate, not a release" in page
    assert f"{drawn.n_entries} documents drawn from 173 of 26 queries, for DCG@5" in page
    assert address("annotation:pool-estimates", drawn) in page
    for of_others in ("Is it enough?", "Fewer than three runs"):
        assert of_others not in page


def test_page_says_what_is_lacking_until_all_is_labelled(drawn, ada, owner, signed_in):
    making.labelled(drawn, ada, but=2)

    page = text(signed_in(owner).get(address("annotation:pool-estimates", drawn)))

    assert f"2 of {drawn.n_entries} drawn documents have no grade yet" in page
    assert "Means" not in page


def test_page_api_and_command_tell_the_same(labelled, owner, signed_in, capsys):
    estimates = estimates_of(labelled, owner)
    client = signed_in(owner)

    page = text(client.get(address("annotation:pool-estimates", labelled)))
    answer = client.get(address("api:pool-estimates", labelled)).json()
    call_command("estimate_runs", labelled.benchmark.slug, labelled.name)
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    call_command("estimate_runs", labelled.benchmark.slug, labelled.name, json=True)
    by_command = json.loads(capsys.readouterr().out)

    good, other = estimates.rows
    assert estimates.sentence in page
    for row in (good, other):
        assert f"{row.mean.value:.3f}" in page
        assert f"{row.mean.low:.3f} to {row.mean.high:.3f}" in page
    assert answer == by_command
    assert answer["sentence"] == lines[0][0] == estimates.sentence
    assert answer["rows"][0]["mean"]["value"] == good.mean.value
    assert answer["rows"][1]["difference"]["high"] == other.difference.high
    assert lines[2][:4] == [
        "good", *(f"{number:.4f}" for number in (good.mean.value, good.mean.low, good.mean.high))
    ]  # fmt: skip
    assert lines[3][5] == f"{other.difference.value:.4f}"


def test_another_reference_is_asked_for(labelled, owner, signed_in):
    client = signed_in(owner)

    page = client.get(address("annotation:pool-estimates", labelled), {"against": "other"})
    answer = client.get(address("api:pool-estimates", labelled), {"against": "other"}).json()
    lost = client.get(address("api:pool-estimates", labelled), {"against": "nobody"})

    assert page.context["estimates"].reference == answer["reference"] == "other"
    assert answer["rows"][0]["difference"]["low"] > 0
    assert (lost.status_code, lost.json()["code"]) == (422, "estimates-run")


def test_pools_of_other_strategies_have_no_estimates(benchmark, owner, signed_in):
    run = factories.run(benchmark, "q Q0 d 1 1.0 s")
    factories.query(benchmark, "q")
    other = factories.depth_pool(benchmark, [run])
    client = signed_in(owner)

    assert client.get(address("annotation:pool-estimates", other)).status_code == 409
    assert client.get(address("api:pool-estimates", other)).json()["code"] == "estimates-strategy"
    assert "/estimates/" not in text(client.get(address("annotation:pool-detail", other)))
    with pytest.raises(CommandError, match="were not drawn to estimate runs"):
        call_command("estimate_runs", benchmark.slug, other.name)


def test_command_ends_with_what_is_lacking(drawn, benchmark):
    with pytest.raises(
        CommandError, match=f"{drawn.n_entries} of {drawn.n_entries} drawn documents"
    ):
        call_command("estimate_runs", benchmark.slug, drawn.name)


def test_command_is_not_for_who_may_judge(labelled, benchmark):
    with pytest.raises(CommandError, match="'ada' may not see estimates"):
        call_command("estimate_runs", benchmark.slug, labelled.name, user="ada")


# --- who may see ---------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["annotator", "adjudicator", "submitter", "viewer"])
@pytest.mark.parametrize("view", ["annotation:pool-estimates", "api:pool-estimates"])
def test_nobody_but_keepers_sees_estimates(labelled, signed_in, role, view):
    person = factories.member(labelled.benchmark, "pat", role)

    answer = signed_in(person).get(address(view, labelled))

    assert answer.status_code == 403
    assert "DCG@5" not in text(answer)


def test_reading_them_is_written_down(labelled, owner, signed_in):
    signed_in(owner).get(address("annotation:pool-estimates", labelled))
    signed_in(owner).get(address("api:pool-estimates", labelled))

    events = AuditEvent.objects.filter(action="read-judgments")
    assert {(event.actor, event.target) for event in events} == {
        (owner, "estimates of to estimate")
    }
    assert events.count() == 2


def test_another_benchmarks_owner_finds_nothing(labelled, signed_in):
    cy = factories.member(factories.benchmark(), "cy", "owner")

    assert signed_in(cy).get(address("annotation:pool-estimates", labelled)).status_code == 404
    assert signed_in(cy).get(address("api:pool-estimates", labelled)).status_code == 404


# --- publishing ----------------------------------------------------------------------------------


def test_publishing_tells_how_many_documents_were_drawn_for_estimates_and_are_in_no_other_pool(
    labelled, owner, ada, signed_in
):
    client = signed_in(owner)
    page = text(client.get(address("annotation:pool-detail", labelled)))
    assert f"{labelled.n_entries} of these documents were drawn to estimate runs" in page

    pairs: dict[str, list[str]] = {}
    for entry in labelled.entries.select_related("query", "document"):
        pairs.setdefault(entry.query.qid, []).append(entry.document.docid)
    pool(labelled.benchmark, pairs)

    page = text(client.get(address("annotation:pool-detail", labelled)))
    assert "were drawn to estimate runs" not in page


def test_a_set_of_qrels_and_its_command_tell_it(labelled, benchmark, owner, capsys):
    call_command("publish_qrels", benchmark.slug, name="all")

    n = labelled.n_entries
    assert f"{n} of them were drawn to estimate runs" in capsys.readouterr().out
    assert benchmark.qrel_sets.get().parameters["n_for_estimates"] == n


def test_a_release_of_them_is_warned_of_unless_it_says_so(labelled, benchmark):
    call_command("publish_qrels", benchmark.slug, name="all")
    qrels = benchmark.qrel_sets.get()

    silent = factories.release(qrels)
    telling = factories.release(qrels, "1.1.0", notes="A sample of documents was judged.")

    results = [{finding["code"] for finding in draft.findings} for draft in (silent, telling)]
    assert ["release-drawn-untold" in codes for codes in results] == [True, False]
