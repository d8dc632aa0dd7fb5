"""Compatibility: how much a ranking overlaps with the ideal one that is closest to it."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate

from benchwright.measures.shared_hits import within
from benchwright.reading.hits import Hit

# --- Compatibility: how much a ranking overlaps with the ideal one that is closest to it.


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


# --- Rank-biased precision, and how much the unjudged documents could still change it.


def rbp(
    hits: Sequence[Hit],
    *,
    top_grade: int,
    p: float = 0.8,
    rel: int | None = None,
    cutoff: int | None = None,
) -> float:
    """(1 - p) * sum over ranks of gain * p^(rank - 1), in [0, 1].

    The gain is grade / `top_grade`, the highest grade of the scale; with `rel`, it is 1 from that
    grade on and 0 below. `p` is the probability that the reader goes on to the next document.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.

    Notes
    -----
    Moffat & Zobel, TOIS 27(1), 2008. trec_eval `rbp` is `trec_rbp`.

    Examples
    --------
    >>> rbp([Hit(1, 1), Hit(3, 1)], top_grade=1, p=0.5)
    0.625
    """
    counted = within(hits, cutoff)
    if rel is not None:
        return (1 - p) * sum([p ** (rank - 1) for rank, grade in counted if grade >= rel])
    gained = sum([grade * p ** (rank - 1) for rank, grade in counted if grade > 0])
    return (1 - p) * gained / top_grade if gained else 0.0


def rbp_residual(hits: Sequence[Hit], *, p: float = 0.8, cutoff: int | None = None) -> float:
    """What RBP would gain if every document not judged had the top grade, in [0, 1].

    (1 - p) * sum over unjudged ranks of p^(rank - 1), where also the ranks below the last result
    (or the cutoff) are unjudged; so 1.0 where nothing was retrieved. A grade below 0 is not judged.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.

    Examples
    --------
    >>> rbp_residual([Hit(1, 1), Hit(3, 0)], p=0.5)
    0.375
    """
    # The weights of all ranks make 1.
    judged = [p ** (rank - 1) for rank, grade in within(hits, cutoff) if grade >= 0]
    return max(1 - (1 - p) * sum(judged), 0.0)


def trec_rbp(hits: Sequence[Hit], top_of_query: int, *, p: float = 0.9) -> float:
    """RBP where the highest grade of each query has the gain 1, in [0, 1]: trec_eval `rbp`.

    `top_of_query` is that grade. On grades above 1, trec_eval reads memory that it never set; this
    is what it then gives as it is shipped, and what was published of TREC-COVID. Compiled with
    optimisation, it gives other values.

    Examples
    --------
    >>> trec_rbp([Hit(1, 2)], top_of_query=4, p=0.5)
    0.25
    """
    return rbp(hits, top_grade=top_of_query, p=p)


def trec_rbp_residual(hits: Sequence[Hit], n_retrieved: int, *, p: float = 0.9) -> float:
    """`rbp_residual` as trec_eval has it: 0.0 where everything retrieved was judged.

    trec_eval `rbp_resid`.

    Examples
    --------
    >>> trec_rbp_residual([Hit(1, 1)], n_retrieved=1, p=0.5)
    0.0
    """
    n_judged = sum([grade >= 0 for _, grade in hits])
    return rbp_residual(hits, p=p) if n_judged < n_retrieved else 0.0
