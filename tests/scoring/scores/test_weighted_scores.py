"""A release whose queries have weights: weighted means on its board and its runs' pages."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks_app.models import Query
from scoring.models import Score, ScoreSet
from scoring.scores.services import measuring
from scoring.scores.shown import measures_on
from tests import factories

# Reciprocal rank 1 of q1, 1/2 of q2.
RUN = "q1 Q0 d1 1 2 s\nq2 Q0 x 1 2 s\nq2 Q0 d2 2 1 s\n"
GRADES = {("q1", "d1"): 1, ("q2", "d2"): 1}


@pytest.fixture
def scored(benchmark, publish, do_jobs):
    """A release with weights 3 and 1, and one run on it."""
    qrels = factories.qrel_set(benchmark, GRADES)
    for qid, weight in (("q1", 3.0), ("q2", 1.0)):
        Query.objects.filter(benchmark=benchmark, qid=qid).update(weight=weight)
    factories.run(benchmark, RUN, name="ours")
    publish(qrels)
    do_jobs()
    return ScoreSet.objects.get()


def weighted(score_set):
    rows = Score.objects.filter(score_set=score_set, slice_name=Score.WEIGHTED)
    return {score.measure: score for score in rows}


def test_every_mean_is_also_stored_weighted(scored):
    names = {measure.name for measure in measures_on(1)}

    assert set(weighted(scored)) == names
    assert weighted(scored)["RR@10"].mean == (3 * 1 + 1 * 0.5) / 4
    assert weighted(scored)["RR@10"].n == 2


def test_measure_that_is_added_gets_its_weighted_mean_too(scored):
    measuring.add_measure(release=scored.release, score_sets=[scored], name="P@1")

    assert weighted(scored)["P@1"].mean == 0.75


def test_release_without_weights_has_no_weighted_mean(benchmark, publish, do_jobs):
    factories.run(benchmark, RUN, name="ours")
    publish(factories.qrel_set(benchmark, GRADES))
    do_jobs()

    assert not weighted(ScoreSet.objects.get())


def test_board_shows_the_weighted_mean_under_its_name(scored, owner):
    client = Client()
    client.force_login(owner)
    url = reverse(
        "scoring:leaderboard-release",
        args=[scored.release.benchmark.slug, scored.release.version],
    )

    page = client.get(url, {"m": "MRR@10"}).content.decode()

    assert "MRR@10 (weighted)" in page
    assert "0.8750" in page
    assert "0.7500" in page  # the plain mean beside it


def test_boards_file_has_columns_of_weighted_means(scored, owner):
    client = Client()
    client.force_login(owner)
    url = reverse(
        "scoring:leaderboard-csv", args=[scored.release.benchmark.slug, scored.release.version]
    )

    (row,) = csv.DictReader(io.StringIO(client.get(url).content.decode()))

    assert (row["MRR@10"], row["MRR@10 (weighted)"]) == ("0.75", "0.875")


def test_runs_page_shows_weighted_means(scored, owner):
    client = Client()
    client.force_login(owner)
    url = reverse("scoring:run-scores", args=[scored.release.benchmark.slug, scored.run.pk])

    page = client.get(url).content.decode()

    assert "MRR@10 (weighted)" in page
    assert "0.8750" in page
