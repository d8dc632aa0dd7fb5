"""Hints: nobody is named who judges as others do, and somebody who does not is."""

import numpy as np
import pytest

from benchwright.agreement.advice import longest_streak, never_opens, paces


def timed(factor_of_last: float, n: int = 400, seed: int = 2):
    """Three people; long documents and high grades take longer, the last person has a factor."""
    rng = np.random.default_rng(seed)
    raters = rng.integers(0, 3, n)
    chars = rng.choice([100, 400, 900, 3000], n)
    grades = rng.integers(0, 3, n)
    usual = (5 + chars / 100) * (1 + grades)
    seconds = usual * rng.lognormal(0, 0.3, n) * np.where(raters == 2, factor_of_last, 1)
    return raters, seconds, chars, grades


@pytest.mark.parametrize("factor", [0.2, 1.0, 4.0])
def test_a_pace_is_told_beside_others_for_documents_of_one_kind(factor):
    rates = paces(*timed(factor), 3)

    assert rates[2].ratio == pytest.approx(factor, rel=0.25)
    assert rates[2].is_unusual == (factor != 1.0)
    assert not paces(*timed(1.0), 3)[0].is_unusual


def test_who_gets_the_short_documents_is_not_fast():
    raters, seconds, chars, grades = timed(1.0, 3000)
    # Person 0 judges short documents alone, the others all of them.
    kept = (raters != 0) | (chars == 100)

    rates = paces(raters[kept], seconds[kept], chars[kept], grades[kept], 3)

    assert rates[0].ratio == pytest.approx(1, rel=0.15)


def test_documents_of_one_quarter_of_lengths_are_held_beside_each_other():
    """Of lengths 1 to 8 two are in each quarter: the first has all the odd ones."""
    chars = np.arange(1, 9)
    raters = 1 - chars % 2
    seconds = np.where(raters == 0, 1.0, 4.0) * 2.0 ** ((chars + 1) // 2)

    first, second = paces(raters, seconds, chars, np.zeros(8, dtype=int), 2)

    assert (first.ratio, first.n_labels, second.ratio, second.n_labels) == (0.25, 4, 4.0, 4)


def test_few_times_or_nobody_beside_say_nothing():
    raters, seconds, chars, grades = timed(0.1, 60)

    assert not paces(raters, seconds, chars, grades, 3)[2].is_unusual
    alone = paces(np.zeros(100, int), np.full(100, 0.1), np.full(100, 500), np.zeros(100, int), 1)
    assert (alone[0].n_labels, alone[0].is_unusual) == (0, False)
    nothing = paces(np.zeros(3, int), np.zeros(3), np.zeros(3, int), np.zeros(3, int), 1)
    assert nothing[0].n_labels == 0


def test_the_longest_streak_is_found_where_it_begins():
    streak = longest_streak(np.array([0, 1, 1, 0, 2, 2, 2, 1]))

    assert (streak.grade, streak.length, streak.start) == (2, 3, 4)
    assert not streak.is_unusual
    assert longest_streak(np.array([], dtype=int)) is None


def test_a_streak_of_a_rare_grade_stands_out_and_one_of_a_common_grade_does_not():
    rng = np.random.default_rng(4)
    common = (rng.random(400) < 0.06).astype(int)  # grade 0 nearly always
    rare = rng.integers(0, 3, 400)
    rare[100:120] = 2

    assert longest_streak(common).length >= 20
    assert not longest_streak(common).is_unusual
    assert longest_streak(rare).is_unusual


@pytest.mark.parametrize(
    ("n_excerpt", "n_full", "words"), [(20, 0, True), (19, 0, False), (500, 1, False)]
)
def test_many_long_documents_and_none_opened(n_excerpt, n_full, words):
    assert never_opens(n_excerpt, n_full) is words
