"""Intervals: scipy with the same method, closed forms, and what must hold of any interval."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchwright.statistics.bootstrap import (
    METHODS,
    _drawn_counts,
    bootstrap_interval,
    resampled_means,
)

NAN = np.nan


def skewed(n: int, columns: int = 1, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, 0.3, (n, columns)) * (rng.random((n, columns)) < 0.7)


@pytest.mark.parametrize(("ours", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
@pytest.mark.parametrize("n", [10, 60, 400])
def test_intervals_are_scipys_but_for_the_draws(n, ours, theirs):
    values = skewed(n)

    low, high = bootstrap_interval(values, method=ours, n_draws=40_000)
    expected = stats.bootstrap((values[:, 0],), np.mean, method=theirs, n_resamples=40_000, rng=1)

    width = expected.confidence_interval.high - expected.confidence_interval.low
    assert low[0] == pytest.approx(expected.confidence_interval.low, abs=0.02 * width)
    assert high[0] == pytest.approx(expected.confidence_interval.high, abs=0.02 * width)


@pytest.mark.parametrize("values", [skewed(40)[:, 0], np.arange(40) % 7 < 1.0])
def test_bca_of_the_same_draws_by_the_book(values):
    """Efron and Tibshirani, 14.9 to 14.15, written out for one column; ties count by half."""
    values = values.astype(float)
    means = np.sort(
        resampled_means(values[:, np.newaxis], np.ones((40, 1)), n_draws=2000, seed=3)[0]
    )
    below, level = (means < values.mean() - 1e-9).mean(), (means <= values.mean() + 1e-9).mean()
    z0 = stats.norm.ppf((below + level) / 2)
    jackknife = np.array([np.delete(values, i).mean() for i in range(40)])
    off = jackknife.mean() - jackknife
    a = (off**3).sum() / (6 * (off**2).sum() ** 1.5)
    tails = [
        stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in stats.norm.ppf([0.05, 0.95])
    ]

    ours = bootstrap_interval(values[:, np.newaxis], method="bca", level=0.9, n_draws=2000, seed=3)

    assert ours[:, 0] == pytest.approx(np.quantile(means, tails), rel=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_percentiles_are_those_of_the_very_draws(level):
    values = skewed(30, columns=2)
    means = resampled_means(values, np.ones((30, 1)), n_draws=777, seed=5)

    ours = bootstrap_interval(values, method="percentile", level=level, n_draws=777, seed=5)

    expected = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=1)
    assert ours == pytest.approx(expected, rel=1e-9)


def test_drawn_families_are_as_many_as_there_are_and_all_alike():
    counts = np.concatenate(list(_drawn_counts(20, 60_000, 1)))

    assert counts.shape == (60_000, 20)
    assert (counts.sum(axis=1) == 20).all()
    assert counts.mean(axis=0) == pytest.approx(1, abs=5 * (0.95 / 60_000) ** 0.5)
    assert counts.var() == pytest.approx(0.95, rel=0.01)


def test_bca_of_families_by_the_book():
    """The same with families of one to four queries: means are ratios, one family is left out."""
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 5, 25)
    families, values = np.repeat(np.arange(25), sizes), skewed(sizes.sum(), seed=2)
    sums = np.array([values[families == family].sum() for family in range(25)])
    means = np.sort(
        resampled_means(sums[:, np.newaxis], sizes[:, np.newaxis] * 1.0, n_draws=2000, seed=3)[0]
    )
    z0 = stats.norm.ppf((means < values.mean()).mean())
    jackknife = np.array([values[families != family].mean() for family in range(25)])
    off = jackknife.mean() - jackknife
    a = (off**3).sum() / (6 * (off**2).sum() ** 1.5)
    tails = [
        stats.norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z))) for z in stats.norm.ppf([0.025, 0.975])
    ]

    ours = bootstrap_interval(values, families=families, n_draws=2000, seed=3)

    assert ours[:, 0] == pytest.approx(np.quantile(means, tails), rel=1e-9)


def test_studentised_of_families_by_the_book():
    """Each draw's t, from the draw's own sums and sizes of families."""
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 5, 25)
    families, values = np.repeat(np.arange(25), sizes), rng.normal(0.3, 1, (sizes.sum(), 1))
    sums = np.array([values[families == family].sum() for family in range(25)])
    counts = np.concatenate(list(_drawn_counts(25, 3000, 6)))
    t = []
    for row in counts:
        size = (row * sizes).sum()
        mean = (row * sums).sum() / size
        residuals = sums - sizes * mean
        distance = mean - values.mean()
        t.append(distance / (np.sqrt((row * residuals**2).sum()) / size))
    error = np.sqrt(((sums - sizes * values.mean()) ** 2).sum()) / sizes.sum()
    expected = values.mean() - np.quantile(t, [0.95, 0.05]) * error

    ours = bootstrap_interval(
        values, families=families, method="studentised", level=0.9, n_draws=3000, seed=6
    )

    assert ours[:, 0] == pytest.approx(expected, rel=1e-9)


def test_studentised_by_the_book():
    """Efron and Tibshirani, 12.5: each draw's t, with the draw's own standard deviation."""
    values = skewed(30)[:, 0]
    rng = np.random.default_rng(9)
    draws = values[rng.integers(0, 30, (200_000, 30))]
    t = (draws.mean(axis=1) - values.mean()) / (draws.std(axis=1) / np.sqrt(30))
    expected = values.mean() - np.quantile(t, [0.975, 0.025]) * values.std() / np.sqrt(30)

    ours = bootstrap_interval(values[:, np.newaxis], method="studentised", n_draws=200_000)

    assert ours[:, 0] == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_large_samples_have_the_interval_of_t(method):
    values = np.random.default_rng(1).normal(0.3, 1, (5000, 2))

    low, high = bootstrap_interval(values, method=method)

    error = values.std(axis=0) / np.sqrt(5000)
    assert low == pytest.approx(values.mean(axis=0) - 1.96 * error, abs=0.1 * error.max())
    assert high == pytest.approx(values.mean(axis=0) + 1.96 * error, abs=0.1 * error.max())


def test_resampled_means_are_those_of_drawn_rows():
    """Of two families the share drawn k times of two is 1/4, 1/2, 1/4, and means are ratios."""
    sums, sizes = np.array([[1.0], [6.0]]), np.array([[1.0], [3.0]])

    means = resampled_means(sums, sizes, n_draws=8000, seed=0)[0]

    values, count = np.unique(means, return_counts=True)
    assert values == pytest.approx([1.0, 7 / 4, 2.0])
    assert count / 8000 == pytest.approx([0.25, 0.5, 0.25], abs=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_families_of_equal_size_are_resampled_as_their_means(method):
    values = skewed(60)
    families = np.arange(60) % 20
    means = values.reshape(3, 20).mean(axis=0)[:, np.newaxis]

    ours = bootstrap_interval(values, families=families, method=method)

    assert ours == pytest.approx(bootstrap_interval(means, method=method))


@pytest.mark.parametrize("method", METHODS)
def test_copies_of_a_query_in_its_family_tell_nothing_new(method):
    values = skewed(40)

    ours = bootstrap_interval(
        np.repeat(values, 3, axis=0), families=np.arange(120) // 3, method=method
    )

    assert ours == pytest.approx(bootstrap_interval(values, method=method))


@pytest.mark.parametrize("method", METHODS)
def test_column_does_not_depend_on_its_company(method):
    values = skewed(50, columns=40)
    values[30:, ::2] = NAN
    values[:, 7] = NAN

    together = bootstrap_interval(values, method=method, n_draws=500)

    for at in (0, 1, 7, 39):
        alone = bootstrap_interval(values[:, at : at + 1], method=method, n_draws=500)
        np.testing.assert_allclose(together[:, at], alone[:, 0])


@pytest.mark.parametrize("method", METHODS)
def test_undefined_rows_are_left_out(method):
    values = skewed(50)
    values[20:] = NAN

    assert bootstrap_interval(values, method=method) == pytest.approx(
        bootstrap_interval(values[:20], method=method)
    )


@pytest.mark.parametrize("method", METHODS)
def test_columns_that_tell_nothing(method):
    values = np.array([[NAN, 0.3, 0.0, 0.3], [NAN, 0.3, 0.0, NAN], [NAN, 0.3, 0.0, NAN]])

    interval = bootstrap_interval(values, method=method)

    expected = [[NAN, 0.3, 0.0, NAN]] * 2
    np.testing.assert_allclose(interval, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_different", [1, 2, 3])
def test_studentised_is_bca_where_too_many_draws_have_no_variation(n_different):
    values = np.zeros((50, 1))
    values[:n_different] = 0.5

    studentised = bootstrap_interval(values, method="studentised")

    assert (studentised == bootstrap_interval(values, method="bca")).all()


def test_draws_without_variation_are_far_out():
    """Of five queries that differ 0.5 % of the draws hold none: the upper end is far, not near."""
    values = np.zeros((50, 1))
    values[:5] = 0.5

    low, high = bootstrap_interval(values, method="studentised")[:, 0]

    assert 0.05 - low < 0.6 * (high - 0.05)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 30), st.integers(0, 10_000), st.sampled_from(METHODS))
def test_interval_moves_and_stretches_with_the_values(n, seed, method):
    values = np.random.default_rng(seed).normal(size=(n, 1))

    interval = bootstrap_interval(values, method=method, n_draws=300)
    moved = bootstrap_interval(0.5 * values + 2, method=method, n_draws=300)

    assert interval[0] <= interval[1]
    assert moved == pytest.approx(0.5 * interval + 2, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(5, 30), st.integers(0, 10_000), st.sampled_from(("bca", "percentile")))
def test_interval_stays_within_the_values(n, seed, method):
    values = np.random.default_rng(seed).random((n, 2))

    low, high = bootstrap_interval(values, method=method, n_draws=300)

    assert (values.min(axis=0) <= low).all()
    assert (high <= values.max(axis=0)).all()


@pytest.mark.parametrize("method", METHODS)
def test_wider_level_holds_the_narrower(method):
    values = skewed(40, columns=3)

    narrow = bootstrap_interval(values, method=method, level=0.8)
    wide = bootstrap_interval(values, method=method, level=0.99)

    assert (wide[0] < narrow[0]).all()
    assert (narrow[1] < wide[1]).all()


@pytest.mark.parametrize("seed", range(6))
def test_few_draws_all_on_one_side_of_the_mean_have_ends_all_the_same(seed):
    """One or two draws are below the mean together as often as not: a share of 0 or 1."""
    values = skewed(40, columns=8, seed=seed)

    for n_draws in (1, 2):
        low, high = bootstrap_interval(values, n_draws=n_draws, seed=seed)
        assert np.isfinite([low, high]).all()
        assert (low <= high).all()


def test_seed_decides():
    values = skewed(40)

    assert (bootstrap_interval(values, seed=1) == bootstrap_interval(values, seed=1)).all()
    assert (bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)).any()
