"""Randomised Tukey HSD against the shuffles written out, and against Tukey's own distribution."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from benchwright.statistics.signflip import sign_flip
from benchwright.statistics.tukey import randomised_tukey

NAN = np.nan


def runs(n: int, k: int, measures: int = 1, seed: int = 0, spread: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    topic = rng.normal(0, 1, (n, 1, measures))
    return topic + rng.normal(0, 1, (n, k, measures)) + spread * np.arange(k)[:, np.newaxis]


def all_shuffles(values: np.ndarray) -> np.ndarray:
    """Ranges of the sums under every shuffle of every row."""
    rows = [[np.array(order) for order in permutations(row)] for row in values]
    return np.array([np.ptp(sum(choice)) for choice in product(*rows)])


def test_three_runs_by_all_shuffles():
    values = np.random.default_rng(3).random((4, 3))
    ranges = all_shuffles(values)
    sums = values.sum(axis=0)

    p = randomised_tukey(values[:, :, np.newaxis], n_draws=40_000)[:, :, 0]

    assert len(ranges) == 6**4
    for one, other in ((0, 1), (0, 2), (1, 2)):
        expected = (ranges >= abs(sums[one] - sums[other]) - 1e-9).mean()
        assert p[one, other] == pytest.approx(expected, abs=0.01)


def test_independent_shuffles_give_the_same():
    """Groups of rotated shuffles are a matter of speed: each family is shuffled uniformly."""
    values = runs(40, 6, seed=1, spread=0.08)
    rng = np.random.default_rng(0)
    shuffled = rng.permuted(np.tile(values[:, :, 0], (8000, 1, 1)), axis=2)
    ranges = np.ptp(shuffled.sum(axis=1), axis=1)
    sums = values[:, :, 0].sum(axis=0)
    expected = (ranges >= np.abs(sums[:, np.newaxis] - sums)[..., np.newaxis]).mean(axis=2)

    p = randomised_tukey(values)[:, :, 0]

    assert 0.0 < expected.min() < 0.05
    assert ((expected > 0.02) & (expected < 0.5)).sum() >= 4
    assert p == pytest.approx(expected, abs=0.02)


def test_many_queries_have_the_studentised_range():
    values = runs(400, 5, seed=2, spread=0.05)
    rows = values[:, :, 0] - values[:, :, 0].mean(axis=1, keepdims=True)
    # The variance of a uniform shuffle is that of the row about its own mean.
    error = np.sqrt((rows**2).sum() / 4) / 400
    means = values[:, :, 0].mean(axis=0)
    distance = np.abs(means[:, np.newaxis] - means) / error

    expected = stats.studentized_range.sf(distance, 5, np.inf)

    assert randomised_tukey(values)[:, :, 0] == pytest.approx(expected, abs=0.02)


def test_two_runs_are_a_sign_flip():
    values = runs(40, 2, measures=3, spread=0.3)

    p = randomised_tukey(values, n_draws=2000, seed=4)

    expected = sign_flip(values[:, 0] - values[:, 1], n_flips=2000, seed=4)
    assert (p[0, 1] == expected).all()
    assert (p[0, 0] == 1).all()


def test_families_are_shuffled_whole():
    values = runs(60, 3, seed=5, spread=0.2)
    families = np.arange(60) % 20
    sums = values.reshape(3, 20, 3, 1).sum(axis=0)

    assert (randomised_tukey(values, families=families) == randomised_tukey(sums)).all()


def test_query_with_an_undefined_value_is_left_out_of_that_measure():
    values = runs(30, 3, measures=2, seed=6)
    values[20:, 1, 1] = NAN

    p = randomised_tukey(values)

    assert (p[:, :, 0] == randomised_tukey(values[:, :, :1])[:, :, 0]).all()
    assert (p[:, :, 1] == randomised_tukey(values[:20, :, 1:])[:, :, 0]).all()


def test_measure_without_a_whole_row_has_no_value():
    values = runs(4, 3)
    values[:, 1] = NAN

    assert np.isnan(randomised_tukey(values)).all()


def test_equal_runs_are_not_told_apart():
    values = np.repeat(runs(30, 1), 4, axis=1)

    assert (randomised_tukey(values) == 1).all()


def test_what_all_runs_have_in_common_on_a_query_tells_nothing():
    """Nor does it cost digits: only what a run has beside the others is shuffled."""
    values = runs(30, 4, measures=2, seed=3, spread=0.1)
    hard = np.random.default_rng(1).normal(0, 1e6, (30, 1, 1))

    assert randomised_tukey(values + hard, n_draws=2000) == pytest.approx(
        randomised_tukey(values, n_draws=2000)
    )


def test_pairs_are_no_less_likely_than_alone():
    values = runs(50, 5, seed=7, spread=0.15)

    p = randomised_tukey(values)[:, :, 0]

    assert (p == p.T).all()
    assert p[0, 4] < p[0, 2] < 1
    assert p[0, 4] > sign_flip(values[:, 0] - values[:, 4])[0]


def test_seed_decides():
    values = runs(30, 4)

    first = randomised_tukey(values, n_draws=500, seed=1)

    assert (first == randomised_tukey(values, n_draws=500, seed=1)).all()
    assert (first != randomised_tukey(values, n_draws=500, seed=2)).any()
