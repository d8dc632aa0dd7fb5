import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.qrels.errors import RuleSettingsError, UnknownRuleError, UnresolvedPairsError
from benchwright.qrels.events import Event, labels_of_pair, pair_of
from benchwright.qrels.rules import (
    DEFAULT_RULE,
    RULES,
    Decision,
    Derivation,
    How,
    Settings,
    lower_median,
    majority,
    qrels_digest,
    rule_named,
    upper_median,
    verdict_on,
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
    for order in (events, events[::-1]):
        assert sorted(label.grade for label in labels_of_pair(order)) == grades


@pytest.mark.parametrize(
    ("grades", "expected"),
    [([2], 2), ([0, 3], 0), ([3, 0, 2], 2), ([1, 2, 2, 3], 2), ([0, 1, 3, 3], 1)],
)
def test_lower_median(grades, expected):
    assert lower_median(grades) == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_a_lower_median_is_a_given_grade_with_half_at_most_below_it(grades):
    median = lower_median(grades)

    assert median in grades
    assert sum(grade < median for grade in grades) <= len(grades) / 2
    assert sum(grade > median for grade in grades) <= len(grades) / 2


def test_pairs_without_a_grade_get_no_decision():
    events = [
        Event(1, "q1", "d1", "grade", 2, ADA),
        Event(2, "q1", "d2", "cant_judge", None, ADA),
        Event(3, "q2", "d1", "grade", 0, BO),
    ]

    assert list(Derivation(DEFAULT_RULE).of(events)) == [
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


# --- whose label it is, and which labels count ---------------------------------------------------


def test_a_file_of_outside_labels_has_a_label_of_each_annotator_it_names():
    events = [
        Event(1, "q1", "d1", "import", 3, ADA, rater="w1"),
        Event(2, "q1", "d1", "import", 1, ADA, rater="w2"),
        Event(3, "q1", "d1", "grade", 0, ADA),
    ]

    labels = labels_of_pair(events)

    assert [(label.rater, label.grade) for label in labels] == [
        ((ADA, "w1"), 3),
        ((ADA, "w2"), 1),
        ((ADA, ""), 0),
    ]


@pytest.mark.parametrize("purpose", ["repeat", "gold", "practice"])
@pytest.mark.parametrize("rule", RULES[:-1], ids=lambda rule: rule.name)
def test_what_was_judged_to_learn_or_as_a_check_counts_in_no_rule(rule, purpose):
    label = Event(1, "q1", "d1", "grade", 1, ADA, purpose="label")
    apart = [Event(2, "q1", "d1", "grade", 3, actor, purpose=purpose) for actor in (ADA, BO)]

    assert list(Derivation(rule).of([label, *apart])) == [Decision("q1", "d1", 1)]
    assert list(Derivation(rule).of(apart)) == []


# --- the rules, by hand ---------------------------------------------------------------------------


def ledger(*grades: int, said: str = "", adjudicated: int | None = None) -> list[Event]:
    """One label of each of several people, and perhaps an adjudicator's word."""
    events = [event(number, number, "grade", grade) for number, grade in enumerate(grades, 1)]
    if said:
        events.append(Event(99, "q1", "d1", "adjudicate", adjudicated, 50, outcome=said))
    return events


def grade_by(name: str, events: list[Event], **settings) -> int | None:
    grades = [row.grade for row in Derivation(rule_named(name), Settings(**settings)).of(events)]
    return grades[0] if grades else None


@pytest.mark.parametrize(
    ("grades", "first", "lower", "upper", "most"),
    [
        ([2], 2, 2, 2, 2),
        ([3, 0], 3, 0, 3, 0),
        ([0, 3], 0, 0, 3, 0),
        ([1, 3, 3], 1, 3, 3, 3),
        ([0, 0, 1, 3, 3], 0, 1, 1, 0),
        ([3, 3, 1, 0, 0, 2], 3, 1, 2, 0),
    ],
)
def test_single_medians_and_majority(grades, first, lower, upper, most):
    result = ledger(*grades)

    assert grade_by("single", result) == first
    assert grade_by("lower-median", result) == lower
    assert grade_by("upper-median", result) == upper
    assert grade_by("majority", result) == most


@pytest.mark.parametrize(
    ("grades", "adjudicate_from", "expected"),
    [
        ([2], 2, 2),
        ([2, 2], 2, 2),
        ([2, 1], 2, 1),
        ([2, 1], 1, None),
        ([3, 1], 2, None),
        ([3, 1], 3, 1),
        ([3, 0, 1], 2, 1),
        ([3, 3, 0, 0], 1, 0),
    ],
)
def test_adjudicated_first_leaves_two_grades_that_lie_apart_open(grades, adjudicate_from, expected):
    settings = {"adjudicate_from": adjudicate_from, "unresolved": "leave-out"}

    assert grade_by("adjudicated-first", ledger(*grades), **settings) == expected


def test_the_adjudicators_grade_comes_first_and_other_rules_do_not_know_it():
    settled = ledger(0, 3, said="override", adjudicated=2)

    assert grade_by("adjudicated-first", settled) == 2
    assert grade_by("lower-median", settled) == 0
    assert grade_by("adjudicated-first", settled[2:]) == 2
    assert grade_by("lower-median", settled[2:]) is None


def test_a_later_word_of_the_adjudicator_replaces_the_earlier():
    first = ledger(0, 3, said="pick", adjudicated=3)
    later = Event(100, "q1", "d1", "adjudicate", None, 51, 99, outcome="query_ambiguous")

    assert grade_by("adjudicated-first", [*first, later], unresolved="leave-out") is None


@pytest.mark.parametrize("words", ["query_ambiguous", "guideline_unclear"])
def test_a_pair_that_was_set_aside_stays_open_even_where_labels_agree(words):
    assert grade_by("adjudicated-first", ledger(2, 2, said=words), unresolved="leave-out") is None
    assert grade_by("adjudicated-first", ledger(2, 2, said=words)) == 2


def test_a_third_opinion_that_was_asked_for_changes_nothing_until_it_comes():
    asked = ledger(0, 3, said="third_opinion")

    assert grade_by("adjudicated-first", asked, unresolved="leave-out") is None
    assert grade_by("adjudicated-first", [*asked, event(101, 9, "grade", 2)]) == 2


def test_pair_waits_from_the_asking_for_a_third_opinion_until_a_label_comes():
    asked = ledger(0, 3, said="third_opinion")

    assert pair_of("q1", "d1", asked).waits
    assert pair_of("q1", "d1", asked[2:]).waits
    assert not pair_of("q1", "d1", [*asked, event(101, 9, "grade", 2)]).waits
    assert not pair_of("q1", "d1", ledger(0, 3, said="pick", adjudicated=3)).waits
    assert not pair_of("q1", "d1", ledger(0, 3)).waits


def test_pair_waits_no_longer_where_the_third_person_cannot_judge_it():
    answered = [*ledger(0, 3, said="third_opinion"), event(101, 9, "cant_judge")]

    assert not pair_of("q1", "d1", answered).waits
    taken_back = event(102, 9, "retract", of=101)
    assert pair_of("q1", "d1", [*answered, taken_back]).waits


def test_single_rule_tells_one_label_from_the_first_of_several():
    hows = [
        verdict_on(pair_of("q1", "d1", ledger(*grades)), rule_named("single"), Settings()).how
        for grades in ([2], [2, 2], [2, 0])
    ]

    assert hows == [How.ONE_LABEL, How.FIRST, How.FIRST]


def test_an_open_pair_takes_the_lower_median_is_left_out_or_stops_everything():
    result = ledger(3, 0)

    assert grade_by("adjudicated-first", result, unresolved="lower-median") == 0
    assert grade_by("adjudicated-first", result, unresolved="leave-out") is None
    with pytest.raises(UnresolvedPairsError, match=r"1 documents .*query q1, document d1"):
        grade_by("adjudicated-first", result, unresolved="refuse")


def test_where_nothing_is_open_nothing_stops():
    assert grade_by("adjudicated-first", ledger(2, 2), unresolved="refuse") == 2


def test_five_open_pairs_are_named_of_as_many_as_there_are():
    results = [
        Event(1, "q1", f"d{n}", "grade", grade, who)
        for n in range(6)
        for who, grade in ((ADA, 0), (BO, 3))
    ]

    with pytest.raises(UnresolvedPairsError, match=r"6 documents .*") as raised:
        list(Derivation(DEFAULT_RULE, Settings(unresolved="refuse")).of(results))
    assert [f"document d{n}" in str(raised.value) for n in range(6)] == [True] * 5 + [False]


def test_a_derivation_counts_how_its_grades_came_about():
    def of(docid, *grades):
        return [Event(n, "q1", docid, "grade", grade, n) for n, grade in enumerate(grades, 1)]

    derivation = Derivation(rule_named("adjudicated-first"))
    list(derivation.of([*of("d1", 1), *of("d2", 2, 2), *of("d3", 2, 1), *of("d4", 3, 0)]))

    assert derivation.n_by_how == {
        How.ONE_LABEL: 1,
        How.EQUAL: 1,
        How.NEIGHBOURS: 1,
        How.UNRESOLVED: 1,
    }
    assert (derivation.n_labels, derivation.unresolved) == (7, [("q1", "d4")])


def test_a_verdict_on_one_pair_says_how():
    pair = pair_of("q1", "d1", ledger(3, 0, said="pick", adjudicated=3))

    verdict = verdict_on(pair, DEFAULT_RULE, Settings())

    assert (verdict.grade, verdict.how) == (3, How.ADJUDICATED)
    assert verdict_on(pair_of("q1", "d1", []), DEFAULT_RULE, Settings()) is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"unresolved": "perhaps"}, "unresolved is 'perhaps'; expected one of lower-median"),
        ({"adjudicate_from": 0}, "adjudicate_from is '0'; expected 1 or more"),
        ({"smoothing": 0.0}, "smoothing is '0.0'; expected a number above 0"),
    ],
)
def test_settings_that_no_rule_knows_are_refused(fields, words):
    with pytest.raises(RuleSettingsError, match=words):
        Settings(**fields)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.randoms())
def test_medians_and_majority_do_not_depend_on_the_order(grades, random):
    shuffled = random.sample(grades, len(grades))

    for aggregate in (lower_median, upper_median, majority):
        assert aggregate(shuffled) == aggregate(grades)
    assert lower_median(grades) <= upper_median(grades)
    assert upper_median([-grade for grade in grades]) == -lower_median(grades)
    assert grades.count(majority(grades)) == max(grades.count(grade) for grade in grades)


def test_rules_have_each_name_and_version_once():
    assert len({(rule.name, rule.version) for rule in RULES}) == len(RULES) == 6


def test_grades_two_apart_want_an_adjudicator_unless_told_otherwise():
    assert Settings().adjudicate_from == 2
    apart = pair_of("q1", "d1", [event(1, ADA, "grade", 0), event(2, BO, "grade", 2)])
    near = pair_of("q1", "d1", [event(1, ADA, "grade", 1), event(2, BO, "grade", 2)])

    assert verdict_on(apart, DEFAULT_RULE, Settings()).how == How.UNRESOLVED
    assert verdict_on(near, DEFAULT_RULE, Settings()).how == How.NEIGHBOURS


@pytest.mark.parametrize("name", ["lower-median", "upper-median", "majority"])
@pytest.mark.parametrize(
    ("grades", "how"), [([2], How.ONE_LABEL), ([2, 2], How.EQUAL), ([1, 2], How.AGGREGATED)]
)
def test_how_a_grade_came_from_labels_is_told(name, grades, how):
    events = [event(n, n, "grade", grade) for n, grade in enumerate(grades, start=1)]

    assert verdict_on(pair_of("q1", "d1", events), rule_named(name), Settings()).how == how


def test_every_rule_is_of_its_first_version():
    """A rule whose grades change gets another number: published grades name it."""
    assert {rule.name: rule.version for rule in RULES} == dict.fromkeys(
        (rule.name for rule in RULES), 1
    )
