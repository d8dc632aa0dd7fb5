"""The verdict on two runs: one decision feeds sentence, colour and word."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from django.urls import reverse
from scipy import stats

from benchwright.comparison import comparability
from benchwright.statistics.decisions import AT_THE_EDGE
from scoring.comparisons.services.reading import Told
from scoring.comparisons.services.verdicts import (
    Kind,
    SliceVerdict,
    Verdict,
    _facts,
    _hurts,
    kind_of,
    pair_of,
    turned,
)
from scoring.comparisons.views.tables import forest_of
from tests.scoring.comparisons.making import EVERY, FIRST, N, page, values

pytestmark = pytest.mark.django_db


def pair(difference=0.05, low=0.03, high=0.07, decision="", *, n_differing=100, **more):
    effect = {"wins": 30, "ties": 10, "losses": 20, "d_z": 0.3, "superiority": 0.55}
    return {
        "run": "1",
        "reference": "2",
        "difference": difference,
        "interval": {"low": low, "high": high},
        "decision": decision,
        "n_differing": n_differing,
        "is_thin": n_differing < 15,
        "power": {"delta": 0.01, "queries_for_observed": 400},
        "effect": {**effect, "relative": 0.1, "share_worse": 0.2},
        **more,
    }


def plain(answer) -> str:
    """The words of the verdict, without markup."""
    text = re.search(r'<section class="verdict.*?</section>', answer.content.decode(), re.S)
    return " ".join(re.sub(r"<[^>]+>", " ", text.group()).split())


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (pair(decision="better"), Kind.BETTER),
        (pair(-0.05, -0.07, -0.03, "worse"), Kind.WORSE),
        # Shown, and small: the decision goes before the margin.
        (pair(0.003, 0.001, 0.005, "better"), Kind.BETTER),
        (pair(0.001, -0.005, 0.008), Kind.SAME),
        (pair(0.001, -0.005, 0.011), Kind.NOT_SHOWN),
        # The interval leaves 0 out and the test does not: the decision is one all the same.
        (pair(-0.08, -0.161, -0.008), Kind.NOT_SHOWN),
        (pair(0.001, -0.005, 0.008, n_differing=14), Kind.TOO_FEW),
        (pair(0.05, None, None), Kind.TOO_FEW),
        (pair(0.0, 0.0, 0.0, n_differing=0), Kind.SAME),
    ],
)
def test_a_pair_has_one_word(of, kind):
    assert kind_of(of) == kind


def test_a_pair_turned_round_says_the_same_of_the_other_run():
    of = pair(0.05, 0.03, 0.07, "better")

    other = turned(of)
    assert (other["run"], other["reference"], other["decision"]) == ("2", "1", "worse")
    assert (other["difference"], other["interval"]) == (-0.05, {"low": -0.07, "high": -0.03})
    assert (other["effect"]["wins"], other["effect"]["losses"]) == (20, 30)
    assert kind_of(other) == Kind.WORSE
    # What is relative to the reference, or counts losses alone, is not the other way round.
    assert other["effect"]["relative"] is other["effect"]["share_worse"] is None


def test_the_page_begins_with_which_is_better_by_how_much_and_how_sure(release, client):
    answer = client.get(page(release, "poor", "good"))

    differences = values(release, "good") - values(release, "poor")
    ends = stats.t.interval(0.95, N - 1, differences.mean(), stats.sem(differences))
    low, high = (f"{end:+.3f}" for end in ends)
    words = plain(answer)
    numbers = f"{differences.mean():+.3f} [{low}, {high}] nDCG@10 on 40 queries."
    # Judged@10 of both is 75 %: d3 has a grade in every fourth query alone.
    assert words.startswith(
        f"good and poor cannot be compared yet. As measured good is better: {numbers}"
    )
    assert "Better on 20 queries, the same on 20, worse on 0." in words
    assert 'class="verdict is-not-comparable"' in answer.content.decode()


def test_runs_that_are_judged_are_better_or_worse(release, client, monkeypatch):
    everything_judged(release, monkeypatch)

    better = client.get(page(release, "poor", "good"))
    worse = client.get(page(release, "good", "poor"))
    assert plain(better).startswith("good is better than poor: +")
    assert 'class="verdict is-better"' in better.content.decode()
    assert plain(worse).startswith("poor is worse than good: \N{MINUS SIGN}")
    assert 'class="verdict is-worse"' in worse.content.decode()


def everything_judged(release, monkeypatch):
    from benchwright.comparison.comparability import comparability
    from scoring.comparisons.services import reading

    monkeypatch.setattr(
        reading, "comparability", lambda shares, answered: comparability(dict.fromkeys(shares, 1.0))
    )


def test_a_run_against_another_is_the_same_pair_whichever_way_it_is_asked(
    release, client, monkeypatch
):
    everything_judged(release, monkeypatch)
    keys = {run.name: run.pk for run in release.benchmark.runs.all()}

    asked = page(release, "poor", "good", run=keys["poor"], against=keys["good"])
    assert plain(client.get(asked)).startswith("poor is worse than good: \N{MINUS SIGN}")


def test_slices_stand_with_losses_before_wins_and_their_words(release, client, monkeypatch):
    everything_judged(release, monkeypatch)

    result = client.get(page(release, "good", "third")).context["said"]
    differences = values(release, "third") - values(release, "good")
    means = {"head": differences[:30].mean(), "tail": differences[30:].mean()}
    assert means["tail"] < means["head"] < 0
    assert [row.name for row in result.slices] == ["all", "tail", "head"]
    for row in result.slices[1:]:
        assert row.pair["difference"] == pytest.approx(means[row.name])
        assert row.kind == Kind.WORSE
    lost = [f"{name} (\N{MINUS SIGN}{-means[name]:.3f})" for name in ("tail", "head")]
    assert result.sentence.endswith(
        f"It is shown to lose on {lost[0]} and {lost[1]}; no slice is shown to gain."
    )
    # Over one slice nothing is said of the others.
    of_slice = client.get(page(release, "good", "third", slice="head")).context["said"]
    assert of_slice.kind == Kind.WORSE
    assert "no slice" not in of_slice.sentence.lower()


@pytest.mark.parametrize(
    ("kind", "of_slices", "sentence"),
    [
        (Kind.BETTER, {"a": Kind.BETTER}, "No slice is shown to lose, and each gains."),
        (
            Kind.BETTER,
            {"a": Kind.BETTER, "b": Kind.SAME},
            "No slice is shown to lose; on b alone the gain is not shown.",
        ),
        (Kind.BETTER, {"a": Kind.WORSE}, "It is shown to lose on a (+0.050)."),
        (
            Kind.NOT_SHOWN,
            {"a": Kind.BETTER},
            "No slice is shown to lose; it gains on a (+0.050).",
        ),
        (Kind.SAME, {"a": Kind.TOO_FEW}, "No slice is shown to lose."),
        (Kind.WORSE, {"a": Kind.SAME}, "No slice is shown to gain."),
        (Kind.WORSE, {"a": Kind.BETTER}, "Gains on a (+0.050)."),
        (Kind.WORSE, {}, ""),
    ],
)
def test_what_is_said_of_slices_beside_the_whole(kind, of_slices, sentence):
    rows = [SliceVerdict(name, 30, 30, pair(), of) for name, of in of_slices.items()]

    assert _hurts(kind, rows) == sentence


@pytest.mark.parametrize(("n_differing", "is_told"), [(14, True), (0, False), (15, False)])
def test_too_few_differing_queries_are_told_where_some_do(n_differing, is_told):
    comparison = SimpleNamespace(comparability=SimpleNamespace(verdict=comparability.Verdict.FREE))
    few = pair(n_differing=n_differing, reason="")

    facts = _facts(comparison, few, ("1", "2"), "all")

    assert any(fact.startswith("Too few queries differ") for fact in facts) == is_told


@pytest.mark.parametrize(("n_needed", "is_told"), [(94, True), (N, False), (None, False)])
def test_what_is_not_shown_says_how_many_queries_would(
    release, client, monkeypatch, n_needed, is_told
):
    everything_judged(release, monkeypatch)
    answer = client.get(page(release, "poor", "good"))
    output = answer.context["told"]
    stored = pair_of(output, *pair_keys(output), "nDCG@10")
    open_pair = {
        **stored,
        "decision": "",
        "is_thin": False,
        "reason": AT_THE_EDGE,
        "power": {**stored["power"], "queries_for_observed": n_needed},
    }
    monkeypatch.setattr(
        "scoring.comparisons.services.reading.Told.pairs", lambda self, *place: [open_pair]
    )

    words = plain(client.get(page(release, "poor", "good")))
    assert words.startswith("good is not shown to be better or worse than poor: +")
    assert ("About 94 queries would show a difference of this size." in words) == is_told
    assert ("queries would show" in words) == is_told
    # The interval leaves 0 out beside "not shown": the reason stands in words.
    assert AT_THE_EDGE in words.replace("&#x27;", "'")


def pair_keys(told):
    reference, run = told.runs
    return run, reference


def test_doubts_stand_in_the_verdict_with_their_effect(release, client):
    words = plain(client.get(page(release, "third", "good")))

    assert "Judged@10: good" in words
    assert "third answers 50.0 % of the queries" in words
    assert re.search(
        "On judged documents alone by nDCG@10: [+\N{MINUS SIGN}]" r"\d\.\d{3} \[", words
    )


def test_judged_share_in_a_verdict_is_not_rounded_to_the_limit_beside_it(
    release, client, monkeypatch
):
    stored = Told.__init__

    def barely_judged(self, *asked, **facts):
        stored(self, *asked, **facts)
        self.result["judged"]["shares"] = dict.fromkeys(self.result["judged"]["shares"], 0.9496)

    monkeypatch.setattr(Told, "__init__", barely_judged)

    assert "Judged@10: good 94.96 %" in plain(client.get(page(release, "third", "good")))


def test_three_runs_begin_with_which_may_be_the_best(release, client):
    words = plain(client.get(page(release, "third", "poor", "good")))

    assert words.startswith("good is the best of the 3 runs, with 95 % confidence.")


def test_one_run_is_offered_partners_baselines_first(release, client):
    release.benchmark.runs.filter(name="third").update(kind="baseline")

    answer = client.get(reverse("scoring:comparison", args=["bench"]) + "?runs=good")
    assert [run.name for run in answer.context["partners"]] == ["third", "poor"]
    keys = {run.name: run.pk for run in release.benchmark.runs.all()}
    text = answer.content.decode()
    assert "good against which run?" in text
    assert f"?runs={keys['third']},{keys['good']}&amp;release=1.0.0" in text


def test_wins_and_losses_lead_to_their_lists(release, client):
    answer = client.get(page(release, "good", "poor"))

    (_, _, losses, n_losses), (_, _, wins, n_wins) = answer.context["page"]["extremes"]
    expected = values(release, "poor") - values(release, "good")
    assert (n_losses, n_wins) == (int((expected < 0).sum()), 0)
    assert wins == []
    assert [row.difference for row in losses] == pytest.approx(np.sort(expected)[:3])
    folded = client.get(page(release, "good", "poor", order="worst"))
    assert 'id="queries" open' in folded.content.decode()
    assert 'id="queries" open' not in answer.content.decode()


def test_swapping_exchanges_run_and_reference(release, client):
    answer = client.get(page(release, "good", "poor"))
    swapped = client.get(
        f"{reverse('scoring:comparison', args=['bench'])}?{answer.context['swapped']}"
    )

    before, after = answer.context["pair"], swapped.context["pair"]
    assert (after.run, after.reference) == (before.reference, before.run)


def test_the_forest_puts_numbers_where_they_belong():
    rows = [
        SliceVerdict("all", 40, 40, pair(0.0, -0.05, 0.05), Kind.NOT_SHOWN),
        SliceVerdict("few", 3, 3, pair(-0.1, None, None), Kind.TOO_FEW),
        SliceVerdict("head", 30, 30, pair(0.1, 0.0, 0.2), Kind.NOT_SHOWN),
    ]
    forest = forest_of(Verdict(Kind.NOT_SHOWN, "", (), tuple(rows), 0.01))

    # From -0.1 to 0.2, with a fiftieth of room on each side.
    low, width = -0.1 - 0.006, 0.3 + 0.012
    every, few, head = forest.rows
    assert every.at == forest.zero == pytest.approx(100 * -low / width, abs=0.01)
    assert (every.low, every.high) == pytest.approx(
        (100 * (-0.05 - low) / width, 100 * (0.05 - low) / width), abs=0.01
    )
    assert (few.low, few.high) == (None, None)
    assert head.high == pytest.approx(100 * (0.2 - low) / width, abs=0.01)
    assert [value for _, value in forest.ticks] == pytest.approx([-0.1, 0.0, 0.1, 0.2])
    assert forest.band == pytest.approx((100 * (-0.01 - low) / width, 2 / width), abs=0.01)
    assert forest.has_few


def test_the_words_of_the_forest_are_those_of_the_verdict(release, client, monkeypatch):
    everything_judged(release, monkeypatch)
    answer = client.get(page(release, "good", "poor"))

    assert len(EVERY[:30]) == len(FIRST)
    rows = re.findall(r'<tr class="is-(\S+?)( is-all)?">', answer.content.decode())
    assert [kind for kind, _ in rows] == [row.kind for row in answer.context["said"].slices]
    assert answer.context["said"].kind == answer.context["said"].slices[0].kind


def test_the_page_of_a_run_begins_with_the_verdict_against_a_baseline(release, client):
    release.benchmark.runs.filter(name="poor").update(kind="baseline")
    keys = {run.name: run.pk for run in release.benchmark.runs.all()}

    scores = client.get(reverse("scoring:run-scores", args=["bench", keys["good"]]))
    address = f"/b/bench/compare/?runs={keys['poor']},{keys['good']}&release=1.0.0"
    assert f'hx-get="{address.replace("&", "&amp;")}"' in scores.content.decode()
    brief = client.get(address, headers={"HX-Request": "true"})
    assert "<html" not in brief.content.decode()
    assert plain(brief) == plain(client.get(address))
    assert f'href="{address.replace("&", "&amp;")}"' in brief.content.decode().replace("%2C", ",")


def test_a_difference_that_is_not_defined_is_said_to_be_so(release, client, monkeypatch):
    output = client.get(page(release, "poor", "good")).context["told"]
    stored = pair_of(output, *pair_keys(output), "nDCG@10")
    undefined = [{**stored, "difference": None, "interval": {"low": None, "high": None}}]
    monkeypatch.setattr(
        "scoring.comparisons.services.reading.Told.pairs", lambda self, *place: undefined
    )

    assert plain(client.get(page(release, "poor", "good"))).startswith(
        "The runs have no difference: the measure is not defined"
    )
