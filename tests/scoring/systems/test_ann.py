"""Approximate against exact search: numbers, page, chart, endpoint and command."""

import json
import re

import pytest
from django.core.cache import cache
from django.urls import reverse

from benchmarks_app.models import Role, Run
from scoring.systems.services.ann import ann_report
from tests import factories

pytestmark = pytest.mark.django_db

EXACT = "q1 Q0 d1 1 9 s\nq1 Q0 d2 2 8 s\nq2 Q0 d5 1 9 s\nq2 Q0 d4 2 8 s\nq3 Q0 d6 1 7 s"
INDEX = "q1 Q0 d1 1 9 s\nq1 Q0 d7 2 5 s\nq2 Q0 d5 1 9 s\nq2 Q0 d4 2 8 s"


@pytest.fixture(autouse=True)
def _fresh_cache():
    cache.clear()


@pytest.fixture
def runs(release, scored):
    return scored(EXACT, name="exact").run, scored(INDEX, name="index").run


@pytest.fixture
def page(client, benchmark):
    client.force_login(factories.member(benchmark, "vi", Role.VIEWER))

    def ask(**query):
        return client.get(reverse("scoring:ann", args=[benchmark.slug]), query)

    return ask


def test_recall_and_loss_are_over_the_queries(release, runs):
    exact, index = runs

    report = ann_report(exact=exact, approximate=index, release=release, k=2)

    assert [query.recall for query in report.recall.queries] == [0.5, 1.0, 0.0]
    assert report.recall.n_missing == 1
    # q1 loses d2, of grade 1 at rank 2; nDCG of q2 is the same, q3 has nothing relevant.
    lost = (1 / 1.584962500721156) / (3 + 1 / 1.584962500721156)
    assert report.differences == pytest.approx({"q1": -lost, "q2": 0.0, "q3": 0.0})
    assert report.overall.loss.mean == pytest.approx(-lost / 3)
    assert report.overall.recall.low <= 0.5 <= report.overall.recall.high


def test_runs_without_scores_have_recall_alone(benchmark, release, runs):
    late = factories.run(benchmark, INDEX, name="late")

    report = ann_report(exact=runs[0], approximate=late, release=release, k=2)

    assert report.overall.loss is None
    assert report.overall.recall.mean == 0.5


def test_page_says_recall_and_the_queries_that_lose_most(page, runs):
    html = page(exact=runs[0].pk, approximate=runs[1].pk, k=2).content.decode()

    assert "0.5000" in html
    assert "below the usual 95" in html
    assert "d2" in html


def test_one_run_against_itself_is_refused(page, runs):
    answer = page(exact=runs[0].pk, approximate=runs[0].pk)

    assert answer.status_code == 422
    assert "Choose another run than the exact one" in answer.content.decode()


def test_losses_of_hidden_queries_are_left_out(page, runs, monkeypatch):
    from scoring.scores.services import firewall

    monkeypatch.setattr(firewall, "hidden_queries", lambda release: frozenset({"q1"}))

    context = page(exact=runs[0].pk, approximate=runs[1].pk, k=2).context

    assert {query.qid: lost for query, _, lost in context["worst"]} == {"q3": 0.0, "q1": None}
    assert context["loss"].mean == 0.0  # of the others
    assert context["n_left_out"] == 1


def test_chart_counts_queries_by_recall(client, benchmark, page, runs):
    url = reverse("scoring:ann-chart", args=[benchmark.slug, runs[0].pk, runs[1].pk, 2, "csv"])

    rows = client.get(url).content.decode().splitlines()

    assert rows == ["recall,from,to,queries", "0.0,-0.2,0.2,1", "0.5,0.3,0.7,1", "1.0,0.8,1.2,1"]


def test_chart_takes_scores_as_equal_that_the_page_does(client, benchmark, page, runs):
    second = factories.run(benchmark, "q1 Q0 d2 1 9 s\nq2 Q0 d4 1 9 s\nq3 Q0 d6 1 9 s")

    answer = page(exact=runs[0].pk, approximate=second.pk, k=1, tolerance=1)
    (chart,) = re.findall(r'/b/[^"]*/recall-1', answer.content.decode())[:1]

    assert answer.context["recall"].mean == 1.0
    rows = client.get(f"{chart}.csv").content.decode().splitlines()
    assert rows == ["recall,from,to,queries", "1.0,0.6,1.4,3"]
    assert client.get(f"{chart.replace('1.0', 'nan')}.csv").status_code == 404


def test_endpoint_takes_names(client, benchmark, page, runs):
    url = f"/api/v1/benchmarks/{benchmark.slug}/ann/"

    answer = client.get(url, {"exact": "exact", "approximate": "index", "k": 2}).json()
    unknown = client.get(url, {"exact": "exact", "approximate": "indx"})

    assert (answer["recall"], answer["n_missing"], answer["usual_baseline"]) == (0.5, 1, 0.95)
    assert answer["worst"][0] == {"query": "q3", "recall": 0.0, "missed": ["d6"]}
    assert unknown.status_code == 400
    assert "There is no run indx" in json.dumps(unknown.json())


def test_endpoint_says_what_is_wrong_of_which_parameter(client, benchmark, page, runs):
    url = f"/api/v1/benchmarks/{benchmark.slug}/ann/"

    answer = client.get(url, {"exact": "exact", "approximate": "exact"})

    assert answer.json()["errors"] == {"approximate": ["Choose another run than the exact one."]}


def test_endpoint_takes_a_name_with_a_comma(client, benchmark, page, runs):
    Run.objects.filter(name="index").update(name="index, small")
    url = f"/api/v1/benchmarks/{benchmark.slug}/ann/"

    answer = client.get(url, {"exact": "exact", "approximate": "index, small", "k": 2})

    assert answer.json()["recall"] == 0.5
