"""The published tables of a benchmark's size, and the formula against the noncentral t."""

import numpy as np
import pytest
from scipy import stats

from benchwright.statistics.power import (
    detectable_differences,
    powers,
    queries_needed,
    reach,
    size_tier,
)

SIGMAS = np.array([0.05, 0.10, 0.15, 0.20, 0.25, 0.30])

DETECTABLE = {
    50: [0.020, 0.040, 0.059, 0.079, 0.099, 0.119],
    200: [0.010, 0.020, 0.030, 0.040, 0.050, 0.059],
    500: [0.006, 0.013, 0.019, 0.025, 0.031, 0.038],
    1000: [0.004, 0.009, 0.013, 0.018, 0.022, 0.027],
    3000: [0.003, 0.005, 0.008, 0.010, 0.013, 0.015],
    5000: [0.002, 0.004, 0.006, 0.008, 0.010, 0.012],
}


@pytest.mark.parametrize(("n", "expected"), DETECTABLE.items())
def test_detectable_differences(n, expected):
    assert np.round(detectable_differences(SIGMAS, n), 3).tolist() == expected


def test_no_difference_is_detectable_where_it_would_be_more_than_there_can_be():
    result = detectable_differences(0.51, np.array([2, 3]), largest=1)

    assert result.tolist() == [np.inf, pytest.approx(0.825, abs=1e-3)]
    assert detectable_differences(0.51, 2) == pytest.approx(1.010, abs=1e-3)


@pytest.mark.parametrize(
    ("delta", "expected"),
    [(0.01, [197, 785, 1766, 3140, 4906, 7064]), (0.02, [50, 197, 442, 785, 1227, 1766])],
)
def test_queries_needed(delta, expected):
    assert queries_needed(SIGMAS, delta).tolist() == expected


@pytest.mark.parametrize(
    ("distance", "expected"), [(0.02, [155, 348, 619, 967]), (0.03, [69, 155, 275, 430])]
)
def test_queries_of_a_slice_to_be_shown_non_inferior(distance, expected):
    """Margin .02, one-sided: with no change the distance is .02, with a gain of .01 it is .03."""
    assert queries_needed(SIGMAS[1:5], distance, two_sided=False).tolist() == expected


def test_direction_of_the_difference_does_not_matter():
    assert queries_needed(0.2, -0.01) == queries_needed(0.2, 0.01)


def test_edges():
    assert queries_needed(0.2, 0.0) == np.inf
    assert queries_needed(0.0, 0.0) == np.inf
    assert queries_needed(0.0, 0.1) == 2
    assert np.isnan(queries_needed(np.nan, 0.1))


def test_power_of_the_t_test_is_what_was_asked_for():
    n = queries_needed(0.2, 0.02)

    critical = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(critical, n - 1, 0.02 / 0.2 * np.sqrt(n))

    assert reach() == pytest.approx(2.8016, abs=1e-4)
    assert power == pytest.approx(0.80, abs=0.002)


@pytest.mark.parametrize(
    ("n", "name", "text"),
    [
        (0, "unreliable", "large changes only"),
        (199, "unreliable", "large changes only"),
        (200, "minimal", "directional"),
        (499, "minimal", "directional"),
        (500, "more than minimal, less than production", "major changes; slices weak"),
        (999, "more than minimal, less than production", "major changes; slices weak"),
        (1000, "production", "release gate; ±0.01 for near variants, ±0.02 for unrelated models"),
        (4999, "production", "release gate; ±0.01 for near variants, ±0.02 for unrelated models"),
        (5000, "high confidence", "regression suite"),
    ],
)
def test_size_tiers(n, name, text):
    assert size_tier(n) == (name, text)


@pytest.mark.parametrize(
    ("sigma", "n", "delta", "expected"),
    [(0.2, 785, 0.02, 0.80), (0.2, 100, 0.02, 0.17), (0.1, 100, 0.05, 1.0), (0.2, 50, 0.0, 0.05)],
)
def test_power_worked_by_hand(sigma, n, delta, expected):
    """0.02 with 100 queries: 0.02 x 10 / 0.2 = 1 error away, found beyond 1.96: 0.1685 + 0.0015."""
    assert float(powers(sigma, n, delta)) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("n", [30, 200, 1000])
@pytest.mark.parametrize("effect", [0.05, 0.1, 0.2])
def test_power_is_that_of_statsmodels(n, effect):
    from statsmodels.stats.power import NormalIndPower

    theirs = NormalIndPower(ddof=0).power(effect, n, 0.05, ratio=0, alternative="two-sided")

    assert float(powers(1.0, n, effect)) == pytest.approx(theirs, abs=1e-9)


def test_power_is_how_often_a_simulated_difference_is_found():
    """20,000 times 200 queries whose differences scatter by 0.15 around 0.03."""
    means = np.random.default_rng(11).normal(0.03, 0.15 / np.sqrt(200), 20_000)

    result = np.mean(np.abs(means) > stats.norm.ppf(0.975) * 0.15 / np.sqrt(200))

    assert float(powers(0.15, 200, 0.03)) == pytest.approx(result, abs=0.01)


def test_power_at_the_edges():
    assert powers(0.2, 0, 0.05) == 0
    assert powers(0.0, 50, 0.01) == 1
    assert powers(0.0, 50, 0.0) == pytest.approx(0.05)
