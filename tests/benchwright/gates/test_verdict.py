"""One golden case for each cell of checks and goals.

400 values around a mean, half of them 0.1 above and half below: the standard error is
0.1 / sqrt(399) = 0.005006, one-sided bounds are 1.6487 of it away (0.00825), two-sided ones 1.9659
(0.00984).
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from benchwright.errors import TooFewQueriesError
from benchwright.gates.bounds import Method
from benchwright.gates.deciding import Verdict
from benchwright.gates.errors import PolicyMeasureError, PolicySliceError
from benchwright.gates.evidence import Process, Wanted
from benchwright.gates.policy import GuardRails, Policy
from benchwright.gates.verdict import decide
from tests.benchwright.gates.making import RAILS, T, arm, decided, evidence, finding, policy, spread

N = 400
FIRST = np.arange(N) < 200
LAST = ~FIRST
REACH = stats.t.ppf(0.95, N - 1) * 0.1 / np.sqrt(N - 1)


@pytest.mark.parametrize(
    ("mean", "improve", "not_worse", "outcome"),
    [
        (0.0200, "pass", "pass", "improves"),
        (0.0100, "pass", "pass", "improves"),
        (0.0090, "hold", "pass", "improves a little"),  # bound +.0007, below the least that counts
        (0.0050, "inconclusive", "pass", "inconclusive"),
        (0.0000, "inconclusive", "pass", "inconclusive"),
        (-0.0090, "inconclusive", "pass", "regresses"),  # p .036, .073 beside the losses
        (-0.0110, "block", "block", "regresses"),  # p .014
        (-0.0300, "block", "block", "regresses"),
    ],
)
def test_all_queries_decide_by_their_bounds(mean, improve, not_worse, outcome):
    wanted = decided(spread(mean), policy(goal="improve"))
    kept = decided(spread(mean), policy(goal="not_worse"))

    assert (wanted.verdict, kept.verdict) == (improve, not_worse)
    assert finding(wanted, "overall", "nDCG@10").outcome == outcome


def test_numbers_are_of_the_queries_on_which_both_runs_are_defined():
    differences = np.where(np.arange(N) < 100, np.nan, spread(0.02))

    decision = decided(differences, policy())

    numbers = finding(decision, "overall", "nDCG@10").numbers
    assert "on 300 queries" in decision.sentence
    assert (numbers["n"], numbers["baseline"]) == (300, 0.5)
    assert numbers["candidate"] == pytest.approx(0.52)


def test_bounds_are_no_differences_that_cannot_be():
    families = np.arange(N) % 2
    rails = {"R@100": spread(0.5, by=0.5), "RR@10": spread(0.5, by=0.5)}
    policy_asked = policy(slices=("head",), guard_rails=GuardRails(measures=RAILS))
    decision = decided(
        spread(0, by=0.5), policy_asked, slices={"head": FIRST}, families=families, rails=rails
    )

    for check, name in (("overall", "nDCG@10"), ("slices", "head"), ("guard_rails", "RR@10")):
        numbers = finding(decision, check, name).numbers
        assert (numbers["lower"], numbers["upper"]) == (-1, 1)


def test_bounds_are_those_of_students_t():
    numbers = finding(decided(spread(0.02), policy()), "overall", "nDCG@10").numbers

    assert numbers["difference"] == pytest.approx(0.02)
    assert numbers["lower"] == pytest.approx(0.02 - REACH)
    assert numbers["upper"] == pytest.approx(0.02 + REACH)
    assert numbers["baseline"] == pytest.approx(0.5)


def test_too_few_queries_to_rule_out_a_loss_are_inconclusive_and_counted():
    """50 queries: error .1 / 7 = .014286; needed (2.4865 * .014286 * sqrt(50) / .02)^2 = 158."""
    decision = decided(spread(0.0, 50), policy(goal="not_worse"))

    assert decision.verdict == Verdict.INCONCLUSIVE
    assert decision.changes == ("Label 108 more queries.",)


def test_an_improvement_that_is_not_shown_says_how_many_queries_would_show_it():
    """100 queries of .012: error .1 / sqrt(99); needed (2.4865 * .1005 / .012)^2 = 434."""
    decision = decided(spread(0.012, 100), policy())

    assert decision.verdict == Verdict.INCONCLUSIVE
    assert decision.changes == ("Label 334 more queries.",)


def test_enough_queries_without_an_improvement_say_that_there_is_none():
    decision = decided(spread(0.0, 4_000), policy())

    assert decision.verdict == Verdict.INCONCLUSIVE
    assert decision.changes[0].startswith("So many queries would most likely show +0.0100")


# --- slices --------------------------------------------------------------------------------------

MIXED = np.where(FIRST, spread(0.08), spread(-0.05))  # +.015 over all
FLAT = spread(0.02)


@pytest.mark.parametrize("goal", ["improve", "not_worse"])
def test_a_registered_slice_that_regresses_blocks(goal):
    policy_asked = policy(goal=goal, slices=("head", "tail"))
    decision = decided(MIXED, policy_asked, slices={"head": FIRST, "tail": LAST})

    assert decision.verdict == Verdict.BLOCK
    assert finding(decision, "slices", "tail").outcome == "regression"
    assert decision.changes == ("Mend what slice tail lost.",)


@pytest.mark.parametrize("goal", ["improve", "not_worse"])
@pytest.mark.parametrize(
    ("words", "more", "outcome"),
    [
        ({"slices": ("head",)}, {}, "exploratory"),  # not in the policy
        ({"slices": ("head", "tail")}, {"registered": frozenset({"head"})}, "exploratory"),
        ({"slices": ("head", "tail"), "smallest_slice": 201}, {}, "too few queries"),
    ],
)
def test_what_is_not_registered_or_too_small_is_listed_and_decides_nothing(
    goal, words, more, outcome
):
    decision = decided(
        MIXED, policy(goal=goal, **words), slices={"head": FIRST, "tail": LAST}, **more
    )

    assert decision.verdict in (Verdict.PASS, Verdict.PASS_STRICT)
    assert finding(decision, "slices", "tail").outcome == outcome
    assert finding(decision, "slices", "tail").numbers["difference"] == pytest.approx(-0.05)


def test_29_queries_are_too_few_and_30_decide():
    few, enough = np.arange(N) < 29, np.arange(N) < 30
    lost = np.where(enough, -0.4, spread(0.1))

    for mask, verdict in ((few, Verdict.PASS), (enough, Verdict.BLOCK)):
        assert decided(lost, policy(slices=("s",)), slices={"s": mask}).verdict == verdict


def test_every_registered_slice_shown_non_inferior_is_a_strict_pass():
    policy_asked = policy(slices=("head", "tail"))
    decision = decided(FLAT, policy_asked, slices={"head": FIRST, "tail": LAST})

    assert decision.verdict == Verdict.PASS_STRICT
    assert decision.verdict.label == "PASS-STRICT"
    assert "strong candidate for an A/B test" in decision.sentence
    assert "ship" not in decision.sentence


def test_without_registered_slices_no_pass_is_strict():
    assert decided(FLAT, policy()).verdict == Verdict.PASS


def test_a_slice_that_is_not_shown_passes_and_says_how_many_queries_it_lacks():
    """32 queries at 0: error .1 / sqrt(31) = .01796; needed (2.4865 * .1016 / .02)^2 = 160."""
    mask = np.arange(N) < 32
    differences = np.where(mask, spread(0.0), spread(0.03))
    decision = decided(differences, policy(slices=("s",)), slices={"s": mask})

    assert decision.verdict == Verdict.PASS
    assert finding(decision, "slices", "s").outcome == "not shown"
    assert decision.changes == ("Label 128 more queries of slice s.",)


def test_everything_that_blocks_is_one_family_of_holm_and_small_slices_do_not_count():
    """p = .0151 by itself: below .05 with all queries and the losses, not with a second slice."""
    tail = np.arange(N) < 100
    differences = np.where(tail, spread(-0.0201, by=0.091), spread(0.05))
    alone = decided(differences, policy(slices=("a",)), slices={"a": tail})
    both = decided(differences, policy(slices=("a", "b")), slices={"a": tail, "b": ~tail})
    with_small = decided(
        differences, policy(slices=("a", "b")), slices={"a": tail, "b": np.arange(N) > 395}
    )

    p = stats.t.sf(0.0201 / (0.091 / np.sqrt(99)), 99)
    assert p == pytest.approx(0.0151, abs=1e-4)
    assert finding(alone, "slices", "a").numbers["p_adjusted"] == pytest.approx(3 * p)
    assert finding(both, "slices", "a").numbers["p_adjusted"] == pytest.approx(4 * p)
    assert finding(with_small, "slices", "a").numbers["p_adjusted"] == pytest.approx(3 * p)
    assert (alone.verdict, both.verdict) == (Verdict.BLOCK, Verdict.PASS)


@pytest.mark.parametrize(
    ("rails", "more", "m"),
    [
        (GuardRails(measures=()), {}, 2),
        (GuardRails(), {}, 4),
        (GuardRails(measures=(), worst_rule="share"), {}, 1),
        (GuardRails(measures=(), exact_slice="head"), {"lexical": arm("bm25", FLAT)}, 3),
    ],
)
def test_the_family_counts_all_queries_measures_exact_matches_and_losses(rails, more, m):
    """Also where nothing differs, and where nothing is lost."""
    decision = decided(spread(0, by=0), policy(guard_rails=rails), slices={"head": FIRST}, **more)

    numbers = finding(decision, "overall", "nDCG@10").numbers
    assert (numbers["m"], numbers["p"], numbers["p_adjusted"]) == (m, 1, 1)


def test_guard_measures_are_corrected_with_everything_else():
    """p = .0151 of a measure: below .05 of three tests, not of four."""
    fallen = 0.5 + np.where(np.arange(N) < 100, spread(-0.0201, by=0.091), np.nan)
    p = stats.t.sf(0.0201 / (0.091 / np.sqrt(99)), 99)
    for names, times, verdict in ((("RR@10",), 3, "block"), (RAILS, 4, "pass")):
        rails = {"R@100": np.full(N, 0.5), "RR@10": fallen}
        policy_asked = policy(guard_rails=GuardRails(measures=names))
        decision = decided(spread(0.05), policy_asked, rails=rails)

        numbers = finding(decision, "guard_rails", "RR@10").numbers
        assert numbers["p_adjusted"] == pytest.approx(times * p)
        assert decision.verdict == verdict


def test_a_loss_over_all_queries_blocks_by_its_p_after_holm():
    """One-sided p .03 by itself, .06 with the losses beside it."""
    decision = decided(spread(-stats.t.ppf(0.97, N - 1) * 0.1 / np.sqrt(N - 1)), policy())

    numbers = finding(decision, "overall", "nDCG@10").numbers
    assert numbers["p"] == pytest.approx(0.03)
    assert numbers["p_adjusted"] == pytest.approx(0.06)
    assert decision.verdict == Verdict.INCONCLUSIVE
    # The bound and the adjusted p part, which is said in words.
    text = "Beside all that could block, p of a loss is 0.0600: it does not block."
    assert text in finding(decision, "overall", "nDCG@10").reason


def test_a_small_fall_is_no_regression_however_sure_it_is():
    differences = np.where(LAST, spread(-0.018, by=0.01), spread(0.08))
    decision = decided(differences, policy(slices=("tail",)), slices={"tail": LAST})

    item = finding(decision, "slices", "tail")
    assert (item.outcome, item.numbers["p_adjusted"] < 1e-6) == ("non-inferior", True)


@pytest.mark.parametrize(("mean", "is_lost"), [(-0.02, False), (-0.0201, True)])
def test_a_fall_of_exactly_the_margin_is_no_regression(mean, is_lost):
    differences = np.where(LAST, spread(mean, by=0.01), spread(0.08))
    decision = decided(differences, policy(slices=("tail",)), slices={"tail": LAST})

    assert (finding(decision, "slices", "tail").outcome == "regression") == is_lost


def test_a_slice_that_the_data_lacks_is_an_error():
    with pytest.raises(PolicySliceError, match=r"slice 'tail', which holds no graded.*head"):
        decided(FLAT, policy(slices=("tail",)), slices={"head": FIRST, "tail": FIRST & LAST})


# --- guard rails ---------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", ["improve", "not_worse"])
@pytest.mark.parametrize("name", RAILS)
def test_a_guard_rail_that_falls_beyond_the_margin_blocks(goal, name):
    policy_asked = policy(goal=goal, guard_rails=GuardRails(worst_share=1.0))
    rails = {**dict.fromkeys(RAILS, np.full(N, 0.5)), name: 0.5 + spread(-0.05)}
    decision = decided(FLAT, policy_asked, rails=rails)

    assert decision.verdict == Verdict.BLOCK
    assert finding(decision, "guard_rails", name).outcome == "regression"


def test_a_guard_rail_within_the_margin_passes():
    rails = {**dict.fromkeys(RAILS, np.full(N, 0.5)), "RR@10": 0.5 + spread(-0.019)}

    assert (
        decided(FLAT, policy(guard_rails=GuardRails(worst_share=1)), rails=rails).verdict == "pass"
    )


@pytest.mark.parametrize("goal", ["improve", "not_worse"])
@pytest.mark.parametrize(("n_lost", "verdict"), [(20, "pass"), (21, "block")])
def test_at_most_one_query_in_twenty_may_lose_much(goal, n_lost, verdict):
    lost = np.where(np.arange(N) < n_lost, -0.31, 0.08)
    decision = decided(lost, policy(goal=goal, guard_rails=GuardRails(measures=())))

    item = finding(decision, "guard_rails", "Queries that lose more than 0.3")
    assert decision.verdict == verdict
    assert (item.numbers["n_lost"], len(item.numbers["queries"])) == (n_lost, 20)
    assert item.numbers["queries"][0]["query"] == "q0"


def scattered(n_lost, n_won, n=N):
    """So many lose and win .5, the rest moves the mean to +.02."""
    differences = np.zeros(n)
    differences[:n_lost], differences[n_lost : n_lost + n_won] = -0.5, 0.5
    rest = n - n_lost - n_won
    differences[-rest:] = (0.02 * n - 0.5 * (n_won - n_lost)) / rest
    return differences


LOST = "Queries that lose more than 0.3"


def test_losses_that_the_scatter_explains_are_an_exchange_and_do_not_block():
    """50 lose and 60 win more than .3, and the mean mirrors 60 at .34: p = .85."""
    decision = decided(scattered(50, 60), policy(guard_rails=GuardRails(measures=())))

    item = finding(decision, "guard_rails", LOST)
    assert (item.outcome, item.level) == ("an exchange", "note")
    assert "expected from this pair's own scatter: 60 (p = 0.8" in item.reason
    assert "An exchange: 50 queries lose, 60 win more than 0.3." in item.reason
    numbers = item.numbers
    assert (numbers["n_lost"], numbers["n_won"], numbers["expected"]) == (50, 60, 60)
    p = stats.binomtest(50, 110, 0.5, alternative="greater").pvalue
    assert numbers["p"] == pytest.approx(p)
    assert decision.verdict != Verdict.BLOCK


def test_a_hard_limit_blocks_the_same_exchange():
    policy_asked = policy(guard_rails=GuardRails(measures=(), worst_rule="share"))
    decision = decided(scattered(50, 60), policy_asked)

    item = finding(decision, "guard_rails", LOST)
    assert (decision.verdict, item.outcome) == (Verdict.BLOCK, "too many")
    assert "at most 5 %" in item.reason


def test_losses_within_the_share_never_block_however_sure():
    decision = decided(scattered(20, 0), policy(guard_rails=GuardRails(measures=())))

    item = finding(decision, "guard_rails", LOST)
    assert (item.outcome, item.numbers["p_adjusted"] < 0.001) == ("few enough", True)
    assert decision.verdict != Verdict.BLOCK


def test_losses_count_after_holm():
    """8 of 9 (p .0195) block beside the mean, and not beside two measures as well: .078."""
    lost = scattered(8, 1, n=100)
    alone = decided(lost, policy(guard_rails=GuardRails(measures=())))
    flat = {name: np.full(100, 0.5) for name in RAILS}
    beside = decided(lost, policy(guard_rails=GuardRails()), rails=flat)

    numbers = [finding(decision, "guard_rails", LOST).numbers for decision in (alone, beside)]
    assert [number["p"] for number in numbers] == pytest.approx([10 / 512] * 2)
    assert [number["p_adjusted"] for number in numbers] == pytest.approx([20 / 512, 40 / 512])
    assert (alone.verdict == Verdict.BLOCK, beside.verdict == Verdict.BLOCK) == (True, False)


def test_a_measure_is_green_only_where_the_bound_rules_a_loss_out():
    """40 queries scatter by .3: at least -.08. Not shown, with the queries that would show it."""
    policy_asked = policy(guard_rails=GuardRails(measures=("RR@10",)))
    rails = {"RR@10": 0.5 + spread(0.0, 40, by=0.3)}
    item = finding(decided(spread(0.05, 40), policy_asked, rails=rails), "guard_rails", "RR@10")

    assert (item.outcome, item.level) == ("not shown", "warn")
    assert "a loss of 0.02 is not ruled out" in item.reason
    assert item.change.startswith("Label 1,")


def test_a_loss_of_exactly_the_limit_is_not_counted():
    lost = np.where(np.arange(N) < 100, -0.3, 0.2)
    decision = decided(lost, policy(guard_rails=GuardRails(measures=())))

    assert (
        finding(decision, "guard_rails", "Queries that lose more than 0.3").numbers["n_lost"] == 0
    )


EXACT = GuardRails(measures=(), worst_share=1.0, exact_slice="exact")


@pytest.mark.parametrize(
    ("lexical", "n_exact", "outcome", "verdict"),
    [
        (0.60, 100, "regression", "block"),
        (0.45, 100, "not regressed", "pass"),
        (0.60, 29, "not run", "pass"),
        (None, 100, "not run", "pass"),
    ],
)
def test_exact_match_is_held_against_the_lexical_run(lexical, n_exact, outcome, verdict):
    mask = np.arange(N) < n_exact
    against = None if lexical is None else arm("bm25", np.full(N, lexical))
    decision = decided(FLAT, policy(guard_rails=EXACT), slices={"exact": mask}, lexical=against)

    item = finding(decision, "guard_rails", "Exact match against a lexical run")
    assert (item.outcome, decision.verdict) == (outcome, verdict)


# --- process -------------------------------------------------------------------------------------

FLAGS = [
    ("Policy before candidate", {"seen_before_policy": True}),
    ("Earlier submissions", {"prior_submissions": 21}),
    ("Contamination", {"contaminated": 21}),
    ("Fresh labels", {"stale_share": 0.101}),
    ("Agreement of labels", {"agreement": 0.669}),
]
FINE = Process(
    seen_before_policy=False,
    prior_submissions=20,
    contaminated=20,
    stale_share=0.1,
    agreement=0.67,
)


@pytest.mark.parametrize("goal", ["improve", "not_worse"])
@pytest.mark.parametrize(("name", "known"), FLAGS)
def test_a_flag_holds_back_and_a_loss_blocks_all_the_same(goal, name, known):
    flagged = replace(FINE, **known)
    held = decided(FLAT, policy(goal=goal), process=flagged)

    assert held.verdict == Verdict.HOLD
    assert finding(held, "process", name).outcome == "flagged"
    assert name in held.sentence
    assert decided(spread(-0.03), policy(goal=goal), process=flagged).verdict == Verdict.BLOCK


def test_a_flag_comes_before_too_few_queries():
    held = decided(spread(0.0), policy(), process=Process(seen_before_policy=True))

    assert held.verdict == Verdict.HOLD
    assert "Label" in " ".join(held.changes) or "So many queries" in " ".join(held.changes)


def test_at_their_limits_nothing_is_flagged():
    assert decided(FLAT, policy(), process=FINE).verdict == Verdict.PASS


@pytest.mark.parametrize(
    ("name", "known", "words"),
    [
        ("Agreement of labels", {"agreement": 0.669}, "alpha is 0.669; at least 0.67"),
        ("Fresh labels", {"stale_share": 0.1004}, "10.04 % of the labels"),
    ],
)
def test_what_is_flagged_is_not_rounded_to_its_limit(name, known, words):
    held = decided(FLAT, policy(), process=replace(FINE, **known))

    assert words in finding(held, "process", name).reason


@pytest.mark.parametrize(
    ("differences", "words"),
    [
        (spread(-0.02004, by=1e-4), "-0.02004 is below -0.0200"),
        (spread(REACH - 0.01996), "At least -0.01996, which is above -0.0200"),
    ],
)
def test_difference_is_not_rounded_to_the_margin_that_it_is_held_against(differences, words):
    rails = dict.fromkeys(RAILS, 0.5 + differences)
    decision = decided(FLAT, policy(guard_rails=GuardRails()), rails=rails)

    assert finding(decision, "guard_rails", "RR@10").reason.startswith(words)


def test_what_nobody_knows_is_listed_and_flags_nothing():
    decision = decided(FLAT, policy(), process=Process(is_registered=False))

    outcomes = {finding.outcome for finding in decision.checks["process"].findings}
    assert (decision.verdict, outcomes) == (Verdict.PASS, {"not known"})


# --- comparable ----------------------------------------------------------------------------------


@pytest.mark.parametrize("goal", ["improve", "not_worse"])
@pytest.mark.parametrize(
    ("more", "labels", "verdict", "outcome"),
    [
        ({"judged": (0.95, 0.97)}, "pooled", "pass", "comparable"),
        ({"judged": (0.94, 0.95)}, "pooled", "pass", "provisional"),
        ({"judged": (1.0, 0.97)}, "pooled", "pass", "provisional"),
        ({"judged": (0.80, 0.80)}, "pooled", "pass", "provisional"),
        ({"judged": (0.79, 0.80)}, "pooled", "not_comparable", "not comparable"),
        ({"judged": (1.0, 0.94)}, "pooled", "not_comparable", "not comparable"),
        ({"judged": (0.05, 0.06)}, "sparse", "pass", "comparable"),
        ({"judged": (0.05, 0.09)}, "sparse", "pass", "provisional"),
        ({"judged": (0.05, 0.11)}, "sparse", "not_comparable", "not comparable"),
        ({"judged": (np.nan, 1.0)}, "pooled", "not_comparable", "not comparable"),
    ],
)
def test_judged_shares_decide_whether_runs_are_compared(goal, more, labels, verdict, outcome):
    decision = decided(FLAT, policy(goal=goal, labels=labels), **more)

    item = finding(decision, "comparable", "Judged documents")
    assert (decision.verdict, item.outcome) == (verdict, outcome)
    assert ("sparse" in item.reason) == (labels == "sparse")


@pytest.mark.parametrize("goal", ["improve", "not_worse"])
def test_unanswered_queries_are_no_zeros_and_not_comparable(goal):
    decision = decided(FLAT, policy(goal=goal), missing=("q1", "q2", "q3", "q4"))

    assert decision.verdict == Verdict.NOT_COMPARABLE
    assert "4 queries of the benchmark have no result: q1, q2, q3 …" in decision.sentence
    assert list(decision.checks) == ["comparable"]


@pytest.mark.parametrize(
    ("depth", "verdict"), [(100, "pass"), (1000, "pass"), (99, "not_comparable")]
)
def test_both_runs_reach_as_deep_as_the_measures_look(depth, verdict):
    policy_asked = policy(guard_rails=GuardRails(measures=("R@100",), worst_share=1.0))
    decision = decided(FLAT, policy_asked, depth=depth)

    assert decision.verdict == verdict


def test_depth_below_every_measure_does_not_matter():
    assert decided(FLAT, policy(), depth=10).verdict == Verdict.PASS


def test_what_must_be_judged_is_counted():
    decision = decide(
        policy(),
        evidence(FLAT, judged=(1, 0.5), wanted=Wanted((("q1", "d"),) * 40, needed=34)),
        T,
    )

    assert decision.changes == ("Judge 34 documents.",)


# --- families, errors, determinism ---------------------------------------------------------------


def test_families_stand_together_in_bounds_and_counts():
    """Ten copies of 40 values tell what the 40 tell."""
    once = spread(0.012, 40)
    families = np.repeat(np.arange(40), 10)
    repeated = decided(np.repeat(once, 10), policy(), families=families)
    alone = decided(once, policy())

    first, second = (
        finding(decision, "overall", "nDCG@10").numbers for decision in (repeated, alone)
    )
    assert first["lower"] == pytest.approx(second["lower"])
    assert (first["n"], first["n_families"], second["n"]) == (400, 40, 40)
    assert repeated.verdict == Verdict.INCONCLUSIVE
    assert decided(np.repeat(once, 10), policy()).verdict == Verdict.PASS


@pytest.mark.parametrize(
    ("n_families", "n_differing", "words"),
    [
        (30, 30, []),
        (29, 29, ["29 families or queries; below 30 an interval is too short."]),
        (400, 14, ["14 families or queries differ; no interval is right here."]),
    ],
)
def test_bounds_over_too_few_families_are_said_to_be_so(n_families, n_differing, words):
    values = np.where(np.arange(N) % n_families < n_differing, spread(0.02), 0)
    decision = decided(values, policy(), families=np.arange(N) % n_families)

    reason = finding(decision, "overall", "nDCG@10").reason
    assert reason.split(" each).")[1:] == ([f" {' '.join(words)}"] if words else [""])


def test_one_query_is_an_error():
    with pytest.raises(TooFewQueriesError):
        decided(spread(0.1, 1), policy())


def test_a_measure_that_was_not_scored_is_an_error():
    with pytest.raises(PolicyMeasureError, match=r"'new' has no values of AP"):
        decided(FLAT, Policy(measure="AP"))


def test_sign_flips_and_bootstrap_say_the_same_twice():
    seen = [
        decide(policy(), evidence(spread(0.02)), Method(n_draws=500, seed=4)).as_dict()
        for _ in range(2)
    ]

    assert seen[0] == seen[1]
    assert seen[0]["verdict"] == "pass"
