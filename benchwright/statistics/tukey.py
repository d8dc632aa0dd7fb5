"""All pairs of runs at once: the randomised form of Tukey's honestly significant difference.

If all runs are equally good, the values of a query could stand in any order. The range of the
means (best minus worst) under such shuffles bounds every pair's difference by chance. Carterette,
Multiple testing in statistical analysis of systems-based information retrieval experiments, TOIS
30(1), 2012.
"""

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.effects import differences_of
from benchwright.statistics.families import FamilyOf, Floats, family_totals
from benchwright.statistics.signflip import ROUNDING, sign_flip

# What is held at once of the rotated values: small enough to stay in a core's own cache.
BLOCK = 2**17


def randomised_tukey(
    values: Floats,
    *,
    families: FamilyOf | None = None,
    n_draws: int = 10_000,
    seed: int = 0,
) -> Floats:
    """Adjusted p-values of all pairs (runs x runs x measures), two-sided, symmetric, 1 to itself.

    Parameters
    ----------
    values
        Queries x runs x measures. A query that is NaN for one run is left out for that measure:
        only whole rows can be shuffled. Rows of a family are shuffled as one.

    Returns
    -------
    NaN for a measure without any whole row. With two runs the test is `sign_flip`, and as exact.

    Notes
    -----
    Families are permuted independently and uniformly in each draw, as Carterette has it. Draws come
    in groups: one random permutation of each family is made for the group, and a draw rotates it
    by a random number of places. A rotated uniform permutation is uniform, and a rotation is a
    contiguous stretch of memory. Draws of different groups share nothing.
    """
    is_whole: NDArray[np.bool_] = np.logical_not(np.isnan(values).any(axis=1))
    n_runs = values.shape[1]
    p = np.full((n_runs, n_runs, values.shape[2]), np.nan)
    for measures in _alike(is_whole):
        rows = is_whole[:, measures[0]]
        if rows.any():
            whole = values[rows][:, :, measures]
            kept = None if families is None else families[rows]
            p[:, :, measures] = _all_pairs(whole, kept, n_draws, seed)
    return p


def _alike(is_whole: NDArray[np.bool_]) -> list[list[int]]:
    """Measures that have the same rows."""
    measures: dict[bytes, list[int]] = {}
    for measure, rows in enumerate(is_whole.T):
        measures.setdefault(rows.tobytes(), []).append(measure)
    return list(measures.values())


def _all_pairs(values: Floats, families: FamilyOf | None, n_draws: int, seed: int) -> Floats:
    n, n_runs, n_measures = values.shape
    if n_runs == 2:
        differences = differences_of(values[:, 0], values[:, 1])
        between = sign_flip(differences, families=families, n_flips=n_draws, seed=seed)
        return np.where(np.eye(2, dtype=bool)[:, :, np.newaxis], 1.0, between)
    centred = differences_of(values, values.mean(axis=1, keepdims=True))
    sums, _ = family_totals(centred.reshape(n, -1), families)
    sums = sums.reshape(-1, n_runs, n_measures)
    ranges = np.sort(_drawn_ranges(sums, n_draws, seed), axis=0)
    totals = sums.sum(axis=0)
    distances = np.abs(totals[:, np.newaxis] - totals) - ROUNDING * np.abs(sums).sum(axis=(0, 1))
    return np.stack(
        [_p(ranges[:, measure], distances[:, :, measure]) for measure in range(n_measures)], axis=2
    )


def _p(sorted_ranges: Floats, distances: Floats) -> Floats:
    reached = len(sorted_ranges) - np.searchsorted(sorted_ranges, distances)
    return np.where(
        np.eye(len(distances), dtype=bool), 1.0, (reached + 1) / (len(sorted_ranges) + 1)
    )


def _drawn_ranges(sums: Floats, n_draws: int, seed: int) -> Floats:
    """Best minus worst sum of each draw (draws x measures)."""
    rng = np.random.default_rng(seed)
    n_runs = sums.shape[1]
    group = 16 * n_runs  # making the rotations costs as much as using them a few times
    ranges = [
        np.ptp(_drawn_sums(sums, min(group, n_draws - start), rng), axis=1)
        for start in range(0, n_draws, group)
    ]
    return np.concatenate(ranges)


def _drawn_sums(sums: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Sums of the runs (draws x runs x measures) with the values of each family shuffled."""
    from scipy.sparse import csr_array

    n, n_runs, n_measures = sums.shape
    places = rng.permuted(np.tile(np.arange(n_runs), (n, 1)), axis=1)
    shuffled = np.take_along_axis(sums, places[:, :, np.newaxis], axis=1)
    turns = rng.integers(0, n_runs, size=(n_draws, n), dtype=np.int32)
    drawn = np.zeros((n_draws, n_runs * n_measures))
    height = max(1, BLOCK // (n_runs**2 * n_measures))
    for start in range(0, n, height):
        rotations = _rotations(shuffled[start : start + height])
        chosen = turns[:, start : start + height] + n_runs * np.arange(
            len(rotations) // n_runs, dtype=np.int32
        )
        ends = np.arange(n_draws + 1, dtype=np.int32) * chosen.shape[1]
        one_each = (np.ones(chosen.size), chosen.ravel(), ends)
        drawn += csr_array(one_each, shape=(n_draws, len(rotations))) @ rotations
    return drawn.reshape(n_draws, n_runs, n_measures)


def _rotations(values: Floats) -> Floats:
    """Every rotation of the runs of each family (families * runs x runs * measures)."""
    n, n_runs, n_measures = values.shape
    turned = (np.arange(n_runs)[:, np.newaxis] + np.arange(n_runs)) % n_runs
    return values[:, turned].reshape(n * n_runs, n_runs * n_measures)
