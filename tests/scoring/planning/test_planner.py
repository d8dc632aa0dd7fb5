"""The planner: from runs and labels that are there, or from what is assumed."""

import pytest
from django.core.cache import cache
from django.forms import FloatField
from django.urls import reverse

from benchmarks_app import label_facts
from benchmarks_app.models import Role
from scoring.models import ScoreSet
from scoring.planning.forms import PlannerForm, read_wish, wish_text
from scoring.planning.services import planning, reliability
from scoring.planning.services.planning import Wish, known_of, planned
from scoring.scores.services.scoring import Target, score_run
from tests import factories

pytestmark = pytest.mark.django_db

ONE = "q1 Q0 d1 1 3 s\nq1 Q0 d2 2 2 s\nq2 Q0 d5 1 3 s"
OTHER = "q1 Q0 d3 1 3 s\nq1 Q0 d1 2 2 s\nq2 Q0 d4 1 3 s"


@pytest.fixture(autouse=True)
def _fresh_cache():
    cache.clear()


@pytest.fixture
def vi(client, benchmark):
    viewer = factories.member(benchmark, "vi", Role.VIEWER)
    client.force_login(viewer)
    return viewer


def test_without_runs_scatter_and_growth_are_assumed(benchmark, vi):
    known = known_of(benchmark, vi, systems=5)

    assert known.spread.is_assumed
    assert known.growth.is_assumed
    assert known.growth.documents_at(10) == pytest.approx(10 * 5**0.66)


def test_runs_replace_what_is_assumed(benchmark, vi, release, scored):
    for lines, name in ((ONE, "one"), (OTHER, "other")):
        scored(lines, name=name)

    known = known_of(benchmark, vi)

    assert not known.spread.is_assumed
    assert (known.growth.n_runs, known.growth.documents) == (2, (2.0, 2.5))
    assert known.n_graded == 3


def test_pools_grow_as_the_newest_runs_do(benchmark, vi, monkeypatch):
    monkeypatch.setattr(planning, "MOST_RUNS", 2)
    for lines, name in ((OTHER, "old"), (ONE, "new"), (ONE, "newest")):
        factories.run(benchmark, lines, name=name)

    assert known_of(benchmark, vi).growth.documents == (1.0, 1.5)


def test_runs_that_somebody_may_not_see_do_not_shape_their_plan(benchmark, vi):
    factories.run(benchmark, ONE, name="secret", visibility="owner")

    assert known_of(benchmark, vi).growth.is_assumed


def test_scatter_is_that_of_the_newest_runs_in_whatever_order_they_were_scored(
    benchmark, release, scored, monkeypatch, tmp_path
):
    monkeypatch.setattr(reliability, "MOST_RUNS", 2)
    of_each = [scored(lines, name=f"run {n}") for n, lines in enumerate((OTHER, ONE, OTHER))]
    before = reliability.scored_on(release)

    # As when they are scored on a new release: the oldest, which is the best, last.
    ScoreSet.objects.filter(pk=of_each[0].pk).delete()
    run = of_each[0].run
    score_run(run=run, target=Target.of(release), folder=tmp_path / "again")
    after = reliability.scored_on(release)

    assert before.spread == after.spread


def test_runs_that_not_all_see_do_not_shape_what_queries_show(
    client, benchmark, vi, release, scored
):
    """How runs scatter, how many pairs were looked at, and what a release says of both."""
    for lines, name in ((ONE, "one"), (OTHER, "other")):
        scored(lines, name=name)
    factories.query_slice(benchmark, "both", *benchmark.queries.filter(qid__in=["q1", "q2"]))
    of_api = f"/api/v1/benchmarks/{benchmark.slug}/"
    pages = [
        *(f"{of_api}{name}/" for name in ("planner", "reliability", "slices")),
        f"{of_api}reliability/?release=1.0.0",
        reverse("scoring:reliability", args=[benchmark.slug]),
    ]

    def answers():
        return [client.get(page, headers={"HX-Request": "true"}).content for page in pages]

    before = answers()
    scored("q1 Q0 d3 1 3 s\nq2 Q0 d5 1 3 s", name="secret", visibility="owner")

    assert answers() == before


def test_a_release_that_there_is_not_is_named(client, benchmark, vi, release):
    client.force_login(vi)

    answer = client.get(f"/api/v1/benchmarks/{benchmark.slug}/reliability/?release=9")

    words = "There is no published release 9. Name one of its versions, as 1.0.0."
    assert (answer.status_code, answer.json()["errors"]) == (400, {"release": [words]})


def test_the_pace_of_labels_is_that_of_whoever_registers_it(benchmark, vi, monkeypatch):
    monkeypatch.setattr(label_facts, "PACERS", [lambda of: None, lambda of: 12.5])

    assert known_of(benchmark, vi).seconds == 12.5


def test_hours_buy_the_best_plan_within_them(benchmark, vi):
    known = known_of(benchmark, vi)

    result = planned(benchmark, known, Wish(hours=100))

    assert result.best.hours <= 100
    assert result.best.n_queries == 528  # 12,000 labels, 10 * 3^0.66 * 1.1 a query
    assert result.n_more == 528
    assert all(plan.hours <= 100 for plan in result.by_depth)


def test_slices_that_may_be_shown_have_a_plan_each(benchmark, vi, publish, scored):
    queries = [factories.query(benchmark, f"s{n}") for n in range(4)]
    factories.query_slice(benchmark, "half", *queries[:2])
    grades = factories.qrel_set(benchmark, {(q.qid, "d1"): 1 for q in queries})
    release = publish(grades, "2.0.0")
    scored("s0 Q0 d1 1 1 s", name="one", on=release)
    scored("s1 Q0 d1 1 1 s", name="other", on=release)

    plan = planned(benchmark, known_of(benchmark, vi), Wish(delta=0.05))

    assert [(of_slice.name, of_slice.share) for of_slice in plan.slices] == [("half", 0.5)]
    assert plan.slices[0].n_queries == round(plan.cheapest.n_queries / 2)


def test_an_address_carries_the_wish():
    wish = Wish(delta=0.03, hours=12.5, depth=20, judged=0.8, overlap=0.25, seconds=45, systems=4)

    assert read_wish(wish_text(wish)) == wish


@pytest.mark.parametrize("text", ["", "1_2", "x_1_1_1_1_1_1", "0.02__0__0.1_30_3", "9__10__0_1_3"])
def test_an_address_that_is_no_wish_is_none(text):
    assert read_wish(text) is None


def test_empty_fields_are_filled_with_their_defaults():
    form = PlannerForm({"seconds": ""}, seconds=17.4, has_runs=True)

    assert form.wish() == Wish(seconds=17.0)
    assert "the median of the newest labels" in form.fields["seconds"].help_text


# --- pages ---------------------------------------------------------------------------------------


def test_page_says_what_a_difference_costs(client, benchmark, vi):
    html = client.get(
        reverse("scoring:planner", args=[benchmark.slug]), {"delta": "0.02"}
    ).content.decode()

    assert "Cheapest for ±0.02" in html
    assert "785 queries at depth 10" in html
    assert "Assumed" in html


def test_a_mistake_is_told_and_the_rest_planned(client, benchmark, vi):
    answer = client.get(reverse("scoring:planner", args=[benchmark.slug]), {"delta": "nought"})

    assert answer.status_code == 422
    assert "Enter a number" in answer.content.decode()


def test_htmx_gets_the_answer_alone(client, benchmark, vi):
    html = client.get(
        reverse("scoring:planner", args=[benchmark.slug]), headers={"HX-Request": "true"}
    ).content.decode()

    assert "Cheapest for" in html
    assert "<form" not in html


def test_chart_has_a_line_for_each_depth(client, benchmark, vi):
    url = reverse("scoring:planner-chart", args=[benchmark.slug, wish_text(Wish()), "csv"])

    rows = client.get(url).content.decode().splitlines()

    assert rows[0] == "depth,queries,labels,hours,difference"
    assert {row.split(",")[0] for row in rows[1:]} == {
        "depth 10",
        "depth 20",
        "depth 50",
        "depth 100",
    }


def test_what_takes_whole_numbers_is_described_so(client):
    described = client.get("/api/v1/schema/?format=json").json()["paths"]
    parameters = described["/api/v1/benchmarks/{slug}/planner/"]["get"]["parameters"]
    fields = PlannerForm({}, seconds=None, has_runs=False).fields
    whole = {name for name, field in fields.items() if not isinstance(field, FloatField)}

    types = {of["name"]: of["schema"]["type"] for of in parameters if of["in"] == "query"}
    assert {name for name in fields if types[name] == "integer"} == whole == {"depth", "systems"}


def test_endpoint_has_the_plans_as_numbers(client, benchmark, vi):
    url = f"/api/v1/benchmarks/{benchmark.slug}/planner/"

    answer = client.get(url, {"delta": 0.01, "hours": 1}).json()
    wrong = client.get(url, {"delta": 5})

    assert answer["cheapest"]["n_queries"] == 3140
    assert answer["best"]["labels"] <= 120
    assert answer["cheapest"]["judged_of_new"] is None
    assert wrong.status_code == 400
    assert wrong.json()["errors"] == {"delta": ["Ensure this value is less than or equal to 0.5."]}
