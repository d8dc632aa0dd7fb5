"""t, signed rank and sign tests: scipy is the oracle, and hand cases where scipy has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.statistics.paired import mean_ranks, sign_test, standard_errors, t_test, wilcoxon
from benchwright.statistics.signflip import sign_flip

NAN = np.nan
SIDES = ("two-sided", "greater", "less")


def differences(n: int, seed: int = 0, columns: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.2, 1, (n, columns))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("n", [2, 5, 200])
def test_t_is_scipys(n, side):
    values = differences(n)

    theirs = stats.ttest_1samp(values, 0, alternative=side).pvalue

    assert t_test(values, alternative=side) == pytest.approx(theirs, rel=1e-12)


def test_t_of_flat_columns():
    values = np.array([[0.0, 0.1, 0.3, NAN], [0.0, 0.1, NAN, NAN], [0.0, 0.1, NAN, NAN]])

    np.testing.assert_array_equal(t_test(values), [1.0, 0.0, NAN, NAN])
    np.testing.assert_array_equal(t_test(values, alternative="less"), [0.5, 1.0, NAN, NAN])


def test_undefined_differences_are_left_out():
    values = differences(30)
    values[20:, 1] = NAN

    assert t_test(values)[1] == pytest.approx(stats.ttest_1samp(values[:20, 1], 0).pvalue)
    assert wilcoxon(values)[1] == pytest.approx(stats.wilcoxon(values[:20, 1]).pvalue)
    assert sign_test(values)[1] == sign_test(values[:20])[1]


def test_families_of_equal_size_are_tested_by_their_means():
    values = differences(60)
    families = np.random.default_rng(1).permutation(np.arange(60) // 3)
    means = np.stack([values[families == family].mean(axis=0) for family in range(20)])

    assert t_test(values, families=families) == pytest.approx(t_test(means))
    assert wilcoxon(values, families=families) == pytest.approx(wilcoxon(means))
    assert sign_test(values, families=families) == pytest.approx(sign_test(means))


def test_error_of_unequal_families_by_hand():
    """Sizes 2 and 1, values (1, 2) and 6: mean 3, residuals 3 - 6 = -3 and 6 - 3 = 3."""
    errors = standard_errors(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 1]))

    assert errors == pytest.approx([np.sqrt(2 * (9 + 9)) / 3])


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("n", "method"), [(3, "exact"), (25, "exact"), (50, "exact"), (51, "asymptotic")]
)
def test_signed_ranks_are_scipys(n, method, side):
    values = differences(n)

    theirs = stats.wilcoxon(values, axis=0, alternative=side, method=method, correction=False)

    assert wilcoxon(values, alternative=side) == pytest.approx(theirs.pvalue, rel=1e-9)


def test_signed_ranks_of_many_ties_are_scipys():
    values = np.round(differences(200, columns=1), 1)

    theirs = stats.wilcoxon(values[:, 0], zero_method="wilcox", correction=False)

    assert wilcoxon(values) == pytest.approx([theirs.pvalue], rel=1e-9)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=10))
def test_few_tied_ranks_are_counted_out(values):
    """The signed-rank test is the sign-flip test of the ranks."""
    column = np.array([float(value) for value in values if value] or [0.0])
    signed = np.sign(column) * mean_ranks(np.abs(column))

    assert wilcoxon(column[:, np.newaxis]) == pytest.approx(
        np.minimum(1, sign_flip(signed[:, np.newaxis]))
    )


def test_ties_of_decimals_are_ties():
    values = np.array([[0.3 - 0.2], [0.2 - 0.1], [-(0.7 - 0.6)], [0.4]])

    assert wilcoxon(values) == wilcoxon(np.array([[1.0], [1.0], [-1.0], [4.0]]))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(("wins", "losses"), [(8, 2), (2, 8), (5, 5), (7, 0), (1, 0)])
def test_signs_are_scipys(wins, losses, side):
    values = np.array([1.0] * wins + [-2.0] * losses + [0.0] * 3)[:, np.newaxis]

    theirs = stats.binomtest(wins, wins + losses, alternative=side).pvalue

    assert sign_test(values, alternative=side) == pytest.approx([theirs])


@pytest.mark.parametrize("test", [wilcoxon, sign_test])
def test_no_difference_is_no_evidence_and_no_value_none_at_all(test):
    p = test(np.array([[0.0, NAN], [0.0, NAN]]))

    np.testing.assert_array_equal(p, [1.0, NAN])


@given(st.lists(st.integers(0, 5), max_size=20))
def test_mean_ranks_are_scipys(values):
    array = np.array(values, dtype=float)

    assert mean_ranks(array).tolist() == stats.rankdata(array).tolist()
