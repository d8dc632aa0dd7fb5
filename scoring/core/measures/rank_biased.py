"""Rank-biased precision, and how much the unjudged documents could still change it."""

from collections.abc import Sequence

from scoring.core.measures.checks import within
from scoring.core.reading.hits import Hit


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
