"""What every measure does with its cutoff and its relevance threshold."""

from collections.abc import Sequence

from scoring.core.errors import CutoffError, RelevanceThresholdError
from scoring.core.measures.shared_hits import first_of, ranks_from
from scoring.core.reading.hits import Hit


def relevant_ranks(hits: Sequence[Hit], *, rel: int, cutoff: int | None = None) -> Sequence[int]:
    """Ranks, ascending, of the hits of grade `rel` or more, down to the cutoff if there is one.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.
    RelevanceThresholdError
        If `rel` is below 1.
    """
    if rel < 1:
        raise RelevanceThresholdError(rel=rel)
    return ranks_from(within(hits, cutoff), rel)


def within(hits: Sequence[Hit], cutoff: int | None) -> Sequence[Hit]:
    """The hits down to the cutoff, if there is one; `hits` by ascending rank."""
    if cutoff is None:
        return hits
    if cutoff < 1:
        raise CutoffError(cutoff=cutoff)
    if not hits or hits[-1][0] <= cutoff:
        return hits
    return first_of(hits, cutoff)


def check_threshold(rel: int) -> None:
    if rel < 1:
        raise RelevanceThresholdError(rel=rel)
