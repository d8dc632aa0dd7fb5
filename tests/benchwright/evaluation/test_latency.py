"""Quantiles by hand and against numpy; bins that hold every query."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.evaluation.latency import LatencyError, latency_bins, latency_summary
from scoring.scores.charts import latency_chart

TIMES = st.lists(st.floats(0, 1e6), min_size=1, max_size=60)


def test_quantiles_by_hand():
    summary = latency_summary([40, 10, 30, 20])

    assert (summary.n, summary.mean, summary.p50, summary.longest) == (4, 25.0, 25.0, 40.0)
    assert summary.p95 == pytest.approx(38.5, abs=1e-12)


@given(TIMES)
def test_quantiles_are_numpys(times):
    summary = latency_summary(times)

    expected = np.quantile(times, [0.5, 0.95, 0.99])
    assert [summary.p50, summary.p95, summary.p99] == pytest.approx(
        list(expected), rel=1e-9, abs=1e-9
    )
    assert summary.p50 <= summary.p95 <= summary.p99 <= summary.longest


@given(TIMES)
def test_every_query_is_in_one_bin_and_bins_touch(times):
    result = latency_bins(times)
    bins = result.bins

    assert sum(bar.n for bar in bins) == len(times)
    assert bins[0].low <= min(times) and max(times) <= bins[-1].high
    assert all(left.high == right.low for left, right in pairwise(bins))
    for bar in bins[:-1]:
        assert bar.n == sum(bar.low <= time < bar.high for time in times)


def test_times_far_apart_get_bins_of_equal_ratios():
    bins = latency_bins([1] * 50 + [1000] * 50, n_bins=3)

    assert bins.is_logarithmic
    assert [round(bar.low) for bar in bins.bins] == [1, 10, 100]


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_times_that_cannot_be_are_refused(wrong):
    with pytest.raises(LatencyError, match="expected a number from 0"):
        latency_summary([1.0, wrong])


@pytest.mark.parametrize(("time", "bin_"), [(0.0, (0.0, 0.5, 3)), (2.0, (1.9, 2.1, 3))])
def test_times_that_are_all_alike_have_one_bin_around_them(time, bin_):
    (alone,) = latency_bins([time] * 3).bins

    assert (alone.low, alone.high, alone.n) == pytest.approx(bin_)


def test_nothing_measured_is_no_summary_and_an_empty_chart():
    assert latency_summary([]) is None
    chart = latency_chart([])
    assert (chart.rows, chart.description) == ([], "No query was timed.")


def test_the_chart_says_its_numbers_in_words_and_holds_every_query():
    chart = latency_chart([10, 20, 30, 40])

    assert chart.description == (
        "4 queries: half of them took 25.0 ms or less (p50), 95 % 38.5 ms or less (p95), the "
        "slowest 40.0 ms."
    )
    assert sum(row["queries"] for row in chart.rows) == 4
