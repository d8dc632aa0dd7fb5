"""Queries that stay together: what a family adds up to, column by column."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

# --- Queries that stay together: what a family adds up to, column by column.

Floats: TypeAlias = NDArray[np.float64]
FamilyOf: TypeAlias = NDArray[np.intp]


def family_totals(
    values: Floats, families: FamilyOf | None, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Sum and number of the defined values of each family (families x columns, twice).

    Families are ordered by their number. Without `families` every row is one. With `weights`, one
    above 0 for each row, a value counts as often as its weight says, the largest being 1.
    """
    is_defined: NDArray[np.bool_] | Floats = ~np.isnan(values)
    filled = np.where(is_defined, values, 0.0)
    if weights is not None:
        shares = (weights / weights.max())[:, np.newaxis]
        filled, is_defined = filled * shares, is_defined * shares
    if families is None:
        return filled, is_defined.astype(np.float64)
    order = np.argsort(families, kind="stable")
    starts = np.flatnonzero(np.diff(families[order], prepend=families[order[:1]] - 1))
    sizes = np.add.reduceat(is_defined[order], starts, axis=0, dtype=np.float64)
    return np.add.reduceat(filled[order], starts, axis=0), sizes


def column_sums(values: Floats) -> Floats:
    """The sum of each column, to the last bit the same whatever other columns there are."""
    sums: Floats = np.ascontiguousarray(values.T).sum(axis=1)
    return sums


def family_means(values: Floats, families: FamilyOf | None) -> Floats:
    """Mean of the defined values of each family; NaN where a family has none."""
    if families is None:
        return values
    sums, sizes = family_totals(values, families)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def ratio_means(values: Floats) -> Floats:
    """Mean of the defined values of each column; NaN where there is none."""
    sizes = (~np.isnan(values)).sum(axis=0)
    return np.where(sizes > 0, np.nansum(values, axis=0) / np.maximum(sizes, 1), np.nan)


# --- Matrix products in pieces that stay on one core.
#
# A linear algebra library hands a product of more than about half a million multiplications to all
# cores and waits for the slowest. On a machine with anything else to do that is ten to thirty times
# slower than one core alone (measured with OpenBLAS, two cores, three busy processes); the pieces
# cost little when nothing else runs.

MULTIPLICATIONS = 2**19
WIDTH = 16


def product(left: Floats, right: Floats) -> Floats:
    """`left @ right`."""
    n_rows, n = left.shape
    n_columns = right.shape[1]
    products = np.empty((n_rows, n_columns))
    height = max(1, MULTIPLICATIONS // max(1, n * min(WIDTH, n_columns)))
    for at in range(0, n_columns, WIDTH):
        columns = np.ascontiguousarray(right[:, at : at + WIDTH])
        for start in range(0, n_rows, height):
            products[start : start + height, at : at + WIDTH] = (
                left[start : start + height] @ columns
            )
    return products
