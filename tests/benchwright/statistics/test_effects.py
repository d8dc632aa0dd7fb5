import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from benchwright.statistics.effects import (
    relative_changes,
    shares_worse,
    spreads,
    standardised,
    superiority,
    wins_ties_losses,
)

NAN = np.nan
REFERENCE = np.array([[0.5], [0.4], [0.7], [0.2], [0.9]])
RUN = np.array([[0.6], [0.4], [0.6], [0.5], [NAN]])
DIFFERENCES = RUN - REFERENCE  # 0.1, 0, -0.1, 0.3, undefined

COLUMNS = arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=st.floats(-1, 1))


def test_effects_by_hand():
    assert wins_ties_losses(DIFFERENCES).tolist() == [[2], [1], [1]]
    assert relative_changes(DIFFERENCES, REFERENCE) == pytest.approx([0.3 / 1.8])
    assert superiority(DIFFERENCES) == pytest.approx([2.5 / 4])
    # Squares about the mean of .075: .000625, .005625, .030625, .050625.
    assert spreads(DIFFERENCES) == pytest.approx([np.sqrt(0.0875 / 3)])
    assert standardised(DIFFERENCES) == pytest.approx([0.075 / np.sqrt(0.0875 / 3)])


@pytest.mark.parametrize(
    ("run", "reference", "expected"), [(0.3, 0.4, 0.0), (0.59, 0.7, 1.0), (0.9, 0.2, 0.0)]
)
def test_loss_of_exactly_a_tenth_is_not_yet_worse(run, reference, expected):
    assert shares_worse(np.array([[run - reference]])) == [expected]


@pytest.mark.parametrize(("difference", "expected"), [(1e-6, 0), (9e-7, 1), (-9e-7, 1), (-1e-6, 2)])
def test_tie_is_below_a_millionth(difference, expected):
    counts = wins_ties_losses(np.array([[difference]]))[:, 0]

    assert counts.tolist() == [int(place == expected) for place in range(3)]


def test_effects_of_flat_columns():
    flat = np.array([[0.0, 0.2, -0.2, 0.1, NAN], [0.0, 0.2, -0.2, NAN, NAN]])

    np.testing.assert_array_equal(standardised(flat), [0, np.inf, -np.inf, NAN, NAN])
    np.testing.assert_array_equal(superiority(flat), [0.5, 1, 0, 1, NAN])
    np.testing.assert_array_equal(shares_worse(flat), [0, 0, 1, 0, NAN])


def test_nothing_to_be_relative_to():
    assert np.isnan(relative_changes(np.array([[0.2]]), np.array([[0.0]])))


@given(COLUMNS)
def test_every_query_is_won_level_or_lost(differences):
    counts = wins_ties_losses(differences)

    assert (counts.sum(axis=0) == len(differences)).all()
    assert (wins_ties_losses(-differences) == counts[::-1]).all()
    assert superiority(differences) == pytest.approx(1 - superiority(-differences))


@given(st.integers(2, 50), st.integers(0, 1000))
def test_standardised_difference_is_t_over_root_n(n, seed):
    differences = np.random.default_rng(seed).normal(size=(n, 2))

    t = stats.ttest_1samp(differences, 0).statistic

    assert standardised(differences) == pytest.approx(t / np.sqrt(n))
