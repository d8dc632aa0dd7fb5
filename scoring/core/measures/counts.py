"""How many documents: added up over the queries, not averaged."""

from collections.abc import Sequence

from scoring.core.measures.checks import check_threshold, relevant_ranks
from scoring.core.reading.hits import Hit


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
