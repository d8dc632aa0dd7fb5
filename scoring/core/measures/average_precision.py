"""Average precision."""

from collections.abc import Sequence

from scoring.core.measures.checks import relevant_ranks
from scoring.core.reading.hits import Hit


def average_precision(
    hits: Sequence[Hit], n_relevant: int, *, cutoff: int | None = None, rel: int = 1
) -> float:
    """Mean over all relevant documents of the precision at their rank, in [0, 1].

    A relevant document that was not retrieved, or stands below the cutoff, counts 0; so the cutoff
    never changes the denominator. 0.0 where no judged document is relevant. trec_eval `map` and
    `map_cut`. `n_relevant` counts the query's documents of grade `rel` or more.

    Raises
    ------
    CutoffError, RelevanceThresholdError
        If `cutoff` or `rel` is below 1.

    Examples
    --------
    >>> average_precision([Hit(1, 1), Hit(2, 0), Hit(4, 2)], n_relevant=3)
    0.5
    """
    ranks = relevant_ranks(hits, rel=rel, cutoff=cutoff)
    precisions = sum(position / rank for position, rank in enumerate(ranks, start=1))
    return precisions / n_relevant if n_relevant else 0.0
