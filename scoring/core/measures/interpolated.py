"""Interpolated precision at recall: the classic recall-precision curve."""

from collections.abc import Sequence
from math import floor

from scoring.core.measures.checks import relevant_ranks
from scoring.core.reading.hits import Hit

ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def interpolated_precision(
    hits: Sequence[Hit], n_relevant: int, *, recall: float, rel: int = 1
) -> float:
    """The highest precision at any rank with at least this recall, in [0, 1].

    The recall is that of round(recall * relevant) documents, halves up; 0.0 where it is never
    reached, or nothing is relevant. trec_eval 10 `iprec_at_recall` (9 rounds up from .1).

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> interpolated_precision([Hit(2, 1), Hit(3, 1)], n_relevant=2, recall=0.5)
    0.6666666666666666
    """
    ranks = relevant_ranks(hits, rel=rel)
    precisions = [position / rank for position, rank in enumerate(ranks, start=1)]
    return max(precisions[n_needed(n_relevant, recall) - 1 :], default=0.0)


def n_needed(n_relevant: int, recall: float) -> int:
    """The relevant document from which on precision counts, at least the first."""
    return max(floor(recall * n_relevant + 0.5), 1)


def mean_interpolated_precision(
    hits: Sequence[Hit], n_relevant: int, *, at: Sequence[float] = ELEVEN, rel: int = 1
) -> float:
    """Mean of the interpolated precision at these recalls, in [0, 1]. trec_eval `11pt_avg`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> mean_interpolated_precision([Hit(2, 1)], n_relevant=1)
    0.5
    """
    values = [interpolated_precision(hits, n_relevant, recall=recall, rel=rel) for recall in at]
    return sum(values) / len(values)
