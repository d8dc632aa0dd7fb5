"""Unjudged documents worth judging: what is worked out, who sees it, how it becomes a list."""

from dataclasses import replace

import polars as pl
import pytest
from django.core.cache import cache
from django.urls import reverse

from benchmarks_app.common.selectors.reading import candidates_path
from benchmarks_app.models import CandidateList, Role
from benchwright.comparison.completeness import NO_DIFFERENCE
from scoring.completeness import views
from scoring.completeness.services import completeness
from scoring.completeness.services.completeness import completeness_of, make_top_up, worth_judging
from scoring.scores.services import firewall
from scoring.scores.services.errors import NothingStillWorthJudgingError, NothingWorthJudgingError
from tests import factories
from tests.open_pages import misnamed

pytestmark = pytest.mark.django_db

# d7, d8 and d9 are nobody's: d8 at the same rank in both.
ONE = "q1 Q0 d1 1 3 s\nq1 Q0 d9 2 2 s\nq2 Q0 d4 1 3 s\nq2 Q0 d8 2 2 s"
OTHER = "q1 Q0 d9 1 3 s\nq1 Q0 d1 2 2 s\nq2 Q0 d7 1 3 s\nq2 Q0 d8 2 2 s"


@pytest.fixture(autouse=True)
def _fresh_cache():
    cache.clear()


@pytest.fixture
def runs(release, scored):
    return [scored(ONE, name="one").run, scored(OTHER, name="other").run]


@pytest.fixture
def keeper(benchmark):
    return factories.member(benchmark, "mia", Role.MAINTAINER)


def test_documents_come_by_what_they_say_about_the_two_runs(release, runs):
    result = worth_judging(release=release, runs=runs)

    assert [(document.qid, document.docid) for document in result] == [("q2", "d7"), ("q1", "d9")]
    assert [document.priority for document in result] == [1, 2]


def test_one_run_is_asked_about_all_that_it_has_unjudged(release, runs):
    completeness = completeness_of(release=release, runs=runs[:1])

    assert {(document.qid, document.docid) for document in completeness.worth} == {
        ("q1", "d9"),
        ("q2", "d8"),
    }
    assert completeness.judged == {runs[0].pk: 0.5}
    assert not completeness.pairs
    # Nothing is compared, so nothing is settled or open.
    assert completeness.is_settled is None
    assert completeness.raw is not None


def test_run_without_a_document_for_a_graded_query_has_no_judged_share(
    client, benchmark, release, scored, keeper, monkeypatch
):
    run = scored("q1 Q0 d1 1 3 s", name="short").run
    monkeypatch.setattr(completeness, "hidden_queries", lambda release: frozenset({"q1"}))
    monkeypatch.setattr(firewall, "hidden_queries", lambda release: frozenset({"q1"}))
    type(benchmark).objects.update(hidden_splits=["test"])
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))

    answers = completeness_of(release=release, runs=[run], is_public=True)
    html = page(client, benchmark, [run]).content.decode()

    assert answers.judged == {run.pk: None}
    assert "short</a>: nothing for a graded query" in html


def test_few_labels_are_said_to_be_few(release, runs):
    completeness = completeness_of(release=release, runs=runs)

    assert completeness.is_prior
    assert completeness.n_labels == 2  # d1 and d4: the others were not retrieved


def test_the_verdict_on_three_queries_shows_nothing(release, runs):
    verdicts = completeness_of(release=release, runs=runs).pairs[0].verdicts

    assert verdicts.raw_verdict == NO_DIFFERENCE
    assert verdicts.n_unjudged == 3


def test_a_list_holds_the_documents_in_their_order(release, runs, keeper):
    top_up = make_top_up(release=release, runs=runs, user=keeper, limit=2)

    rows = pl.read_parquet(candidates_path(top_up)).sort("priority")
    assert rows.select("qid", "docid").rows() == [("q2", "d7"), ("q1", "d9")]
    assert "by influence, on 1.0.0" in top_up.origin


def test_a_second_list_has_a_name_of_its_own(release, runs, keeper):
    first, second = (make_top_up(release=release, runs=runs, user=keeper, limit=n) for n in (2, 1))

    assert first.name != second.name
    assert second.n_documents == 1


def test_a_list_holds_what_is_still_worth_judging_unless_told(release, runs, keeper, monkeypatch):
    result = replace(completeness_of(release=release, runs=runs), n_worth=1)
    monkeypatch.setattr(completeness, "completeness_of", lambda **asked: result)

    assert make_top_up(release=release, runs=runs, user=keeper).n_documents == 1
    assert make_top_up(release=release, runs=runs, user=keeper, limit=2).n_documents == 2

    result = replace(result, n_worth=0)
    with pytest.raises(NothingStillWorthJudgingError, match="None of the 2 unjudged documents"):
        make_top_up(release=release, runs=runs, user=keeper)


def test_no_list_is_made_of_nothing(release, scored, keeper):
    run = scored("q1 Q0 d1 1 3 s", name="judged").run

    with pytest.raises(NothingWorthJudgingError, match=r"judged on 1\.0\.0; there is nothing"):
        make_top_up(release=release, runs=[run], user=keeper)


# --- pages ---------------------------------------------------------------------------------------


def page(client, benchmark, runs, more=""):
    names = ",".join(str(run.pk) for run in runs)
    return client.get(reverse("scoring:top-up-new", args=[benchmark.slug]) + f"?runs={names}{more}")


def test_the_page_lists_documents_with_their_influence(client, benchmark, release, runs, keeper):
    client.force_login(keeper)

    html = page(client, benchmark, runs).content.decode()

    assert html.index(">d7<") < html.index(">d9<")
    assert "no difference shown" in html
    assert "Make a list" in html
    assert misnamed(html) == []


def test_verdict_that_labels_are_not_expected_to_change_is_no_mean_that_moves(
    client, benchmark, release, runs, keeper, monkeypatch
):
    client.force_login(keeper)
    answers = completeness_of(release=release, runs=runs)
    pairs = [
        replace(pair, verdicts=replace(pair.verdicts, all_relevant_verdict="better"))
        for pair in answers.pairs
    ]
    settled_by_none = replace(answers, pairs=tuple(pairs), n_worth=0)
    monkeypatch.setattr(views, "completeness_of", lambda **asked: settled_by_none)

    html = page(client, benchmark, runs).content.decode()

    assert "No more labels are expected to change a verdict" in html
    assert "moves the mean by" not in html


def test_one_click_makes_the_list_and_leads_to_its_pool(client, benchmark, runs, keeper):
    client.force_login(keeper)
    url = reverse("scoring:top-up-new", args=[benchmark.slug])

    answer = client.post(f"{url}?runs={runs[0].pk},{runs[1].name}", {"n": "1"})

    record = CandidateList.objects.get()
    assert answer.status_code == 302
    assert (
        answer.url == reverse("annotation:pool-new", args=[benchmark.slug]) + f"?list={record.pk}"
    )
    assert record.n_documents == 1


def test_a_run_has_a_page_of_its_own(client, benchmark, runs, keeper):
    client.force_login(keeper)

    html = client.get(
        reverse("scoring:run-top-up", args=[benchmark.slug, runs[0].pk])
    ).content.decode()

    assert ">d8<" in html
    assert ">d7<" not in html


def test_runs_can_be_chosen_where_none_are_named(client, benchmark, runs, keeper):
    client.force_login(keeper)

    html = page(client, benchmark, []).content.decode()

    assert "Choose runs" in html
    assert "one" in html


def test_who_does_not_keep_the_benchmark_makes_no_list(client, benchmark, runs):
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    url = reverse("scoring:top-up-new", args=[benchmark.slug])

    result = page(client, benchmark, runs)
    answer = client.post(f"{url}?runs={runs[0].pk},{runs[1].pk}")

    assert ">d7<" in result.content.decode()
    assert "Make a list" not in result.content.decode()
    assert answer.status_code == 403


def test_a_hidden_split_is_listed_for_keepers_only(client, benchmark, runs, keeper, monkeypatch):
    monkeypatch.setattr(firewall, "hidden_queries", lambda release: frozenset({"q1", "q2"}))
    type(benchmark).objects.update(hidden_splits=["test"])
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))

    seen = page(client, benchmark, runs).content.decode()
    client.force_login(keeper)
    kept = page(client, benchmark, runs).content.decode()

    assert ">d7<" not in seen
    assert ">d9<" not in seen
    assert "kept hidden" in seen
    assert ">d7<" in kept
    assert benchmark.audit_events.filter(target="unjudged documents of one and other").exists()


@pytest.mark.parametrize("name", ["{}", "{}" * 40])
def test_lists_that_were_made_are_shown_however_long_the_names_are(
    client, benchmark, release, runs, keeper, name
):
    for run in runs:
        type(run).objects.filter(pk=run.pk).update(name=name.replace("{}", run.name)[:120])
        run.refresh_from_db()
    client.force_login(keeper)
    made = make_top_up(release=release, runs=runs, user=keeper, limit=1)

    assert list(page(client, benchmark, runs).context["lists"]) == [made]
    assert list(page(client, benchmark, runs[:1]).context["lists"]) == []


# --- endpoint ------------------------------------------------------------------------------------


def test_endpoint_has_documents_and_verdicts(client, benchmark, runs, keeper):
    client.force_login(keeper)
    url = f"/api/v1/benchmarks/{benchmark.slug}/top-ups/"

    answer = client.get(url, {"runs": "one,other"}).json()
    response = client.post(
        url, {"runs": ["one"], "limit": 1, "name": "first"}, content_type="application/json"
    )

    assert [document["document"] for document in answer["documents"]] == ["d7", "d9"]
    assert answer["documents"][0]["ranks"] == [None, 1]
    assert answer["pairs"][0]["raw_verdict"] == "no difference shown"
    assert (response.status_code, response.json()["n_documents"]) == (201, 1)


def test_endpoint_refuses_a_field_it_does_not_know(client, benchmark, runs, keeper):
    client.force_login(keeper)
    url = f"/api/v1/benchmarks/{benchmark.slug}/top-ups/"

    answer = client.post(url, {"runs": ["one"], "size": 1}, content_type="application/json")

    assert answer.status_code == 400
    assert "size" in answer.content.decode()
    assert "expected one of runs, release, measure, limit, name" in answer.content.decode()
    assert not benchmark.candidate_lists.exists()


def test_endpoint_says_which_run_it_does_not_know(client, benchmark, runs, keeper):
    client.force_login(keeper)

    answer = client.get(f"/api/v1/benchmarks/{benchmark.slug}/top-ups/", {"runs": "one,nine"})

    assert answer.status_code == 400
    assert "There is no run nine" in answer.content.decode()


def test_more_runs_than_are_gone_through_are_refused_and_stay_chosen(
    client, benchmark, release, scored, keeper
):
    runs = [scored(f"q1 Q0 d{n} 1 3 s", name=f"run {n}").run for n in range(7)]
    client.force_login(keeper)
    query = "&".join(f"runs={run.pk}" for run in runs)

    answer = client.get(reverse("scoring:top-up-new", args=[benchmark.slug]) + f"?{query}")

    html = answer.content.decode()
    assert answer.status_code == 422
    assert "7 runs are chosen; at most 6 are gone through at once." in html
    assert [run for run in runs if f'name="runs" value="{run.pk}" checked>' not in html] == []
