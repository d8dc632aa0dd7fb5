"""How sure one may be of a share: Wilson's interval."""

from math import nan, sqrt

Z = 1.959963984540054


def wilson(k: int, n: int) -> tuple[float, float]:
    """The 95 % score interval of k in n; NaN twice where n is 0. Wilson, JASA 22, 1927.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if n == 0:
        return nan, nan
    share, square = k / n, Z**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = Z / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)
