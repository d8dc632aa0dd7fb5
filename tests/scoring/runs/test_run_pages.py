"""The pages of one run: by slice, query by query, one query, and what the numbers suggest."""

import csv
import io
import re

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmarks_app.models import Run
from scoring.comparisons.services.against import slices_against
from scoring.runs.services import n_draws_for
from scoring.scores.services import measuring
from scoring.scores.services.firewall import Sight
from tests import factories

pytestmark = pytest.mark.django_db

# Of the release of `conftest.py`: q1 has d1 (3), d2 (1), d3 (0); q2 d4 (2), d5 (0); q3 d6 (0).
RUN = """q1 Q0 d2 1 3.0 s
q1 Q0 d9 2 2.0 s
q1 Q0 d3 3 1.0 s
q2 Q0 d4 1 5.0 s
"""
BASELINE = "q1 Q0 d1 1 3.0 s\nq1 Q0 d2 2 2.0 s\nq2 Q0 d5 1 5.0 s\nq2 Q0 d4 2 4.0 s"


@pytest.fixture
def url(scored):
    """A function that gives the address of a page of a run that was scored."""
    score_set = scored(RUN, "system")

    def url(name: str, *more, **asked) -> str:
        address = reverse(name, args=["stdlib", score_set.run_id, *more])
        query = "&".join(f"{key}={value}" for key, value in asked.items())
        return f"{address}?{query}" if query else address

    url.score_set = score_set
    return url


# --- query by query ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "qids"),
    [
        ({}, ["q3", "q1", "q2"]),
        ({"order": "best"}, ["q2", "q1", "q3"]),
        ({"m": "Judged@10"}, ["q1", "q2", "q3"]),  # q3 has nothing: no value goes last
        ({"q": "TEXT OF q2"}, ["q2"]),
        ({"q": "q"}, ["q3", "q1", "q2"]),
        ({"q": "nothing like this"}, []),
        ({"slice": "some"}, ["q1", "q2"]),
        ({"slice": "some", "q": "q1"}, ["q1"]),
        ({"slice": "no slice"}, ["q3", "q1", "q2"]),
    ],
)
def test_queries_are_sorted_searched_and_taken_of_a_slice(
    benchmark, publish, tmp_path, signed_in, vi, asked, qids
):
    from scoring.scores.services.scoring import Target, score_run
    from tests.scoring.conftest import GRADES

    qrels = factories.qrel_set(benchmark, GRADES)
    factories.query_slice(benchmark, "some", *benchmark.queries.filter(qid__in=["q1", "q2"]))
    target = Target.of(publish(qrels))
    run = factories.run(benchmark, RUN, name="system")
    score_run(run=run, target=target, folder=tmp_path / "scores")
    query = "&".join(f"{key}={value}" for key, value in asked.items())

    page = signed_in(vi).get(f"{reverse('scoring:run-queries', args=['stdlib', run.pk])}?{query}")
    file = signed_in(vi).get(
        f"{reverse('scoring:run-queries-csv', args=['stdlib', run.pk])}?{query}"
    )

    assert [row.qid for row in page.context["rows"]] == qids
    assert [row["query"] for row in csv.DictReader(io.StringIO(file.content.decode()))] == qids


def test_file_has_every_measure_in_full_and_nothing_a_spreadsheet_would_run(
    scored, benchmark, signed_in, vi
):
    benchmark.queries.filter(qid="q1").update(text="whatever")  # the release froze it before
    run = scored(RUN).run

    answer = signed_in(vi).get(reverse("scoring:run-queries-csv", args=["stdlib", run.pk]))

    first = next(csv.DictReader(io.StringIO(answer.content.decode())))
    assert (first["query"], first["is_missing"], first["nDCG@10"]) == ("q3", "1", "0.0")
    assert first["Judged@10"] == ""
    assert 'filename="stdlib-' in answer["Content-Disposition"]


def test_charts_of_the_values_have_every_query(url, signed_in, vi):
    client = signed_in(vi)

    def rows(name: str) -> list[dict[str, str]]:
        address = url("scoring:run-chart", "1.0.0", "nDCG@10", name, "csv")
        return list(csv.DictReader(io.StringIO(client.get(address).content.decode())))

    assert sum(int(row["queries"]) for row in rows("distribution")) == 3
    assert rows("cumulative")[-1]["share"] == "1.0"
    by_grade = {(row["grade"], row["ranks"]): row["documents"] for row in rows("grades")}
    assert by_grade["3 answers", "not found"] == "1"
    assert by_grade["2 helpful", "1"] == "1"
    assert by_grade[next(grade for grade, _ in by_grade if grade[0] == "1"), "1"] == "1"


@pytest.mark.parametrize(
    ("measure", "chart", "status"),
    [
        ("nDCG@10", "distribution", 200),
        ("AP@3", "distribution", 200),
        ("no", "distribution", 404),
        ("nDCG@10", "nothing", 404),
        ("nDCG@10", "slices-none", 200),
    ],
)
def test_chart_of_no_measure_or_name_is_not_found(url, signed_in, vi, measure, chart, status):
    address = url("scoring:run-chart", "1.0.0", measure, chart, "json")

    assert signed_in(vi).get(address).status_code == status


def test_picture_of_many_queries_is_no_larger_than_of_four_hundred():
    from scoring.runs.views.queries import bars_of

    few, many = bars_of([0.0, 0.5, 1.0]), bars_of([n / 9999 for n in range(10_000)] + [0.0] * 5)

    assert few.path.count("M") == 3
    assert many.path.count("M") == 400
    assert (many.n, many.n_zero, many.n_full) == (10_005, 6, 1)


def test_page_of_queries_asks_the_database_as_often_for_60_queries_as_for_3(
    benchmark, publish, scored, signed_in, vi
):
    client = signed_in(vi)
    small = scored("q1 Q0 d1 1 1 s")
    grades = {(f"n{number}", "d1"): 1 for number in range(60)}
    lines = "\n".join(f"n{number} Q0 d1 1 1 s" for number in range(60))
    large = scored(lines, on=publish(factories.qrel_set(benchmark, grades), "2.0.0"))

    def asked(run: Run) -> int:
        address = reverse("scoring:run-queries", args=["stdlib", run.pk])
        client.get(address)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert client.get(address).status_code == 200
        return len(asked)

    assert asked(small.run) == asked(large.run)


# --- one query -----------------------------------------------------------------------------------


def test_query_shows_missing_relevant_documents_and_the_ranking_with_grades(url, signed_in, vi):
    answer = signed_in(vi).get(url("scoring:run-query", "q1"))
    result = answer.context["found"]

    assert [(document.docid, document.grade) for document in result.missing] == [("d1", 3)]
    assert [(document.rank, document.docid, document.grade) for document in result.found] == [
        (1, "d2", 1),
        (2, "d9", None),
        (3, "d3", 0),
    ]
    page = answer.content.decode()
    assert page.index(">d1<") < page.index(">d9<")
    assert "Not judged" in page
    assert "not retrieved" in page


@pytest.mark.parametrize(("person", "is_shown"), [("owner", True), ("bo", False), ("vi", False)])
def test_why_a_document_has_its_grade_is_linked_for_whom_it_opens(
    url, signed_in, request, person, is_shown
):
    client = signed_in(request.getfixturevalue(person))

    page = client.get(url("scoring:run-query", "q1")).content.decode()

    pairs = re.findall(r'href="(/b/[^"]+/pairs/[^"]+)"', page)
    assert bool(pairs) == is_shown
    assert {client.get(pair).status_code for pair in pairs} <= {200}


def test_relevant_document_below_what_is_shown_has_its_rank(url, signed_in, vi):
    from scoring.scores.selectors.retrieved import retrieved

    score_set = url.score_set
    result = retrieved(run=score_set.run, release=score_set.release, qid="q1", depth=0)

    assert [
        (document.docid, document.rank) for document in result.missing if document.grade > 1
    ] == [("d1", None)]
    assert result.n_retrieved == 3
    assert result.found == []


def test_query_that_the_run_lacks_says_that_it_counts_0(url, signed_in, vi):
    page = signed_in(vi).get(url("scoring:run-query", "q3")).content.decode()

    assert "The run has nothing for this query" in page
    assert "No document of this query is relevant" in page


def test_query_without_grades_has_no_page(url, signed_in, vi):
    assert signed_in(vi).get(url("scoring:run-query", "nothing")).status_code == 404


# --- slices beside a baseline --------------------------------------------------------------------


def test_slices_stand_beside_a_baseline_with_intervals(url, scored, signed_in, vi):
    base = scored(BASELINE, "bm25", kind=Run.Kind.BASELINE)

    answer = signed_in(vi).get(url("scoring:run-slices"))

    (row,) = answer.context["rows"]
    assert answer.context["baseline"].run == base.run
    mine, theirs = (
        {
            value["qid"]: value["nDCG@10"]
            for value in measuring.per_query_values(score_set, "nDCG@10")
        }
        for score_set in (url.score_set, base)
    )
    expected = sum(mine[qid] - theirs[qid] for qid in mine) / 3
    assert row.difference == pytest.approx(expected)
    assert row.difference_low <= row.difference <= row.difference_high
    assert "bm25" in answer.content.decode()


def test_any_other_run_or_none_can_stand_beside(url, scored, signed_in, vi):
    scored(BASELINE, "bm25", kind=Run.Kind.BASELINE)
    other = scored(BASELINE, "other")

    named = signed_in(vi).get(url("scoring:run-slices", baseline=other.run_id))
    alone = signed_in(vi).get(url("scoring:run-slices", baseline="none"))

    assert named.context["baseline"].run == other.run
    assert alone.context["baseline"] is None
    assert alone.context["rows"][0].difference is None


def test_run_beside_itself_differs_nowhere(url):
    (row,) = slices_against(url.score_set, url.score_set, "nDCG@10", Sight(), AnonymousUser())

    assert (row.difference, row.difference_low, row.difference_high) == (0, 0, 0)
    assert not row.is_told_apart


def test_private_run_of_somebody_else_is_no_baseline(url, scored, signed_in, vi, owner):
    hidden = scored(BASELINE, "secret", owner=owner, visibility=Run.Visibility.OWNER)

    answer = signed_in(vi).get(url("scoring:run-slices", baseline=hidden.run_id))

    assert answer.context["baseline"] is None
    assert "secret" not in answer.content.decode()


# --- what the numbers suggest, and the page itself -----------------------------------------------


def test_reading_shows_judged_share_scenarios_and_bounds(url, signed_in, vi):
    answer = signed_in(vi).get(url("scoring:run-reading"))
    scenarios = answer.context["scenarios"]

    # q1: 2 of 3 judged, q2: all, q3: nothing retrieved, which has no share.
    assert answer.context["judged"] == pytest.approx((2 / 3 + 1) / 2)
    stored = url.score_set.scores.get(measure="nDCG@10", slice_name="").mean
    assert scenarios.raw == pytest.approx(stored)
    assert answer.context["brackets"]["P@10"].low < answer.context["brackets"]["P@10"].high
    assert b"No pattern stands out" in answer.content


@pytest.mark.parametrize(("n_queries", "n_draws"), [(10, 200), (500, 80), (2000, 40), (2001, 0)])
def test_grades_are_drawn_less_often_the_more_queries_there_are(n_queries, n_draws):
    assert n_draws_for(n_queries) == n_draws


def test_scores_say_state_rank_worst_queries_and_quota(submit, do_jobs, sam, signed_in, scored):
    scored(BASELINE, "bm25")
    submit(sam, RUN.encode(), "mine")
    do_jobs()
    run = Run.objects.get(name="mine")

    page = signed_in(sam).get(reverse("scoring:run-scores", args=["stdlib", run.pk]))
    text = " ".join(page.content.decode().split())

    assert "Rank 2</strong> of 2 by nDCG@10" in text
    assert text.index("Sent in") < text.index("Rank 2") < text.index("Worst queries")
    assert [row.qid for row, _ in page.context["worst"]["rows"]] == ["q3", "q1", "q2"]
    assert "submissions to" in text


def test_stranger_sees_no_submission_and_no_quota(url, signed_in, vi):
    context = signed_in(vi).get(url("scoring:run-scores")).context

    assert context["submission"] is None
    assert context["quota"] is None


# --- API -----------------------------------------------------------------------------------------


def test_api_has_means_with_intervals_by_measure_and_slice(url, signed_in, vi):
    answer = signed_in(vi).get(url("api:run-scores")).json()

    assert (answer["name"], answer["release"], answer["decimals"]) == ("system", "1.0.0", None)
    (ndcg,) = (score for score in answer["scores"] if score["measure"] == "nDCG@10")
    assert ndcg["mean"] == url.score_set.scores.get(measure="nDCG@10", slice_name="").mean
    assert (ndcg["slice"], ndcg["n"], ndcg["is_weighted"]) == ("", 3, False)


def test_api_has_queries_by_page_with_null_for_what_is_undefined(url, signed_in, vi):
    answer = signed_in(vi).get(url("api:run-queries", page_size=2)).json()

    assert (answer["count"], len(answer["results"])) == (3, 2)
    assert answer["results"][0]["query"] == "q3"
    assert answer["results"][0]["scores"]["Judged@10"] is None
    assert answer["results"][1]["scores"]["P@10"] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("name", "asked", "field"),
    [
        ("api:run-queries", {"measure": "nDGC@10"}, "measure"),
        ("api:run-queries", {"slice": "no slice"}, "slice"),
        ("api:run-holes", {"depth": 7}, "depth"),
    ],
)
def test_api_says_which_parameter_is_wrong(url, signed_in, vi, name, asked, field):
    answer = signed_in(vi).get(url(name, **asked))

    assert answer.status_code == 400
    assert field in answer.json()["errors"]


def test_api_knows_no_scores_of_another_release(url, signed_in, vi):
    assert signed_in(vi).get(url("api:run-scores", release="9.9.9")).status_code == 404
