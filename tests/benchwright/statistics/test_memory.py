"""What is held at once does not grow with flips and draws times queries."""

import tracemalloc

import numpy as np
import pytest

from benchwright.statistics.bootstrap import METHODS, bootstrap_interval
from benchwright.statistics.confidence_sets import tie_groups
from benchwright.statistics.signflip import sign_flip, sign_flip_max
from benchwright.statistics.tukey import randomised_tukey

MIB = 2**20
VALUES = np.random.default_rng(0).normal(size=(4000, 3))


def peak(work, *arguments, **options) -> float:
    tracemalloc.start()
    try:
        work(*arguments, **options)
        return tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()


# A whole matrix of 5,000 patterns or draws of 4,000 queries would be 153 MiB.
@pytest.mark.parametrize("work", [sign_flip, sign_flip_max])
def test_flips_are_never_all_held(work):
    assert peak(work, VALUES, n_flips=5000) < 20


@pytest.mark.parametrize("method", METHODS)
def test_draws_are_never_all_held(method):
    assert peak(bootstrap_interval, VALUES, method=method, n_draws=5000) < 30


def test_shuffles_are_never_all_held():
    assert peak(randomised_tukey, VALUES[:, :, np.newaxis], n_draws=5000) < 20


def test_many_columns_are_resampled_in_parts(monkeypatch):
    values = np.random.default_rng(0).normal(size=(40, 400))
    whole = bootstrap_interval(values, n_draws=1000)
    monkeypatch.setattr("benchwright.statistics.bootstrap.MEANS_HELD", 10_000)

    parts = bootstrap_interval(values, n_draws=1000)

    np.testing.assert_allclose(parts, whole, rtol=1e-9)
    assert peak(bootstrap_interval, values, n_draws=1000) < 5


def test_pairs_of_many_runs_are_never_all_held():
    """A number for each pair of 3,000 runs would be 69 MiB, and there were five of them."""
    values = np.random.default_rng(0).normal(size=(20, 3000)) + np.linspace(0, 3, 3000)

    assert peak(tie_groups, values, n_flips=100) < 30
