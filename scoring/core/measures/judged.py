"""How much of what was retrieved anybody has judged."""

from collections.abc import Sequence
from math import nan

from scoring.core.measures.checks import within
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
    n_judged = sum(hit.grade >= 0 for hit in within(hits, cutoff))
    n_seen = n_retrieved if cutoff is None else min(cutoff, n_retrieved)
    return n_judged / n_seen if n_seen else nan
