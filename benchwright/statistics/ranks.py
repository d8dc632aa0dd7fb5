"""Ranks with their uncertainty: "1-4" instead of "2"."""

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.bootstrap import resampled_means
from benchwright.statistics.families import FamilyOf, Floats, family_totals

# Means that are equal on paper differ by rounding.
DECIMALS = 12
# Draws are ranked in blocks of about so many values.
VALUES_RANKED = 1 << 20


def ranks(means: Floats) -> NDArray[np.intp]:
    """Rank of each run by its mean, 1 is best, along the first axis; equal means share a rank.

    The rank is one more than the number of better runs: 1, 2, 2, 4. NaN ranks last.
    """
    return _number_better(_rounded(means)) + 1


def rank_intervals(
    values: Floats,
    *,
    families: FamilyOf | None = None,
    level: float = 0.95,
    n_draws: int = 10_000,
    seed: int = 0,
) -> NDArray[np.intp]:
    """Best and worst rank of each run by each measure (2 x runs x measures) in resampled queries.

    `values` are queries x runs x measures. All runs are ranked on the same drawn families. Runs
    that are equal in a draw have the first of the ranks they share for their best, and the last for
    their worst.
    """
    n, n_runs, n_measures = values.shape
    by_measure = values.transpose(0, 2, 1).reshape(n, n_measures * n_runs)
    sums, sizes = family_totals(by_measure, families)
    drawn = resampled_means(sums, sizes, n_draws=n_draws, seed=seed)
    intervals = [_rank_interval(means, level) for means in drawn.reshape(n_measures, n_runs, -1)]
    return np.stack(intervals, axis=2)


def _rank_interval(means: Floats, level: float) -> NDArray[np.intp]:
    best, worst = (np.empty(means.shape, dtype=np.int32) for _ in range(2))
    width = max(1, VALUES_RANKED // len(means))
    for start in range(0, means.shape[1], width):
        draws = slice(start, start + width)
        rounded = _rounded(means[:, draws])
        best[:, draws] = _number_better(rounded) + 1
        worst[:, draws] = len(means) - _number_better(-rounded)
    low = np.quantile(best, (1 - level) / 2, axis=1, method="inverted_cdf")
    high = np.quantile(worst, (1 + level) / 2, axis=1, method="inverted_cdf")
    return np.stack([low, high]).astype(np.intp)


def _rounded(means: Floats) -> Floats:
    """To `DECIMALS`, with NaN as the worst of all."""
    return np.where(np.isnan(means), -np.inf, np.round(means, DECIMALS))


def _number_better(means: Floats) -> NDArray[np.intp]:
    """How many of the runs, along the first axis, have a larger mean."""
    order = np.argsort(-means, axis=0, kind="stable")
    ordered = np.take_along_axis(means, order, axis=0)
    is_new = np.ones(ordered.shape, dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    place = np.arange(len(means)).reshape(-1, *[1] * (means.ndim - 1))
    first_of_equals = np.maximum.accumulate(np.where(is_new, place, 0), axis=0)
    better = np.empty(means.shape, dtype=np.intp)
    np.put_along_axis(better, order, first_of_equals, axis=0)
    return better


def beside_groups(
    ends: NDArray[np.intp], of_means: NDArray[np.intp], groups: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Best and worst ranks of runs (2 x runs) that go with tie groups and the ranks of means.

    A run of group g was put out of g - 1 groups before, so at least g - 1 runs are better; and
    those that may be better for sure are no more than the groups before hold. So a run may be the
    first exactly where it is in group 1.
    """
    best, worst = ends
    n_before = np.searchsorted(np.sort(groups), groups)
    best = np.clip(np.minimum(best, of_means), groups, n_before + 1)
    return np.stack([best, np.maximum.reduce([worst, of_means, best])])
