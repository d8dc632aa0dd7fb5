"""What of a board is shown, and in which order."""

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from benchmarks_app.models import Run
from scoring.boards import keeping
from scoring.scores.selectors.boards import leaderboard
from scoring.scores.selectors.filters import SORTS, BoardFilter, filtered, sorted_rows

PERFECT = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d4 1 1 s\nq3 Q0 d6 1 1 s"
HALF = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s"
URL = reverse("scoring:leaderboard-release", args=["stdlib", "1.0.0"])


@pytest.fixture
def board(scored, release, sam, ada, vi):
    """Alpha (sam's, dense, pooled, old), beta (ada's baseline, sparse), gamma (sam's, trained)."""
    alpha = scored(PERFECT, "alpha", owner=sam, metadata={"type": "dense"}).run
    Run.objects.filter(pk=alpha.pk).update(
        pooled_depth=10, created_at=timezone.now() - timedelta(days=40), kind="submitted"
    )
    scored(HALF, "beta", owner=ada, kind="baseline", metadata={"type": "sparse"})
    gamma = {"type": "dense", "training sets": "stdlib"}
    scored("q1 Q0 d3 1 1 s", "gamma", owner=sam, kind="submitted", metadata=gamma)
    return leaderboard(release=release, user=vi)


LONG_AGO = timezone.now().date() - timedelta(days=20)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, "alpha beta gamma"),
        ({"q": "ALP"}, "alpha"),
        ({"q": "sam dense"}, "alpha gamma"),
        ({"q": "sam sparse"}, ""),
        ({"type": "dense"}, "alpha gamma"),
        ({"by": "Ada"}, ""),
        ({"kind": "baseline"}, "beta"),
        ({"pooled": True}, "alpha"),
        ({"pooled": False}, "beta gamma"),
        ({"trained": True}, "gamma"),
        ({"trained": False}, "alpha beta"),
        ({"since": LONG_AGO}, "beta gamma"),
        ({"until": LONG_AGO}, "alpha"),
        ({"best": True}, "alpha beta"),
        ({"best": True, "type": "dense"}, "alpha"),
    ],
)
def test_filters_leave_out_what_is_not_asked_for(board, asked, expected):
    result = filtered(board, BoardFilter(**asked))

    assert " ".join(row.run.name for row in result) == expected
    assert BoardFilter(**asked).is_narrow == bool(asked)


def test_filter_by_person_names_who_a_run_is_by(board, ada):
    assert [row.run.name for row in filtered(board, BoardFilter(by=str(ada)))] == ["beta"]


def test_ranks_stay_those_of_the_whole_board(board):
    assert [(row.run.name, row.rank) for row in filtered(board, BoardFilter(q="gamma"))] == [
        ("gamma", 3)
    ]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("rank", "alpha beta gamma"),
        ("run", "alpha beta gamma"),
        ("date", "gamma beta alpha"),
        ("answered", "alpha beta gamma"),
        ("missing", "beta gamma alpha"),
    ],
)
def test_board_sorts_by_any_column_either_way(board, sort, expected):
    names = [row.run.name for row in sorted_rows(board, sort)]
    reversed_ = [row.run.name for row in sorted_rows(board, sort, is_reversed=True)]

    assert " ".join(names) == expected
    assert names[0] == reversed_[-1] or sort in {"missing", "answered"}
    assert sorted(names) == sorted(reversed_)


def test_what_has_no_value_stands_last_either_way(board):
    for is_reversed in (False, True):
        result = sorted_rows(board, "adjusted", is_reversed=is_reversed)
        assert [row.rank for row in result] == [1, 2, 3]
    assert set(SORTS) >= {"rank", "run", "by", "date", "answered", "adjusted", "attempts"}


# --- as an address asks --------------------------------------------------------------------


def names(answer) -> str:
    return " ".join(row.run.name for row in answer.context["page"].object_list)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=beta", "beta"),
        ("type=dense&trained=no", "alpha"),
        ("kind=submitted&sort=run&order=reversed", "gamma alpha"),
        ("pooled=yes", "alpha"),
        (f"since={LONG_AGO}", "beta gamma"),
        ("best=on", "alpha beta"),
        ("type=&by=&since=&best=", "alpha beta gamma"),
        ("m=Recall%40100&q=a", "alpha beta gamma"),
    ],
)
def test_filters_of_an_address_are_shareable(board, signed_in, vi, query, expected):
    answer = signed_in(vi).get(f"{URL}?{query}")

    assert (answer.status_code, names(answer)) == (200, expected)
    again = signed_in(vi).get(answer.context["permanent"])
    assert names(again) == expected


@pytest.mark.parametrize(
    "query",
    ["since=yesterday", "kind=nothing", "sort=nothing", "pooled=perhaps", "until=2026-02-31"],
)
def test_a_filter_that_is_none_is_told_and_leaves_nothing_out(board, signed_in, vi, query):
    answer = signed_in(vi).get(f"{URL}?{query}")

    assert (answer.status_code, names(answer)) == (422, "alpha beta gamma")


def test_a_board_without_a_match_says_so(board, signed_in, vi):
    page = signed_in(vi).get(f"{URL}?q=nothing+like").content.decode()

    assert "No run is like that" in page
    assert "3 runs are on this board" in page


def test_filters_come_filled_in(board, signed_in, vi):
    page = signed_in(vi).get(f"{URL}?type=dense&q=a%22b&since=2026-01-31").content.decode()

    assert '<option value="dense" selected>dense</option>' in page
    assert 'value="a&quot;b"' in page
    assert 'value="2026-01-31"' in page
    assert '<details class="board-more" open>' in page
    assert date(2026, 1, 31).isoformat() in page


# --- slice by slice ------------------------------------------------------------------------


@pytest.fixture
def sliced(benchmark, publish, scored):
    """Release 2.0.0 with the slices `one` (q1) and `two` (q2, q3), and two runs on it."""
    from tests import factories
    from tests.scoring.conftest import GRADES

    grades = factories.qrel_set(benchmark, GRADES)
    factories.query_slice(benchmark, "one", *benchmark.queries.filter(qid="q1"))
    factories.query_slice(benchmark, "two", *benchmark.queries.filter(qid__in=["q2", "q3"]))
    result = publish(grades, "2.0.0")
    scored(PERFECT, "best", on=result)
    scored(HALF, "half", on=result)
    return result


def slices_of(answer) -> dict:
    return {
        (of.row.run.name, cell.slice.name): cell
        for of in answer.context["found"].rows
        for cell in of.cells
    }


def test_heat_map_has_the_mean_of_every_run_over_every_slice(sliced, signed_in, vi):
    url = reverse("scoring:leaderboard-slices", args=["stdlib", "2.0.0"])

    answer = signed_in(vi).get(url)

    cells = slices_of(answer)
    means = {key: round(cell.mean, 4) for key, cell in cells.items()}
    assert means == {
        ("best", ""): 0.6667,
        ("best", "one"): 1.0,
        ("best", "two"): 0.5,
        ("half", ""): 0.3333,
        ("half", "one"): 1.0,
        ("half", "two"): 0.0,
    }
    assert cells["half", "two"].shade == 0
    assert cells["best", "one"].shade == 10
    assert [(measure.name, len(best)) for measure, best in answer.context["multiples"]] == [
        ("", 2),
        ("one", 2),
        ("two", 2),
    ]
    _, best_of_two = answer.context["multiples"][-1]
    assert [row.run.name for row, _ in best_of_two] == ["best", "half"]


def test_heat_map_can_show_differences_from_a_run(sliced, signed_in, vi):
    url = reverse("scoring:leaderboard-slices", args=["stdlib", "2.0.0"])
    baseline = sliced.benchmark.runs.get(name="half")

    answer = signed_in(vi).get(f"{url}?baseline={baseline.pk}")

    cells = slices_of(answer)
    assert cells["best", "two"].difference == pytest.approx(0.5)
    assert (cells["best", "two"].direction, cells["best", "two"].shade) == ("up", 10)
    assert (cells["best", "one"].difference, cells["best", "one"].direction) == (0.0, "")
    assert "+0.500" in answer.content.decode()
    # The interval of a mean is none of the difference.
    assert 'class="ci"' not in answer.content.decode()
    assert signed_in(vi).get(url).content.decode().count('class="ci"') == len(cells)


def test_a_measure_that_was_added_is_computed_for_the_heat_map(sliced, signed_in, vi):
    url = reverse("scoring:leaderboard-slices", args=["stdlib", "2.0.0"])

    cells = slices_of(signed_in(vi).get(f"{url}?measure=P%402"))

    assert cells["half", "one"].mean == 1.0
    assert cells["best", "two"].mean == 0.25


def test_a_release_without_slices_says_what_to_do(board, signed_in, vi):
    page = signed_in(vi).get(reverse("scoring:leaderboard-slices", args=["stdlib", "1.0.0"]))

    assert "1.0.0 has no slice" in page.content.decode()


def test_heat_map_asks_as_often_for_20_runs_as_for_2(sliced, scored, signed_in, vi, monkeypatch):
    monkeypatch.setattr(keeping, "find", lambda key: None)
    url = reverse("scoring:leaderboard-slices", args=["stdlib", "2.0.0"])
    counts = []
    client = signed_in(vi)
    for size in (0, 18):
        for _ in range(size):
            scored(HALF, on=sliced)
        client.get(url)
        with CaptureQueriesContext(connection) as captured:
            assert len(client.get(url).context["found"].rows) == 2 + size
        counts.append(len(captured))

    assert counts[0] == counts[1]
