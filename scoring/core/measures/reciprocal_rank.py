"""Reciprocal rank."""

from collections.abc import Sequence

from scoring.core.measures.checks import relevant_ranks
from scoring.core.reading.hits import Hit


def reciprocal_rank(hits: Sequence[Hit], *, cutoff: int | None = None, rel: int = 1) -> float:
    """1 / rank of the first relevant document, in [0, 1]; 0.0 where none was retrieved.

    trec_eval `recip_rank`, which knows no cutoff.

    Raises
    ------
    CutoffError, RelevanceThresholdError
        If `cutoff` or `rel` is below 1.

    Examples
    --------
    >>> reciprocal_rank([Hit(1, 0), Hit(4, 1)])
    0.25
    """
    ranks = relevant_ranks(hits, rel=rel, cutoff=cutoff)
    return 1 / ranks[0] if ranks else 0.0
