"""Means by slice: stored with a run's scores, shown on boards, withheld where they tell."""

import csv
import io

import pytest
from django.urls import reverse

from benchmarks_app.models import Release, Slice, User
from benchmarks_app.slices.services import changes, members
from scoring.models import Score
from scoring.planning.services import reliability
from scoring.scores.selectors.boards import whole_score_sets
from scoring.scores.services import measuring, slice_scores
from scoring.scores.services.slice_scores import slices_on_board
from tests import factories
from tests.conftest import done_jobs

pytestmark = pytest.mark.django_db
N = 40
FIRST = [f"q{n:02}" for n in range(30)]
EVERY = [f"q{n:02}" for n in range(N)]


@pytest.fixture(scope="module", autouse=True)
def released(world_of_module) -> None:
    """40 queries with one relevant document each; run `a` finds it first, `b` second for half."""
    with world_of_module():
        olga = factories.user("olga")
        benchmark = factories.benchmark("bench", visibility="public")
        benchmark.memberships.create(user=olga, role="owner")
        for qid in EVERY:
            factories.query(benchmark, qid)
        grades = factories.qrel_set(benchmark, {(qid, "d1"): 1 for qid in EVERY})
        factories.query_slice(
            benchmark, "first", *benchmark.queries.filter(qid__in=FIRST), minimum=30
        )
        factories.query_slice(benchmark, "few", *benchmark.queries.filter(qid__in=EVERY[35:]))
        factories.query_slice(benchmark, "nothing")
        type(grades).objects.filter(pk=grades.pk).update(n_relevant=N)
        grades.refresh_from_db()
        factories.run(benchmark, "\n".join(f"{qid} Q0 d1 1 1 a" for qid in EVERY), name="a")
        second = [
            f"{qid} Q0 d{2 if place % 2 else 1} 1 2 b\n{qid} Q0 d{1 if place % 2 else 2} 2 1 b"
            for place, qid in enumerate(EVERY)
        ]
        factories.run(benchmark, "\n".join(second), name="b")
        factories.release(grades, by=olga)
        done_jobs()


@pytest.fixture
def olga(db) -> User:
    return User.objects.get(username="olga")


@pytest.fixture
def board(db) -> Release:
    return Release.objects.get()


def mean(run: str, slice_name: str, measure: str = "RR@10") -> float:
    record = Score.objects.get(score_set__run__name=run, slice_name=slice_name, measure=measure)
    return record.mean


def url(release, name="leaderboard-release", **query) -> str:
    from urllib.parse import urlencode

    address = reverse(f"scoring:{name}", args=[release.benchmark.slug, release.version])
    return f"{address}?{urlencode(query)}"


def test_scoring_stores_the_mean_of_every_slice_with_its_interval(board):
    """`b` has 1 and 1/2 in turn: 0.75 over 30; over q35 to q39 three halves and two ones."""
    score = Score.objects.get(score_set__run__name="b", slice_name="first", measure="RR@10")

    assert (mean("a", "first"), score.mean, score.n) == (1.0, 0.75, 30)
    assert score.ci_low < 0.75 < score.ci_high
    assert mean("b", "few") == pytest.approx(0.7)
    assert not Score.objects.filter(slice_name="nothing").exists()


def test_a_slice_that_changes_later_moves_no_score(board):
    Slice.objects.filter(name="few").delete()

    assert [(board_slice.name, board_slice.n) for board_slice in slices_on_board(board)] == [
        ("few", 5),
        ("first", 30),
    ]


def test_the_board_ranks_by_the_chosen_slice(board, client):
    page = client.get(url(board, m="MRR@10", slice="few"))

    rows = page.context["page"].object_list
    assert [(row.run.name, row.scores["RR@10"]) for row in rows] == [
        ("a", 1.0),
        ("b", pytest.approx(0.7)),
    ]
    assert "5 queries are too few to tell runs apart" in page.content.decode()


def test_standings_of_a_slice_are_those_of_its_queries(board, client):
    whole, part = (
        client.get(url(board, m="MRR@10", slice=name)).context["page"].object_list
        for name in ("", "few")
    )

    assert [row.standing.tie_group for row in whole] == [1, 2]
    assert [row.standing.tie_group for row in part] == [1, 1]


def test_a_measure_that_was_added_is_computed_over_the_slice(board, client, olga):
    client.force_login(olga, backend="django.contrib.auth.backends.ModelBackend")

    client.get(url(board, measure="P@1", slice="first"))

    assert mean("b", "first", "P@1") == 0.5
    seen = whole_score_sets(board)
    again = {"release": board, "score_sets": seen, "slice_name": "first", "names": ["P@1"]}
    assert measuring.add_slice_scores(**again) == 0


def test_the_csv_holds_the_slice(board, client):
    text = client.get(url(board, "leaderboard-csv", m="MRR@10", slice="few")).content.decode()

    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["run"], round(float(row["MRR@10"]), 4)) for row in rows] == [("a", 1), ("b", 0.7)]


def test_a_slice_that_is_not_there_is_told_and_all_queries_shown(board, client):
    page = client.get(url(board, slice="rare"))

    assert page.status_code == 422
    assert "This release has no slice “rare”" in page.content.decode()
    assert client.get(url(board, "leaderboard-csv", slice="rare")).status_code == 404


def test_a_run_lists_its_means_by_slice(board, client):
    run = board.benchmark.runs.get(name="b")

    page = client.get(reverse("scoring:run-slices", args=["bench", run.pk]) + "?m=MRR@10")

    results = {row.name: round(row.mean, 4) for row in page.context["rows"] if not row.is_all}
    assert results == {"few": 0.7, "first": 0.75}


def test_a_run_lists_an_added_measure_for_who_is_signed_in_over_all_queries_too(
    board, client, olga
):
    page = reverse("scoring:run-slices", args=["bench", board.benchmark.runs.get(name="b").pk])
    of_nobody = client.get(f"{page}?m=P@1").context["rows"]
    n_stored = Score.objects.filter(measure="P@1").count()
    client.force_login(olga, backend="django.contrib.auth.backends.ModelBackend")
    rows = client.get(f"{page}?m=P@1").context["rows"]

    assert (of_nobody, n_stored) == ([], 0)
    assert [(row.name, row.mean) for row in rows] == [
        ("All queries", 0.5),
        ("few", pytest.approx(0.4)),
        ("first", 0.5),
    ]


# --- a hidden split --------------------------------------------------------------------------


@pytest.fixture
def hidden(board, monkeypatch):
    """A function that hides queries of the release."""

    def hide(qids) -> None:
        result = frozenset(qids)
        monkeypatch.setattr(slice_scores, "hidden_queries", lambda release: result)
        monkeypatch.setattr("scoring.scores.views.hidden_queries", lambda release: result)

    return hide


def register(name: str, olga) -> None:
    changes.register_slice(of=Slice.objects.get(name=name), actor=olga)


def test_of_hidden_queries_unregistered_slices_are_withheld(board, client, hidden):
    hidden(EVERY)

    page = client.get(url(board, slice="first"))

    assert slices_on_board(board) == []
    assert page.status_code == 422
    assert "only registered slices of at least 30 families are shown" in page.content.decode()
    assert [row.scores["RR@10"] for row in page.context["page"]] == [1.0, 0.75]


def test_a_registered_slice_is_withheld_where_all_minus_it_is_small(board, olga, hidden):
    """40 hidden, 30 in the slice: the overall mean and the slice's would tell of 10."""
    hidden(EVERY)
    register("first", olga)

    assert slices_on_board(board) == []


def test_a_registered_slice_is_shown_where_it_is_all_that_is_hidden(board, olga, hidden):
    hidden(FIRST)
    register("first", olga)

    assert [
        (board_slice.name, board_slice.is_registered) for board_slice in slices_on_board(board)
    ] == [("first", True)]


def test_a_slice_registered_with_other_members_than_released_is_withheld(board, olga, hidden):
    hidden(FIRST)
    members.add_queries(to=Slice.objects.get(name="first"), qids=["q39"], actor=olga)
    register("first", olga)

    assert slices_on_board(board) == []


def test_runs_and_files_withhold_what_the_board_withholds(board, client, hidden):
    hidden(EVERY)
    run = board.benchmark.runs.get(name="b")

    page = client.get(reverse("scoring:run-slices", args=["bench", run.pk]))

    assert [row.name for row in page.context["rows"] if not row.is_all] == []
    assert client.get(url(board, "leaderboard-csv", slice="first")).status_code == 404


# --- reliability -----------------------------------------------------------------------------


def test_reliability_comes_from_the_runs_of_the_newest_release(board):
    """b minus a by nDCG@10 is 0 and 1/log2(3) - 1 in turn: one pair, half and half."""
    import numpy as np

    differences = [0.0, 1 / np.log2(3) - 1] * 20

    result = reliability.reliability_of(board.benchmark, board)

    sigma = float(np.std(differences, ddof=1))
    assert result.spread.sigma == pytest.approx(sigma)
    assert result.reach.detectable == pytest.approx(2.8016 * sigma / np.sqrt(40), abs=1e-4)
    assert (result.tier.name, result.reach.is_assumed, result.spread.n_pairs) == (
        "unreliable",
        False,
        1,
    )


def test_without_two_runs_that_differ_the_spread_is_assumed_and_said_so(client):
    benchmark = factories.benchmark("new", visibility="public")
    for n in range(50):
        factories.query(benchmark, f"q{n}")

    page = client.get(reverse("scoring:reliability", args=["new"])).content.decode()

    assert "Assumed: two runs differ on a query with a standard deviation of 0.20" in page
    assert "±0.079" in page
    assert "unreliable" in page


def test_so_few_queries_miss_any_difference(scored, release, signed_in, vi):
    """Three queries with differences of 1, -1 and 0 would show 1.62 and more: there is no such."""
    scored("q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s", "one")
    scored("q2 Q0 d4 1 1 s", "two")

    result = reliability.reliability_of(release.benchmark, release)
    address = reverse("scoring:reliability", args=["stdlib"]) + "?release=1.0.0"
    page = signed_in(vi).get(address).content.decode()

    assert (result.reach.sigma, result.reach.detectable) == (1.0, None)
    assert "So few would miss any difference." in page
    assert "±1" not in page


def test_registering_tells_how_many_results_there_were(board, olga):
    register("first", olga)

    assert Slice.objects.get(name="first").n_results_before == 2


def test_the_chart_of_a_slice_holds_its_own_size(board, client):
    page = client.get(reverse("scoring:slice-reach-chart", args=["bench", "first", "csv"]))

    rows = list(csv.DictReader(io.StringIO(page.content.decode())))
    assert [row["queries"] for row in rows if row["slice"] == "True"] == ["30"]


def test_panel_of_a_release_that_is_not_there_is_not_found(board, client):
    address = reverse("scoring:reliability", args=["bench"])

    assert client.get(f"{address}?release=9.9.9").status_code == 404
