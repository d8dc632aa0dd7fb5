"""Measures of the first k results as a set: precision, recall, success and their kin."""

from bisect import bisect_right
from collections.abc import Sequence

from benchwright.measures.shared_hits import check_threshold, relevant_ranks
from benchwright.reading.hits import Hit

# --- Measures of the first k results as a set: precision, recall, success and their kin.


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
    n_found = len(relevant_ranks(hits, rel=rel, cutoff=cutoff))
    return n_found / n_relevant if n_relevant else 0.0


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
    n_found = len(relevant_ranks(hits, rel=rel, cutoff=cutoff))
    return n_found / min(cutoff, n_relevant) if n_relevant else 0.0


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
    n_found = len(relevant_ranks(hits, rel=rel, cutoff=cutoff))
    return (1 + beta) * n_found / (beta * n_relevant + cutoff)


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


# --- Measures of all that was retrieved, whatever its order.


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


# --- How many documents: added up over the queries, not averaged.


def n_queries(n_retrieved: int) -> float:
    """1.0: this query. trec_eval `num_q`."""
    return 1.0


def n_documents_retrieved(n_retrieved: int) -> float:
    """Documents retrieved. trec_eval `num_ret`."""
    return float(n_retrieved)


def n_documents_relevant(n_relevant: int, *, rel: int = 1) -> float:
    """Judged documents of grade `rel` or more, retrieved or not. trec_eval `num_rel`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.
    """
    check_threshold(rel)
    return float(n_relevant)


def n_relevant_retrieved(hits: Sequence[Hit], *, rel: int = 1) -> float:
    """Relevant documents retrieved. trec_eval `num_rel_ret`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> n_relevant_retrieved([Hit(1, 1), Hit(2, 0), Hit(3, -1)])
    1.0
    """
    return float(len(relevant_ranks(hits, rel=rel)))


def n_nonrelevant_retrieved(hits: Sequence[Hit], *, rel: int = 1) -> float:
    """Documents retrieved that were judged not relevant. trec_eval `num_nonrel_judged_ret`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> n_nonrelevant_retrieved([Hit(1, 1), Hit(2, 0), Hit(3, -1)])
    1.0
    """
    check_threshold(rel)
    return float(sum([0 <= grade < rel for _, grade in hits]))


def n_unjudged_retrieved(hits: Sequence[Hit], n_retrieved: int) -> float:
    """Documents retrieved that nobody has judged. trec_eval 10 `num_nonjudged_ret`.

    Examples
    --------
    >>> n_unjudged_retrieved([Hit(1, 1), Hit(2, 0), Hit(3, -1)], n_retrieved=5)
    3.0
    """
    return float(n_retrieved - sum([grade >= 0 for _, grade in hits]))
