"""Tests of paired differences with a known distribution: t, signed rank, sign.

All three take what `signflip.sign_flip` takes, and leave NaN where too little is defined.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import scipy

from benchwright.statistics.families import (
    FamilyOf,
    Floats,
    column_sums,
    family_means,
    family_totals,
)

LARGEST_EXACT_RANK_SUM = 50
"""Differences other than 0, up to which the distribution of the rank sum is counted out."""


def standard_errors(
    values: Floats, families: FamilyOf | None = None, weights: Floats | None = None
) -> Floats:
    """Standard error of each column's mean, for families of any size; NaN below two families.

    Without families it is the standard deviation over the root of n. With them it is that of a
    ratio of two sums over families (Cochran, Sampling Techniques, 1977, 6.3, linearised): what two
    queries of one family have in common is not counted twice.
    """
    return errors_of_totals(*family_totals(values, families, weights))


def errors_of_totals(sums: Floats, sizes: Floats) -> Floats:
    """The same from what each family adds up to, and its size (families x columns, twice)."""
    n_families = np.count_nonzero(sizes, axis=0)
    n = column_sums(sizes)
    total = np.where(n > 0, n, 1)
    means = column_sums(sums) / total
    squares = column_sums((sums - sizes * means) ** 2)
    correction = n_families / np.maximum(n_families - 1, 1)
    return np.where(n_families > 1, np.sqrt(correction * squares) / total, np.nan)


def t_test(
    differences: Floats, *, families: FamilyOf | None = None, alternative: str = "two-sided"
) -> Floats:
    """p-values of the paired t-test of each column.

    With families the error is that of `standard_errors`, the degrees of freedom families - 1. NaN
    below two families; 1 where all differences are 0, and 0 where they are equal but not 0.
    """
    return t_test_of_totals(*family_totals(differences, families), alternative)


def t_test_of_totals(sums: Floats, sizes: Floats, alternative: str) -> Floats:
    """The same from what each family adds up to, and its size (families x columns, twice)."""
    n_families = np.count_nonzero(sizes, axis=0)
    means = sums.sum(axis=0) / np.maximum(sizes.sum(axis=0), 1)
    t = in_units(means, errors_of_totals(sums, sizes))
    freedom = np.maximum(n_families - 1, 1)
    p = _from_upper_tail(lambda at: scipy.special.stdtr(freedom, -at), t, alternative)
    return np.where(n_families > 1, p, np.nan)


def in_units(means: Floats, errors: Floats) -> Floats:
    """Means over errors; 0 where both are 0, infinite where only the error is.

    An error far below the mean is what rounding leaves of equal differences, and counts as 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        t = means / np.where(errors <= 1e-12 * np.abs(means), 0.0, errors)
    return np.where((means == 0) & (errors == 0), 0.0, t)


def _from_upper_tail(
    upper: Callable[[Floats], Floats], statistic: Floats, alternative: str
) -> Floats:
    """p-value of a statistic that is symmetric around 0, from P(statistic >= at)."""
    if alternative == "two-sided":
        return np.minimum(1.0, 2 * upper(np.abs(statistic)))
    return upper(-statistic if alternative == "less" else statistic)


def wilcoxon(
    differences: Floats, *, families: FamilyOf | None = None, alternative: str = "two-sided"
) -> Floats:
    """p-values of the Wilcoxon signed-rank test of each column; a family counts with its mean.

    Differences of 0 are dropped, equal ones share a mean rank. Up to `LARGEST_EXACT_RANK_SUM`
    differences the p-value is exact, given the ties; above, normal with the variance of the ties.
    """
    columns = _rounded_means(differences, families).T
    return np.array([_signed_rank(column[~np.isnan(column)], alternative) for column in columns])


def _rounded_means(differences: Floats, families: FamilyOf | None) -> Floats:
    """Means of families, to 12 decimals: 0.3 - 0.2 and 0.2 - 0.1 are a tie."""
    return np.round(family_means(differences, families), 12)


def _signed_rank(defined: Floats, alternative: str) -> float:
    different = defined[defined != 0]
    if not different.size:
        return 1.0 if defined.size else float("nan")
    ranks = mean_ranks(np.abs(different))
    above_centre = ranks[different > 0].sum() - ranks.sum() / 2
    is_exact = different.size <= LARGEST_EXACT_RANK_SUM
    upper = partial(_counted_tail if is_exact else _normal_tail, ranks)
    return float(_from_upper_tail(upper, above_centre, alternative))


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 1, ascending; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[inverse]
    return ranks


def _normal_tail(ranks: Floats, above_centre: Floats) -> Floats:
    tail: Floats = scipy.special.ndtr(-above_centre / np.sqrt((ranks**2).sum() / 4))
    return tail


def _counted_tail(ranks: Floats, above_centre: Floats) -> Floats:
    """P(sum of a random half of the ranks >= centre + above_centre)."""
    doubled = np.rint(2 * ranks).astype(int)  # whole numbers, as mean ranks end in .0 or .5
    share = np.ones(1)
    for rank in doubled:
        share = (np.pad(share, (0, rank)) + np.pad(share, (rank, 0))) / 2
    tail: Floats = share[round(float(doubled.sum() / 2 + 2 * above_centre)) :].sum()
    return tail


def sign_test(
    differences: Floats, *, families: FamilyOf | None = None, alternative: str = "two-sided"
) -> Floats:
    """p-values of the exact sign test of each column: wins against losses, ties dropped.

    A family counts with its mean.
    """
    means = _rounded_means(differences, families)
    wins, losses = (means > 0).sum(axis=0), (means < 0).sum(axis=0)
    n = wins + losses
    p = _from_upper_tail(lambda at: heads(np.rint(n / 2 + at), n), wins - n / 2, alternative)
    return np.where((~np.isnan(means)).any(axis=0), p, np.nan)


def heads(at_least: Floats, n: Floats) -> Floats:
    """P(at least so many heads in n tosses)."""
    return np.where(
        at_least > 0,
        scipy.special.betainc(np.maximum(at_least, 1), np.maximum(n - at_least + 1, 1), 0.5),
        1.0,
    )
