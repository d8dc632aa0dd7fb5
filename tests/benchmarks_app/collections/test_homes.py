"""Who meets what first in a benchmark: the home of their role, and what waits there."""

import re

import pytest
from django.urls import reverse

from benchmarks_app import homes
from benchmarks_app.homes import Need, homes_of, needs_of
from benchmarks_app.models import Corpus, Job
from benchmarks_app.overview import steps_of
from benchmarks_app.permissions import Action
from tests import factories
from tests.annotation import making
from tests.test_query_counts import FEW, MANY, asked, background_jobs, questions, runs, scores

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pages")]

HOMES = {
    "owner": ["owner", "runs", "work"],
    "maintainer": ["owner", "runs", "work"],
    "adjudicator": ["owner", "work"],
    "annotator": ["work"],
    "submitter": ["runs"],
    "viewer": ["owner"],
}


def address(of) -> str:
    return reverse("benchmark-detail", args=[of.slug])


@pytest.mark.parametrize("role", HOMES)
def test_each_role_has_its_homes_the_one_it_lands_on_first(benchmark, role):
    person = factories.member(benchmark, "pat", role)

    assert [home.key for home in homes_of(person, benchmark)] == HOMES[role]


@pytest.mark.parametrize(("role", "n_tabs"), [("owner", 3), ("adjudicator", 2), ("viewer", 0)])
def test_who_has_several_homes_chooses_by_tabs(benchmark, signed_in, role, n_tabs):
    client = signed_in(factories.member(benchmark, "pat", role))

    page = client.get(address(benchmark)).content.decode()

    tabs = re.findall(r'<nav class="tabs" aria-label="My homes">(.*?)</nav>', page)
    assert sum(tab.count("<a ") for tab in tabs) == n_tabs


@pytest.mark.parametrize(
    ("role", "wanted", "heading"),
    [
        ("owner", "work", "My work"),
        ("owner", "runs", "My runs"),
        ("owner", "nothing", "Standard library"),
        ("annotator", "owner", "My work"),
        ("annotator", "runs", "My work"),
        ("submitter", "work", "My runs"),
        ("viewer", "work", "Standard library"),
    ],
)
def test_home_of_another_role_is_not_given(benchmark, signed_in, role, wanted, heading):
    client = signed_in(factories.member(benchmark, "pat", role))

    page = client.get(address(benchmark), {"as": wanted}).content.decode()

    assert f"<h1>{heading}</h1>" in page


def test_visitor_of_a_public_benchmark_sees_the_overview(client):
    result = factories.benchmark("open", name="Open one", visibility="public")

    page = client.get(address(result)).content.decode()

    assert "<h1>Open one</h1>" in page
    assert "Needs you now" not in page


# --- the overview --------------------------------------------------------------------------------


def test_new_benchmark_alone_has_the_stepper(benchmark, owner, signed_in):
    client = signed_in(owner)
    new = client.get(address(benchmark)).content.decode()
    failed(benchmark, "Import queries", owner)
    with_failure = client.get(address(benchmark)).content.decode()
    making.pool(benchmark, {"q1": ["d1"]})

    at_work = client.get(address(benchmark)).content.decode()

    assert 'class="stepper"' in new
    assert "Needs you now" not in new
    assert "“Import queries” failed" in with_failure
    assert 'class="stepper"' not in at_work
    assert "Needs you now" in at_work


def test_with_grades_from_a_file_the_next_step_is_the_release(benchmark, owner):
    Corpus.objects.update(kind=Corpus.Kind.IDS_ONLY)
    factories.query(benchmark, "q1")
    factories.run(benchmark, "q1 Q0 d1 1 1.0 a\n")

    def next_title():
        return next(
            step["title"] for step in steps_of(benchmark, owner) if step["state"] == "current"
        )

    before = next_title()
    factories.qrel_set(benchmark, {("q1", "d1"): 1})
    after = next_title()

    assert (before, after) == ("Pool", "Release")


def test_needs_come_by_weight_and_only_for_who_may_act(benchmark, owner, vi, monkeypatch):
    def makers(benchmark, user):
        yield Need(10, "info", "later", "", "Go", "/")
        yield Need(90, "bad", "first", "", "Go", "/")

    monkeypatch.setattr(homes, "NEEDS", [])
    homes.need(Action.EDIT)(makers)

    assert [need.title for need in needs_of(benchmark, owner)] == ["first", "later"]
    assert needs_of(benchmark, vi) == []


def failed(of, title: str, by, **values) -> Job:
    values = {"state": "failed", "error": "It broke.", "kind": "test", **values}
    return Job.objects.create(title=title, benchmark=of, created_by=by, **values)


def needs_named(of, person) -> list[str]:
    return [need.title for need in needs_of(of, person)]


def test_failed_job_waits_until_it_is_made_good(benchmark, owner):
    job = failed(benchmark, "Build the pool", owner)

    assert needs_named(benchmark, owner) == ["“Build the pool” failed"]
    failed(benchmark, "Build the pool", owner, state="done")
    assert needs_named(benchmark, owner) == []
    assert job.state == "failed"


def test_bad_file_of_a_submitter_is_not_the_owners_to_mend(benchmark, owner, sam):
    lines = [{"file": "my.run", "line": 3, "text": "score is 'n/a'"}]
    failed(benchmark, "Score v4", sam, problems=lines)
    failed(benchmark, "Import queries", owner, problems=lines)

    (waiting,) = needs_of(benchmark, owner)

    assert (waiting.title, waiting.detail) == ("“Import queries” failed", "score is 'n/a'")


def test_many_failures_are_told_in_one_line(benchmark, owner):
    for number in range(5):
        failed(benchmark, f"job {number}", owner)

    named = needs_named(benchmark, owner)

    assert named == ["“job 4” failed", "“job 3” failed", "“job 2” failed", "2 more jobs failed"]


def test_question_and_low_judged_share_wait_for_the_owner(benchmark, owner):
    scores(benchmark, 0, 2)
    questions(benchmark, 0, 1)

    named = needs_named(benchmark, owner)

    assert named == [
        "Runs are not comparable yet: 2 of 2",
        "1 question from annotators",
    ]
    [need] = [need for need in needs_of(benchmark, owner) if need.call == "Answer"]
    assert need.detail.startswith("Asked just now: “")


def test_judged_share_that_falls_short_of_its_limit_is_not_told_as_the_limit(
    benchmark, owner, monkeypatch
):
    scores(benchmark, 0, 2)
    monkeypatch.setattr("scoring.overview.judged_shares_on", lambda release: {1: 0.5, 2: 0.797})

    [need] = needs_of(benchmark, owner)

    assert need.detail.startswith("50 to 79.7 % of their first ten documents are judged")


@pytest.mark.parametrize(
    ("least", "state", "told"), [(0.7999999999999999, "good", "0.80"), (0.7961, "warn", "0.796")]
)
def test_check_of_judged_shares_says_what_it_goes_by(
    benchmark, owner, monkeypatch, least, state, told
):
    scores(benchmark, 0, 1)
    monkeypatch.setattr("scoring.overview.judged_shares_on", lambda release: {1: 0.9, 2: least})

    [check] = [each for each in homes.checks_of(benchmark, owner) if "Judged@10" in each.title]

    assert (check.state, check.why.partition(" on ")[0]) == (state, f"now {told}")
    assert len(needs_of(benchmark, owner)) == (state == "warn")


def test_checks_say_what_is_lacking(benchmark, owner):
    factories.qrel_set(benchmark, {("q1", "d1"): 0, ("q2", "d1"): 2})
    making.pool(benchmark, {"q1": ["d1", "d2"]})

    checks = {check.title: check for check in homes.checks_of(benchmark, owner)}

    assert checks["A relevant document for every query"].why.startswith("1 of 2 in")
    assert checks["Every wanted label is given"].why == "2 of 2 are still wanted"
    assert checks["A guideline"].state == "warn"
    assert checks["A licence"].state == "warn"
    assert "No leaks between splits" not in checks


def test_one_graded_query_is_one(benchmark, owner):
    factories.qrel_set(benchmark, {("q1", "d1"): 3}, name="ours")

    (relevant,) = (
        check for check in homes.checks_of(benchmark, owner) if "relevant" in check.title
    )

    assert relevant.why == "1 graded query of “ours”"


def test_guideline_that_changed_since_the_first_label_is_told(benchmark, owner, ada):
    pool = making.pool(benchmark, {"q1": ["d1"]})
    making.guideline(benchmark)
    making.judge(pool.slots.get(), ada, 1)
    (before,) = (check for check in homes.checks_of(benchmark, owner) if "guideline" in check.title)
    making.guideline(benchmark, 2)

    (after,) = (check for check in homes.checks_of(benchmark, owner) if "guideline" in check.title)

    assert before.state == "good"
    assert (after.state, after.why) == ("warn", "Version 1 was in force then; now it is 2.")


def test_leaks_are_not_looked_for_by_the_page(benchmark, owner):
    for number, split in enumerate(("train", "test")):
        family = factories.query(benchmark, f"q{number}", "the same words").family
        family.split = split
        family.save()

    (leaks,) = (check for check in homes.checks_of(benchmark, owner) if "leaks" in check.title)

    assert leaks.state == "wait"


@pytest.mark.parametrize("rows", [background_jobs, questions, scores, runs])
def test_overview_asks_as_often_for_20_rows_as_for_2(benchmark, owner, signed_in, rows):
    making.pool(benchmark, {"q1": ["d1"]}, name="at work")
    client = signed_in(owner)

    rows(benchmark, 0, FEW)
    few, _ = asked(client, address(benchmark))
    rows(benchmark, FEW, MANY)
    many, _ = asked(client, address(benchmark))

    # The line that sums up further failures counts them.
    assert len(many) <= len(few) + (rows is background_jobs), [
        query for query in many if query not in few
    ]


# --- the home of the site -------------------------------------------------------------------------


def test_sites_home_leads_straight_to_the_one_thing_to_do(benchmark, ada, sam, signed_in):
    work = reverse("annotation:judge-benchmark", args=[benchmark.slug])

    page = signed_in(ada).get(reverse("home")).content.decode()
    other = signed_in(sam).get(reverse("home")).content.decode()

    assert f'<a class="button is-primary is-large" href="{work}">Judge documents</a>' in page
    assert f'href="{address(benchmark)}">Submit a run</a>' in other
