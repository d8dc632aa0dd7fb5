"""Exactly at a limit: what counts as beyond it, and what does not."""

from dataclasses import replace
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchwright.gates.bounds import Difference, Method, measured, p_less
from benchwright.gates.deciding import Verdict
from benchwright.gates.evidence import Arm, Process, Wanted, numbered
from benchwright.gates.findings import Check, Finding, Level, defined, signed
from benchwright.gates.policy import GuardRails
from benchwright.gates.rehearsal.rehearsing import HARM, NO_CHANGE, _warnings, class_of
from benchwright.gates.verdict import decide
from benchwright.statistics.signflip import sign_flip
from benchwright.texts.counting import counted
from tests.benchwright.gates.making import T, arm, decided, evidence, finding, policy, spread

N = 400
HALF = np.arange(N) < 200
NAN = float("nan")


# --- bounds --------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_bounds_and_p_are_scipys(alpha):
    columns = np.random.default_rng(3).normal(-0.1, 1, (50, 2))
    columns[40:, 1] = np.nan

    report = measured(columns, None, Method("t"), alpha=alpha)

    for column, bound in zip((columns[:, 0], columns[:40, 1]), report, strict=True):
        lower = stats.ttest_1samp(column, 0, alternative="greater").confidence_interval(1 - alpha)
        less = stats.ttest_1samp(column, 0, alternative="less")
        assert (bound.n, bound.n_families) == (len(column), len(column))
        assert bound.lower == pytest.approx(lower.low)
        assert bound.upper == pytest.approx(less.confidence_interval(1 - alpha).high)
        assert bound.p_less == pytest.approx(less.pvalue)
        assert bound.sigma == pytest.approx(column.std(ddof=1))
        assert bound.error == pytest.approx(stats.sem(column))


def test_the_usual_method_is_ten_thousand_flips_from_seed_0():
    columns = np.random.default_rng(3).normal(-0.1, 1, (50, 2))

    ours = p_less(columns, None, Method())

    assert ours.tolist() == sign_flip(columns, alternative="less", n_flips=10_000, seed=0).tolist()
    other = p_less(columns, None, Method(n_draws=500, seed=3))
    assert other.tolist() == sign_flip(columns, alternative="less", n_flips=500, seed=3).tolist()


def test_by_t_nothing_that_differs_has_p_1_and_nothing_defined_has_none():
    columns = np.array([[0.0, NAN, -1.0], [0.0, NAN, -1.0], [NAN, NAN, -1.0]])

    np.testing.assert_array_equal(p_less(columns, None, Method("t")), [1, NAN, 0])


def difference(n=100, error=0.02):
    return Difference(n, n, 0.0, -0.1, 0.1, 0.5, error, error * sqrt(n))


def test_queries_that_would_show_it_by_the_formula():
    """((z(.95) + z(.8)) * .02 * 10 / .05)^2 = 98.9; of exactly as many as there are none lacks."""
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.8)

    assert difference().needed(0.05, alpha=0.05) == int(np.ceil((z * 0.2 / 0.05) ** 2)) == 99
    assert difference().more(0.05, alpha=0.05) is None
    assert difference(99, 0.2 / sqrt(99)).more(0.05, alpha=0.05) is None
    assert difference(98, 0.2 / sqrt(98)).more(0.05, alpha=0.05) == 1


@pytest.mark.parametrize(("distance", "error"), [(0.0, 0.02), (-0.01, 0.02), (0.05, NAN)])
def test_no_number_of_queries_shows_what_is_no_distance(distance, error):
    assert difference(error=error).needed(distance, alpha=0.05) is None
    assert difference(error=error).more(distance, alpha=0.05) is None


# --- verdicts ---

DOCS = Path(__file__).parents[3] / "docs"


def test_exit_codes_are_those_of_the_documentation():
    page = (DOCS / "gate.md").read_text("utf-8").split("## Verdicts")[1].split("## ")[0]
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| ")]

    written = {name.strip(): int(code) for name, code in rows if code.strip().isdigit()}
    assert {verdict.label: verdict.exit_code for verdict in Verdict} == written


# --- deciding ------------------------------------------------------------------------------------


def test_where_nothing_differs_nothing_is_shown_and_nothing_is_lost():
    flat = np.zeros(N)

    improve, kept = (decided(flat, policy(goal=goal)) for goal in ("improve", "not_worse"))

    assert (improve.verdict, kept.verdict) == (Verdict.INCONCLUSIVE, Verdict.PASS)
    assert finding(improve, "overall", "nDCG@10").outcome == "inconclusive"
    assert finding(kept, "overall", "nDCG@10").outcome == "not worse"


def test_where_nothing_differs_no_loss_is_told_of():
    item = finding(decided(np.zeros(N), policy(alpha=0.025)), "overall", "nDCG@10")

    assert item.reason == (
        "+0.0000, at least +0.0000 and at most +0.0000 (one-sided 97.5 % each). "
        "0 families or queries differ; no interval is right here."
    )


@pytest.mark.parametrize("mean", [0.02, 0.0])
def test_of_what_is_not_below_zero_no_p_is_told(mean):
    item = finding(decided(spread(mean), policy()), "overall", "nDCG@10")

    assert item.reason.endswith("(one-sided 95 % each).")


LOST = "Find what was lost: the queries that lose most come first."
LITTLE = "An improvement counts from +0.0100: improve it further."


@pytest.mark.parametrize(
    ("goal", "mean", "outcome", "level", "change"),
    [
        ("improve", 0.02, "improves", "good", ""),
        ("improve", 0.009, "improves a little", "warn", LITTLE),
        ("improve", 0.005, "inconclusive", "warn", "Label"),
        ("improve", -0.009, "regresses", "warn", LOST),
        ("improve", -0.03, "regresses", "bad", LOST),
        ("not_worse", 0.02, "improves", "good", ""),
        ("not_worse", 0.009, "improves a little", "good", ""),
        ("not_worse", 0.0, "not worse", "good", ""),
        ("not_worse", -0.009, "not worse", "good", ""),
        ("not_worse", -0.015, "regresses", "bad", LOST),
    ],
)
def test_what_is_said_of_all_queries(goal, mean, outcome, level, change):
    item = finding(decided(spread(mean), policy(goal=goal)), "overall", "nDCG@10")

    assert (item.outcome, item.level) == (outcome, level)
    assert item.change.startswith(change) and bool(item.change) == bool(change)


def test_queries_to_label_are_those_the_margin_or_the_improvement_needs():
    """One-sided with 80 %: 2.4865 errors; sigma is .1 * sqrt(n / (n - 1))."""
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.8)
    for goal, n, mean, distance in (
        ("improve", 60, 0.004, 0.01),
        ("improve", 60, 0.015, 0.015),
        ("not_worse", 40, 0.003, 0.02),
        ("not_worse", 60, -0.008, 0.012),
    ):
        item = finding(decided(spread(mean, n), policy(goal=goal)), "overall", "nDCG@10")
        needed = np.ceil((z * 0.1 * sqrt(n / (n - 1)) / distance) ** 2)
        assert item.numbers["more_queries"] == needed - n
        assert item.change == f"Label {int(needed) - n:,} more queries."


@pytest.mark.parametrize(("n_families", "n_differ", "words"), [(30, 15, 0), (29, 14, 2)])
def test_bounds_over_few_families_say_so(n_families, n_differ, words):
    families = np.arange(60) % n_families
    differences = np.where(families < n_differ, spread(0.02, 60), 0.0)
    item = finding(decided(differences, policy(), families=families), "overall", "nDCG@10")

    assert ("too short" in item.reason) + ("no interval is right" in item.reason) == words


@pytest.mark.parametrize(
    ("n", "needed", "words"),
    [(29, None, "Label 1 more query"), (12, None, "Label 18 more queries"), (30, 160, "Label 130")],
)
def test_a_slice_says_how_many_queries_it_lacks(n, needed, words):
    """30 by a scatter of .1: 158.9 * 30 / 29 = 159.8 rule a loss of .02 out."""
    mask = np.arange(N) < n
    differences = np.where(mask, spread(0.0), spread(0.03))
    decision = decided(differences, policy(slices=("s",)), slices={"s": mask})

    item = finding(decision, "slices", "s")
    assert item.change.startswith(words) and item.change.endswith("of slice s.")
    assert item.change in decision.changes
    assert item.numbers["more_queries"] == (needed and needed - n)


def test_a_slice_that_lost_exactly_the_margin_is_not_shown_to_be_safe():
    """A quarter, which a computer holds exactly."""
    policy_asked = policy(slices=("a",), margin=0.25)
    decision = decided(np.where(HALF, -0.25, 0.5), policy_asked, slices={"a": HALF})

    item = finding(decision, "slices", "a")
    assert (item.numbers["lower"], item.outcome) == (-0.25, "not shown")
    assert decision.verdict == Verdict.PASS


def test_all_queries_that_lost_exactly_the_margin_are_not_shown_to_be_kept():
    decision = decided(np.full(N, -0.25), policy(goal="not_worse", margin=0.25, alpha=0.01))

    assert finding(decision, "overall", "nDCG@10").numbers["is_kept"] is False


def few(value, n, size=40):
    return np.where(np.arange(size) < n, value, 0.0)


@pytest.mark.parametrize(("alpha", "verdict"), [(1 / 16, "inconclusive"), (0.0626, "block")])
@pytest.mark.parametrize("value", [-0.2, -0.4])
def test_a_p_of_exactly_alpha_does_not_block(value, alpha, verdict):
    """Five queries fall: p = 1 / 32, times 2 for the losses beside; of these as well where .4."""
    rails = GuardRails(measures=(), worst_share=0.1)
    policy_asked = policy(alpha=alpha, guard_rails=rails)

    decision = decide(policy_asked, evidence(few(value, 5)), Method())

    assert finding(decision, "overall", "nDCG@10").numbers["p_adjusted"] == 1 / 16
    assert decision.verdict == verdict
    lost = finding(decision, "guard_rails", "Queries that lose more than 0.3")
    assert (lost.outcome == "too many") == (verdict == "block" and value == -0.4)


@pytest.mark.parametrize(("n_families", "m"), [(1, 2), (2, 3), (3, 3)])
def test_a_slice_is_a_test_from_two_families_on(n_families, m):
    mask = np.arange(N) < 60
    families = np.where(mask, np.arange(N) % n_families, np.arange(N))
    decision = decided(spread(0.02), policy(slices=("a",)), slices={"a": mask}, families=families)

    assert finding(decision, "overall", "nDCG@10").numbers["m"] == m


@pytest.mark.parametrize(
    ("slices", "more", "verdict"),
    [
        (("a", "b"), {}, Verdict.PASS_STRICT),
        (("a", "b"), {"registered": frozenset({"a"})}, Verdict.PASS),
        (("a", "b"), {"registered": frozenset({"a", "b"})}, Verdict.PASS_STRICT),
    ],
)
def test_a_strict_pass_needs_every_slice_of_the_policy(slices, more, verdict):
    decision = decided(spread(0.03), policy(slices=slices), slices={"a": HALF, "b": ~HALF}, **more)

    assert decision.verdict == verdict


@pytest.mark.parametrize(("n", "outcome"), [(29, "not run"), (30, "regression")])
def test_exact_matches_are_checked_from_as_many_queries_as_a_slice(n, outcome):
    rails = GuardRails(measures=(), worst_share=1.0, exact_slice="exact")
    decision = decided(
        spread(0.02, by=0.01),
        policy(guard_rails=rails),
        slices={"exact": np.arange(N) < n},
        lexical=arm("bm25", np.full(N, 0.6)),
    )

    item = finding(decision, "guard_rails", "Exact match against a lexical run")
    assert item.outcome == outcome
    assert (f"holds {n} queries; 30 are needed" in item.reason) == (n == 29)


def test_what_holds_a_small_improvement_back_is_told():
    decision = decided(spread(0.009), policy())

    assert decision.verdict == Verdict.HOLD
    assert decision.changes == ("An improvement counts from +0.0100: improve it further.",)
    assert "by less than the 0.01 that count" in decision.sentence


@pytest.mark.parametrize("rule", ["tested", "share"])
@pytest.mark.parametrize(
    ("n_lost", "outcome", "words"),
    [(100, "few enough", "100 of 400 (25.0 %)"), (101, "too many", "101 of 400 (25.2 %)")],
)
def test_a_share_of_losers_of_exactly_the_limit_is_few_enough(rule, n_lost, outcome, words):
    """A quarter, which a computer holds exactly; the worst queries are named, 20 of them."""
    rails = GuardRails(measures=(), worst_share=0.25, worst_rule=rule)
    differences = np.where(np.arange(N) < n_lost, -0.5 + np.arange(N) / 1000, 0.2)

    decision = decided(differences, policy(guard_rails=rails))

    item = finding(decision, "guard_rails", "Queries that lose more than 0.3")
    assert (item.outcome, item.reason.startswith(words)) == (outcome, True)
    assert item.reason.count("25 %") == 1
    named = [query["query"] for query in item.numbers["queries"]]
    assert named == [f"q{place}" for place in range(20)]


@pytest.mark.parametrize(
    ("rails", "lexical", "words"),
    [
        (GuardRails(), None, "The policy names no slice of exact-match queries."),
        (GuardRails(exact_slice="gone"), None, "There is no lexical run."),
        (GuardRails(exact_slice="gone"), 0.6, "Slice gone holds 0 queries; 30 are needed."),
        (GuardRails(exact_slice="one"), 0.6, "Slice one holds 1 query; 30 are needed."),
    ],
)
def test_why_exact_matches_are_not_checked(rails, lexical, words):
    against = None if lexical is None else arm("bm25", np.full(N, lexical))
    decision = decided(
        spread(0.02),
        policy(guard_rails=rails),
        slices={"one": np.arange(N) < 1},
        lexical=against,
    )

    item = finding(decision, "guard_rails", "Exact match against a lexical run")
    assert (item.outcome, item.level, item.reason) == ("not run", "note", words)
    assert item.change == ("Name one." if "lexical" in words else "")


# --- process -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "name", "words"),
    [
        ({"prior_submissions": 1}, "Earlier submissions", "1 earlier submission on these hidden"),
        ({"prior_submissions": 2}, "Earlier submissions", "2 earlier submissions on these hidden"),
        ({"contaminated": 1}, "Contamination", "1 query (0.2 %) known to be in a list from out"),
        ({"contaminated": 40}, "Contamination", "40 queries (10.0 %) known to be in a list from"),
        ({"stale_share": 0.25}, "Fresh labels", "25.0 % of the labels are stale (document gone"),
        ({"agreement": 0.7}, "Agreement of labels", "Krippendorff's alpha is 0.70; at least 0.67"),
    ],
)
def test_what_is_known_of_the_process_is_told_in_numbers(known, name, words):
    item = finding(decided(spread(0.02), policy(), process=Process(**known)), "process", name)

    assert item.reason.startswith(words)
    limits = {"Contamination": "at most 5 %.", "Fresh labels": "at most 10 %."}
    assert item.reason.endswith(limits.get(name, item.reason))


# --- comparable ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (("a",), "1 query of the benchmark has no result: a. "),
        (("a", "b", "c"), "3 queries of the benchmark have no result: a, b, c. "),
        (("a", "b", "c", "d"), "4 queries of the benchmark have no result: a, b, c …. "),
    ],
)
def test_up_to_three_queries_without_a_result_are_named(missing, words):
    item = finding(decided(spread(0.02), policy(), missing=missing), "comparable", NEW)

    assert item.reason.startswith(words)
    assert item.numbers == {"missing": len(missing)}


NEW = "Coverage of new"


def test_coverage_is_of_both_runs_and_then_of_the_lexical_one():
    lexical = arm("bm25", np.full(N, 0.6))
    findings = decided(spread(0.02), policy(), lexical=lexical).checks["comparable"].findings

    names = ["Coverage of old", NEW, "Coverage of bm25", "Depth", "Judged documents"]
    assert [finding.name for finding in findings] == names
    assert findings[0].numbers == {"missing": 0}


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("first", "gap", "labels", "outcomes"),
    [
        (1.0, 0.02, "pooled", ("comparable", "provisional")),
        (1.0, 0.05, "pooled", ("provisional", "not comparable")),
        (0.5, 0.02, "sparse", ("comparable", "provisional")),
        (0.5, 0.05, "sparse", ("provisional", "not comparable")),
        (0.95, 0.0, "pooled", ("comparable", "provisional")),
        (0.80, 0.0, "pooled", ("provisional", "not comparable")),
    ],
)
def test_judged_shares_at_a_limit_are_within_it_and_just_beyond_are_not(
    first, gap, labels, outcomes, side
):
    for beyond, outcome in zip((0.0, 1e-6), outcomes, strict=True):
        judged = (first, first - gap - beyond)[::side]
        item = finding(
            decided(spread(0.02), policy(labels=labels), judged=judged),
            "comparable",
            "Judged documents",
        )
        assert item.outcome == outcome


def test_the_shallower_run_is_the_one_to_run_again():
    policy_asked, arm = policy(guard_rails=GuardRails(worst_share=1.0)), evidence(spread(0.02))
    shallow = replace(arm, baseline=replace(arm.baseline, depth=50))

    assert decide(policy_asked, shallow, T).changes == ("Run old to at least 100 results.",)


DOCUMENTS = (("q1", "a"), ("q2", "b"), ("q3", "c"))


@pytest.mark.parametrize(
    ("judged", "wanted", "change"),
    [
        ((1, 0.5), Wanted(DOCUMENTS, 2), "Judge 2 documents."),
        ((1, 0.5), Wanted(DOCUMENTS, 0), "Judge 3 documents."),
        ((1, 0.5), Wanted(), "Judge what is missing."),
        ((1, 0.97), Wanted(DOCUMENTS, 0), "Judge up to 3 documents to be sure."),
        ((1, 0.97), Wanted(), ""),
        ((1, 1), Wanted(DOCUMENTS, 0), ""),
    ],
)
def test_what_to_judge_is_said_where_it_would_help(judged, wanted, change):
    decision = decided(spread(0.02), policy(), judged=judged, wanted=wanted)

    assert finding(decision, "comparable", "Judged documents").change == change


def test_judged_shares_are_of_the_queries_that_found_something():
    shares = np.where(np.arange(N) < 100, np.nan, np.where(np.arange(N) < 250, 0.9, 1.0))
    decision = decided(spread(0.02), policy(), judged=(shares, 0.95))

    numbers = finding(decision, "comparable", "Judged documents").numbers
    assert numbers["baseline"] == pytest.approx(0.95)
    assert numbers["gap"] == pytest.approx(0)


# --- evidence and findings -----------------------------------------------------------------------


def test_families_are_numbered_and_a_query_without_one_is_alone():
    assert numbered(["a", "b", "c", "d"], {"a": "x", "c": "x"}).tolist() == [0, 1, 0, 2]
    # A family of the query's own name is another one.
    assert numbered(["a", "b", "c"], {"a": "b", "c": "b"}).tolist() == [0, 1, 0]
    assert numbered(["a", "b"], {"a": "x", "b": "y"}) is None
    assert numbered(["a", "b"], {}) is numbered(["a", "b"], None) is None


def test_the_mask_of_a_slice_that_may_not_decide_is_empty():
    arm = evidence(spread(0.0, 4), slices={"s": np.array([True, False, True, False])})

    assert arm.mask_of("s").tolist() == [True, False, True, False]
    assert arm.mask_of("other").tolist() == [False] * 4
    for registered, n in ((frozenset({"s"}), 2), (frozenset(), 0)):
        assert replace(arm, registered=registered).mask_of("s").sum() == n
    assert arm.n_families == 4
    assert replace(arm, families=np.array([7, 7, 3, 3])).n_families == 2


@pytest.mark.parametrize(
    ("levels", "level"),
    [
        ((), "note"),
        (("note", "note"), "note"),
        (("note", "good"), "good"),
        (("good", "warn", "note"), "warn"),
        (("good", "warn", "bad"), "bad"),
    ],
)
def test_a_check_is_as_its_worst_finding(levels, level):
    findings = tuple(Finding("f", "o", Level(one), "r") for one in levels)
    check = Check("c", "C", findings)

    assert check.level == level
    assert len(check.at(Level.GOOD)) == levels.count("good")


def test_numbers_in_words():
    assert (signed(0.02), signed(-0.02), signed(NAN)) == ("+0.0200", "-0.0200", "undefined")
    assert (counted(1, "query"), counted(0, "query")) == ("1 query", "0 queries")
    assert counted(1_200, "label") == "1,200 labels"
    assert (defined(NAN), defined(0.0), defined(1)) == (None, 0.0, 1)


def test_an_arm_without_a_result_is_no_zero():
    assert Arm("a", {}, 10).missing == ()


# --- rehearsal -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "kind"),
    [
        *((0.0, "near"), (0.0999, "near"), (0.10, "related")),
        *((0.1999, "related"), (0.20, "unrelated"), (0.9, "unrelated")),
    ],
)
def test_runs_are_near_below_a_tenth_and_unrelated_from_a_fifth(sigma, kind):
    assert class_of(sigma) == kind


def warned(said, truth, passed=(0.9, 0.8, 1.0), blocked=(0.0, 0.0, 0.1), spreads=(0.15,)):
    row = {"class": "related", "truth": truth, "pass": passed, "block": blocked}
    return list(_warnings(said, [row], {"unrelated": [0.5], "related": spreads}, 400))


def test_false_blocks_are_told_beyond_two_errors_of_alpha():
    """.05 + 2 * sqrt(.05 * .95 / 400) = .0718."""
    most = 0.05 + 2 * sqrt(0.05 * 0.95 / 400)

    assert not warned(policy(), NO_CHANGE, blocked=(most, 0, 1))
    (warning,) = warned(policy(), NO_CHANGE, blocked=(most + 1e-9, 0, 1))
    assert warning == "Between related runs 7 % are blocked though nothing changed."
    assert not warned(policy(), "better by 0.03", blocked=(0.2, 0, 1))


@pytest.mark.parametrize(("share", "is_told"), [(0.5, False), (0.4999, True)])
def test_harm_that_is_missed_more_often_than_not_is_told(share, is_told):
    assert bool(warned(policy(), HARM, blocked=(share, 0, 1))) == is_told


@pytest.mark.parametrize(("at_most", "is_told"), [(0.5, False), (0.4999, True)])
def test_an_improvement_that_surely_passes_less_than_half_the_time_is_told(at_most, is_told):
    """The widest scatter of the class counts: (z(.95) * .18 / .01)^2 = 876.6."""
    spreads, least = (0.15, 0.18), (0.3, 0.2, at_most)

    result = warned(policy(), "better by 0.01", passed=least, spreads=spreads)

    assert bool(result) == is_told
    if is_told:
        assert "passes in 30 % of cases; about 877 queries" in result[0]
    assert not warned(policy(goal="not_worse"), "better by 0.01", passed=least, spreads=spreads)
    assert not warned(policy(), "better by 0.03", passed=least, spreads=spreads)
