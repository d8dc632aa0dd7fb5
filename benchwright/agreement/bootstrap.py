"""An interval for alpha: what it would be with other queries of the same kind."""

from dataclasses import replace

import numpy as np

from benchwright.agreement.coefficients import Level, alphas, krippendorff
from benchwright.agreement.labels import Floats, Ints, Labels
from benchwright.agreement.measured import Measured

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
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) < 0.9 * draws:
        return alpha
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return replace(alpha, low=float(low), high=float(high))


def _blocks(draws: int, n_clusters: int) -> list[int]:
    size = max(1, BLOCK // n_clusters)
    return [min(size, draws - done) for done in range(0, draws, size)]


def _resampled(matrices: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """The sum of as many matrices as there are, drawn with replacement, `draws` times."""
    n, g, _ = matrices.shape
    times = rng.multinomial(n, np.full(n, 1 / n), size=draws)
    return (times @ matrices.reshape(n, g * g)).reshape(draws, g, g)
