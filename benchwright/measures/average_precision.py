"""Average precision, over complete and over sampled judgments."""

from collections.abc import Sequence
from itertools import count
from math import floor, log
from operator import truediv

from benchwright.measures.shared_hits import check_threshold, relevant_ranks
from benchwright.reading.hits import Hit

# --- Average precision, over complete and over sampled judgments.

EPSILON = 0.00001
"""What smooths the share of relevant documents in `inferred_ap`, as in trec_eval."""


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
    precisions = sum(map(truediv, count(1), ranks))
    return precisions / n_relevant if n_relevant else 0.0


def log_odds_of_ap(hits: Sequence[Hit], n_relevant: int, *, rel: int = 1) -> float:
    """log((1 + s) / (1 + R - s)) with s = AP * R: any number; 0.0 where nothing is relevant.

    The order of AP, on a scale where means over queries say more. trec_eval `yaap`; Robertson,
    ECIR 2012.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> round(log_odds_of_ap([Hit(1, 1)], n_relevant=2), 4)
    0.0
    """
    s = average_precision(hits, n_relevant, rel=rel) * n_relevant
    return log((1 + s) / (1 + n_relevant - s))


def inferred_ap(hits: Sequence[Hit], n_relevant: int, *, rel: int = 1) -> float:
    """AP as it is expected to be where only a sample of the pool was judged, about in [0, 1].

    A grade below 0 says that the document is in the pool and was not drawn. 0.0 where no judged
    document is relevant. `n_relevant` counts the judged documents of grade `rel` or more.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Notes
    -----
    At rank k of a relevant document, 1/k + (k-1)/k * (pooled above / (k-1)) * (relevant above + e)
    / (judged above + 2e), e = 0.00001: trec_eval `infAP`. Yilmaz & Aslam, CIKM 2006.

    Examples
    --------
    >>> round(inferred_ap([Hit(1, -1), Hit(2, 0), Hit(3, 1)], n_relevant=1), 4)
    0.3333
    """
    check_threshold(rel)
    inferred, n_judged, n_found = 0.0, 0, 0
    for n_pooled, (rank, grade) in enumerate(hits):
        if grade >= rel:
            inferred += inferred_precision(rank, n_pooled, n_found, n_judged)
            n_found += 1
        n_judged += grade >= 0
    return inferred / n_relevant if n_relevant else 0.0


def inferred_precision(rank: int, n_pooled: float, n_found: int, n_judged: int) -> float:
    """The expected precision at a relevant document, given what stands above it."""
    share = (n_found + EPSILON) / (n_judged + 2 * EPSILON)
    return 1 / rank + n_pooled / rank * share


# --- Interpolated precision at recall: the classic recall-precision curve.

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
