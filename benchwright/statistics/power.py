"""What a number of queries can show: the normal approximation for a paired difference of means.

`n = ((z(1 - alpha/2) + z(power)) * sigma / delta)^2`; sigma is the standard deviation of the two
runs' own differences, not of their values.
"""

from typing import NamedTuple

import numpy as np
import scipy

from benchwright.statistics.families import Floats

ALPHA = 0.05
POWER = 0.80
LARGEST = 1.0
"""What two means of a measure from 0 to 1 differ by at most."""


class Tier(NamedTuple):
    """What a benchmark of a size is good for: a name, and words for what can be told with it."""

    name: str
    text: str


TIERS = (
    (200, Tier("unreliable", "large changes only")),
    (500, Tier("minimal", "directional")),
    (1_000, Tier("more than minimal, less than production", "major changes; slices weak")),
    (
        5_000,
        Tier("production", "release gate; ±0.01 for near variants, ±0.02 for unrelated models"),
    ),
)
LARGEST_TIER = Tier("high confidence", "regression suite")


def reach(*, alpha: float = ALPHA, power: float = POWER, two_sided: bool = True) -> float:
    """Standard errors that a difference must be away from 0 to be found: 2.80 by default."""
    return float(
        scipy.special.ndtri(1 - alpha / (2 if two_sided else 1)) + scipy.special.ndtri(power)
    )


def detectable_differences(
    sigma: Floats | float,
    n: Floats | float,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
    largest: float = np.inf,
) -> Floats:
    """The smallest difference of means that n queries find with this power, two-sided.

    Infinite where it would be above `largest`, the largest difference there can be.

    Examples
    --------
    >>> round(float(detectable_differences(0.2, 1000)), 3)
    0.018
    """
    differences = reach(alpha=alpha, power=power) * np.asarray(sigma) / np.sqrt(n)
    return np.where(differences > largest, np.inf, differences)


def queries_needed(
    sigma: Floats | float,
    delta: Floats | float,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
    effect: float = 1.0,
    two_sided: bool = True,
) -> Floats:
    """How many queries find a difference of `delta`; infinite where that is 0.

    Whole numbers, rounded up, and never below 2; `effect` of them are worth one (the design effect
    of families). One-sided with `delta` a margin it is the size a slice needs to be shown
    non-inferior when nothing changed.

    Examples
    --------
    >>> float(queries_needed(0.2, 0.01))
    3140.0
    """
    wanted = np.abs(np.asarray(delta, dtype=np.float64))
    z = reach(alpha=alpha, power=power, two_sided=two_sided)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.ceil(effect * (z * np.asarray(sigma) / wanted) ** 2 - 1e-9)
    return np.where(wanted == 0, np.inf, np.maximum(n, 2.0))


def powers(
    sigma: Floats | float, n: Floats | float, delta: Floats | float, *, alpha: float = ALPHA
) -> Floats:
    """The chance that n queries find a true difference of `delta`, two-sided.

    Both ends count, so a difference of 0 is "found" with the chance `alpha`; 0 where there is no
    query, 1 where differences do not vary and `delta` is not 0.

    Examples
    --------
    >>> round(float(powers(0.2, 785, 0.02)), 2), round(float(powers(0.2, 100, 0.0)), 2)
    (0.8, 0.05)
    """
    critical = scipy.special.ndtri(1 - alpha / 2)
    spread, many, wanted = np.broadcast_arrays(
        np.asarray(sigma, dtype=np.float64), np.asarray(n, dtype=np.float64), np.abs(delta)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(wanted == 0, 0.0, wanted * np.sqrt(many) / spread)
    chances = scipy.special.ndtr(distance - critical) + scipy.special.ndtr(-distance - critical)
    return np.where(many > 0, chances, 0.0)


def size_tier(n_queries: int) -> Tier:
    """What a benchmark of this size is good for."""
    return next((tier for below, tier in TIERS if n_queries < below), LARGEST_TIER)
