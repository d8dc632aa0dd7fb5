"""The pass mark of practice against people who do not read."""

import random
from collections import Counter
from math import comb

import pytest

from benchwright.agreement.qualification import GUESSED, chance_to_pass, usual_mark


def spread(n: int, n_grades: int) -> list[int]:
    return [number % n_grades for number in range(n)]


@pytest.mark.parametrize("n_grades", [2, 3, 4, 5])
@pytest.mark.parametrize("n", range(4, 11))
def test_the_usual_mark_keeps_guessing_out(n, n_grades):
    """By the binomial test written out: uniform guesses, on a scale of so many grades."""
    mark = usual_mark(spread(n, n_grades), n_grades)

    p = 1 / n_grades
    passes = sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(mark, n + 1))
    assert passes < GUESSED or mark == n


def test_ten_documents_of_four_grades_want_seven_of_two_grades_all():
    assert usual_mark(spread(10, 4), 4) == 7
    assert usual_mark(spread(10, 2), 2) == 10


@pytest.mark.parametrize("strategy", ["any grade", "as they come", "the most common"])
def test_simulated_guessers_do_not_pass(strategy):
    """A seeded simulation of 20,000 people who do not read."""
    rng, known = random.Random(7), [0, 0, 0, 0, 1, 1, 2, 2, 3, 3]
    mark, n_passed = usual_mark(known, 4), 0
    common = Counter(known).most_common(1)[0][0]
    for _ in range(20_000):
        guess = {
            "any grade": lambda: rng.randrange(4),
            "as they come": lambda: rng.choice(known),
            "the most common": lambda: common,
        }[strategy]
        n_passed += sum(guess() == grade for grade in known) >= mark

    assert n_passed / 20_000 < GUESSED
    assert chance_to_pass(mark, known, 4) < GUESSED


def test_one_grade_throughout_never_passes():
    known = [0] * 8 + [1, 2]

    assert usual_mark(known, 3) > 8
    assert chance_to_pass(8, known, 3) == 1.0
