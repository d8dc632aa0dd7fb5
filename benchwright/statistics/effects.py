"""How large differences are, column by column, whatever their p-values say."""

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.descriptive import ROUNDING
from benchwright.statistics.families import Floats, ratio_means
from benchwright.statistics.paired import in_units

TIE = 1e-6
"""Differences below this are ties."""

WORSE = 0.1
"""A query has lost when its difference is below the negative of this."""


def spreads(differences: Floats) -> Floats:
    """Standard deviation of each column, with n - 1; NaN below two values."""
    n = (~np.isnan(differences)).sum(axis=0)
    squares = np.nansum((differences - ratio_means(differences)) ** 2, axis=0)
    return np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)


def standardised(differences: Floats) -> Floats:
    """d_z: mean over standard deviation. 0 where all are 0, infinite where all are equal but not 0.

    Cohen, Statistical Power Analysis, 1988, 2.3.5 (d of paired observations).
    """
    return in_units(ratio_means(differences), spreads(differences))


def relative_changes(differences: Floats, reference: Floats) -> Floats:
    """Mean difference over the reference's mean on the same queries; NaN where that is 0."""
    base = ratio_means(np.where(np.isnan(differences), np.nan, reference))
    is_zero = base == 0
    return np.where(is_zero, np.nan, ratio_means(differences) / np.where(is_zero, 1, base))


def differences_of(values: Floats, reference: Floats) -> Floats:
    """Values less those of the reference; 0 where rounding alone tells them apart.

    Examples
    --------
    >>> differences_of(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25])).tolist()
    [0.0, 0.25]
    """
    differences = values - reference
    return np.where(np.abs(differences) < ROUNDING, 0.0, differences)


def wins_ties_losses(differences: Floats) -> NDArray[np.intp]:
    """How many queries are better, level and worse (3 x columns)."""
    better, worse = differences >= TIE, differences <= -TIE
    level = np.abs(differences) < TIE
    return np.stack([better.sum(axis=0), level.sum(axis=0), worse.sum(axis=0)])


def shares_worse(differences: Floats, *, by: float = WORSE) -> Floats:
    """Share of the queries that lose more than `by`; NaN where none is defined."""
    n = (~np.isnan(differences)).sum(axis=0)
    # A loss of exactly 0.1 is computed as 0.3 - 0.4, which is a little more.
    lost = (differences < -by - 1e-12).sum(axis=0)
    return np.where(n > 0, lost / np.maximum(n, 1), np.nan)


def superiority(differences: Floats) -> Floats:
    """Probability that a query is better than before, ties by half; NaN where none is defined."""
    better, level, worse = wins_ties_losses(differences)
    n = better + level + worse
    return np.where(n > 0, (better + level / 2) / np.maximum(n, 1), np.nan)
