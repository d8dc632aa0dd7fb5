"""How relevant and other documents stand to each other: bpref, accuracy."""

from collections.abc import Sequence
from math import nan

from benchwright.measures.shared_hits import (
    check_threshold,
    grades_of,
    n_judged,
    relevant_ranks,
    within,
)
from benchwright.reading.hits import Hit, Qid, QueryHits, TieGroup

# --- How relevant and other documents stand to each other: bpref, accuracy.


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


# --- How much of what was retrieved anybody has judged.


def judged(hits: Sequence[Hit], n_retrieved: int, *, cutoff: int | None = None) -> float:
    """Share of judged documents among the first `cutoff` retrieved, or all of them; in [0, 1].

    The denominator is min(cutoff, retrieved). NaN where nothing was retrieved. A grade below 0 is
    not judged.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.

    Examples
    --------
    >>> judged([Hit(1, 0), Hit(4, 2)], n_retrieved=4, cutoff=10)
    0.5
    """
    n_found = n_judged(within(hits, cutoff))
    n_seen = n_retrieved if cutoff is None else min(cutoff, n_retrieved)
    return n_found / n_seen if n_seen else nan


def hole(hits: Sequence[Hit], n_retrieved: int, *, cutoff: int | None = None) -> float:
    """1 - `judged`, in [0, 1]; NaN where nothing was retrieved.

    BEIR's `Hole@k` takes a document that was judged for any query as judged, and so sees fewer.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.

    Examples
    --------
    >>> hole([Hit(1, 0)], n_retrieved=4)
    0.75
    """
    return 1 - judged(hits, n_retrieved, cutoff=cutoff)


def unjudged(hits: Sequence[Hit], n_retrieved: int, *, cutoff: int) -> float:
    """Unjudged documents among the first `cutoff`, divided by the cutoff; in [0, 1].

    The denominator stays where fewer were retrieved: trec_eval 10 `unj`. 0.0 for nothing.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.

    Examples
    --------
    >>> unjudged([Hit(1, 0), Hit(2, -1)], n_retrieved=3, cutoff=5)
    0.4
    """
    n_found = n_judged(within(hits, cutoff))
    return (min(cutoff, n_retrieved) - n_found) / cutoff


# --- Condensed lists: what a ranking looks like without its unjudged documents.


def condensed(query: QueryHits[Qid]) -> QueryHits[Qid]:
    """The judged documents only, ranked from 1. trec_eval's `-J`; Sakai, SIGIR 2007.

    Overrates a run that the pool did not hold, so never show it alone (see `core.unjudged`).

    Examples
    --------
    >>> condensed(QueryHits("q", (Hit(2, 0), Hit(5, -1), Hit(9, 3)), 50)).hits
    (Hit(rank=1, grade=0), Hit(rank=2, grade=3))
    """
    judged = [hit for hit in query.hits if hit.grade >= 0]
    hits = tuple(Hit(rank, hit.grade) for rank, hit in enumerate(judged, start=1))
    ties = tuple(group for of in query.ties if (group := _judged_of(of, judged)).size > 1)
    return QueryHits(query.qid, hits, len(hits), ties)


def _judged_of(group: TieGroup, judged: list[Hit]) -> TieGroup:
    end = group.first + group.size
    n_above = sum(hit.rank < group.first for hit in judged)
    return TieGroup(n_above + 1, sum(group.first <= hit.rank < end for hit in judged))
