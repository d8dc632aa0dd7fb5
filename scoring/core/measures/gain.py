"""Discounted cumulative gain, as it is and as a share of the best there could be."""

from collections.abc import Iterable, Sequence
from math import log2
from typing import Literal

from scoring.core.errors import GradeTooLargeError
from scoring.core.measures.checks import within
from scoring.core.reading.hits import Hit

Gain = Literal["log2", "exp-log2"]
"""`log2`: a grade is its gain. `exp-log2`: 2^grade - 1. Both divide by log2(rank + 1)."""

LARGEST_EXPONENT = 1000


def ndcg(
    hits: Sequence[Hit], ideal: Sequence[int], *, cutoff: int | None = None, dcg: Gain = "log2"
) -> float:
    """nDCG of one query, in [0, 1]; 0.0 where no judged document is relevant.

    Parameters
    ----------
    hits
        Rank (from 1, ascending) and grade of each judged document retrieved.
    ideal
        Every grade above 0 of the query, descending.
    cutoff
        Ranks counted, at least 1; all where it is None.
    dcg
        The gain of a grade.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.
    GradeTooLargeError
        If the gain is exponential and a grade above 1000.

    Notes
    -----
    Linear gain, discount log2(rank + 1): trec_eval `ndcg` and `ndcg_cut`. From Järvelin &
    Kekäläinen, TOIS 20(4), 2002, whose own discount differs at the first ranks. Exponential gain:
    Burges et al., ICML 2005.

    Examples
    --------
    >>> round(ndcg([Hit(rank=2, grade=3)], [3], cutoff=10), 4)
    0.6309
    """
    found = discounted_gain(hits, cutoff=cutoff, dcg=dcg)
    best = _sum(enumerate(ideal[:cutoff], start=1), dcg)
    return found / best if best else 0.0


def discounted_gain(hits: Sequence[Hit], *, cutoff: int | None = None, dcg: Gain = "log2") -> float:
    """DCG of one query, from 0 up without a limit; see `ndcg`.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.
    GradeTooLargeError
        If the gain is exponential and a grade above 1000.

    Examples
    --------
    >>> discounted_gain([Hit(rank=1, grade=2), Hit(rank=3, grade=2)], dcg="exp-log2")
    4.5
    """
    return _sum(((hit.rank, hit.grade) for hit in within(hits, cutoff)), dcg)


def _sum(graded: Iterable[tuple[int, int]], dcg: Gain) -> float:
    gain = _exponential if dcg == "exp-log2" else float
    return sum((gain(grade) / log2(rank + 1) for rank, grade in graded if grade > 0), start=0.0)


def _exponential(grade: int) -> float:
    if grade > LARGEST_EXPONENT:
        raise GradeTooLargeError(grade=grade, largest=LARGEST_EXPONENT)
    return 2.0**grade - 1.0
