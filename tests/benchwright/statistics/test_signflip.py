"""Randomisation tests, against hand counts, enumeration and scipy."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from benchwright.statistics.signflip import flipped_sums, sign_flip, sign_flip_max

NAN = np.nan


def column(*values: float) -> np.ndarray:
    return np.array(values)[:, np.newaxis]


def enumerated(values, alternative="two-sided") -> float:
    """Share of all sign patterns that are as extreme: the definition, slowly."""
    turn = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    goal = turn(sum(values)) - 1e-9
    totals = [
        turn(sum(sign * value for sign, value in zip(signs, values, strict=True)))
        for signs in product((1, -1), repeat=len(values))
    ]
    return sum(total >= goal for total in totals) / len(totals)


# Of the 16 sums of ±1 ±2 ±3 ±4 (observed: 8), ±10 and ±8 are as far out: 4 of 16; 2 upwards.
@pytest.mark.parametrize(
    ("alternative", "expected"), [("two-sided", 4 / 16), ("greater", 2 / 16), ("less", 15 / 16)]
)
def test_four_differences_by_hand(alternative, expected):
    p = sign_flip(column(-1, 2, 3, 4), alternative=alternative)

    assert p == pytest.approx([expected])


@given(
    arrays(np.float64, st.integers(1, 8), elements=st.sampled_from([-0.3, -0.1, 0, 0.1, 0.2])),
    st.sampled_from(["two-sided", "greater", "less"]),
)
def test_few_queries_are_enumerated(values, alternative):
    p = sign_flip(values[:, np.newaxis], alternative=alternative)

    assert p == pytest.approx([enumerated(values, alternative)])


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_exact_values_are_scipys(alternative):
    values = np.random.default_rng(5).normal(0.3, 1, (12, 4))

    theirs = stats.permutation_test(
        (values,), np.sum, permutation_type="samples", n_resamples=np.inf, alternative=alternative
    )

    assert sign_flip(values, alternative=alternative) == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("n", [15, 16])
def test_value_is_exact_up_to_fifteen_differences(n):
    values = np.random.default_rng(n).normal(0.4, 1, (n, 1))

    exact = enumerated(values[:, 0])

    assert (sign_flip(values) == exact).all() == (n == 15)
    assert sign_flip(values) == pytest.approx([exact], abs=0.01)


def test_queries_that_do_not_differ_change_nothing():
    some = column(0.1, -0.2, 0.5, 0.4)

    assert sign_flip(np.vstack([some, np.zeros((2000, 1))])) == sign_flip(some)


def test_random_flips_agree_with_scipy():
    values = np.random.default_rng(8).normal(0.12, 1, (200, 3)) ** 3

    theirs = stats.permutation_test(
        (values,), np.sum, permutation_type="samples", n_resamples=20_000, rng=1
    )

    # Both p-values are estimates with a standard error of at most .0036.
    assert sign_flip(values, n_flips=20_000, seed=1) == pytest.approx(theirs.pvalue, abs=0.015)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130])
def test_every_sign_is_flipped_by_a_fair_coin_of_its_own(n):
    """Signs as such: flipped sums of the unit vectors."""
    n_flips = 20_000

    signs = np.concatenate(list(flipped_sums(np.eye(n), n_flips, 3)))

    assert signs.shape == (n_flips, n)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean(axis=0)).max() <= 5 / n_flips**0.5
    between = signs.T @ signs / n_flips - np.eye(n)
    assert abs(between).max() <= 5 / n_flips**0.5


def test_flips_of_a_seed_are_the_same_however_many_follow():
    few, many = (np.concatenate(list(flipped_sums(np.eye(70), n, 5))) for n in (100, 9_000))

    assert (few == many[:100]).all()
    assert len(np.unique(many[:, :64], axis=0)) == 9_000


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_sampled_values_are_counts_of_the_very_flips(alternative):
    values = np.random.default_rng(9).normal(0.2, 1, (70, 3))
    turn = {"two-sided": abs, "greater": lambda x: x, "less": lambda x: -x}[alternative]
    flipped = np.concatenate(list(flipped_sums(values, 3_000, 4)))
    reached = (turn(flipped) >= turn(values.sum(axis=0))).sum(axis=0)

    p = sign_flip(values, alternative=alternative, n_flips=3_000, seed=4)

    if alternative == "less":  # of which the sums are turned first
        flipped = np.concatenate(list(flipped_sums(-values, 3_000, 4)))
        reached = (flipped >= -values.sum(axis=0)).sum(axis=0)
    assert p.tolist() == ((reached + 1) / 3_001).tolist()


@pytest.mark.parametrize("n", [15, 16])
def test_adjusted_values_are_exact_up_to_fifteen_families_that_differ(n):
    values = np.vstack([np.random.default_rng(n).normal(0.4, 1, (n, 1)), np.zeros((30, 1))])

    exact = enumerated(values[:n, 0])

    assert (sign_flip_max(values) == exact).all() == (n == 15)
    assert sign_flip_max(values) == pytest.approx([exact], abs=0.01)


def test_flips_that_are_never_reached_count_one():
    assert sign_flip(np.ones((40, 1)), n_flips=999) == pytest.approx([1 / 1000])


def test_equal_sums_are_ties_whatever_rounding_says():
    # Sums of ±0.1 in another order are off by some 1e-16; half of all patterns reach +0.1 or more.
    values = np.tile([0.1, -0.1], 20)[:, np.newaxis]
    values = np.vstack([values, [[0.1]]])

    assert sign_flip(values) == pytest.approx([1.0])
    assert sign_flip(values, alternative="greater") == pytest.approx([0.5], abs=0.02)


def test_undefined_differences_are_left_out_of_their_column():
    values = np.random.default_rng(2).normal(0.2, 1, (40, 2))
    values[30:, 1] = NAN

    p = sign_flip(values)

    whole = np.where(np.isnan(values[:, 1:]), 0.0, values[:, 1:])
    assert p[1] == sign_flip(whole)[0]
    assert p[0] == sign_flip(values[:, :1])[0]


def test_nothing_defined_has_no_value_and_no_difference_is_no_evidence():
    p = sign_flip(np.array([[NAN, 0.0, 0.3], [NAN, 0.0, NAN]]))

    assert np.isnan(p[0])
    assert p[1:].tolist() == [1.0, 1.0]


def test_families_flip_whole():
    values = np.random.default_rng(3).normal(0.3, 1, (60, 2))
    families = np.arange(60) // 3

    sums = values.reshape(20, 3, 2).sum(axis=1)

    assert (sign_flip(values, families=families) == sign_flip(sums)).all()
    assert (sign_flip(values, families=families) != sign_flip(values)).any()


def test_column_does_not_depend_on_its_company():
    values = np.random.default_rng(4).normal(0.1, 1, (300, 1200))

    assert sign_flip(values)[700] == sign_flip(values[:, 700:701])[0]


def test_seed_decides():
    values = np.random.default_rng(4).normal(0.1, 1, (100, 1))

    assert sign_flip(values, seed=1) == sign_flip(values, seed=1)
    assert sign_flip(values, seed=1) != sign_flip(values, seed=2)


@given(st.integers(17, 40), st.integers(0, 1000))
def test_exchanged_runs_exchange_the_sides(n, seed):
    values = np.random.default_rng(seed).normal(0.2, 1, (n, 1))

    assert sign_flip(values, n_flips=500) == sign_flip(-values, n_flips=500)
    assert sign_flip(values, n_flips=500, alternative="greater") == sign_flip(
        -values, n_flips=500, alternative="less"
    )


# --- several runs against one baseline -----------------------------------------------------------


def test_one_run_is_not_corrected():
    values = np.random.default_rng(6).normal(0.5, 1, (14, 1))

    assert sign_flip_max(values) == pytest.approx(sign_flip(values))


def test_max_of_two_runs_by_hand():
    """Of the eight patterns of three queries, four leave a statistic at the largest one's height.

    Column 1 is (1, 1, 1): its scaled sum is 3/√3 = 1.73 in two patterns, 0.58 in six. Column 2 is
    (3, -1, -1): scaled sums ±1/√11 (observed: 0.30), ±3/√11, ±5/√11 = 1.51. Nothing of column 2
    reaches 1.73, so 2/8 for the first; the second is alone then and is always reached: 8/8.
    """
    values = np.array([[1.0, 3.0], [1.0, -1.0], [1.0, -1.0]])

    assert sign_flip_max(values) == pytest.approx([2 / 8, 8 / 8])


def test_copies_of_a_run_cost_nothing():
    values = np.random.default_rng(6).normal(0.2, 1, (100, 1))

    adjusted = sign_flip_max(np.repeat(values, 5, axis=1))

    assert adjusted == pytest.approx(np.repeat(sign_flip(values), 5))


@given(st.integers(0, 10_000), st.sampled_from(["two-sided", "greater", "less"]))
def test_adjusted_values_are_no_smaller_and_in_order(seed, alternative):
    values = np.random.default_rng(seed).normal(0.1, 1, (12, 4))

    raw = sign_flip(values, alternative=alternative)
    adjusted = sign_flip_max(values, alternative=alternative)

    scaled = values.sum(axis=0) / np.sqrt((values**2).sum(axis=0))
    scaled = np.abs(scaled) if alternative == "two-sided" else scaled
    scaled = -scaled if alternative == "less" else scaled
    assert (adjusted >= raw - 1e-12).all()
    assert (adjusted <= np.minimum(1, 4 * raw.max())).all() or raw.max() > 0.25
    assert (np.diff(adjusted[np.argsort(-scaled)]) >= 0).all()


@given(st.integers(0, 10_000))
def test_second_of_two_runs_is_alone_once_the_first_is_found(seed):
    """What stepping down gains: its own p, but never below the first one's."""
    values = np.random.default_rng(seed).normal([0.6, 0.2], 1, (12, 2))

    raw, adjusted = sign_flip(values), sign_flip_max(values)

    second, first = np.argsort(np.abs(values.sum(axis=0)) / np.sqrt((values**2).sum(axis=0)))
    assert adjusted[second] == pytest.approx(max(raw[second], adjusted[first]))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_sampled_adjusted_values_are_counts_of_the_very_flips(alternative):
    """Largest first, each against the largest of those not yet found, none below the one before."""
    values = np.random.default_rng(12).normal([0.25, 0.3, 0.1, -0.2], 1, (70, 4))
    turned = -values if alternative == "less" else values
    turn = np.abs if alternative == "two-sided" else np.asarray
    scaled = turned / np.sqrt((turned**2).sum(axis=0))
    drawn = turn(np.concatenate(list(flipped_sums(scaled, 2_000, 4))))
    seen = turn(scaled.sum(axis=0))
    left, highest, expected = list(range(4)), 0.0, np.zeros(4)
    while left:
        first = max(left, key=seen.__getitem__)
        reached = (drawn[:, left].max(axis=1) >= seen[first]).sum()
        highest = expected[first] = max(highest, (reached + 1) / 2_001)
        left.remove(first)

    p = sign_flip_max(values, alternative=alternative, n_flips=2_000, seed=4)

    assert p.tolist() == expected.tolist()


def test_undefined_run_has_no_adjusted_value():
    values = np.random.default_rng(6).normal(0.5, 1, (30, 2))
    values[:, 1] = NAN

    adjusted = sign_flip_max(values)

    assert adjusted[0] == pytest.approx(sign_flip(values)[0])
    assert np.isnan(adjusted[1])
