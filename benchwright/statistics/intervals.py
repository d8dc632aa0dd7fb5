"""Intervals and one-sided bounds of means: Student's t over families, the same at every place.

    mean = sum(w x) / sum(w)
    se   = sqrt(F / (F - 1) * sum over families of (sum of w (x - mean) inside)^2) / sum(w)
    mean -/+ t(1 - tail; F - 1) * se

A mean over families is the ratio of their sums to their sizes, and `se` is that of such a ratio,
linearised (Cochran, Sampling Techniques, 1977, 6.3). There are no draws and no seed: the same
values and families give the same interval wherever it is asked for. The bootstraps of `bootstrap`
can be had by name. What covers how well is in docs/statistics.md.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from benchwright.statistics.bootstrap import METHODS as BOOTSTRAPS
from benchwright.statistics.bootstrap import bootstrap_interval
from benchwright.statistics.families import FamilyOf, Floats, column_sums, family_totals
from benchwright.statistics.paired import errors_of_totals

DEFAULT = "t"
METHODS = (DEFAULT, *BOOTSTRAPS)

FEWEST_FAMILIES = 30
"""Below this many an interval is too short: .90 to .94 instead of .95 (docs/statistics.md)."""

FEWEST_DIFFERING = 15
"""Where fewer families differ at all, no interval of a difference is right."""

Span: TypeAlias = tuple[ArrayLike, ArrayLike]
"""What a mean can be at least and at most; a number for all columns, or one for each."""

ANY: Span = (-np.inf, np.inf)


def mean_interval(
    values: Floats,
    *,
    families: FamilyOf | None = None,
    weights: Floats | None = None,
    method: str = DEFAULT,
    level: float = 0.95,
    span: Span = ANY,
    n_draws: int = 10_000,
    seed: int = 0,
) -> Floats:
    """Interval of each column's mean (2 x columns: low, high).

    Parameters
    ----------
    values
        Queries x columns; NaN leaves the query out of that column.
    families
        Family of each query; without them every query is one.
    weights
        How much each query counts, above 0; the interval is then of the weighted mean.
    method
        "t", or a bootstrap: "bca", "studentised", "percentile". `n_draws` and `seed` are theirs.
    span
        Ends of "t" are not outside of it.

    Returns
    -------
    NaN where fewer than two families are defined; the mean itself, twice, where all values of a
    column are equal. The interval of a column does not depend on the other columns.
    """
    if method == DEFAULT:
        return _ends(*family_totals(values, families, weights), (1 - level) / 2, span)
    return bootstrap_interval(
        values,
        families=families,
        weights=weights,
        method=method,
        level=level,
        n_draws=n_draws,
        seed=seed,
    )


def mean_bounds(
    values: Floats,
    *,
    families: FamilyOf | None = None,
    weights: Floats | None = None,
    alpha: float = 0.05,
    span: Span = ANY,
) -> Floats:
    """One-sided lower and upper bound of each column's mean (2 x columns), each wrong in `alpha`.

    By Student's t; shapes and undefined cases are those of `mean_interval`.

    Examples
    --------
    Of 0 and 1 the mean is .5 and its error .5; t(.95; 1) is 6.31.

    >>> mean_bounds(np.array([[0.0], [1.0]])).ravel().round(2).tolist()
    [-2.66, 3.66]
    >>> mean_bounds(np.array([[0.0], [1.0]]), span=(0, 1)).ravel().tolist()
    [0.0, 1.0]
    """
    return _ends(*family_totals(values, families, weights), alpha, span)


def bounds_of_totals(sums: Floats, sizes: Floats, *, alpha: float, span: Span = ANY) -> Floats:
    """`mean_bounds` from what each family adds up to, and its size (families x columns, twice)."""
    return _ends(sums, sizes, alpha, span)


def _ends(sums: Floats, sizes: Floats, tail: float, span: Span) -> Floats:
    n = column_sums(sizes)
    means = column_sums(sums) / np.where(n > 0, n, 1)
    errors = errors_of_totals(sums, sizes)
    # What rounding leaves of equal values is no error.
    errors = np.where(errors <= 1e-12 * np.abs(means), 0.0, errors)
    freedom = np.maximum(np.count_nonzero(sizes, axis=0) - 1, 1)
    reach = scipy.special.stdtrit(freedom, 1 - tail) * errors
    return np.clip(np.stack([means - reach, means + reach]), *np.broadcast_arrays(*span, means)[:2])


def n_differing(differences: Floats, families: FamilyOf | None = None) -> NDArray[np.intp]:
    """How many families of each column have a difference other than 0."""
    differs = np.where(np.isnan(differences), 0.0, differences) != 0
    sums, _ = family_totals(differs.astype(np.float64), families)
    return np.asarray(np.count_nonzero(sums, axis=0))


def warnings(n_families: int, n_different: int | None = None) -> Iterator[str]:
    """What to say of an interval: of a mean, or with `n_different` of a mean difference."""
    if n_families < FEWEST_FAMILIES:
        yield (
            f"{n_families} families or queries; below {FEWEST_FAMILIES} an interval is too short."
        )
    if n_different is not None and n_different < FEWEST_DIFFERING:
        yield f"{n_different} families or queries differ; no interval is right here."
