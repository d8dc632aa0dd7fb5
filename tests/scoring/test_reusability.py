"""A release without one of its systems: what is told of it, and to whom."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from benchmarks_app.models import Role, Run
from scoring.services.reusability import reusability_of
from tests import factories

pytestmark = pytest.mark.django_db

ONE = "q1 Q0 d1 1 3 s\nq2 Q0 d5 1 3 s"
OTHER = "q1 Q0 d2 1 3 s\nq2 Q0 d5 1 3 s"


@pytest.fixture(autouse=True)
def _fresh_cache():
    cache.clear()


@pytest.fixture
def runs(release, scored):
    made = [scored(ONE, name="one").run, scored(OTHER, name="other").run]
    Run.objects.filter(pk__in=[run.pk for run in made]).update(pooled_depth=1)
    return made


def test_pooled_runs_are_left_out_one_by_one(release, runs):
    """Without `one` nobody would have judged d1, without `other` nobody d2."""
    report = reusability_of(release)

    assert not report.is_assumed
    assert [(one.run, one.n_unique) for one in report.found.systems] == [("one", 1), ("other", 1)]
    assert [one.without for one in report.found.systems] == [0.0, 0.0]


def test_where_nothing_is_known_of_pools_every_run_counts_as_pooled(release, runs):
    Run.objects.update(pooled_depth=0)

    report = reusability_of(release)

    assert report.is_assumed
    assert len(report.found.systems) == 2


def test_one_run_leaves_nothing_to_leave_out(release, scored):
    scored(ONE, name="one")

    assert reusability_of(release) is None


def test_page_names_systems_that_may_be_seen_and_counts_the_others(
    client, benchmark, release, runs
):
    Run.objects.filter(name="other").update(visibility=Run.Visibility.OWNER)
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))

    html = client.get(reverse("scoring:reusability", args=[benchmark.slug])).content.decode()

    assert ">one</a>" in html
    assert ">other</a>" not in html
    assert "1 system is counted and not shown" in html


def test_counts_of_hidden_grades_are_withheld(client, benchmark, release, runs, monkeypatch):
    from scoring.services import firewall

    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    url = f"/api/v1/benchmarks/{benchmark.slug}/releases/1.0.0/reusability/"
    before = client.get(url).json()["systems"][0]
    monkeypatch.setattr(firewall, "hidden_queries", lambda release: frozenset({"q1"}))

    after = client.get(url).json()["systems"][0]

    assert before["n_unique"] == 1
    assert (after["n_unique"], after["n_unique_relevant"]) == (None, None)
    assert after["ndcg"] == round(before["ndcg"], 3)


def test_chart_has_a_row_for_each_system(client, benchmark, release, runs):
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    url = reverse("scoring:reusability-chart", args=[benchmark.slug, "1.0.0", "csv"])

    rows = client.get(url).content.decode().splitlines()

    assert rows[0] == "system,shift,ndcg,without,judged,only_its_own"
    assert {row.split(",")[0] for row in rows[1:]} == {"one", "other"}
