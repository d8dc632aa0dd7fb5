"""Measures of the first k results as a set: precision, recall, success and their kin."""

from bisect import bisect_right
from collections.abc import Sequence

from scoring.core.measures.checks import relevant_ranks
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


def capped_recall(hits: Sequence[Hit], n_relevant: int, *, cutoff: int, rel: int = 1) -> float:
    """Relevant documents among the first `cutoff` over the most there could be, in [0, 1].

    The denominator is min(cutoff, relevant); 0.0 where no judged document is relevant. BEIR's
    `R_cap`, trec_eval's `relative_P`.

    Raises
    ------
    CutoffError, RelevanceThresholdError
        If `cutoff` or `rel` is below 1.

    Examples
    --------
    >>> capped_recall([Hit(1, 1), Hit(9, 1)], n_relevant=4, cutoff=2)
    0.5
    """
    found = len(relevant_ranks(hits, rel=rel, cutoff=cutoff))
    return found / min(cutoff, n_relevant) if n_relevant else 0.0


def f_measure(
    hits: Sequence[Hit], n_relevant: int, *, cutoff: int, beta: float = 1.0, rel: int = 1
) -> float:
    """(1 + beta) * P * R / (beta * P + R) at the cutoff, in [0, 1]; 0.0 where P is 0.

    `beta` is how much recall counts against precision (see `whole_set.set_f`); 1 is F1.

    Raises
    ------
    CutoffError, RelevanceThresholdError
        If `cutoff` or `rel` is below 1.

    Examples
    --------
    >>> f_measure([Hit(1, 1)], n_relevant=1, cutoff=3)
    0.5
    """
    found = len(relevant_ranks(hits, rel=rel, cutoff=cutoff))
    return (1 + beta) * found / (beta * n_relevant + cutoff)


def r_precision(
    hits: Sequence[Hit], n_relevant: int, *, multiple: float = 1.0, rel: int = 1
) -> float:
    """Precision at as many ranks as there are relevant documents, in [0, 1]; 0.0 for none.

    With `multiple`, at int(multiple * relevant + 0.9) ranks: trec_eval `Rprec_mult`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> r_precision([Hit(1, 1), Hit(3, 1)], n_relevant=2)
    0.5
    """
    ranks = relevant_ranks(hits, rel=rel)
    depth = multiple_of(n_relevant, multiple)
    return bisect_right(ranks, depth) / depth if depth else 0.0


def multiple_of(n_relevant: int, multiple: float) -> int:
    """The rank at which `r_precision` looks."""
    return n_relevant if multiple == 1.0 else int(multiple * n_relevant + 0.9)
