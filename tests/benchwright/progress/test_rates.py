"""Intervals of shares, against statsmodels and the published ones."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from benchwright.progress.signals import Rate, difference

rates = st.integers(1, 2000).flatmap(lambda of: st.builds(Rate, st.integers(0, of), st.just(of)))


@given(rates)
def test_interval_is_wilsons(rate):
    low, high = proportion_confint(rate.n, rate.of, method="wilson")

    assert (rate.low, rate.high) == pytest.approx((low, high), abs=1e-12)


@given(rates, rates)
def test_difference_is_newcombes(later, earlier):
    oracle = confint_proportions_2indep(
        later.n, later.of, earlier.n, earlier.of, compare="diff", method="newcomb"
    )

    assert difference(later, earlier) == pytest.approx(oracle, abs=1e-9)


def test_difference_is_the_published_one():
    """Newcombe 1998, table II, case (a): 56/70 against 48/80."""
    assert difference(Rate(56, 70), Rate(48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_nothing_has_no_share():
    nothing = Rate(0, 0)

    assert all(math.isnan(value) for value in (nothing.share, nothing.low, nothing.high))
    assert all(math.isnan(bound) for bound in difference(Rate(1, 2), nothing))
