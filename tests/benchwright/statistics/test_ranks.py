import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.statistics.bootstrap import resampled_means
from benchwright.statistics.ranks import beside_groups, rank_intervals, ranks

NAN = np.nan


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([0.3, 0.5, 0.1], [2, 1, 3]),
        ([0.5, 0.3, 0.5, 0.1], [1, 3, 1, 4]),
        ([0.1 + 0.2, 0.3], [1, 1]),
        ([NAN, 0.0, 0.4], [3, 2, 1]),
    ],
)
def test_equal_means_share_a_rank(means, expected):
    assert ranks(np.array(means)).tolist() == expected


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12))
def test_ranks_are_scipys(means):
    array = np.array(means, dtype=float)

    assert ranks(array).tolist() == stats.rankdata(-array, method="min").tolist()


def test_every_measure_is_ranked_by_itself():
    means = np.array([[0.3, 0.1], [0.2, 0.2]])

    assert ranks(means).tolist() == [[1, 2], [2, 1]]


def levels(gaps: list[float], n: int = 200, seed: int = 0) -> np.ndarray:
    """Queries x runs x 1: noise of .1 around each level."""
    rng = np.random.default_rng(seed)
    return (rng.normal(0, 0.1, (n, len(gaps))) + np.array(gaps))[:, :, np.newaxis]


def test_runs_far_apart_have_one_rank_and_near_ones_share_an_interval():
    values = levels([0.9, 0.5, 0.5, 0.5, 0.1], seed=3)

    intervals = rank_intervals(values, n_draws=2000)[:, :, 0]

    assert intervals.T.tolist() == [[1, 1], [2, 4], [2, 4], [2, 4], [5, 5]]


def test_equal_runs_have_all_ranks_they_share():
    values = np.repeat(levels([0.5]), 3, axis=1)

    assert rank_intervals(values, n_draws=100)[:, :, 0].T.tolist() == [[1, 3]] * 3


def test_rank_intervals_come_from_common_draws():
    """A run that is better on every query is better in every draw, however noisy the queries."""
    values = np.random.default_rng(0).random((20, 1, 1)) + np.array([[0.0], [0.001]])

    assert rank_intervals(values, n_draws=500)[:, :, 0].T.tolist() == [[2, 2], [1, 1]]


def test_families_are_resampled_whole():
    values = levels([0.5, 0.52], n=30, seed=4)
    copies = np.repeat(values, 10, axis=0)

    as_one = rank_intervals(copies, families=np.arange(300) // 10, n_draws=500)

    assert (as_one == rank_intervals(values, n_draws=500)).all()
    assert as_one[:, :, 0].T.tolist() == [[1, 2], [1, 2]]
    assert rank_intervals(copies, n_draws=500)[:, :, 0].T.tolist() == [[2, 2], [1, 1]]


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_ends_are_counted_in_the_very_draws(level):
    """So many of the draws have a better best rank, or a worse worst one, at most."""
    values = np.round(levels([0.5, 0.52, 0.52, 0.55], n=12, seed=2), 1)
    drawn = resampled_means(values[:, :, 0], np.ones((12, 1)), n_draws=800, seed=3)
    best = np.array([stats.rankdata(-np.round(column, 9), "min") for column in drawn.T])
    worst = np.array([stats.rankdata(-np.round(column, 9), "max") for column in drawn.T])

    low, high = rank_intervals(values, level=level, n_draws=800, seed=3)[:, :, 0]

    tail = (1 - level) / 2
    for run in range(4):
        assert (best[:, run] <= low[run]).mean() >= tail - 1e-9
        assert (best[:, run] < low[run]).mean() <= tail + 1e-9
        assert (worst[:, run] <= high[run]).mean() >= 1 - tail - 1e-9
        assert (worst[:, run] < high[run]).mean() <= 1 - tail + 1e-9


@pytest.mark.parametrize(
    ("ends", "of_means", "groups", "expected"),
    [
        # Ends that agree stay; a first of group 1 is its best, one of group 2 is behind another.
        ([[1, 2], [1, 2]], [1, 2], [1, 2], [[1, 2], [1, 2]]),
        ([[2, 1], [2, 2]], [1, 2], [1, 1], [[1, 1], [2, 2]]),
        ([[1, 1, 1], [3, 3, 3]], [1, 2, 3], [1, 2, 2], [[1, 2, 2], [3, 3, 3]]),
        ([[3, 1, 3], [3, 1, 3]], [2, 1, 3], [2, 1, 2], [[2, 1, 2], [3, 1, 3]]),
        # A worst rank is never before the best one, nor before that of the mean.
        ([[1, 1, 1], [1, 1, 1]], [1, 2, 3], [1, 2, 3], [[1, 2, 3], [1, 2, 3]]),
    ],
)
def test_ranks_beside_groups_by_hand(ends, of_means, groups, expected):
    result = beside_groups(np.array(ends), np.array(of_means), np.array(groups))

    assert result.tolist() == expected


def test_measures_are_side_by_side_and_undefined_values_left_out():
    values = np.concatenate([levels([0.5, 0.6, 0.4]), levels([0.1, 0.9, 0.5])], axis=2)
    values[:150, 1, 1] = NAN

    intervals = rank_intervals(values, n_draws=200)

    assert intervals[:, :, 1].T.tolist() == [[3, 3], [1, 1], [2, 2]]
