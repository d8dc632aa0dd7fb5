"""A release without one of its systems: what is told of it, and to whom."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Role, Run, Team
from scoring.planning.services.reusability import reusability_of
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
    report = reusability_of(release, user=AnonymousUser())

    assert not report.is_assumed
    systems = report.treatment.by_group.systems
    assert [(system.run, system.n_unique) for system in systems] == [("one", 1), ("other", 1)]
    assert [system.without for system in systems] == [0.0, 0.0]


def test_where_nothing_is_known_of_pools_every_run_counts_as_pooled(release, runs):
    Run.objects.update(pooled_depth=0)

    report = reusability_of(release, user=AnonymousUser())

    assert report.is_assumed
    assert len(report.treatment.by_group.systems) == 2


def test_one_run_leaves_nothing_to_leave_out(release, scored):
    scored(ONE, name="one")

    assert reusability_of(release, user=AnonymousUser()) is None


def test_page_names_systems_that_may_be_seen_and_counts_the_others(
    client, benchmark, release, runs
):
    Run.objects.filter(name="other").update(visibility=Run.Visibility.OWNER)
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))

    html = client.get(reverse("scoring:reusability", args=[benchmark.slug])).content.decode()

    assert ">one</a>" in html
    assert ">other</a>" not in html
    assert "1 system is counted and not shown" in html


@pytest.mark.parametrize("hidden", [{"q1"}, set()])  # or all of them
def test_hidden_queries_are_left_out_of_the_report(
    client, benchmark, release, runs, hidden, monkeypatch
):
    from benchmarks_app.common.selectors.reading import release_qrels
    from scoring.scores.services import firewall

    graded = set(release_qrels(release))
    hidden = hidden or graded
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    url = f"/api/v1/benchmarks/{benchmark.slug}/releases/1.0.0/reusability/"
    page = reverse("scoring:reusability", args=[benchmark.slug])
    before = client.get(url).json()["systems"][0]
    monkeypatch.setattr(firewall, "hidden_queries", lambda release: frozenset(hidden))

    answer, html = client.get(url), client.get(page).content.decode()

    assert before["n_unique"] == 1
    if hidden < graded:
        # On q2 alone the two are copies of each other.
        assert [system["left_out_with"] for system in answer.json()["systems"]] == [
            ["other"],
            ["one"],
        ]
        assert "Worked out from the public queries alone: 1 of hidden splits" in html
    else:
        assert answer.status_code == 404
        assert "All graded queries of release 1.0.0 are hidden" in html


def test_teams_and_copies_are_left_out_together(client, benchmark, release, runs, scored):
    copy = scored(ONE, name="copy").run
    Run.objects.filter(pk=copy.pk).update(pooled_depth=1)
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    url = f"/api/v1/benchmarks/{benchmark.slug}/releases/1.0.0/reusability/"

    answer = client.get(url).json()
    one = {row["run"]: row for row in answer["systems"]}["one"]
    html = client.get(reverse("scoring:reusability", args=[benchmark.slug])).content.decode()

    assert (answer["n_runs"], answer["n_systems"], answer["n"], answer["by_run"]["n"]) == (
        3,
        2,
        2,
        3,
    )
    assert (one["left_out_with"], one["without"], one["shift_alone"]) == (["copy"], 0.0, 0.0)
    assert [(pair["run_a"], pair["is_same"]) for pair in answer["copies"]] == [("one", True)]
    assert "one and copy are the same ranking under two names" in html
    assert "2 systems" in html
    assert re.search(r"[1-9]\d* of [1-9]\d* judgments came from these systems", html)

    # Of whom it is would be told by what it is a copy of.
    Run.objects.filter(name="copy").update(anonymous_until=timezone.now() + timedelta(days=1))
    answer = client.get(url).json()
    assert answer["copies"] == []
    assert [row["left_out_with"] for row in answer["systems"]] == [[], [], []]


def test_runs_of_one_team_alone_are_undefined(client, benchmark, release, runs):
    team = Team.objects.create(name="A team")
    Run.objects.update(team=team)
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    url = f"/api/v1/benchmarks/{benchmark.slug}/releases/1.0.0/reusability/"

    answer = client.get(url).json()
    html = client.get(reverse("scoring:reusability", args=[benchmark.slug])).content.decode()

    assert answer["n"] == 1
    assert [answer[name] for name in ("mean_shift", "tau", "mean_judged")] == [None] * 3
    assert "All pooled runs are of one team" in html
    assert ">nan" not in html


def test_a_team_is_not_told_while_its_runs_are_anonymous(client, benchmark, release, runs, owner):
    team = Team.objects.create(name="A team")
    until = timezone.now() + timedelta(days=1)
    Run.objects.filter(name="one").update(team=team, anonymous_until=until)
    Run.objects.filter(name="other").update(team=team)
    url = f"/api/v1/benchmarks/{benchmark.slug}/releases/1.0.0/reusability/"

    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    to_viewer = client.get(url).json()["systems"]
    client.force_login(owner)
    to_owner = client.get(url).json()["systems"]

    assert [row["left_out_with"] for row in to_viewer] == [[], []]
    assert {row["run"]: row["left_out_with"] for row in to_owner}["one"] == ["other"]


@pytest.mark.parametrize("who", ["viewer", "nobody"])
def test_whose_an_anonymous_run_is_changes_no_byte(client, benchmark, release, runs, scored, who):
    """Neither is it told by how many are left out with another, nor by what becomes of these."""
    third = scored("q1 Q0 d3 1 3 s\nq2 Q0 d4 1 3 s", name="third").run
    Run.objects.filter(pk=third.pk).update(pooled_depth=1)
    teams = [Team.objects.create(name=f"Team {letter}") for letter in "AB"]
    for name, team in zip(("other", "third"), teams, strict=True):
        Run.objects.filter(name=name).update(team=team)
    until = timezone.now() + timedelta(days=1)
    benchmark.visibility = "public"
    benchmark.save()
    if who == "viewer":
        client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    pages = [
        f"/api/v1/benchmarks/{benchmark.slug}/releases/1.0.0/reusability/",
        f"/api/v1/benchmarks/{benchmark.slug}/planner/",
        reverse("scoring:reusability-chart", args=[benchmark.slug, "1.0.0", "csv"]),
        reverse("scoring:reusability", args=[benchmark.slug]),
    ]

    def answers(team):
        Run.objects.filter(name="one").update(team=team, anonymous_until=until)
        # The part of a page alone: the frame has a token for each answer.
        return [client.get(page, headers={"HX-Request": "true"}).content for page in pages]

    assert answers(teams[0]) == answers(teams[1]) == answers(None)


@pytest.mark.parametrize("depth", [0, 1])  # what is said of pools, and what is assumed
def test_private_or_withdrawn_run_that_was_not_pooled_changes_no_byte(
    client, benchmark, release, runs, scored, depth
):
    """Nor does one that is there alone: ranks and what is a run's own are those of all to see."""
    Run.objects.update(pooled_depth=depth)
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    url = f"/api/v1/benchmarks/{benchmark.slug}/releases/1.0.0/reusability/"
    before = client.get(url).content

    scored("q1 Q0 d1 1 3 s\nq2 Q0 d4 1 3 s", name="private", visibility=Run.Visibility.OWNER)
    scored("q1 Q0 d2 1 3 s\nq2 Q0 d4 1 3 s", name="withdrawn")
    Run.objects.filter(name="withdrawn").update(withdrawn_at=timezone.now())

    assert client.get(url).content == before


def test_chart_has_a_row_for_each_system(client, benchmark, release, runs):
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))
    url = reverse("scoring:reusability-chart", args=[benchmark.slug, "1.0.0", "csv"])

    rows = client.get(url).content.decode().splitlines()

    assert rows[0] == "system,shift,ndcg,without,judged,only_its_own,shift_alone"
    assert {row.split(",")[0] for row in rows[1:]} == {"one", "other"}
