"""A policy's own error rates on somebody's own runs."""

from dataclasses import replace

import numpy as np
import pytest

from benchwright.errors import TooFewQueriesError
from benchwright.gates.errors import RehearsalError
from benchwright.gates.policy import GuardRails, Policy
from benchwright.gates.rehearsal.rehearsing import (
    HARM,
    NO_CHANGE,
    Counts,
    pair_of,
    power_of,
    rehearsed,
    table_of,
)
from benchwright.gates.verdict import decide
from benchwright.statistics.descriptive import wilson
from tests.benchwright.gates.making import RAILS, T, arm, evidence, policy

FIRST = np.arange(300) < 150


def runs(sigma=0.15, n=300, **more):
    rng = np.random.default_rng(4)
    rails = {name: 0.5 + rng.normal(0, 0.05, n) for name in RAILS}
    return evidence(rng.normal(0, sigma, n), rails=rails, **more)


def rows(found):
    return {row["truth"]: row for row in found["rows"]}


def test_every_truth_is_told_with_wilson_intervals():
    rehearsal = rehearsed(Policy(slices=("head",)), [runs(slices={"head": FIRST})], n_made=200)

    by_truth = rows(rehearsal)
    assert list(by_truth) == [
        *(NO_CHANGE, "better by 0.01", "better by 0.03", "better by 0.05", HARM),
        "loss of 0.04 in slice head",
    ]
    for row in by_truth.values():
        share, low, high = row["block"]
        assert low <= share <= high
        assert (row["class"], row["n"]) == ("related", 200)
    assert by_truth[NO_CHANGE]["block"][0] <= 0.072
    assert by_truth["better by 0.05"]["pass"][0] >= 0.9


def test_runs_of_one_class_are_told_together_and_others_apart():
    rehearsal = rehearsed(policy(), [runs(), runs(0.12), runs(0.04), runs(0.4)], n_made=50)

    counted = {(row["class"], row["n"]) for row in rehearsal["rows"]}
    assert counted == {("near", 50), ("related", 100), ("unrelated", 50)}
    assert [run["class"] for run in rehearsal["runs"]] == [
        "related",
        "related",
        "near",
        "unrelated",
    ]


def test_the_same_seed_says_the_same_and_another_does_not():
    one, again, other = (rehearsed(policy(), [runs()], n_made=100, seed=seed) for seed in (1, 1, 2))

    assert one == again
    assert one["rows"] != other["rows"]


def test_harm_that_would_be_missed_is_a_warning():
    rehearsal = rehearsed(policy(guard_rails=GuardRails(measures=())), [runs(0.45)], n_made=200)

    (missed,) = [warning for warning in rehearsal["warnings"] if HARM in warning]
    assert "Between unrelated runs" in missed
    assert rows(rehearsal)[HARM]["block"][0] < 0.5


def queries_to_show(found):
    (rare,) = [
        warning for warning in found["warnings"] if "an improvement of 0.01 passes in" in warning
    ]
    return int(rare.split("about ")[1].split(" ")[0].replace(",", ""))


def test_an_improvement_that_is_rarely_shown_says_how_many_queries_would_show_it():
    """(1.645 * .45 / .01)^2, at the scatter of the draw."""
    rehearsal = rehearsed(policy(), [runs(0.45)], n_made=200)

    sigma = rehearsal["runs"][0]["sigma"]
    assert queries_to_show(rehearsal) == pytest.approx((1.6449 * sigma / 0.01) ** 2, abs=2)


def test_queries_of_families_that_go_together_show_an_improvement_as_one_each():
    once = np.random.default_rng(4).normal(0, 0.45, 100)
    rails = {name: np.full(300, 0.5) for name in RAILS}
    copied = evidence(np.repeat(once, 3), rails=rails, families=np.repeat(np.arange(100), 3))

    rehearsal = rehearsed(policy(), [copied], n_made=200)

    sigma = float(np.std(once, ddof=1))
    assert queries_to_show(rehearsal) == pytest.approx(3 * (1.6449 * sigma / 0.01) ** 2, rel=0.001)


def test_false_blocks_above_the_error_are_a_warning():
    """A hard limit on the share blocks most of what has not changed, where runs scatter."""
    policy_asked = policy(guard_rails=GuardRails(measures=(), worst_rule="share"))

    rehearsal = rehearsed(policy_asked, [runs(0.3)], n_made=200)

    assert any("are blocked though nothing changed" in warning for warning in rehearsal["warnings"])


def test_where_everything_is_in_order_nothing_is_warned_of():
    policy_asked = policy(guard_rails=GuardRails(measures=()))

    assert rehearsed(policy_asked, [runs(0.04, 1_500)], n_made=100)["warnings"] == []


@pytest.mark.parametrize("n", [0, 11])
def test_one_to_ten_runs_are_rehearsed_with(n):
    with pytest.raises(RehearsalError, match=f"{n} runs are named"):
        rehearsed(policy(), [runs()] * n)


def test_ten_runs_are_taken_in_their_order():
    rehearsal = rehearsed(policy(), [runs()] * 10, n_made=1)

    assert (len(rehearsal["runs"]), rehearsal["rows"][0]["n"]) == (10, 10)


def test_400_comparisons_a_case_from_seed_0_are_what_is_made_if_nothing_is_said():
    policy_asked, of = policy(guard_rails=GuardRails(measures=())), runs()

    assert rehearsed(policy_asked, [of]) == rehearsed(policy_asked, [of], n_made=400, seed=0)
    assert rehearsed(policy_asked, [of])["rows"][0]["n"] == 400
    assert power_of(policy_asked, of) == power_of(policy_asked, of, seed=0)
    assert power_of(policy_asked, of)["n_made"] == 400


def test_every_run_and_every_truth_has_draws_of_its_own():
    """The same run twice counts as two: not twice the verdicts of the first."""
    once = rows(rehearsed(policy(), [runs()], n_made=150))
    twice = rows(rehearsed(policy(), [runs(), runs()], n_made=150))

    doubled = [
        round(300 * twice[truth][name][0]) == 2 * round(150 * once[truth][name][0])
        for truth in once
        for name in ("pass", "block", "inconclusive")
    ]
    assert not all(doubled)


def test_one_query_is_too_few_to_rehearse_with():
    with pytest.raises(TooFewQueriesError):
        rehearsed(policy(), [runs(n=1)])


def test_two_queries_are_enough_to_rehearse_with():
    rehearsal = rehearsed(policy(), [runs(n=2)], n_made=1)

    assert (rehearsal["n_queries"], rehearsal["n_families"]) == (2, 2)


def test_progress_is_told():
    results = []
    rehearsed(policy(), [runs(), runs()], n_made=10, progress=lambda *of: results.append(of))

    assert results[0] == (0, 100, "new")
    assert [done for done, _, _ in results] == list(range(0, 100, 10))


def test_families_are_drawn_whole_and_slices_travel_along():
    """Ten copies of each query tell what one of each tells: the same shares, within their noise."""
    once = runs(0.15, 100)
    rails = {name: np.repeat(once.candidate.of(name), 10) for name in RAILS}
    families = np.repeat(np.arange(100), 10)
    many = evidence(np.repeat(once.differences("nDCG@10"), 10), rails=rails, families=families)

    one, other = (rows(rehearsed(policy(), [of], n_made=400)) for of in (once, many))

    for truth in (NO_CHANGE, "better by 0.03"):
        assert one[truth]["pass"][0] == pytest.approx(other[truth]["pass"][0], abs=0.11)


def test_harm_falls_first_on_queries_that_have_something_to_lose():
    """With a tenth of them above .4, these are the ones, and no other."""
    from benchwright.gates.rehearsal.making import _harmed, draw

    rng = np.random.default_rng(0)
    drawn = draw(100, None, n_families=None, k=3, rng=rng)
    standing = np.where(drawn.rows < 30, 0.8, 0.1)

    harmed = _harmed(standing, drawn, rng)

    assert [int(harmed[at : at + 100].sum()) for at in (0, 100, 200)] == [10, 10, 10]
    assert (standing[harmed] == 0.8).all()


def test_exact_matches_are_rehearsed_against_the_lexical_run():
    policy_asked = policy(guard_rails=GuardRails(measures=(), exact_slice="exact"))
    result = replace(runs(slices={"exact": FIRST}), lexical=arm("bm25", np.full(300, 0.5)))

    pair = pair_of(policy_asked, result)

    assert pair.exact is not None
    assert rows(rehearsed(policy_asked, [result], n_made=20))[NO_CHANGE]["n"] == 20


def test_a_pair_holds_what_its_evidence_says():
    """Of candidate and baseline, each against the lexical run; only slices that may decide."""
    rng = np.random.default_rng(7)
    lexical = arm("bm25", rng.random(300))
    masks = {"exact": FIRST, "a": ~FIRST, "b": np.arange(300) < 40, "c": FIRST}
    result = replace(runs(slices=masks), lexical=lexical, registered=frozenset({"a", "b"}))
    rails = GuardRails(measures=("RR@10", "R@100"), exact_slice="exact")

    pair = pair_of(policy(slices=("a", "b", "c"), guard_rails=rails), result)

    values = {name: each.of("nDCG@10") for name, each in zip("ncl", arms_of(result), strict=True)}
    assert pair.gain.tolist() == (values["n"] - values["c"]).tolist()
    assert pair.standing.tolist() == values["c"].tolist()
    assert pair.against.tolist() == (values["n"] - values["l"]).tolist()
    assert pair.baseline_against.tolist() == (values["c"] - values["l"]).tolist()
    guards = [result.differences(name).tolist() for name in ("RR@10", "R@100")]
    assert pair.guards.T.tolist() == guards
    expected = [masks["a"].tolist(), masks["b"].tolist(), [False] * 300]
    assert pair.slices.T.tolist() == expected
    assert pair.exact.tolist() == FIRST.tolist()


def arms_of(found):
    return found.candidate, found.baseline, found.lexical


@pytest.mark.parametrize(("n", "is_checked"), [(29, False), (30, True)])
def test_exact_matches_are_rehearsed_from_as_many_queries_as_a_slice(n, is_checked):
    policy_asked = policy(guard_rails=GuardRails(measures=(), exact_slice="exact"))
    result = runs(slices={"exact": np.arange(300) < n})
    lexical = replace(result, lexical=arm("bm25", np.full(300, 0.5)))

    for evidence_, expected in ((lexical, is_checked), (result, False)):
        pair = pair_of(policy_asked, evidence_)
        assert [each is not None for each in (pair.exact, pair.against, pair.baseline_against)] == [
            expected
        ] * 3
        assert (pair.guards.shape, pair.slices.shape) == ((300, 0), (300, 0))


def test_a_verdict_says_the_power_of_its_rail_at_this_size():
    report = decide(policy(guard_rails=GuardRails(measures=())), runs(0.05), T).as_dict()

    assert report["power"] == power_of(policy(guard_rails=GuardRails(measures=())), runs(0.05))
    assert report["power"]["rail"][0] >= 0.99
    assert "a tenth of these queries lost 0.4" in report["power"]["sentence"]


def test_verdicts_are_counted_by_class_and_truth_over_all_parts():
    counts = Counts()
    for verdicts in (["pass", "pass_strict"], ["block", "pass", "hold"]):
        counts.add("related", "t", np.array(verdicts), np.array([True, False]))
    counts.add("near", "t", np.array(["inconclusive"]), np.array([False]))

    near, related = counts.rows()

    assert [(row["class"], row["truth"], row["n"]) for row in (near, related)] == [
        ("near", "t", 1),
        ("related", "t", 5),
    ]
    n_of = {"pass": 3, "block": 1, "hold": 1, "inconclusive": 0, "rail": 2}
    for name, n in n_of.items():
        assert related[name] == [n / 5, *wilson(n, 5)]
    for name in n_of:
        assert near[name][0] == (name == "inconclusive")


def test_a_table_has_shares_with_their_intervals():
    row = {"class": "near", "truth": "t", "pass": [0.5, 0.4, 0.6], "block": [0.251, 0.2, 0.3]}
    row |= {"hold": [0.1, 0.05, 0.2], "inconclusive": [0.149, 0.1, 0.2]}

    assert table_of({"rows": [row]}) == [
        ["near", "t", "50 % (40-60 %)", "25 % (20-30 %)", "10 %", "15 %"]
    ]


def test_without_a_slice_of_exact_matches_a_lexical_run_is_not_asked():
    result = replace(runs(), lexical=arm("bm25", np.full(300, 0.5)))

    pair = pair_of(policy(guard_rails=GuardRails(measures=(), exact_slice="gone")), result)

    assert (pair.exact, pair.against, pair.baseline_against) == (None, None, None)
