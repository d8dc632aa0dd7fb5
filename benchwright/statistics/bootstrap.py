"""Intervals of means from resampled queries, with whole families kept together.

Efron, Better bootstrap confidence intervals, JASA 82, 1987 (BCa); Efron and Tibshirani, An
Introduction to the Bootstrap, 1993, chapters 12 to 14. A mean over drawn families is the ratio of
their sums to their sizes, so a set of queries whose size is itself drawn is no problem.
"""

from collections.abc import Iterator

import numpy as np
import scipy
from numpy.typing import NDArray

from benchwright.statistics.families import FamilyOf, Floats, family_totals, product

METHODS = ("bca", "studentised", "percentile")

# What is held at once: elements of a block of counts, and of the drawn means of some columns.
BLOCK = 2**19
MEANS_HELD = 2**24


def bootstrap_interval(
    values: Floats,
    *,
    families: FamilyOf | None = None,
    weights: Floats | None = None,
    method: str = "bca",
    level: float = 0.95,
    n_draws: int = 10_000,
    seed: int = 0,
) -> Floats:
    """Interval of each column's mean (2 x columns: low, high).

    Parameters
    ----------
    values
        Queries x columns; NaN leaves the query out of that column.
    weights
        How much each query counts, above 0; the interval is then of the weighted mean.
    method
        "bca" (bias-corrected and accelerated), "studentised" (bootstrap-t) or "percentile".

    Returns
    -------
    NaN where fewer than two families are defined; the mean itself, twice, where all values of a
    column are equal. The interval of a column does not depend on the other columns.
    """
    sums, sizes = family_totals(values, families, weights)
    interval = np.full((2, sums.shape[1]), np.nan)
    width = max(1, MEANS_HELD // n_draws)
    for rows, all_columns in _alike(sizes):
        for at in range(0, len(all_columns) if len(rows) > 1 else 0, width):
            columns = all_columns[at : at + width]
            part, size = sums[np.ix_(rows, columns)], sizes[rows, all_columns[0]]
            interval[:, columns] = INTERVALS[method](part, size, level, n_draws, seed)
    return interval


def _alike(sizes: Floats) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Families with something defined, and the columns in which their sizes are the same."""
    columns: dict[bytes, list[int]] = {}
    for column, pattern in enumerate(sizes.T):
        columns.setdefault(pattern.tobytes(), []).append(column)
    for alike in columns.values():
        yield np.flatnonzero(sizes[:, alike[0]]), np.array(alike)


def resampled_means(sums: Floats, sizes: Floats, *, n_draws: int, seed: int) -> Floats:
    """Means over families drawn with replacement (columns x draws).

    `sums` and `sizes` are families x columns as `family_totals` returns them; the sizes may be a
    single column where all are alike. NaN for a draw that has nothing of a column.
    """
    if (sizes == sizes[:, :1]).all():
        sizes = sizes[:, :1]
    drawn = _resampled_sums(np.hstack([sums, sizes]), n_draws, seed)
    means = drawn[: sums.shape[1]]
    with np.errstate(invalid="ignore"):
        means /= drawn[sums.shape[1] :]
    return means


def _resampled_sums(values: Floats, n_draws: int, seed: int) -> Floats:
    """Sums over families drawn with replacement (columns x draws); one seed, the same families."""
    sums = np.empty((values.shape[1], n_draws))
    start = 0
    for counts in _drawn_counts(len(values), n_draws, seed):
        sums[:, start : start + len(counts)] = product(counts, values).T
        start += len(counts)
    return sums


def _drawn_counts(n: int, n_draws: int, seed: int) -> Iterator[Floats]:
    """Blocks of how often each of n families is drawn (rows x n)."""
    rng = np.random.default_rng(seed)
    height = max(1, BLOCK // n)
    for start in range(0, n_draws, height):
        rows = min(height, n_draws - start)
        drawn = rng.integers(0, n, size=(rows, n)) + n * np.arange(rows)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        yield counts.astype(np.float64)


def _percentile(sums: Floats, size: Floats, level: float, n_draws: int, seed: int) -> Floats:
    means = resampled_means(sums, size[:, np.newaxis], n_draws=n_draws, seed=seed)
    means.sort(axis=1)
    return _quantiles(means, np.array([[(1 - level) / 2], [(1 + level) / 2]]))


def _bca(sums: Floats, size: Floats, level: float, n_draws: int, seed: int) -> Floats:
    """Percentiles moved for the bias and the skewness of the mean."""
    observed = sums.sum(axis=0) / size.sum()
    means = resampled_means(sums, size[:, np.newaxis], n_draws=n_draws, seed=seed)
    means.sort(axis=1)
    bias = scipy.special.ndtri(_share_below(means, observed))
    acceleration = _acceleration(sums, size)
    z = bias + scipy.special.ndtri(np.array([[(1 - level) / 2], [(1 + level) / 2]]))
    return _quantiles(means, scipy.special.ndtr(bias + z / (1 - acceleration * z)))


def _share_below(sorted_means: Floats, observed: Floats) -> Floats:
    """Share of the draws below what was observed, equal ones by half; never 0 or 1."""
    slack = 1e-12 * np.abs(sorted_means).max(axis=1)
    n_draws = sorted_means.shape[1]
    places = [
        np.searchsorted(row, [mean - rounding, mean + rounding])
        for row, mean, rounding in zip(sorted_means, observed, slack, strict=True)
    ]
    share: Floats = np.mean(places, axis=1) / n_draws
    return np.clip(share, 0.5 / n_draws, 1 - 0.5 / n_draws)


def _acceleration(sums: Floats, size: Floats) -> Floats:
    """From the skewness of the means that lack one family (Efron and Tibshirani, 14.15)."""
    without = (sums.sum(axis=0) - sums) / (size.sum() - size)[:, np.newaxis]
    influence = without.mean(axis=0) - without
    spread = (influence**2).sum(axis=0) ** 1.5
    is_flat = spread <= 1e-30
    return np.where(is_flat, 0.0, (influence**3).sum(axis=0) / (6 * np.where(is_flat, 1, spread)))


def _studentised(sums: Floats, size: Floats, level: float, n_draws: int, seed: int) -> Floats:
    """Percentiles of each draw's distance from the mean in that draw's own standard errors.

    A draw without any variation is infinitely far out. Where there are so many that an end would be
    infinite (three values of fifty that differ at all), the interval is BCa's.
    """
    observed = sums.sum(axis=0) / size.sum()
    residuals = sums - np.outer(size, observed)
    errors = np.sqrt((residuals**2).sum(axis=0)) / size.sum()
    t = _t_of_draws(residuals, size[:, np.newaxis], n_draws, seed)
    t.sort(axis=1)
    with np.errstate(invalid="ignore"):
        ends = _quantiles(t, np.array([[(1 + level) / 2], [(1 - level) / 2]]))
        interval: Floats = observed - errors * ends
    is_endless = ~np.isfinite(interval).all(axis=0)
    if is_endless.any():
        interval[:, is_endless] = _bca(sums[:, is_endless], size, level, n_draws, seed)
    return interval


def _t_of_draws(residuals: Floats, size: Floats, n_draws: int, seed: int) -> Floats:
    columns = [residuals, residuals**2, residuals * size, size, size**2]
    drawn = _resampled_sums(np.hstack(columns), n_draws, seed)
    ends = np.cumsum([part.shape[1] for part in columns])[:-1]
    residual, square, product_, drawn_size, drawn_square = np.split(drawn, ends)
    shift = residual / drawn_size
    squares = square - 2 * shift * product_ + shift**2 * drawn_square
    has_variation = squares > 1e-12 * (residuals**2).sum(axis=0)[:, np.newaxis]
    return np.where(
        has_variation,
        residual / np.sqrt(np.where(has_variation, squares, 1)),
        np.copysign(np.inf, residual),
    )


def _quantiles(sorted_rows: Floats, at: Floats) -> Floats:
    """Of each row, with linear interpolation (as `at`: tails x rows)."""
    n_rows, width = sorted_rows.shape
    place = np.broadcast_to(at * (width - 1), (2, n_rows))
    below = np.floor(place).astype(np.intp)
    low = sorted_rows[np.arange(n_rows), below]
    high = sorted_rows[np.arange(n_rows), np.minimum(below + 1, width - 1)]
    between: Floats = low + (place - below) * (high - low)
    return between


INTERVALS = {"bca": _bca, "studentised": _studentised, "percentile": _percentile}
