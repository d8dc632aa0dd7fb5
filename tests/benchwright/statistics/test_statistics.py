"""What several rooms derive, beside other implementations of it; each stands in one place."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from statsmodels.stats.proportion import proportion_confint

from benchwright.statistics.descriptive import kendall_tau, quantile, wilson

ROOT = Path(__file__).parents[3]
counts = st.integers(1, 2000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))
scores = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12)


@given(counts)
def test_interval_of_a_share_is_wilsons(share):
    assert wilson(*share) == pytest.approx(proportion_confint(*share, method="wilson"), abs=1e-12)


def test_a_share_of_nothing_has_no_interval_and_none_or_all_end_at_the_end():
    assert all(map(math.isnan, wilson(0, 0)))
    assert (wilson(0, 7)[0], wilson(7, 7)[1]) == (0.0, 1.0)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_quantile_is_numpys(values, share):
    assert quantile(sorted(values), share) == pytest.approx(np.quantile(values, share), abs=1e-6)


@given(scores)
def test_tau_is_tau_b_of_scipy(pairs):
    first, second = zip(*pairs, strict=True)

    expected = kendalltau(first, second).statistic
    assert kendall_tau(first, second) == pytest.approx(expected, nan_ok=True)


def test_scores_that_rounding_tells_apart_tie():
    assert kendall_tau([0.1 + 0.2, 0.3, 0.5], [1, 1, 2]) == 1.0
    assert math.isnan(kendall_tau([1.0], [1.0]))


@pytest.mark.parametrize(
    "pattern",
    [r"1\.9599|1\.96\b", r"kendalltau", r"def _?(wilson|quantile|\w*kappa|\w*_tau|_tau)\("],
)
def test_each_stands_in_one_place(pattern):
    apps = ("annotation", "benchmarks_app", "scoring")
    files = (path for app in apps for path in (ROOT / app).rglob("*.py"))

    having = {path.name for path in files if re.search(pattern, path.read_text("utf-8"))}
    assert having <= {"statistics.py"}
