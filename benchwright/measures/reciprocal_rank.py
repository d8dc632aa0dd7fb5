"""Reciprocal rank."""

from collections.abc import Iterable, Sequence

from benchwright.measures.shared_hits import relevant_ranks, within
from benchwright.reading.hits import Hit

# --- Reciprocal rank.


def reciprocal_rank(hits: Sequence[Hit], *, cutoff: int | None = None, rel: int = 1) -> float:
    """1 / rank of the first relevant document, in [0, 1]; 0.0 where none was retrieved.

    trec_eval `recip_rank`, which knows no cutoff.

    Raises
    ------
    CutoffError, RelevanceThresholdError
        If `cutoff` or `rel` is below 1.

    Examples
    --------
    >>> reciprocal_rank([Hit(1, 0), Hit(4, 1)])
    0.25
    """
    ranks = relevant_ranks(hits, rel=rel, cutoff=cutoff)
    return 1 / ranks[0] if ranks else 0.0


# --- Expected reciprocal rank: a reader who stops where satisfied.


def err(hits: Sequence[Hit], *, top_grade: int, cutoff: int | None = None) -> float:
    """Expected 1 / rank at which the reader stops, in [0, 1).

    A document of grade g satisfies with probability (2^g - 1) / 2^top_grade. `top_grade` is the
    highest grade of the scale, not of this query; a grade above it counts as it.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.

    Notes
    -----
    Chapelle et al., CIKM 2009. gdeval, and ir_measures by it, always take 4 as the highest grade.

    Examples
    --------
    >>> err([Hit(1, 1), Hit(2, 1)], top_grade=1)
    0.625
    """
    return _stopping(within(hits, cutoff), top_grade)


def nerr(
    hits: Sequence[Hit], ideal: Sequence[int], *, top_grade: int, cutoff: int | None = None
) -> float:
    """ERR as a share of the best there could be, in [0, 1]; 0.0 where nothing is relevant.

    `ideal` holds every grade above 0, descending.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.

    Examples
    --------
    >>> nerr([Hit(2, 1)], [1], top_grade=1)
    0.5
    """
    best = ideal_err(ideal, top_grade=top_grade, cutoff=cutoff)
    return err(hits, top_grade=top_grade, cutoff=cutoff) / best if best else 0.0


def ideal_err(ideal: Sequence[int], *, top_grade: int, cutoff: int | None = None) -> float:
    """ERR of the best ranking there could be."""
    return _stopping(enumerate(ideal[:cutoff], start=1), top_grade)


def satisfaction(grade: int, top_grade: int) -> float:
    """How probable it is that a document of this grade satisfies."""
    # In powers of two apart, so that no scale is too large for a double.
    grade = min(max(grade, 0), top_grade)
    return 2.0 ** (grade - top_grade) - 2.0**-top_grade


def _stopping(graded: Iterable[tuple[int, int]], top_grade: int) -> float:
    expected, still_reading = 0.0, 1.0
    for rank, grade in graded:
        satisfied = satisfaction(grade, top_grade)
        expected += still_reading * satisfied / rank
        still_reading *= 1.0 - satisfied
    return expected
