"""Intervals for alpha and kappa: what they would be with other queries of the same kind."""

from dataclasses import replace

import numpy as np

from benchwright.agreement.coefficients import Level, Weights, alphas, krippendorff
from benchwright.agreement.labels import Floats, Ints, Labels
from benchwright.agreement.measured import Measured
from benchwright.agreement.two_raters import cohen, kappas

DRAWS = 1000
# Numbers held at once while drawing, so that many clusters do not take much memory.
BLOCK = 2_000_000


def cluster_coincidences(counts: Ints, clusters: Ints, n_clusters: int) -> Floats:
    """Clusters x grades x grades: the coincidence matrix of the items of each cluster."""
    n_each = counts.sum(axis=1)
    doubled, of = counts[n_each > 1], clusters[n_each > 1]
    weighted = doubled / (n_each[n_each > 1] - 1)[:, None]
    g = counts.shape[1]
    matrices = np.zeros((n_clusters, g, g))
    for a in range(g):
        for b in range(g):
            pairs = weighted[:, a] * (doubled[:, b] - (a == b))
            matrices[:, a, b] = np.bincount(of, weights=pairs, minlength=n_clusters)
    return matrices


def alpha_with_interval(
    labels: Labels,
    level: Level,
    rng: np.random.Generator,
    *,
    by_query: bool = True,
    draws: int = DRAWS,
    confidence: float = 0.95,
) -> Measured:
    """Krippendorff's alpha with a percentile bootstrap interval.

    Whole queries are drawn with replacement (or single items): the documents of a query are judged
    by the same people with the same thoughts, and drawing them one by one would promise too much.
    Draws in which alpha is undefined are left out; if they are more than a tenth, or there is one
    query only, there is no interval.
    """
    counts = labels.counts()
    alpha = krippendorff(counts, labels.scale, level)
    if not alpha.is_defined:
        return alpha
    clusters = labels.clusters if by_query else np.arange(labels.n_items)
    matrices = cluster_coincidences(counts, clusters, int(clusters.max()) + 1)
    matrices = matrices[matrices.sum(axis=(1, 2)) > 0]
    if len(matrices) < 2:
        return alpha
    drawn = np.concatenate(
        [
            alphas(_resampled(matrices, rng, n), labels.scale, level)
            for n in _blocks(draws, len(matrices))
        ]
    )
    return _with_ends(alpha, drawn, confidence)


def kappa_with_interval(
    tables: Ints,
    weights: Weights,
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    confidence: float = 0.95,
) -> Measured:
    """Cohen's kappa of two raters with a percentile bootstrap interval, clusters drawn whole.

    `tables` holds a grades x grades table a cluster, such as a query or a family of queries. When
    there is no interval is as in `alpha_with_interval`.
    """
    kappa = cohen(tables.sum(axis=0), weights)
    filled = tables[tables.sum(axis=(1, 2)) > 0].astype(np.float64)
    if not kappa.is_defined or len(filled) < 2:
        return kappa
    drawn = np.concatenate(
        [kappas(_resampled(filled, rng, n), weights) for n in _blocks(draws, len(filled))]
    )
    return _with_ends(kappa, drawn, confidence)


def kappa_difference_with_interval(
    before: Ints,
    after: Ints,
    weights: Weights,
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    confidence: float = 0.95,
) -> Measured:
    """Cohen's kappa of `after` minus that of `before`, clusters drawn whole and alike for both.

    Both hold a grades x grades table a cluster, of the same items: what a cluster adds to the one
    kappa and to the other is drawn together. When there is no interval is as in
    `alpha_with_interval`.
    """
    observed = [cohen(tables.sum(axis=0), weights) for tables in (before, after)]
    undefined = next((kappa for kappa in observed if kappa.value is None), None)
    if undefined is not None:
        return undefined
    first, second = (kappa.value or 0.0 for kappa in observed)
    difference = Measured(second - first, observed[0].n_items)
    filled = before.sum(axis=(1, 2)) > 0
    both = np.stack([before[filled], after[filled]], axis=1).astype(np.float64)
    if len(both) < 2:
        return difference
    n, _, g, _ = both.shape
    drawn = []
    for size in _blocks(draws, n):
        stacked = _resampled(both.reshape(n, 2 * g, g), rng, size).reshape(size, 2, g, g)
        drawn.append(kappas(stacked[:, 1], weights) - kappas(stacked[:, 0], weights))
    return _with_ends(difference, np.concatenate(drawn), confidence)


def _with_ends(measured: Measured, drawn: Floats, confidence: float) -> Measured:
    """With the interval of the draws; without one where a tenth of them is undefined."""
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < 0.9 * len(drawn):
        return measured
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return replace(measured, low=float(low), high=float(high))


def _blocks(draws: int, n_clusters: int) -> list[int]:
    size = max(1, BLOCK // n_clusters)
    return [min(size, draws - done) for done in range(0, draws, size)]


def _resampled(matrices: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """The sum of as many matrices as there are, drawn with replacement, `draws` times.

    In whichever order they come, the draws are the same.
    """
    n, height, width = matrices.shape
    flat = matrices.reshape(n, height * width)
    flat = flat[np.lexsort(flat.T)]
    times = rng.multinomial(n, np.full(n, 1 / n), size=draws)
    return (times @ flat).reshape(draws, height, width)
