"""How much the best of many attempts looks better than it is, for having been picked.

Of k systems that are equally good the best one of a test still stands above their mean, by what
chance gives the largest of k draws. Whoever submits often and shows the best result shows that too.
"""

from functools import cache

import numpy as np

from benchwright.statistics.families import FamilyOf, Floats, family_totals

# The standard normal is nothing beyond this many deviations; the grid is exact to 1e-10.
FARTHEST, STEPS = 12.0, 24_001


@cache
def expected_maximum(k: int) -> float:
    """The mean of the largest of `k` independent standard normal numbers; 0 for one.

    It is the integral of x k phi(x) Phi(x)^(k-1) (Tippett, Biometrika 17, 1925).

    Examples
    --------
    >>> [round(expected_maximum(k), 4) for k in (1, 2, 3, 20)]
    [0.0, 0.5642, 0.8463, 1.8675]
    """
    if k <= 1:
        return 0.0
    from scipy.special import log_ndtr

    x = np.linspace(-FARTHEST, FARTHEST, STEPS)
    density = k * np.exp(-(x**2) / 2 + (k - 1) * log_ndtr(x)) / np.sqrt(2 * np.pi)
    return float(np.trapezoid(x * density, x))


def error_of_attempts(values: Floats, families: FamilyOf | None = None) -> float:
    """The standard error of one attempt's mean, apart from what all of them have in common.

    Parameters
    ----------
    values
        Queries x attempts. A query that is not defined for one of them is left out.
    families
        Family of each query; families go up and down together.

    Returns
    -------
    float
        0 where fewer than two attempts or queries are left, and where all attempts are the same.

    Notes
    -----
    A hard query is hard for every attempt, which moves none above the others. What is left when
    the mean of each query and of each attempt are taken out (the residual of a two-way layout)
    is what chance picks from. With S_fj its sum over family f for attempt j, n queries, F families
    and k attempts, the squared error is F/(F-1) · k/(k-1) · mean_j of the sum over f of S_fj² / n².

    Examples
    --------
    >>> round(error_of_attempts(np.array([[1.0, 0.0], [0.0, 1.0]])) ** 2, 10)
    0.5
    """
    is_defined = ~np.isnan(values).any(axis=1)
    inside = values[is_defined]
    n, k = inside.shape
    if n < 2 or k < 2:
        return 0.0
    residual = inside - inside.mean(axis=1, keepdims=True)
    residual -= residual.mean(axis=0, keepdims=True)
    sums, _ = family_totals(residual, None if families is None else families[is_defined])
    n_families = len(sums)
    if n_families < 2:
        return 0.0
    squared = (sums**2).sum(axis=0).mean() / n**2
    return float(np.sqrt(squared * n_families / (n_families - 1) * k / (k - 1)))


def selection_gain(error: float, k: int) -> float:
    """How far the best of `k` equally good attempts stands above their mean, on average.

    Examples
    --------
    >>> round(selection_gain(0.25 / 200**0.5, 20), 3)
    0.033
    """
    return error * expected_maximum(k)
