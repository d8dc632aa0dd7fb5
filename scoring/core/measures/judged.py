"""How much of what was retrieved anybody has judged."""

from collections.abc import Sequence
from math import nan

from scoring.core.measures.checks import within
from scoring.core.measures.shared_hits import n_judged
from scoring.core.reading.hits import Hit


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
