"""Measures of the first k results as a set: precision, recall, success, R-precision."""

from collections.abc import Sequence

from scoring.core.measures.checks import check_threshold, relevant_ranks
from scoring.core.reading.hits import Hit


def precision(hits: Sequence[Hit], *, cutoff: int, rel: int = 1) -> float:
    """Share of relevant documents among the first `cutoff` ranks, in [0, 1].

    The denominator is the cutoff, also where fewer were retrieved: trec_eval `P`.

    Raises
    ------
    CutoffError, RelevanceThresholdError
        If `cutoff` or `rel` is below 1.

    Examples
    --------
    >>> precision([Hit(1, 1), Hit(9, 1)], cutoff=5)
    0.2
    """
    return len(relevant_ranks(hits, rel=rel, cutoff=cutoff)) / cutoff


def recall(hits: Sequence[Hit], n_relevant: int, *, cutoff: int, rel: int = 1) -> float:
    """Share of the relevant documents that stand among the first `cutoff` ranks, in [0, 1].

    0.0 where no judged document is relevant: trec_eval `recall`.

    Raises
    ------
    CutoffError, RelevanceThresholdError
        If `cutoff` or `rel` is below 1.

    Examples
    --------
    >>> recall([Hit(1, 1), Hit(9, 1)], n_relevant=4, cutoff=5)
    0.25
    """
    found = len(relevant_ranks(hits, rel=rel, cutoff=cutoff))
    return found / n_relevant if n_relevant else 0.0


def success(hits: Sequence[Hit], *, cutoff: int, rel: int = 1) -> float:
    """1.0 where a relevant document is among the first `cutoff` ranks, else 0.0.

    Raises
    ------
    CutoffError, RelevanceThresholdError
        If `cutoff` or `rel` is below 1.

    Examples
    --------
    >>> success([Hit(9, 1)], cutoff=10), success([Hit(9, 1)], cutoff=5)
    (1.0, 0.0)
    """
    return float(bool(relevant_ranks(hits, rel=rel, cutoff=cutoff)))


def r_precision(hits: Sequence[Hit], n_relevant: int, *, rel: int = 1) -> float:
    """Precision at as many ranks as there are relevant documents, in [0, 1]; 0.0 for none.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> r_precision([Hit(1, 1), Hit(3, 1)], n_relevant=2)
    0.5
    """
    check_threshold(rel)
    return precision(hits, cutoff=n_relevant, rel=rel) if n_relevant else 0.0
