"""The paired randomisation test: were the two runs' values of a query swapped at random?

If two runs are equally good, each difference could as well have had the other sign. The p-value is
the share of sign patterns whose mean difference is at least as large as the one observed. Families
keep one sign. Fisher, The Design of Experiments, 1935; for retrieval Smucker, Allan and Carterette,
CIKM 2007.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from benchwright.statistics.families import FamilyOf, Floats, family_totals, product

LARGEST_EXACT = 15
"""Families that differ, up to which all sign patterns are gone through."""

ALTERNATIVES = ("two-sided", "greater", "less")

# Elements of a block of flips, and of its product: they stay in a core's own cache.
BLOCK = 2**18

# Sums that are equal on paper differ by rounding; relative to the sum of absolute differences.
ROUNDING = 1e-10


def sign_flip(
    differences: Floats,
    *,
    families: FamilyOf | None = None,
    alternative: str = "two-sided",
    n_flips: int = 10_000,
    seed: int = 0,
) -> Floats:
    """p-values of "the mean difference is 0", one for each column.

    Where at most `LARGEST_EXACT` families have a difference other than 0 the value is exact.
    Elsewhere it is (count + 1) / (n_flips + 1) over random sign patterns, which all columns share:
    the p-value of a column does not depend on the other columns.

    Parameters
    ----------
    differences
        Queries x columns; NaN leaves the query out of that column.
    alternative
        "two-sided", "greater" (the mean is above 0) or "less".

    Returns
    -------
    One p-value for each column; NaN where nothing is defined, 1 where no difference is.

    Examples
    --------
    Three gains: of the eight sign patterns one reaches their sum, and one its negative.

    >>> sign_flip(np.array([[0.1], [0.2], [0.3]]))
    array([0.25])
    """
    sums, sizes = family_totals(differences, families)
    sums = -sums if alternative == "less" else sums
    two_sided = alternative == "two-sided"
    n_different = np.count_nonzero(sums, axis=0)
    is_exact = n_different <= LARGEST_EXACT
    p = np.empty(sums.shape[1])
    p[is_exact] = _exact(sums[:, is_exact], two_sided)
    p[~is_exact] = _sampled(sums[:, ~is_exact], two_sided, n_flips, seed)
    p[~sizes.any(axis=0)] = np.nan
    return p


def sign_flip_max(
    differences: Floats,
    *,
    families: FamilyOf | None = None,
    alternative: str = "two-sided",
    n_flips: int = 10_000,
    seed: int = 0,
) -> Floats:
    """p-values adjusted for the columns being tested together: several runs, one baseline.

    Step-down max-T of Westfall and Young, 1993: the largest statistic is held against the largest
    of all columns under the same flips, the second largest against the largest of the others, and
    so on. It knows that the runs go up and down together, so it rejects at least as often as Holm.
    The statistic is the sum over the root of the sum of squares, which orders sign patterns as t
    does, so that a column of small differences is not drowned by one of large ones.
    """
    sums, sizes = family_totals(differences, families)
    sums = -sums if alternative == "less" else sums
    scale = np.sqrt((sums**2).sum(axis=0))
    scaled = sums / np.where(scale > 0, scale, 1.0)
    # A family that differs nowhere changes no sum.
    p = _step_down(scaled[scaled.any(axis=1)], alternative == "two-sided", n_flips, seed)
    p[~sizes.any(axis=0)] = np.nan
    return p


def _step_down(sums: Floats, two_sided: bool, n_flips: int, seed: int) -> Floats:
    observed = _statistic(sums.sum(axis=0), two_sided)
    order = np.argsort(-observed, kind="stable")
    goal = observed[order] - ROUNDING * np.abs(sums).sum(axis=0)[order]
    is_exact = len(sums) <= LARGEST_EXACT
    reached = np.zeros(len(order))
    n_patterns = 0
    for flips in [_all_flips(len(sums))] if is_exact else _random_flips(len(sums), n_flips, seed):
        drawn = _statistic(_flipped(flips, sums[:, order]), two_sided)
        largest_of_rest = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
        reached += (largest_of_rest >= goal).sum(axis=0)
        n_patterns += len(flips)
    share = reached / n_patterns if is_exact else (reached + 1) / (n_patterns + 1)
    p = np.empty(len(order))
    p[order] = np.maximum.accumulate(share)
    return p


def _exact(sums: Floats, two_sided: bool) -> Floats:
    """Over all patterns of the families that differ: the others change no sum."""
    differing = -np.sort(-np.abs(sums), axis=0)[:LARGEST_EXACT]
    differing = differing[: np.count_nonzero(differing.any(axis=1))]
    flips = _all_flips(len(differing))
    return _reached([flips], differing, _goal(sums, two_sided), two_sided) / len(flips)


def _sampled(sums: Floats, two_sided: bool, n_flips: int, seed: int) -> Floats:
    if not sums.size:
        return np.empty(sums.shape[1])
    patterns = _random_flips(len(sums), n_flips, seed)
    return (_reached(patterns, sums, _goal(sums, two_sided), two_sided) + 1) / (n_flips + 1)


def _goal(sums: Floats, two_sided: bool) -> Floats:
    """What a pattern must reach to be as extreme as the observed one."""
    goal: Floats = _statistic(sums.sum(axis=0), two_sided) - ROUNDING * np.abs(sums).sum(axis=0)
    return goal


def _reached(patterns: Iterable[Floats], sums: Floats, goal: Floats, two_sided: bool) -> Floats:
    """In how many patterns each column reaches its goal."""
    count = np.zeros(len(goal))
    for flips in patterns:
        width = max(1, BLOCK // len(flips))
        for at in range(0, len(goal), width):
            part = slice(at, at + width)
            drawn = _statistic(_flipped(flips, sums[:, part]), two_sided)
            count[part] += (drawn >= goal[part]).sum(axis=0)
    return count


def _flipped(flips: Floats, sums: Floats) -> Floats:
    """Sums under each pattern: what is flipped is taken away twice."""
    flipped: Floats = sums.sum(axis=0) - 2.0 * product(flips, sums)
    return flipped


def _statistic(sums: Floats, two_sided: bool) -> Floats:
    return np.abs(sums) if two_sided else sums


def flipped_sums(values: Floats, n_flips: int, seed: int) -> Iterator[Floats]:
    """Blocks of the columns' sums (flips x columns) under random signs of the rows."""
    for flips in _random_flips(len(values), n_flips, seed):
        yield _flipped(flips, values)


def _all_flips(n: int) -> Floats:
    """Every pattern of n differences (2^n x n), 1 where the sign is flipped."""
    bits = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
    return bits.astype(np.float64)


def _random_flips(n: int, n_flips: int, seed: int) -> Iterator[Floats]:
    """Blocks of random patterns (rows x n), one random bit a sign."""
    rng = np.random.default_rng(seed)
    n_words = -(-n // 64)
    # Depends on n alone, so that the flips of one seed are the same whatever the columns are.
    height = max(1, BLOCK // (64 * n_words))
    for start in range(0, n_flips, height):
        shape = (min(height, n_flips - start), n_words)
        words = rng.integers(0, 2**64, size=shape, dtype="<u8")
        yield np.unpackbits(words.view(np.uint8), axis=1, count=n).astype(np.float64)
