"""The board by people and machine: its numbers a second way, its refusals, and what it hides."""

import re
from html import unescape
from math import sqrt

import pytest
from django.urls import reverse
from rest_framework.serializers import FloatField
from scipy.stats import t as student

from benchmarks_app.models import QrelSet, QueryDraw, Run
from benchmarks_app.queries.services import draw_families
from scoring.boards.services.boards import board_of
from scoring.corrected.api import CorrectedPairSerializer, CorrectedRowSerializer
from scoring.corrected.services import correcting
from scoring.corrected.services.correcting import corrected_board
from scoring.gates.services.gating import start_gate
from scoring.gates.services.policies import make_policy
from scoring.scores.services.scoring import Target, score_run
from scoring.scores.services.slice_scores import board_split
from scoring.scores.shown import measure_named
from tests import factories
from tests.scoring.corrected.conftest import DRAWN, QIDS, N, graded, values

pytestmark = pytest.mark.django_db


def asked(release, user, **wanted):
    board = board_of(
        release=release, user=user, measure=measure_named("nDCG@10"), split=board_split(release)
    )
    return corrected_board(board, computes=True, **wanted)


def by_formula(y, f, all_f) -> dict[str, float]:
    """Estimator E.2 of single queries, with the error of left-out residuals, number by number."""
    n, n_all = len(y), len(all_f)
    mean_y, mean_f, mean_all = sum(y) / n, sum(f) / n, sum(all_f) / n_all
    zg = sum((a - mean_y) * (b - mean_f) for a, b in zip(y, f, strict=True))
    gg = sum((b - mean_f) ** 2 for b in f)
    zz = sum((a - mean_y) ** 2 for a in y)
    weight = min(1.0, max(0.0, zg / gg))
    e = [(a - mean_y) - weight * (b - mean_f) for a, b in zip(y, f, strict=True)]
    is_clipped = weight == 1
    shares = [1 / n + (0 if is_clipped else (b - mean_f) ** 2 / gg) for b in f]
    left_out = [r / (1 - share) for r, share in zip(e, shares, strict=True)]
    spread = sum((b - mean_all) ** 2 for b in all_f) / (n_all - 1)
    shared = sum(r * (b - mean_f) for r, b in zip(e, f, strict=True)) / (n - 1)
    variance = sum(r**2 for r in left_out) / n / n
    variance += (weight**2 * spread + 2 * weight * shared) / n_all
    mean = mean_y + weight * (mean_all - mean_f)
    reach = student.ppf(0.975, n - 2) * sqrt(variance)
    rho = zg / sqrt(zz * gg)
    return {
        "mean": mean,
        "low": mean - reach,
        "high": mean + reach,
        "weight": weight,
        "people": mean_y,
        "machine": mean_all,
        "n_effective": n / (1 - (1 - n / n_all) * rho**2),
    }


def test_numbers_are_those_of_the_formula(world, owner):
    corrected = asked(world.release, owner)

    assert corrected.refusal == ""
    assert len(corrected.helped) == 5
    for row in corrected.helped:
        order = world.orders[row.run.name]
        y, f = values(order, world.people), values(order, world.machine)
        drawn = list(world.draw.families)
        expected = by_formula([y[q] for q in drawn], [f[q] for q in drawn], list(f.values()))
        of = row.estimate
        numbers = {
            "mean": of.mean,
            "low": of.low,
            "high": of.high,
            "weight": of.weight,
            "people": of.people_mean,
            "machine": of.machine_mean,
            "n_effective": of.n_effective,
        }
        assert numbers == pytest.approx(expected, abs=1e-9)
    assert (corrected.first.n_families, corrected.first.n_all_families) == (DRAWN, N)
    means = [row.estimate.mean for row in corrected.helped]
    assert means == sorted(means, reverse=True)
    assert [row.rank for row in corrected.helped] == [1, 2, 3, 4, 5]


def test_where_the_judge_does_not_help_people_stand_alone_without_a_rank(world, benchmark, owner):
    nonsense = {pair: 3 - grade for pair, grade in world.machine.items()}
    against = graded(benchmark, nonsense, "against", QrelSet.Kind.MACHINE, judge="contrary")

    corrected = asked(world.release, owner, machine=str(against.pk))

    assert corrected.helped == ()
    assert len(corrected.others) == 5
    for row in corrected.others:
        y = values(world.orders[row.run.name], world.people)
        assert row.rank is None
        assert row.estimate.why.startswith("The judge does not help here")
        assert row.estimate.mean == pytest.approx(sum(y.values()) / DRAWN, abs=1e-12)
        assert row.estimate.n_effective == DRAWN


def test_without_a_draw_it_is_refused(world, owner):
    QueryDraw.objects.all().delete()

    assert asked(world.release, owner).refusal.startswith("No queries were drawn for people")


def test_labels_that_chance_did_not_choose_are_refused(world, owner):
    families = world.draw.families
    QueryDraw.objects.filter(pk=world.draw.pk).update(families=[*families[1:], families[0]])

    assert "were not drawn at random from these" in asked(world.release, owner).refusal


def test_families_that_came_later_are_another_frame(world, owner, benchmark, publish):
    factories.query(benchmark, "later")
    later = publish(benchmark.qrel_sets.get(name="people"), "2.0.0")
    for pair in (("later", "x"),):
        query = benchmark.queries.get(qid=pair[0])
        world.judged.qrels.create(query=query, docid=pair[1], grade=1)

    assert "they were drawn from other families" in asked(later, owner).refusal


def test_fewer_than_twenty_drawn_and_labelled_families_are_refused(
    world, benchmark, publish, refusal_on
):
    kept = set(world.draw.families[:19])
    few = {pair: grade for pair, grade in world.people.items() if pair[0] in kept}
    release = publish(graded(benchmark, few, "few", QrelSet.Kind.HUMAN), "2.0.0")

    refusal = refusal_on(release)

    assert refusal.startswith("People labelled 19 drawn families")
    assert "Label 1 more" in refusal


@pytest.fixture
def refusal_on(owner, tmp_path):
    """A function that scores a run on a release and returns why it has no corrected mean."""

    def refusal(release) -> str:
        run = Run.objects.get(name="run0")
        score_run(run=run, target=Target.of(release), folder=tmp_path / "again")
        return asked(release, owner).refusal

    return refusal


def test_a_query_with_a_document_that_nobody_judged_is_not_labelled(
    world, benchmark, publish, refusal_on
):
    holes = dict(world.people)
    fifth = world.draw.families[4]
    holes[fifth, f"{fifth}-d0"] = -1
    release = publish(graded(benchmark, holes, "holes", QrelSet.Kind.HUMAN), "2.0.0")

    # In the order drawn there are four families before it.
    assert refusal_on(release).startswith("People labelled 4 drawn families")


def test_a_machine_that_left_queries_out_is_refused(world, owner):
    world.judged.qrels.filter(query__qid__in=["q07", "q08"]).delete()

    refusal = asked(world.release, owner).refusal

    assert refusal.startswith(
        "The machine graded no document of 2 of 60 queries, such as q07, q08."
    )


def test_a_campaign_of_the_unjudged_is_no_machine_to_correct_by(world, owner):
    world.judged.parameters["choice"] = "unjudged"
    world.judged.save()

    corrected = asked(world.release, owner, machine=str(world.judged.pk))

    assert corrected.refusal.startswith("There is no such set of a machine's grades")
    assert asked(world.release, owner).machine.key == "learned"


def test_a_machine_judged_release_has_nothing_of_peoples(world, owner, publish):
    by_machine = publish(world.judged, "3.0.0")

    assert asked(by_machine, owner).refusal.startswith("A machine gave the grades of this release")


def test_a_favoured_run_loses_the_machines_view_of_it_alone(world, owner, benchmark):
    order = world.orders["run3"]
    # Whatever run3 ranks first is the best there is, says the machine, and the rest is nothing.
    vain = {
        (qid, docid): 3 if place < 2 else grade // 3
        for qid in QIDS
        for place, docid in enumerate(order[qid])
        for grade in [world.machine[qid, docid]]
    }
    judged = graded(benchmark, vain, "vain", QrelSet.Kind.MACHINE, judge="vain")

    rows = {row.run.name: row for row in asked(world.release, owner, machine=str(judged.pk)).rows}

    assert rows["run3"].is_favoured
    assert rows["run3"].machine_mean is None
    assert rows["run3"].estimate.people_mean == pytest.approx(
        sum(values(order, world.people).values()) / DRAWN
    )
    assert [name for name, row in rows.items() if row.machine_mean is None] == ["run3"]


def test_a_run_of_the_judges_own_family_is_favoured_without_a_test(world, owner):
    Run.objects.filter(name="run1").update(description="BM25, re-ranked by gpt-4o")
    world.judged.parameters |= {"judge": "a judge", "models": ["gpt-4o-2024-08-06"]}
    world.judged.save()

    rows = {row.run.name: row for row in asked(world.release, owner).rows}

    assert rows["run1"].machine_mean is None
    assert rows["run2"].machine_mean is not None


def test_page_and_api_say_the_same_numbers(world, owner, signed_in):
    client = signed_in(owner)
    args = [world.release.benchmark.slug, world.release.version]

    page = client.get(reverse("scoring:leaderboard-corrected", args=args)).content.decode()
    answer = client.get(reverse("api:leaderboard-corrected", args=args)).json()

    assert answer["refusal"] == ""
    assert (answer["n_families"], answer["n_all_families"]) == (DRAWN, N)
    assert len(answer["rows"]) == 5
    for row in answer["rows"]:
        assert f"{row['mean']:.4f}" in page
        assert f"{row['people_mean']:.4f}" in page
    assert answer["machine"]["judge"] == "nova"
    assert answer["draw"]["n_drawn"] == DRAWN


def test_page_says_why_there_are_no_corrected_means(world, owner, signed_in):
    QueryDraw.objects.all().delete()
    args = [world.release.benchmark.slug, world.release.version]

    page = signed_in(owner).get(reverse("scoring:leaderboard-corrected", args=args))

    assert "No queries were drawn for people" in page.content.decode()


def test_who_is_not_signed_in_starts_no_computation(world, benchmark, client):
    type(benchmark).objects.filter(pk=benchmark.pk).update(visibility="public")
    args = [benchmark.slug, world.release.version]

    answer = client.get(reverse("scoring:leaderboard-corrected", args=args))

    assert answer.context["corrected"].n_waiting == 5


def test_a_larger_draw_goes_on_in_the_same_order(world, benchmark, owner):
    larger = draw_families(benchmark=benchmark, n=40, user=owner)

    assert larger.families[:DRAWN] == world.draw.families
    assert larger.seed == world.draw.seed
    # Those drawn later are not labelled yet: estimates rest on the beginning.
    assert asked(world.release, owner).first.n_families == DRAWN


# --- two runs ------------------------------------------------------------------------------


def pair_address(world, kind="scoring") -> str:
    of = [world.release.benchmark.slug]
    return reverse(f"{kind}:comparison-corrected", args=of) + "?runs=run0,run1"


def test_difference_of_two_runs_is_that_of_the_formula(world, owner, signed_in):
    answer = signed_in(owner).get(pair_address(world, "api")).json()

    reference, run = world.orders["run0"], world.orders["run1"]
    y, f = (
        {qid: values(run, of)[qid] - values(reference, of)[qid] for qid in values(run, of)}
        for of in (world.people, world.machine)
    )
    drawn = list(world.draw.families)
    expected = by_formula([y[q] for q in drawn], [f[q] for q in drawn], list(f.values()))
    assert (answer["run"], answer["reference"]) == ("run1", "run0")
    assert answer["is_helped"] is True
    assert {
        "mean": answer["difference"],
        "low": answer["low"],
        "high": answer["high"],
        "weight": answer["weight"],
        "people": answer["people_difference"],
        "n_effective": answer["n_effective"],
    } == pytest.approx({k: v for k, v in expected.items() if k != "machine"}, abs=1e-9)


def test_page_of_a_difference_never_shows_the_machine_alone(world, owner, signed_in):
    client = signed_in(owner)
    f = {name: values(world.orders[name], world.machine) for name in ("run0", "run1")}
    alone = sum(f["run1"][q] - f["run0"][q] for q in QIDS) / N
    answer = client.get(pair_address(world, "api")).json()

    for headers in ({}, {"HX-Request": "true"}):
        page = client.get(pair_address(world), headers=headers).content.decode()

        assert f"{abs(answer['difference']):.4f}" in page
        assert f"{abs(answer['people_difference']):.4f}" in page
        assert f"{abs(alone):.4f}" not in page


def test_a_difference_without_a_draw_says_why(world, owner, signed_in):
    QueryDraw.objects.all().delete()
    client = signed_in(owner)

    page = client.get(pair_address(world))
    answer = client.get(pair_address(world, "api"))

    assert page.status_code == 200
    assert "No queries were drawn for people" in page.content.decode()
    assert (answer.status_code, answer.json()["code"]) == (409, "not-corrected")


def test_the_comparison_page_leads_to_the_corrected_difference(world, owner, signed_in):
    page = signed_in(owner).get(
        reverse("scoring:comparison", args=[world.release.benchmark.slug]) + "?runs=run0,run1"
    )

    assert reverse("scoring:comparison-corrected", args=[world.release.benchmark.slug]) in (
        page.content.decode()
    )


def test_page_of_a_gate_leads_to_the_corrected_difference_beside_its_verdict(
    world, owner, signed_in, do_jobs
):
    runs = world.release.benchmark.runs
    policy = make_policy(
        benchmark=world.release.benchmark,
        name="nightly",
        baseline=runs.get(name="run0"),
        content={},
        user=owner,
    )
    gate = start_gate(
        policy=policy, candidate=runs.get(name="run1"), release=world.release, user=owner
    )
    do_jobs()
    client = signed_in(owner)

    page = client.get(gate.get_absolute_url()).content.decode()

    (address,) = set(re.findall(r'hx-get="([^"]*compare/corrected/[^"]*)"', page))
    text = client.get(unescape(address)).content.decode()
    answer = client.get(pair_address(world, "api")).json()
    assert "run1 less run0" in text
    assert f"{abs(answer['difference']):.4f}" in text


@pytest.mark.parametrize("serializer", [CorrectedRowSerializer, CorrectedPairSerializer])
def test_what_is_undefined_is_null_as_json_knows_no_nan(serializer):
    class OfNumbers(serializer):
        def get_fields(self):
            return {"rho": FloatField(), "mean": FloatField()}

    assert OfNumbers({"rho": float("nan"), "mean": 0.5}).data == {"rho": None, "mean": 0.5}


def test_where_a_draw_ends_does_not_tell_whether_a_hidden_query_is_labelled(world, monkeypatch):
    hidden = frozenset(world.draw.families[3:4])
    labelled = correcting.labelled_queries(world.release)
    monkeypatch.setattr(correcting, "hidden_queries", lambda release: hidden)
    run, reference = (Run.objects.get(name=name).score_sets.get() for name in ("run0", "run1"))

    pairs = []
    for of_world in (labelled, labelled - hidden):
        monkeypatch.setattr(correcting, "labelled_queries", lambda release, of=of_world: of)
        pair = correcting.corrected_pair(
            run, reference, measure="nDCG@10", is_clear=False, computes=True
        )
        pairs.append((pair.sample.drawn, pair.estimate))

    assert pairs[0] == pairs[1]
    assert pairs[0][0] == frozenset(world.draw.families) - hidden
