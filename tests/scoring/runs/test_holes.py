"""Unjudged documents of a run: the page, the file, the endpoint."""

import csv
import io

import pytest
from django.urls import reverse

pytestmark = pytest.mark.django_db
RUN = """q1 Q0 x1 1 9 s
q1 Q0 d1 2 8 s
q2 Q0 d4 1 9 s
q2 Q0 x2 2 8 s
q2 Q0 x3 3 7 s
q3 Q0 d6 1 9 s
"""


@pytest.fixture
def url(scored):
    """A function that gives an address of the scored run."""
    run = scored(RUN, "system").run
    return lambda name: reverse(name, args=["stdlib", run.pk])


def test_queries_stand_by_what_is_at_stake(url, signed_in, vi):
    answer = signed_in(vi).get(url("scoring:run-holes"))

    rows = [(row.qid, [hole.docid for hole in row.holes]) for row in answer.context["rows"]]
    assert rows == [("q2", ["x2", "x3"]), ("q1", ["x1"])]
    assert answer.context["n_holes"] == 3
    assert "2 of 3 unjudged" in answer.content.decode()
    assert "text of q2" in answer.content.decode()


def test_file_and_endpoint_have_the_same(url, signed_in, vi):
    file = signed_in(vi).get(url("scoring:run-holes-csv")).content.decode()
    results = signed_in(vi).get(url("api:run-holes")).json()["results"]

    rows = [tuple(row.values()) for row in csv.DictReader(io.StringIO(file))]
    assert rows == [("q2", "2", "x2"), ("q2", "3", "x3"), ("q1", "1", "x1")]
    assert [
        (result["query"], str(hole["rank"]), hole["document"])
        for result in results
        for hole in result["holes"]
    ] == rows


def test_depth_is_one_of_a_few(url, signed_in, vi):
    context = signed_in(vi).get(url("scoring:run-holes") + "?depth=5").context
    other = signed_in(vi).get(url("scoring:run-holes") + "?depth=7").context

    assert (context["depth"], other["depth"]) == (5, 10)


@pytest.mark.parametrize(("who", "is_there"), [("vi", False), ("maintainer", True)])
def test_button_to_judge_is_for_who_may(url, signed_in, request, who, is_there):
    page = signed_in(request.getfixturevalue(who)).get(url("scoring:run-holes")).content.decode()

    assert ("Judge them" in page) is is_there


def test_run_without_holes_says_so(scored, signed_in, vi):
    run = scored("q1 Q0 d1 1 1 s").run

    page = signed_in(vi).get(reverse("scoring:run-holes", args=["stdlib", run.pk]))

    assert b"Nothing is unjudged here" in page.content
