"""What every measure does with its cutoff and its relevance threshold."""

from collections.abc import Sequence

from scoring.core.errors import CutoffError, RelevanceThresholdError
from scoring.core.reading.hits import Hit


def relevant_ranks(hits: Sequence[Hit], *, rel: int, cutoff: int | None = None) -> list[int]:
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
    if cutoff is None:
        return [rank for rank, grade in hits if grade >= rel]
    if cutoff < 1:
        raise CutoffError(cutoff=cutoff)
    return [rank for rank, grade in hits if grade >= rel and rank <= cutoff]


def within(hits: Sequence[Hit], cutoff: int | None) -> Sequence[Hit]:
    """The hits down to the cutoff, if there is one."""
    if cutoff is None:
        return hits
    if cutoff < 1:
        raise CutoffError(cutoff=cutoff)
    return [hit for hit in hits if hit[0] <= cutoff]


def check_threshold(rel: int) -> None:
    if rel < 1:
        raise RelevanceThresholdError(rel=rel)
