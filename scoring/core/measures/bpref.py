"""How relevant and other documents stand to each other: bpref, accuracy."""

from collections.abc import Sequence
from math import nan

from scoring.core.measures.checks import check_threshold, relevant_ranks
from scoring.core.measures.shared_hits import grades_of
from scoring.core.reading.hits import Hit


def bpref(hits: Sequence[Hit], n_relevant: int, n_nonrelevant: int, *, rel: int = 1) -> float:
    """How seldom judged non-relevant documents stand above relevant ones, in [0, 1].

    Unjudged documents (no grade, or one below 0) are passed over. A relevant document with nothing
    judged non-relevant above it counts 1; 0.0 where no judged document is relevant.
    `n_relevant` counts the query's documents of grade `rel` or more, `n_nonrelevant` those judged
    below it, retrieved or not.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Notes
    -----
    (1 / R) * sum over relevant retrieved of 1 - min(R, non-relevant above) / min(R, N), as in
    trec_eval since 8.1. From Buckley & Voorhees, SIGIR 2004, whose denominator is R.

    Examples
    --------
    >>> bpref([Hit(1, 1), Hit(2, 0), Hit(5, 1)], n_relevant=2, n_nonrelevant=3)
    0.75
    """
    check_threshold(rel)
    most = min(n_nonrelevant, n_relevant)
    preferred, n_above, worth = 0.0, 0, 1.0
    for grade in grades_of(hits):
        if grade >= rel:
            preferred += worth
        elif grade >= 0:
            n_above += 1
            if n_above <= n_relevant:
                worth = 1 - n_above / most
    return preferred / n_relevant if n_relevant else 0.0


def accuracy(
    hits: Sequence[Hit], n_retrieved: int, *, rel: int = 1, cutoff: int | None = None
) -> float:
    """How often a relevant document retrieved stands before one that is not, in [0, 1].

    1 - the mean over the relevant documents of the share of the others that stand above it. An
    unjudged document is not relevant. NaN where nothing relevant was retrieved, 1.0 where nothing
    else was.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> accuracy([Hit(1, 1), Hit(3, 1)], n_retrieved=4)
    0.75
    """
    ranks = relevant_ranks(hits, rel=rel, cutoff=cutoff)
    if not ranks:
        return nan
    n_others = min(n_retrieved, cutoff or n_retrieved) - len(ranks)
    above = sum(rank - place for place, rank in enumerate(ranks, start=1))
    return 1 - above / (n_others * len(ranks)) if n_others else 1.0
