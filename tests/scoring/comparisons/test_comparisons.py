"""Comparing runs: page, pair, queries, side by side, robustness, files, API; hidden splits."""

import csv
import io
import json
from datetime import timedelta
from math import nan
from urllib.parse import urlencode

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone
from scipy import stats

from benchmarks_app import files
from benchmarks_app.jobs.services import sweeping
from benchmarks_app.models import Job, QrelSet, Run
from scoring.comparisons.services import comparing, comparison_rows, numbers, questions, robustness
from scoring.comparisons.services.errors import ComparedRunError, TooManyComparedError
from scoring.comparisons.services.questions import Question, chosen_score_sets
from scoring.models import Comparison, OnlineResult
from scoring.scores.services import firewall, slice_scores
from scoring.templatetags.comparisons import DASH, MINUS, signed
from tests import factories
from tests.scoring.comparisons.making import EVERY, N, page, ranking, values
from tests.scoring.making_gates import gate_of, policy_of

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"


def api(release, *names: str, part: str = "", **query) -> str:
    query = urlencode({"runs": ",".join(names), "release": release.version, **query})
    return f"/api/v1/benchmarks/{release.benchmark.slug}/comparisons/{part}?{query}"


# --- what the numbers are --------------------------------------------------------------------


def test_means_differences_and_t_test_are_those_of_scipy(release, client):
    answer = client.get(api(release, "poor", "good")).json()

    poor, good = values(release, "poor"), values(release, "good")
    pair = next(
        pair
        for pair in answer["comparison"]["pairs"]
        if (pair["measure"], pair["slice"]) == ("nDCG@10", "all")
    )
    means = [summary["mean"] for summary in answer["comparison"]["summaries"][:2]]
    assert means == pytest.approx([poor.mean(), good.mean()])
    assert pair["difference"] == pytest.approx((good - poor).mean())
    assert pair["p_t"] == pytest.approx(stats.ttest_rel(good, poor).pvalue)
    assert pair["effect"]["d_z"] == pytest.approx((good - poor).mean() / (good - poor).std(ddof=1))
    assert (pair["effect"]["wins"], pair["effect"]["ties"], pair["effect"]["losses"]) == (20, 20, 0)
    assert pair["effect"]["superiority"] == 0.75
    assert pair["interval"]["low"] < pair["difference"] < pair["interval"]["high"]


@pytest.mark.parametrize("name", ["bm25(k1=0.9,b=0.4)", "a, b,c", "good,poor"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_run_with_commas_in_its_name_is_named_like_others(name, is_first, release, client):
    Run.objects.filter(name="third").update(name=name)
    names = [name, "good"] if is_first else ["good", name]
    address = f"/api/v1/benchmarks/{release.benchmark.slug}"

    answer = client.get(api(release, *names))
    wanted = client.get(f"{address}/top-ups/", {"runs": ",".join(names)})

    assert answer.status_code == 200, answer.content
    assert [run["name"] for run in answer.json()["runs"]] == names
    assert wanted.status_code == 200, wanted.content


def test_sign_flip_p_is_that_of_scipys_permutation_test(release, client):
    answer = client.get(api(release, "third", "poor")).json()

    pair = next(row for row in answer["comparison"]["pairs"] if row["slice"] == "all")
    differences = values(release, "poor") - values(release, "third")
    tried = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=5_000, rng=0
    )
    assert pair["p"] == pytest.approx(tried.pvalue, abs=0.001)


def test_slices_are_corrected_together_by_benjamini_hochberg(release, client):
    answer = client.get(api(release, "poor", "good")).json()

    pairs = [pair for pair in answer["comparison"]["pairs"] if pair["measure"] == "nDCG@10"]
    raw = [pair["p"] for pair in pairs if pair["slice"] in ("head", "tail")]
    ours = [pair["p_slices"] for pair in pairs if pair["slice"] in ("head", "tail")]
    assert ours == pytest.approx(stats.false_discovery_control(raw).tolist())
    assert next(pair for pair in pairs if pair["slice"] == "all")["p_slices"] is None


def test_a_baseline_is_corrected_by_holm_and_all_pairs_by_tukey(release, client):
    every = client.get(api(release, "poor", "good", "third")).json()["comparison"]
    comparison = client.get(api(release, "poor", "good", "third", baseline="poor")).json()[
        "comparison"
    ]

    assert (every["methods"]["correction"], comparison["methods"]["correction"]) == (
        "tukey",
        "holm",
    )
    assert len([p for p in every["pairs"] if p["slice"] == "all" and p["measure"] == "RR@10"]) == 3
    references = {pair["reference"] for pair in comparison["pairs"]}
    assert references == {str(Run.objects.get(name="poor").pk)}


def test_judged_shares_and_coverage_decide_on_comparability(release, client):
    """`third` answers 20 of 40 queries, and half of what it has there was judged."""
    answer = client.get(api(release, "good", "third")).json()

    assert answer["comparability"]["verdict"] == "not-comparable"
    assert any("50.0 % of the queries" in reason for reason in answer["comparability"]["reasons"])
    shares = answer["judged"]["shares"]
    assert shares[str(Run.objects.get(name="third").pk)] == 0.5
    assert answer["n_unjudged"] == 50  # d9 of 20 queries, and d3 where it has no grade: 30


def test_all_unjudged_documents_are_counted_once(release):
    sets = chosen_score_sets(release=release, user=factories.user(), named=["good", "poor"])
    target = numbers.Target.of(release)

    assert numbers.n_unjudged(sets, target, 10) == 30
    assert numbers.n_unjudged(sets, target, 2) == 0


# --- asked once ------------------------------------------------------------------------------


def test_the_same_question_is_worked_out_once(release, client, monkeypatch):
    client.get(api(release, "poor", "good"))
    monkeypatch.setattr(comparing, "computed", lambda *_: pytest.fail("computed again"))

    assert client.get(api(release, "poor", "good")).status_code == 200
    assert Comparison.objects.count() == 1


def test_a_baseline_is_held_against_each_other_run_once(release):
    named = ["poor", "good", "third"]
    sets = tuple(chosen_score_sets(release=release, user=factories.user(), named=named))

    assert Question(release, sets, "nDCG@10").n_pairs == 3
    assert Question(release, sets, "nDCG@10", baseline=sets[0].run).n_pairs == 2


def test_the_order_of_runs_and_the_measure_are_part_of_the_key(release):
    sets = chosen_score_sets(release=release, user=factories.user(), named=["good", "poor"])
    keys = {
        Question(release, tuple(sets), "nDCG@10").key,
        Question(release, tuple(reversed(sets)), "nDCG@10").key,
        Question(release, tuple(sets), "RR@10").key,
        Question(release, tuple(sets), "nDCG@10", sets[0].run).key,
    }

    assert len(keys) == 4


def test_a_large_comparison_is_a_job_whose_numbers_are_those_of_the_page(
    release, client, olga, do_jobs, monkeypatch
):
    inline = client.get(api(release, "poor", "good")).json()
    Comparison.objects.all().delete()
    monkeypatch.setattr(questions, "INLINE_VALUES", 10)
    client.force_login(olga, backend=BACKEND)

    refused = client.get(api(release, "poor", "good"))
    started = client.post(
        f"/api/v1/benchmarks/{release.benchmark.slug}/comparisons/",
        json.dumps({"runs": ["poor", "good"]}),
        content_type="application/json",
    )
    again = client.get(page(release, "poor", "good")).content.decode()
    do_jobs()
    answer = client.get(api(release, "poor", "good")).json()

    assert (refused.status_code, refused.json()["code"]) == (409, "comparison-not-ready")
    assert started.status_code == 202
    assert "It is being worked out" in again
    assert answer == inline
    job = Comparison.objects.get().job
    assert job.state == job.State.DONE
    assert client.get(job.result_url).context["told"].row.key == answer["key"]


def test_starting_a_job_twice_starts_one(release, olga, monkeypatch):
    sets = chosen_score_sets(release=release, user=olga, named=["good", "poor"])
    question = Question(release, tuple(sets), "nDCG@10")

    first, second = (comparing.start_comparison(question, olga) for _ in range(2))

    assert first.job == second.job


def test_nobody_in_particular_starts_no_job(release, client, monkeypatch):
    monkeypatch.setattr(questions, "INLINE_VALUES", 10)

    posted = client.post(page(release, "poor", "good", view="comparison-start"))
    called = client.post(api(release, "poor", "good"), "{}", content_type="application/json")

    assert posted.status_code == 302
    assert called.status_code == 401
    assert not Comparison.objects.exists()


# --- the page --------------------------------------------------------------------------------


def test_the_page_shows_numbers_patterns_and_queries(release, client):
    record = client.get(page(release, "poor", "good"))

    text = record.content.decode()
    difference = (values(release, "good") - values(release, "poor")).mean()
    assert f"{difference:+.4f}" in text
    assert "good against poor" in text
    assert "20 / 20 / 0" in text
    rows = record.context["page"]["rows"].object_list
    assert rows[0].outcome == "win"
    assert [pattern.code for pattern in record.context["patterns"]] == []


def test_patterns_rest_on_the_very_differences_of_the_table(release, client):
    """`third` against `good` loses by every measure: turned round, the gain is in no doubt."""
    answer = client.get(api(release, "third", "poor")).json()

    record = client.get(page(release, "third", "poor"))
    facts = record.context["told"].facts(*[str(run["id"]) for run in reversed(answer["runs"])])
    fact = next(row for row in facts if (row.measure, row.slice) == ("nDCG@10", "all"))
    pair = next(row for row in answer["comparison"]["pairs"] if row["slice"] == "all")
    assert (fact.low, fact.high) == (pair["interval"]["low"], pair["interval"]["high"])
    assert fact.low < fact.difference < fact.high
    assert fact.margin == pytest.approx((fact.high - fact.low) / 2)
    assert fact.direction == "up"


def test_what_the_newest_ab_test_of_two_runs_said_is_a_fact_for_keepers(release, client, olga):
    runs = {run.name: run for run in Run.objects.all()}
    for baseline, differences in (("poor", (0.1, 0.2)), ("third", (0.3,))):
        policy = policy_of(runs[baseline], olga, name=baseline)
        gate = gate_of(policy, runs["good"], release)
        for difference in differences:
            ends = {"low": difference - 0.05, "high": difference + 0.05}
            OnlineResult.objects.create(
                gate=gate,
                outcome="better",
                metric="clicks",
                difference=difference,
                **ends,
                recorded_by=olga,
            )
    keys = str(runs["good"].pk), str(runs["poor"].pk)

    def said(told) -> list[float]:
        return [fact.difference for fact in told.facts(*keys) if fact.measure == "clicks"]

    assert said(client.get(page(release, "poor", "good")).context["told"]) == []
    client.force_login(olga, BACKEND)
    assert said(client.get(page(release, "poor", "good")).context["told"]) == [0.2]


def test_without_two_runs_the_page_offers_them(release, client):
    record = client.get(reverse("scoring:comparison", args=["bench"]))

    assert record.status_code == 200
    assert {row.run.name for row in record.context["rows"]} == {"good", "poor", "third"}
    assert "Choose two runs or more" in record.content.decode()


def test_a_run_that_is_not_there_is_named(release, client):
    record = client.get(reverse("scoring:comparison", args=["bench"]) + "?runs=good,nobody")

    assert record.status_code == 422
    assert "There is no run &#x27;nobody&#x27; here" in record.content.decode()


def test_more_than_sixty_runs_are_refused_before_they_are_looked_for(release):
    named = [f"run {place}" for place in range(60)]
    with pytest.raises(ComparedRunError):
        chosen_score_sets(release=release, user=factories.user(), named=named)
    with pytest.raises(TooManyComparedError):
        chosen_score_sets(release=release, user=factories.user(), named=[*named, "run 60"])


def test_a_private_run_of_another_is_as_one_that_is_not_there(release, client):
    Run.objects.filter(name="poor").update(visibility="owner")

    record = client.get(page(release, "good", "poor"))
    by_key = client.get(api(release, "good", "poor"))

    assert record.status_code == 422
    assert by_key.json()["code"] == "compared-run"


def test_a_stored_comparison_is_as_secret_as_its_runs(release, client):
    key = client.get(api(release, "good", "poor")).json()["key"]
    url = f"/api/v1/benchmarks/bench/comparisons/{key}/"
    assert client.get(url).status_code == 200

    Run.objects.filter(name="poor").update(visibility="owner")

    assert client.get(url).status_code == 404


def test_a_run_without_scores_is_told(release, client):
    factories.run(release.benchmark, "q00 Q0 d1 1 1 s", name="new")

    record = client.get(page(release, "good", "new"))

    assert record.status_code == 409
    assert (
        "No scores on release 1.0.0, so there is nothing to compare: new."
        in record.content.decode()
    )


def test_more_than_ten_runs_are_a_matrix(release, client, do_jobs, olga):
    for place in range(9):
        lines = "\n".join(ranking(qid, *["d2"] * (place > 4), "d1") for qid in EVERY)
        factories.run(release.benchmark, lines, name=f"extra{place}")
    from scoring.rescoring.services import rescoring

    rescoring.start_scoring_runs(release=release, user=olga)
    do_jobs()
    names = ["good", "poor", "third", *[f"extra{place}" for place in range(9)]]

    record = client.get(page(release, *names))

    matrix = record.context["matrix"]
    assert (len(matrix.rows), len(matrix.columns)) == (12, 12)
    place = {row.summary["run"]: row for row in matrix.rows}
    good, third = (str(Run.objects.get(name=name).pk) for name in ("good", "third"))
    cell = place[good].cells[matrix.columns.index(third)]
    expected = (values(release, "good") - values(release, "third")).mean()
    assert cell["difference"] == pytest.approx(expected)
    assert cell["kind"] == "better"


# --- query by query --------------------------------------------------------------------------


def rows_of(response) -> list[dict]:
    return list(csv.DictReader(io.StringIO(response.content.decode())))


def test_queries_come_as_csv_json_and_markdown(release, client):
    urls = {
        form: page(release, "poor", "good", view="comparison-queries", args=[form])
        for form in ("csv", "json", "md")
    }

    rows = rows_of(client.get(urls["csv"]))
    listed = client.get(urls["json"]).json()["queries"]

    expected = values(release, "good") - values(release, "poor")
    by_query = {row["query"]: float(row["difference"]) for row in rows}
    assert [by_query[qid] for qid in EVERY] == pytest.approx(expected.tolist())
    assert {row["query"]: row["difference"] for row in listed} == pytest.approx(by_query)
    assert (
        "| q01 | what is q01 | 1.0000 | 0.6309 | +0.3691 |"
        in client.get(urls["md"]).content.decode()
    )


def test_queries_are_filtered_by_slice_and_words_and_ordered(release, client):
    record = client.get(
        page(release, "good", "poor", view="comparison-queries", args=["csv"], slice="tail",
             order="worst", q="Q3")
    )  # fmt: skip

    rows = rows_of(record)
    assert {row["query"] for row in rows} == set(EVERY[30:])
    differences = [float(row["difference"]) for row in rows]
    assert differences == sorted(differences)
    assert differences[0] < 0


@pytest.mark.parametrize(
    ("part", "name", "values"),
    [
        ("queries/", "order", "largest, worst, best"),
        ("queries/", "slice", "head, tail"),
        ("results/", "depth", "5, 10, 20, 50"),
    ],
)
def test_the_api_refuses_a_value_that_there_is_not(release, client, part, name, values):
    refused = client.get(api(release, "good", "poor", part=part, query="q01", **{name: "deep"}))

    assert refused.status_code == 400
    assert refused.json()["errors"] == {name: [f"Choose one of {values}."]}


def test_a_text_that_is_a_formula_stays_text(release, client, olga, do_jobs):
    other = factories.run(release.benchmark, ranking("q00", "d1"), name="=cmd()")
    from scoring.rescoring.services import rescoring

    rescoring.start_scoring_runs(release=release, user=olga)
    do_jobs()

    record = client.get(page(release, "good", other.name, view="comparison-queries", args=["csv"]))

    assert "'=cmd()" in record.content.decode().splitlines()[0]


def test_charts_hold_the_numbers_of_the_queries(release, client):
    record = client.get(page(release, "poor", "good"))
    charts = dict(record.context["charts"])

    rows = rows_of(client.get(charts["differences"].replace(".svg", ".csv")))
    slices = rows_of(client.get(charts["slices"].replace(".svg", ".csv")))
    points = rows_of(client.get(charts["scatter"].replace(".svg", ".csv")))

    assert [float(row["difference"]) for row in rows] == sorted(
        (float(row["difference"]) for row in rows), reverse=True
    )
    assert len(points) == N
    assert [row["slice"] for row in slices] == ["all queries (40)", "head (30)", "tail (10)"]
    assert client.get(charts["scatter"].replace("scatter", "nothing")).status_code == 404


# --- side by side ----------------------------------------------------------------------------


def test_lists_of_a_query_stand_side_by_side(release, client):
    record = client.get(page(release, "poor", "good", view="side-by-side", qid="q01"))

    (reference, left), (run, right) = record.context["columns"]
    assert (reference.name, run.name) == ("poor", "good")
    assert [(p.docid, p.grade, p.move) for p in left.places] == [
        ("d2", 0, 1),
        ("d1", 2, -1),
        ("d3", None, 0),
    ]
    assert [p.docid for p in right.places] == ["d1", "d2", "d3"]
    assert "+0.3691" in record.content.decode()


def test_next_and_previous_follow_the_size_of_the_difference(release, client):
    first = client.get(page(release, "poor", "good", view="side-by-side"))

    near = first.context["near"]
    assert (near["place"], near["n"], near["before"]) == (1, N, None)
    after = client.get(page(release, "poor", "good", view="side-by-side", qid=near["after"]))
    assert after.context["near"]["before"] == first.context["qid"]


def test_a_query_that_is_not_of_the_release_is_not_found(release, client):
    assert (
        client.get(page(release, "poor", "good", view="side-by-side", qid="x")).status_code == 404
    )
    assert client.get(api(release, "poor", "good", part="results/", query="x")).status_code == 404


def test_the_api_gives_the_same_lists(release, client):
    left, right = client.get(api(release, "poor", "good", part="results/", query="q01")).json()

    assert [place["document"] for place in left["places"]] == ["d2", "d1", "d3"]
    assert right["places"][0] == {
        "rank": 1,
        "document": "d1",
        "grade": 2,
        "elsewhere": {str(Run.objects.get(name="poor").pk): 2},
    }


# --- robustness ------------------------------------------------------------------------------


def view_of(release, name: str, grades: dict) -> QrelSet:
    qrels = factories.qrel_set(release.benchmark, grades, name=name)
    QrelSet.objects.filter(pk=qrels.pk).update(
        kind=QrelSet.Kind.ANNOTATOR, parameters={"annotator": name}
    )
    return qrels


def cells_of(release, client, *names: str) -> dict[str, dict]:
    answer = client.get(api(release, *names, part="robustness/")).json()
    return {cell["name"]: cell for cell in answer["cells"]}


def test_gain_and_depth_are_varied_and_labels_said_to_be_missing(release, client, olga):
    client.force_login(olga, backend=BACKEND)

    cells = cells_of(release, client, "poor", "good")

    stands = cells["as released, linear gain"]
    assert stands["outcome"] == "better"
    assert cells["first 9"]["survives"] is True
    assert cells["each annotator alone"]["outcome"] == "not-recorded"
    assert "Not recorded" in cells["contested labels out"]["note"]
    exponential = cells["exponential gain"]
    assert exponential["measure"] == "nDCG(dcg='exp-log2')@10"
    assert exponential["difference"] > stands["difference"] * 0.9


def test_one_persons_labels_alone_may_turn_the_difference(release, client, olga):
    """Bo thinks d2 is the relevant one, and d1 is not: his labels make `poor` the better run."""
    client.force_login(olga, backend=BACKEND)
    view_of(release, "A1", {(qid, "d1"): 2 for qid in EVERY})
    view_of(release, "A2", {(qid, doc): g for qid in EVERY for doc, g in (("d1", 0), ("d2", 2))})

    cells = cells_of(release, client, "poor", "good")

    expected = np.where(np.arange(N) % 2, 1 / np.log2(3) - 1, 0).mean()
    assert cells["A1 alone"]["survives"] is True
    assert cells["A2 alone"]["difference"] == pytest.approx(expected)
    assert (cells["A2 alone"]["outcome"], cells["A2 alone"]["has_same_sign"]) == ("worse", False)
    out = cells["40 contested labels out"]
    assert out["n_queries"] == N
    assert out["p"] == 1.0  # what is left of the grades, d2 and d3, ranks alike in both


def test_a_grid_is_stored_and_a_new_view_makes_another(release, client, olga):
    client.force_login(olga, backend=BACKEND)
    cells_of(release, client, "poor", "good")
    cells_of(release, client, "poor", "good")
    assert Comparison.objects.count() == 1

    view_of(release, "A1", {("q00", "d1"): 1})
    cells_of(release, client, "poor", "good")

    assert Comparison.objects.count() == 2


def test_a_large_grid_is_a_job(release, client, olga, do_jobs, monkeypatch):
    client.force_login(olga, backend=BACKEND)
    inline = cells_of(release, client, "poor", "good")
    Comparison.objects.all().delete()
    monkeypatch.setattr(robustness, "INLINE_QUERIES", 1)

    waits = client.get(page(release, "poor", "good", view="comparison-robustness"))
    posted = client.post(
        reverse("scoring:comparison-start", args=["bench"]),
        {"runs": ["poor", "good"], "release": "1.0.0", "what": "robustness"},
    )
    do_jobs()

    assert "This takes a moment" in waits.content.decode()
    assert posted.status_code == 302
    assert cells_of(release, client, "poor", "good") == inline


# --- hidden splits ---------------------------------------------------------------------------


@pytest.fixture
def hidden(release, monkeypatch):
    """The last ten queries are hidden; what may be shown is decided from here."""
    result = set(EVERY[30:])
    for module in (firewall, slice_scores, questions, robustness):
        monkeypatch.setattr(module, "hidden_queries", lambda release: frozenset(result))
    return result


def test_of_hidden_queries_nothing_is_told_query_by_query(release, client, hidden):
    rows = rows_of(
        client.get(page(release, "poor", "good", view="comparison-queries", args=["csv"]))
    )
    listed = client.get(api(release, "poor", "good", part="queries/", page_size=200)).json()
    lists = client.get(page(release, "poor", "good", view="side-by-side", qid="q31"))
    over_api = client.get(api(release, "poor", "good", part="results/", query="q31"))

    assert {row["query"] for row in rows} == set(EVERY) - hidden
    assert {row["query"] for row in listed["results"]} == set(EVERY) - hidden
    assert (lists.status_code, over_api.status_code) == (404, 404)


def overall(found: dict) -> dict:
    return next(pair for pair in found["comparison"]["pairs"] if pair["slice"] == "all")


def test_where_grades_are_hidden_all_is_worked_out_from_public_queries(release, client, hidden):
    answer = client.get(api(release, "poor", "good")).json()
    read = client.get(api(release, "poor", "good", part="queries/", page_size=200)).json()
    record = client.get(page(release, "poor", "good"))

    differences = [row["difference"] for row in read["results"]]
    pair = overall(answer)
    assert answer["is_public"] is True
    assert pair["n_queries"] == N - len(hidden)
    assert pair["difference"] == pytest.approx(sum(differences) / len(differences))
    assert pair["effect"]["losses"] == sum(difference < 0 for difference in differences)
    assert answer["n_unjudged"] == 22  # d3, which 8 of the first 30 grade
    text = record.content.decode()
    assert f"worked out from the {N - len(hidden)} queries of public splits" in text
    assert "On the leaderboard" in text


def test_the_leaderboards_means_and_their_differences_stand_beside(release, client, hidden):
    board = client.get(api(release, "poor", "good")).json()["board"]
    report = client.get(page(release, "poor", "good", view="comparison-summary", args=["md"]))

    means = [row["mean"] for row in board]
    assert means == [round(mean, 3) for mean in means]
    assert [row["difference"] for row in board] == [0.0, round(means[1] - means[0], 3)]
    to_good = client.get(api(release, "poor", "good", baseline="good")).json()["board"]
    assert [row["difference"] for row in to_good] == [round(means[0] - means[1], 3), 0.0]
    assert "## On the leaderboard, over all 40 queries" in report.content.decode()


def test_a_comparison_of_a_keeper_is_not_there_for_others(release, client, hidden, olga):
    theirs = client.get(api(release, "poor", "good")).json()["key"]
    client.force_login(olga, backend=BACKEND)
    whole = client.get(api(release, "poor", "good")).json()
    as_olga = client.get(api(release, part=f"{theirs}/")).status_code
    client.logout()

    record = client.get(api(release, part=f"{whole['key']}/"))

    assert (whole["is_public"], overall(whole)["n_queries"]) == (False, N)
    assert (as_olga, record.status_code) == (200, 404)


def test_a_comparison_of_an_earlier_version_is_by_its_key_for_keepers_alone(
    release, client, hidden, olga
):
    key = client.get(api(release, "poor", "good")).json()["key"]
    assert client.get(api(release, part=f"{key}/")).status_code == 200
    row = Comparison.objects.get(key=key)
    Comparison.objects.filter(pk=row.pk).update(parameters={**row.parameters, "version": 1})

    assert client.get(api(release, part=f"{key}/")).status_code == 404
    client.force_login(olga, backend=BACKEND)
    assert client.get(api(release, part=f"{key}/")).status_code == 200


def test_where_grades_are_hidden_robustness_is_of_public_queries(release, client, hidden, sam):
    client.force_login(sam, backend=BACKEND)
    view_of(release, "bo", {(qid, "d2"): 1 for qid in EVERY})

    cells = cells_of(release, client, "poor", "good")

    assert cells["bo alone"]["n_queries"] == N - len(hidden)
    assert {cell["n_queries"] for cell in cells.values()} == {0, N - len(hidden)}


@pytest.mark.parametrize("view", ["comparison", "comparison-robustness"])
def test_where_all_queries_are_hidden_the_page_says_so(release, client, hidden, sam, view):
    hidden |= set(EVERY)
    client.force_login(sam, backend=BACKEND)

    record = client.get(page(release, "poor", "good", view=view))

    assert record.status_code == 409
    assert "All graded queries of release 1.0.0 are in hidden splits" in record.content.decode()


@pytest.mark.parametrize(
    "measure",
    ["Judged@10", "AP", "GMAP", "P@1", "NumRet", "nDCG(judged_only=True)@10", "RBP(p=0.8)"],
)
def test_runs_are_compared_by_any_measure(release, client, olga, measure):
    client.force_login(olga, backend=BACKEND)

    record = client.get(page(release, "third", "good", measure=measure))

    assert record.status_code == 200
    assert len(record.context["summaries"]) == 2
    for _, url in record.context["charts"]:
        assert client.get(url.replace(".svg", ".csv")).status_code == 200


def test_added_measures_are_computed_for_people_who_are_signed_in(release, client):
    record = client.get(page(release, "poor", "good", measure="DCG@7"))

    assert record.status_code == 409
    assert "Sign in" in record.content.decode()


def test_keepers_see_all_of_it_and_their_look_is_written_down(
    release, client, hidden, olga, monkeypatch
):
    looks = []
    monkeypatch.setattr(
        "scoring.scores.services.firewall.record_read", lambda **told: looks.append(told["actor"])
    )
    client.force_login(olga, backend=BACKEND)

    record = client.get(page(release, "poor", "good"))

    assert record.context["page"]["rows"].paginator.count == N
    assert looks == [olga]


# --- keys of the keyboard and of the address -------------------------------------------------


def test_a_picture_of_a_comparison_is_as_secret_as_its_runs(release, client):
    charts = dict(client.get(page(release, "poor", "good")).context["charts"])
    url = charts["differences"].replace(".svg", ".csv")
    assert client.get(url).status_code == 200

    Run.objects.filter(name="poor").update(visibility="owner")

    assert client.get(url).status_code == 404


def test_runs_are_ticked_or_written_with_commas_by_number_or_name(release, client):
    good, poor = (Run.objects.get(name=name).pk for name in ("good", "poor"))
    base = reverse("scoring:comparison", args=["bench"])

    keys = {
        client.get(f"{base}?{query}").context["told"].row.key
        for query in (f"runs={good},{poor}", f"runs={good}&runs=poor", "runs=good,poor,good")
    }

    assert len(keys) == 1


def test_the_summary_as_markdown_has_verdict_means_slices_and_patterns(release, client):
    text = client.get(
        page(release, "third", "poor", view="comparison-summary", args=["md"])
    ).content.decode()

    assert "Comparability: **not-comparable**" in text
    assert "## head: 30 queries" in text
    assert "| poor | third | +" in text
    assert "level within ±" in text or "## What" not in text


def test_a_name_that_is_markup_stays_a_name_in_markdown(release, client):
    Run.objects.filter(name="poor").update(name="a|b*c")

    text = client.get(
        page(release, "good", "a|b*c", view="comparison-summary", args=["md"])
    ).content.decode()

    assert "a\\|b\\*c" in text


# --- what nobody looks at ------------------------------------------------------------------------


def aged(row: Comparison, *, days: int, looked: int) -> Comparison:
    """The row as if it had been made, and looked at last, so many days ago."""
    now = timezone.now()
    row.created_at = now - timedelta(days=days)
    seen = (now - timedelta(days=looked)).date().isoformat()
    row.parameters = {**row.parameters, comparison_rows.LOOKED_ON: seen}
    row.save()
    return row


@pytest.fixture
def stored(release, client):
    key = client.get(api(release, "poor", "good")).json()["key"]
    return Comparison.objects.get(key=key)


def test_what_nobody_looked_at_is_dropped_with_its_file_and_made_again_alike(
    release, client, stored, django_capture_on_commit_callbacks
):
    before = client.get(api(release, "poor", "good")).json()
    aged(stored, days=40, looked=31)
    path = files.local_path(stored.result)

    with django_capture_on_commit_callbacks(execute=True):
        assert comparison_rows.drop_unread() == 1

    assert not Comparison.objects.filter(pk=stored.pk).exists()
    assert not path.exists()
    assert client.get(api(release, "poor", "good")).json() == before


@pytest.mark.parametrize(("days", "looked"), [(29, 29), (40, 29), (40, 0)])
def test_what_is_young_or_was_looked_at_stays(stored, days, looked):
    aged(stored, days=days, looked=looked)

    assert comparison_rows.drop_unread() == 0
    assert comparison_rows.has_numbers(stored)


def test_a_look_keeps_a_comparison_for_another_thirty_days(release, client, stored):
    aged(stored, days=100, looked=60)

    client.get(api(release, "poor", "good"))

    assert comparison_rows.drop_unread() == 0
    stored.refresh_from_db()
    assert stored.parameters[comparison_rows.LOOKED_ON] == timezone.now().date().isoformat()


def test_what_a_job_is_at_work_on_stays(stored, olga):
    job = Job.objects.create(kind="compare-runs", title="x")
    Comparison.objects.filter(pk=stored.pk).update(job=job)
    aged(Comparison.objects.get(pk=stored.pk), days=100, looked=60)

    assert comparison_rows.drop_unread() == 0


def test_numbers_whose_file_is_gone_are_worked_out_again(release, client, stored):
    before = client.get(api(release, "poor", "good")).json()
    files.local_path(stored.result).unlink()

    assert client.get(api(release, "poor", "good")).json() == before


def test_numbers_whose_file_was_altered_are_worked_out_again(release, client, stored):
    before = client.get(api(release, "poor", "good")).json()
    path = files.local_path(stored.result)
    path.write_text(path.read_text().replace("0.", "1."))

    assert client.get(api(release, "poor", "good")).json() == before


def test_the_sweeper_drops_now_and_then(stored, monkeypatch, django_capture_on_commit_callbacks):
    monkeypatch.setattr(comparison_rows, "_looked", {"at": float("-inf")})
    aged(stored, days=40, looked=31)

    with django_capture_on_commit_callbacks(execute=True):
        sweeping.sweep()
    assert not Comparison.objects.exists()


def test_difference_is_zero_only_where_there_is_none():
    """“+0.0000, better” contradicts itself; so does an interval above 0 that begins at 0."""
    assert [signed(value) for value in (0.00002, -0.00002, 0.0, -0.0)] == [
        "+0.00002",
        f"{MINUS}0.00002",
        "+0.0000",
        "+0.0000",
    ]
    assert (signed(0.0004, 3), signed(0.1, 3), signed(None), signed(nan)) == (
        "+0.0004",
        "+0.100",
        DASH,
        DASH,
    )
