"""Compatibility: how much a ranking overlaps with the ideal one that is closest to it."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

from scoring.core.reading.hits import Hit


def compatibility(
    hits: Sequence[Hit],
    ideal: Sequence[int],
    n_retrieved: int,
    *,
    p: float = 0.95,
    normalize: bool = True,
) -> float:
    """Rank-biased overlap with the ideal ranking, in [0, 1]; 0.0 where nothing is relevant.

    The ideal ranking has every document of grade above 0 by grade descending; those of one grade
    stand as the run has them, and last those it lacks. The overlap is taken down to the longer of
    the two rankings. Normalised, it is divided by the overlap of the ideal ranking with itself.

    Notes
    -----
    Clarke, Vtyurina & Smucker, TOIS 39(2), 2021. ir_measures `Compat`, which breaks ties of the
    run by document id ascending, and puts an unretrieved document before those of scores below 0.

    Examples
    --------
    >>> round(compatibility([Hit(2, 1)], [1], n_retrieved=2, p=0.5), 4)
    0.2
    """
    if not ideal:
        return 0.0
    depth = max(n_retrieved, len(ideal))
    overlap = _overlap(meetings(hits, ideal), depth, p)
    if normalize:
        return overlap / _overlap(range(1, len(ideal) + 1), depth, p)
    # The weights 1 + p + p^2 + … down to the depth.
    return overlap / ((1 - p**depth) / (1 - p))


def meetings(hits: Sequence[Hit], ideal: Sequence[int]) -> list[int]:
    """The depth from which on each relevant document retrieved is in both rankings."""
    place = {grade: ideal.index(grade) for grade in set(ideal)}
    depths = []
    for rank, grade in hits:
        if grade > 0:
            place[grade] += 1
            depths.append(max(rank, place[grade]))
    return depths


def _overlap(meetings: Iterable[int], depth: int, p: float) -> float:
    weights = overlap_weights(depth, p)
    return sum([weights[depth] - weights[meeting - 1] for meeting in meetings])


@lru_cache(maxsize=256)
def overlap_weights(depth: int, p: float) -> tuple[float, ...]:
    """p^(i-1) / i, summed down to each depth: what a document in both rankings has counted."""
    return tuple(accumulate((p ** (i - 1) / i for i in range(1, depth + 1)), initial=0.0))
