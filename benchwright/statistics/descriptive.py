"""Numbers that several rooms derive from others: a share's interval, a quantile, tau of rankings.

Each stands here once, so that a page, a command and a release cannot disagree on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

# Half the width of a 95 % interval of the normal distribution, in standard errors.
Z95 = 1.959963984540054
# Means that differ by less differ by how they were added up.
ROUNDING = 1e-12


def wilson(n: int, of: int) -> tuple[float, float]:
    """The 95 % interval of the share n / of: Wilson's (JASA 22, 1927); NaN twice where `of` is 0.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if not of:
        return nan, nan
    middle = (n + Z95**2 / 2) / (of + Z95**2)
    half = Z95 * sqrt(n * (of - n) / of + Z95**2 / 4) / (of + Z95**2)
    # Rounding aside, the ends of none and of all are 0 and 1.
    return max(middle - half, 0.0) if n else 0.0, min(middle + half, 1.0) if n < of else 1.0


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which `share` of ascending values lies, linear between neighbours.

    The position is share * (n - 1) from 0, as numpy's default and definition 7 of Hyndman and Fan
    (The American Statistician 50(4), 1996).

    Examples
    --------
    >>> quantile([10.0, 20.0, 30.0, 40.0], 0.5), quantile([10.0, 20.0], 0.95)
    (25.0, 19.5)
    """
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def kendall_tau(first: ArrayLike, second: ArrayLike) -> float:
    """Kendall's tau-b of two scorings of the same systems; NaN where either has no order at all.

    Notes
    -----
    (C - D) / sqrt(P Q): pairs in the same order less those turned round, P and Q the pairs that
    do not tie in either. Kendall, Biometrika 33(3), 1945. Scores within 1e-12 tie.

    Examples
    --------
    >>> kendall_tau([0.1, 0.2, 0.3], [5, 7, 6]) == 1 / 3
    True
    """
    signs, others = _order(first), _order(second)
    n_ordered = int(abs(signs).sum()) * int(abs(others).sum())
    return float((signs * others).sum()) / sqrt(n_ordered) if n_ordered else nan


def _order(scores: ArrayLike) -> NDArray[np.float64]:
    """The sign of the difference of each two."""
    import numpy as np

    values = np.asarray(scores, dtype=np.float64)
    first, second = np.triu_indices(len(values), k=1)
    gaps = values[first] - values[second]
    signs: NDArray[np.float64] = np.where(np.abs(gaps) < ROUNDING, 0.0, np.sign(gaps))
    return signs
