import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.judging_errors import UnknownRuleError
from annotation.core.rules import (
    DEFAULT_RULE,
    Decision,
    Event,
    decisions,
    grades_of_pair,
    lower_median,
    qrels_digest,
    rule_named,
)

ADA, BO = 1, 2


def event(number: int, actor: int, kind: str, grade: int | None = None, of: int | None = None):
    return Event(number, "q1", "d1", kind, grade, actor, of)


@pytest.mark.parametrize(
    ("events", "grades"),
    [
        ([event(1, ADA, "grade", 2)], [2]),
        ([event(1, ADA, "grade", 2), event(2, BO, "grade", 0)], [0, 2]),
        ([event(1, ADA, "grade", 2), event(2, ADA, "grade", 3)], [3]),
        ([event(1, ADA, "grade", 2), event(2, ADA, "grade", 3, of=1)], [3]),
        ([event(1, ADA, "grade", 2), event(2, ADA, "retract", of=1)], []),
        (
            [event(1, ADA, "grade", 2), event(2, ADA, "grade", 3), event(3, ADA, "retract", of=2)],
            [2],
        ),
        (
            [event(1, ADA, "grade", 2), event(2, ADA, "retract", of=1), event(3, ADA, "grade", 1)],
            [1],
        ),
        ([event(1, ADA, "cant_judge")], []),
        ([event(1, ADA, "cant_judge"), event(2, BO, "grade", 1)], [1]),
        ([event(1, ADA, "grade", 2), event(2, ADA, "cant_judge")], []),
        ([event(1, ADA, "machine", 3), event(2, BO, "import", 1)], [1]),
    ],
)
def test_each_annotator_stands_by_their_newest_event_that_was_not_taken_back(events, grades):
    assert sorted(grades_of_pair(events)) == grades
    assert sorted(grades_of_pair(reversed(events))) == grades


@pytest.mark.parametrize(
    ("grades", "expected"),
    [([2], 2), ([0, 3], 0), ([3, 0, 2], 2), ([1, 2, 2, 3], 2), ([0, 1, 3, 3], 1)],
)
def test_lower_median(grades, expected):
    assert lower_median(grades) == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_a_lower_median_is_a_given_grade_with_half_at_most_below_it(grades):
    found = lower_median(grades)

    assert found in grades
    assert sum(grade < found for grade in grades) <= len(grades) / 2
    assert sum(grade > found for grade in grades) <= len(grades) / 2


def test_pairs_without_a_grade_get_no_decision():
    events = [
        Event(1, "q1", "d1", "grade", 2, ADA),
        Event(2, "q1", "d2", "cant_judge", None, ADA),
        Event(3, "q2", "d1", "grade", 0, BO),
    ]

    assert list(decisions(events, DEFAULT_RULE)) == [
        Decision("q1", "d1", 2),
        Decision("q2", "d1", 0),
    ]


def test_the_digest_does_not_depend_on_the_order():
    rows = [Decision("q1", "d1", 2), Decision("q1", "d10", 0), Decision("é", "d1", 1)]

    assert qrels_digest(rows) == qrels_digest(reversed(rows))
    assert qrels_digest(rows) != qrels_digest(rows[:2])


def test_an_unknown_rule_is_refused_with_those_there_are():
    with pytest.raises(UnknownRuleError, match=r"No rule 'mean' in version any; .*lower-median v1"):
        rule_named("mean")
    with pytest.raises(UnknownRuleError, match="version 9"):
        rule_named("lower-median", 9)
