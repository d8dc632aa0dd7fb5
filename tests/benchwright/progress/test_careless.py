"""Signs of careless work: that they speak of it, and are silent on honest work.

Honest and careless people here are made up, by seeded simulation; docs/agreement.md has the rates.
"""

import random
from itertools import pairwise

import pytest

from benchwright.agreement.qualification import at_most
from benchwright.progress.careless import (
    ONCE_IN,
    WINDOW,
    Read,
    beside_others,
    fails_checks,
    haste,
    least_seconds,
    one_grade,
)

PEOPLE = 400


def reads(n: int, seconds: float, chars: int = 900) -> list[Read]:
    return [Read(number // 10, number % 2, seconds, chars) for number in range(n)]


# --- pace ----------------------------------------------------------------------------------------


def test_four_hundred_labels_in_a_minute_are_hasty():
    hasty = haste(reads(400, 0.15))

    assert (hasty.n_labels, hasty.seconds, hasty.of) == (400, 0.15, 400)


@pytest.mark.parametrize("seconds", [least_seconds(900), 2.0, 30.0])
def test_who_takes_as_long_as_it_takes_is_not(seconds):
    assert haste(reads(400, seconds)) is None


def test_short_texts_take_less():
    assert haste(reads(100, 1.0, chars=60)) is None
    assert haste(reads(100, 1.0, chars=600)) is not None


def test_a_stretch_is_told_whatever_comes_before_and_after():
    hasty = haste([*reads(200, 8.0), *reads(WINDOW, 0.2), *reads(200, 8.0)])

    # A window is hasty from three in five on, so some labels around the stretch are told with it.
    assert WINDOW <= hasty.n_labels <= 2 * WINDOW
    assert hasty.of == 400 + WINDOW


def test_labels_without_a_time_and_few_labels_tell_nothing():
    assert haste([Read(1, 0, None, 900)] * 100) is None
    assert haste(reads(WINDOW - 1, 0.1)) is None
    assert haste([]) is None


def test_windows_are_those_of_a_count_by_hand():
    rng = random.Random(3)
    for _ in range(50):
        labels = [Read(1, 0, rng.choice([0.3, 4.0]), 900) for _ in range(rng.randrange(80))]
        is_hasty = [label.seconds < least_seconds(label.chars) for label in labels]
        marked = {
            place
            for start in range(len(labels) - WINDOW + 1)
            if sum(is_hasty[start : start + WINDOW]) >= 0.6 * WINDOW
            for place in range(start, start + WINDOW)
        }

        hasty = haste(labels)

        assert (hasty.n_labels if hasty else 0) == len(marked)


# --- one grade -----------------------------------------------------------------------------------


def queries(*grades: list[int]) -> list[Read]:
    return [Read(query, grade, 9.0, 900) for query, own in enumerate(grades) for grade in own]


def test_one_grade_throughout_is_told_where_others_differ():
    mixed = [0, 1] * 5
    row = one_grade(queries(mixed, *[[0] * 10] * 5, mixed, mixed), others=[mixed] * 30)

    assert (row.grade, row.n_queries, row.n_labels) == (0, 5, 50)
    assert row.expected == pytest.approx(8 * (1 / 35) ** 5)


def test_one_grade_is_not_told_where_it_is_common():
    assert one_grade(queries(*[[0] * 10] * 5), others=[[0] * 10] * 30) is None


def test_one_person_alone_is_told_after_many_queries():
    assert one_grade(queries(*[[0] * 10] * 8)) is None
    assert one_grade(queries(*[[0] * 10] * 15)).n_queries == 15


def test_the_longest_row_is_that_of_a_count_by_hand():
    rng = random.Random(5)
    for _ in range(100):
        own = [[rng.randrange(2)] * 12 if rng.random() < 0.8 else [0, 1] * 6 for _ in range(12)]
        kinds = [each[0] if len(set(each)) == 1 else None for each in own]
        longest = max(
            end - start
            for start in range(12)
            for end in range(start, 13)
            if None not in kinds[start:end] and len(set(kinds[start:end])) <= 1
        )

        row = one_grade(queries(*own), others=[[0, 1] * 6] * 10_000)

        assert (row.n_queries if row else 0) == (longest if longest >= 3 else 0)
        if row:
            assert row.expected < 1 / ONCE_IN


# --- checks and others ---------------------------------------------------------------------------


def test_checks_go_by_the_binomial_distribution():
    assert at_most(2, 4, 0.5) == pytest.approx(11 / 16)
    assert [n for n in range(9) if fails_checks(0, n)] == [8]
    assert not fails_checks(10, 20)


def test_beside_the_lower_median_of_the_others():
    own = {(1, "a"): True, (1, "b"): False, (1, "c"): True, (2, "d"): True}
    others = {(1, "a"): [True, False], (1, "b"): [False], (1, "c"): [True, True, False]}

    beside = beside_others(own, others)

    assert (beside.n_same, beside.n) == (2, 3)
    assert beside.chance == pytest.approx(2 / 3 * 1 / 3 + 1 / 3 * 2 / 3)
    assert not beside.is_chance


# --- how often a sign is wrong: made-up honest people ---------------------------------------------


def honest(rng: random.Random, n_queries: int = 40, depth: int = 12) -> list[Read]:
    """A quick, honest reader: half a second, then 40 to 120 characters a second of a part of the
    text, at a title alone for a quarter of the documents; queries differ in what is relevant."""
    speed, labels = rng.uniform(40, 120), []
    for query in range(n_queries):
        share = rng.betavariate(0.6, 2.0)
        for _ in range(depth):
            chars = int(rng.lognormvariate(6.6, 0.7))
            seen = 50 if rng.random() < 0.25 else rng.uniform(0.2, 0.8) * chars
            seconds = (0.5 + seen / speed) * rng.lognormvariate(0.25, 0.3)
            labels.append(Read(query, int(rng.random() < share), seconds, chars))
    return labels


def test_honest_quick_people_are_hardly_ever_told_to_be_hasty():
    rng = random.Random(11)

    n_told = sum(haste(honest(rng)) is not None for _ in range(PEOPLE))

    assert n_told / PEOPLE <= 0.02


def test_honest_people_are_hardly_ever_told_to_give_one_grade():
    rng, n_told = random.Random(12), 0
    for _ in range(PEOPLE):
        own, other = honest(rng), honest(rng)
        by_query = [[label.grade for label in other[at : at + 12]] for at in range(0, 480, 12)]
        n_told += one_grade(own, by_query) is not None

    assert n_told / PEOPLE <= 0.02


def test_careful_people_hardly_ever_fail_checks_and_guessers_mostly_do():
    rng = random.Random(13)

    def share_told(p: float, n: int) -> float:
        return (
            sum(fails_checks(sum(rng.random() < p for _ in range(n)), n) for _ in range(PEOPLE))
            / PEOPLE
        )

    assert share_told(0.75, 20) <= 0.01
    assert share_told(0.25, 30) >= 0.5


def test_people_who_agree_fairly_are_hardly_ever_told_to_toss_coins_and_guessers_mostly_are():
    rng = random.Random(14)

    def share_told(p_same: float, n: int) -> float:
        """`p_same` of the labels are the other's own, the rest tossed: kappa is about that."""
        n_told = 0
        for _ in range(PEOPLE):
            truth = {(1, str(place)): rng.random() < 0.4 for place in range(n)}
            own = {
                pair: value if rng.random() < p_same else rng.random() < 0.4
                for pair, value in truth.items()
            }
            others = {pair: [value] for pair, value in truth.items()}
            n_told += beside_others(own, others).is_chance
        return n_told / PEOPLE

    assert share_told(0.45, 60) <= 0.01
    assert share_told(0.0, 150) >= 0.5


def test_least_seconds_grow_with_the_text_to_an_end():
    assert all(a <= b for a, b in pairwise(map(least_seconds, range(0, 1000, 50))))
    assert least_seconds(10_000) == least_seconds(None)
