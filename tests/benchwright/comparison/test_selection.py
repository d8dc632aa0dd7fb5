"""What the best of many attempts gains by having been picked, against sums by hand and chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.comparison.selection import error_of_attempts, expected_maximum, selection_gain


@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, 0.0), (2, 1 / np.sqrt(np.pi)), (3, 1.5 / np.sqrt(np.pi)), (5, 1.1629644736)],
)
def test_expected_maximum_is_as_in_the_tables(k, expected):
    assert expected_maximum(k) == pytest.approx(expected, abs=1e-9)


@given(st.integers(2, 3000))
def test_expected_maximum_is_that_of_scipys_order_statistics(k):
    """The mean of the largest is the integral of 1 - F^k above 0, less that of F^k below."""
    x = np.linspace(0, 12, 6001)
    above = np.trapezoid(1 - stats.norm.cdf(x) ** k, x)
    below = np.trapezoid(stats.norm.cdf(-x) ** k, x)

    assert expected_maximum(k) == pytest.approx(above - below, abs=1e-6)


def test_error_by_hand():
    """Residuals of ±1/2 in a 2 x 2 layout: 4 · 1/4 / (1 · 1) = 1, over 2 queries 1/2."""
    assert error_of_attempts(np.array([[1.0, 0.0], [0.0, 1.0]])) ** 2 == pytest.approx(1 / 2)


def test_what_all_attempts_share_is_no_error():
    hard_and_easy = np.array([[0.1, 0.2], [0.8, 0.9], [0.4, 0.5]])

    assert error_of_attempts(hard_and_easy) == pytest.approx(0, abs=1e-12)


def test_families_of_one_change_nothing_and_twins_count_once():
    values = np.random.default_rng(3).random((30, 4))
    twins = np.repeat(values, 2, axis=0)

    single = error_of_attempts(values)
    assert error_of_attempts(values, np.arange(30)) == pytest.approx(single)
    assert error_of_attempts(twins, np.repeat(np.arange(30), 2)) == pytest.approx(single)
    assert error_of_attempts(twins) < single


@pytest.mark.parametrize(
    "values", [np.zeros((1, 3)), np.zeros((3, 1)), np.full((3, 3), np.nan), np.zeros((0, 2))]
)
def test_too_little_has_no_error(values):
    assert error_of_attempts(values) == 0.0


def test_one_family_has_no_error():
    assert error_of_attempts(np.eye(3), np.zeros(3, dtype=int)) == 0.0


def test_gain_is_the_one_of_equal_submissions():
    """Twenty equal submissions, 200 queries with a deviation of 0.25 each, 400 times."""
    rng, k, n = np.random.default_rng(11), 20, 200
    lead, leads = [], []
    for _ in range(400):
        values = rng.normal(0.5, 0.2, size=(n, 1)) + rng.normal(0, 0.25, size=(n, k))
        means = values.mean(axis=0)
        lead.append(means.max() - means.mean())
        leads.append(selection_gain(error_of_attempts(values), k))

    assert np.mean(leads) == pytest.approx(0.033, abs=0.001)
    assert np.mean(lead) == pytest.approx(np.mean(leads), abs=4 * np.std(lead) / 20)
