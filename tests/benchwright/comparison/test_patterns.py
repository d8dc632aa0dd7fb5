"""Each rule of the pattern reader: a case in which it holds, and ones in which it nearly does."""

from dataclasses import replace
from math import nan

import pytest

from benchwright.comparison.patterns import (
    ALONE,
    IN_FAMILIES,
    ONLINE,
    RULES,
    Direction,
    Fact,
    Roles,
    read_patterns,
    roles_of,
    slice_roles,
)

GAIN, FIRST, COVERAGE = "nDCG@10", "RR@10", "R@100"
CONDENSED = "nDCG(judged_only=True)@10"
UP, LEVEL, DOWN = 0.03, 0.0, -0.03


def fact(measure: str, difference: float, part: str = "all", half: float = 0.01) -> Fact:
    return Fact(measure, part, difference, difference - half, difference + half, 100, 400)


def overall(gain: float, first: float, coverage: float) -> list[Fact]:
    return [fact(GAIN, gain), fact(FIRST, first), fact(COVERAGE, coverage)]


def codes(facts: list[Fact]) -> list[str]:
    return [pattern.code for pattern in read_patterns(facts)]


# Facts, the rule that holds for them, and the differences it rests on.
GOLDEN = {
    "complete-sets": (overall(UP, LEVEL, UP), [GAIN, COVERAGE, FIRST]),
    "first-hit": (overall(LEVEL, UP, LEVEL), [FIRST, GAIN, COVERAGE]),
    "head-over-fit": (
        [fact(GAIN, UP, "head"), fact(GAIN, DOWN, "tail")],
        [GAIN, GAIN],
    ),
    "lexical-loss": (
        [fact(GAIN, DOWN, "exact match"), fact(GAIN, UP, "semantic")],
        [GAIN, GAIN],
    ),
    "re-ordering": (overall(UP, LEVEL, LEVEL), [GAIN, COVERAGE, FIRST]),
    "coverage-for-ranking": (overall(DOWN, LEVEL, UP), [COVERAGE, GAIN]),
    "unjudged": ([fact(GAIN, LEVEL), fact(CONDENSED, UP), fact(FIRST, UP)], [CONDENSED, GAIN]),
    "leak-suspect": (
        [fact(FIRST, UP, IN_FAMILIES), fact(FIRST, LEVEL, ALONE)],
        [FIRST, FIRST],
    ),
    "online-disagrees": ([fact(GAIN, UP), fact("clicks", DOWN, ONLINE)], [GAIN, "clicks"]),
    "inconclusive": (overall(LEVEL, LEVEL, LEVEL), [GAIN, COVERAGE, FIRST]),
}
NEAR_MISSES = {
    "complete-sets": [
        overall(UP, UP, UP),
        overall(UP, DOWN, UP),
        overall(UP, LEVEL, LEVEL),
        overall(LEVEL, LEVEL, UP),
        overall(UP, LEVEL, UP)[:2],
        overall(UP, nan, UP),
    ],
    "first-hit": [overall(UP, UP, LEVEL), overall(LEVEL, UP, UP), overall(LEVEL, UP, LEVEL)[1:]],
    "head-over-fit": [
        [fact(GAIN, UP, "head"), fact(GAIN, LEVEL, "tail")],
        [fact(GAIN, DOWN, "head"), fact(GAIN, UP, "tail")],
        [fact(GAIN, LEVEL, "head"), fact(GAIN, DOWN, "tail")],
        [fact(GAIN, UP, "head"), fact(FIRST, DOWN, "tail")],
        [fact(GAIN, UP, "overhead"), fact(GAIN, DOWN, "detail")],
    ],
    "lexical-loss": [
        [fact(GAIN, UP, "exact"), fact(GAIN, UP, "semantic")],
        [fact(GAIN, DOWN, "exact"), fact(GAIN, LEVEL, "semantic")],
        [fact(GAIN, DOWN, "exact")],
    ],
    "re-ordering": [
        overall(UP, UP, LEVEL),
        overall(UP, LEVEL, UP),
        overall(UP, LEVEL, DOWN),
        overall(DOWN, LEVEL, LEVEL),
    ],
    "coverage-for-ranking": [overall(LEVEL, LEVEL, UP), overall(DOWN, LEVEL, LEVEL)],
    "unjudged": [
        [fact(GAIN, UP), fact(CONDENSED, UP)],
        [fact(GAIN, LEVEL), fact(CONDENSED, LEVEL), fact(FIRST, UP)],
        [fact(GAIN, LEVEL), fact(FIRST, UP)],
    ],
    "leak-suspect": [
        [fact(FIRST, UP, IN_FAMILIES), fact(FIRST, UP, ALONE)],
        [fact(FIRST, LEVEL, IN_FAMILIES), fact(FIRST, LEVEL, ALONE)],
        [fact(FIRST, UP, IN_FAMILIES)],
        [fact(GAIN, UP, IN_FAMILIES), fact(GAIN, LEVEL, ALONE)],
    ],
    "online-disagrees": [
        [fact(GAIN, UP), fact("clicks", LEVEL, ONLINE)],
        [fact(GAIN, LEVEL), fact("clicks", DOWN, ONLINE)],
        [fact(GAIN, UP), fact("clicks", DOWN)],
    ],
    "inconclusive": [
        overall(UP, LEVEL, LEVEL),
        overall(LEVEL, nan, LEVEL),
        [*overall(LEVEL, LEVEL, LEVEL), fact(GAIN, DOWN, "part numbers")],
        [],
    ],
}
MISSES = [(code, facts) for code, cases in NEAR_MISSES.items() for facts in cases]


def test_every_rule_has_a_golden_case_and_near_misses():
    assert set(GOLDEN) == set(NEAR_MISSES) == {rule.code for rule in RULES} | {"inconclusive"}


@pytest.mark.parametrize("code", GOLDEN)
def test_rule_holds_with_the_differences_it_rests_on(code):
    facts, rests_on = GOLDEN[code]

    pattern = next(
        known_pattern for known_pattern in read_patterns(facts) if known_pattern.code == code
    )

    assert [arm.measure for arm in pattern.evidence] == rests_on
    assert all(one in facts for one in pattern.evidence)


@pytest.mark.parametrize("place", range(len(MISSES)))
def test_rule_does_not_hold_where_one_difference_goes_another_way(place):
    code, facts = MISSES[place]

    assert code not in codes(facts)


def test_a_golden_case_is_read_as_nothing_else():
    read = {code: codes(facts) for code, (facts, _) in GOLDEN.items()}

    assert read == {code: [code] for code in GOLDEN}


@pytest.mark.parametrize(
    ("difference", "half", "expected"),
    [
        (0.0051, 0.001, Direction.UP),
        (0.005, 0.001, Direction.LEVEL),
        (-0.0051, 0.001, Direction.DOWN),
        (0.02, 0.0201, Direction.LEVEL),
        (0.02, 0.0199, Direction.UP),
        (0.02, nan, None),
        (nan, 0.01, None),
    ],
)
def test_level_is_within_0_005_or_half_the_interval(difference, half, expected):
    assert fact(GAIN, difference, half=half).direction is expected


def test_a_lopsided_interval_counts_by_half_its_width():
    assert Fact(GAIN, "all", 0.02, 0.015, 0.045, 50).margin == pytest.approx(0.015)


def test_inconclusive_says_how_many_queries_would_tell():
    (pattern,) = read_patterns(overall(0.004, LEVEL, LEVEL))

    assert (pattern.code, pattern.needed) == ("inconclusive", 400)


def test_a_difference_that_is_hidden_leaves_the_others_inconclusive():
    facts = [*overall(LEVEL, LEVEL, LEVEL), fact(CONDENSED, UP)]

    assert codes(facts) == ["unjudged", "inconclusive"]


def test_the_gain_is_that_with_unjudged_documents():
    roles = roles_of([CONDENSED, "nDCG@20"])

    assert (roles.gain, roles.condensed) == ("nDCG@20", "nDCG(judged_only=True)@20")


def test_both_runs_the_other_way_round_are_not_the_same_pattern():
    facts = GOLDEN["complete-sets"][0]
    turned = [
        replace(fact, difference=-fact.difference, low=-fact.high, high=-fact.low) for fact in facts
    ]

    assert codes(turned) == []


def test_the_measures_of_another_scale_play_the_same_parts():
    roles = Roles(first="RR(rel=2)@10", coverage="R(rel=2)@100")
    facts = [fact(GAIN, UP), fact("RR(rel=2)@10", LEVEL), fact("R(rel=2)@100", UP)]

    assert [pattern.code for pattern in read_patterns(facts, roles)] == ["complete-sets"]
    assert codes(facts) == []


def test_a_slice_of_the_very_name_comes_before_one_that_has_the_word():
    assert slice_roles(["long tail", "tail", "exact titles"]) == {
        "tail": "tail",
        "exact": "exact titles",
    }
