"""Measures of all that was retrieved, whatever its order."""

from collections.abc import Sequence

from scoring.core.measures.checks import relevant_ranks
from scoring.core.reading.hits import Hit


def set_precision(
    hits: Sequence[Hit], n_relevant: int, n_retrieved: int, *, rel: int = 1, relative: bool = False
) -> float:
    """Share of relevant documents among all retrieved, in [0, 1]; 0.0 where nothing was.

    `relative` divides by the most there could be, min(retrieved, relevant) documents, in place of
    all retrieved: trec_eval `set_relative_P`, without it `set_P`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> set_precision([Hit(1, 1)], n_relevant=2, n_retrieved=4, relative=True)
    0.5
    """
    n_most = min(n_retrieved, n_relevant) if relative else n_retrieved
    return len(relevant_ranks(hits, rel=rel)) / n_most if n_most else 0.0


def set_recall(hits: Sequence[Hit], n_relevant: int, *, rel: int = 1) -> float:
    """Share of the relevant documents that were retrieved, in [0, 1]; 0.0 where there are none.

    trec_eval `set_recall`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> set_recall([Hit(1, 1)], n_relevant=2)
    0.5
    """
    return len(relevant_ranks(hits, rel=rel)) / n_relevant if n_relevant else 0.0


def set_f(
    hits: Sequence[Hit], n_relevant: int, n_retrieved: int, *, beta: float = 1.0, rel: int = 1
) -> float:
    """(1 + beta) * P * R / (beta * P + R) of all retrieved, in [0, 1]; 0.0 where P is 0.

    `beta` is how much recall counts against precision, as trec_eval `set_F` and ir_measures have
    it; what van Rijsbergen calls beta is its square root.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> set_f([Hit(1, 1)], n_relevant=1, n_retrieved=3)
    0.5
    """
    n_found = len(relevant_ranks(hits, rel=rel))
    if not n_found:
        return 0.0
    # Not shortened: to the last bit what trec_eval gets, which shows where a tie is rounded.
    precision, recall = n_found / n_retrieved, n_found / n_relevant
    return (beta + 1) * precision * recall / (beta * precision + recall)


def set_ap(hits: Sequence[Hit], n_relevant: int, n_retrieved: int, *, rel: int = 1) -> float:
    """Precision times recall of all retrieved, in [0, 1]; 0.0 where either is. trec_eval `set_map`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> set_ap([Hit(1, 1)], n_relevant=2, n_retrieved=2)
    0.25
    """
    n_found = len(relevant_ranks(hits, rel=rel))
    return n_found * n_found / (n_retrieved * n_relevant) if n_found else 0.0


def utility(
    hits: Sequence[Hit],
    n_relevant: int,
    n_retrieved: int,
    *,
    weights: Sequence[float] = (1.0, -1.0, 0.0, 0.0),
    n_documents: int = 0,
    rel: int = 1,
) -> float:
    """What the retrieved set is worth: any number.

    `weights` are of the relevant and of the non-relevant retrieved, then of the relevant and of the
    non-relevant left out; for the last one, `n_documents` is the size of the corpus. An unjudged
    document is non-relevant. trec_eval `utility`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> utility([Hit(1, 1)], n_relevant=2, n_retrieved=4)
    -2.0
    """
    n_found = len(relevant_ranks(hits, rel=rel))
    n_left_out = n_documents + n_found - n_retrieved - n_relevant
    counts = (n_found, n_retrieved - n_found, n_relevant - n_found, n_left_out)
    return float(sum(weight * count for weight, count in zip(weights, counts, strict=True)))
