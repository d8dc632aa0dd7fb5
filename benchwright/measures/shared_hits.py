"""Hits of one query that many measures are asked of: what several need of them is found once."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import compress
from operator import itemgetter

from benchwright.errors import CutoffError, RelevanceThresholdError
from benchwright.reading.hits import Hit

# --- Hits of one query that many measures are asked of: what several need of them is found once.

FEW = 12
"""To go through so many hits again is as quick as to remember what was found of them."""

_rank, _grade = itemgetter(0), itemgetter(1)


class SharedHits(tuple[Hit, ...]):
    """Hits that remember what measures find of them; nobody may change what they remember.

    A measure takes any hits. Of these its value is the same, and is found sooner after others.
    `first` holds the hits down to a cutoff, `ranks` those of the hits from a grade on, and
    `linear_terms` what each hit with a gain adds to the DCG.
    """

    first: dict[int, Sequence[Hit]]
    ranks: dict[int, Sequence[int]]
    linear_terms: Sequence[float] | None
    _graded: tuple[Sequence[int], int] | None

    def graded(self) -> tuple[Sequence[int], int]:
        """The grades, in the order of the hits, and the lowest of them."""
        if self._graded is None:
            grades = list(map(_grade, self))
            self._graded = grades, min(grades)
        return self._graded


def shared(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The hits, to be asked of many measures.

    Examples
    --------
    >>> shared((Hit(2, 1), Hit(3, 0))) == (Hit(2, 1), Hit(3, 0))
    True
    """
    if len(hits) <= FEW:
        return hits
    remembering = SharedHits(hits)
    remembering.first, remembering.ranks = {}, {}
    remembering.linear_terms = remembering._graded = None
    return remembering


def grades_of(hits: Sequence[Hit]) -> Sequence[int]:
    """The grades, in the order of the hits."""
    return hits.graded()[0] if isinstance(hits, SharedHits) else [grade for _, grade in hits]


def ranks_from(hits: Sequence[Hit], lowest: int) -> Sequence[int]:
    """Ranks, ascending, of the hits of this grade or more."""
    if not isinstance(hits, SharedHits):
        return [rank for rank, grade in hits if grade >= lowest]
    ranks = hits.ranks.get(lowest)
    if ranks is None:
        ranks = hits.ranks[lowest] = _ranks_from(hits, lowest)
    return ranks


def _ranks_from(hits: SharedHits, lowest: int) -> Sequence[int]:
    grades, lowest_found = hits.graded()
    # What most ask needs no comparison for each: where all are judged, only 0 is below 1.
    is_usual = lowest == 1 and lowest_found >= 0
    counted = grades if is_usual else [grade >= lowest for grade in grades]
    return list(map(_rank, compress(hits, counted)))


def n_judged(hits: Sequence[Hit]) -> int:
    """How many of the hits have a grade of 0 or more."""
    if isinstance(hits, SharedHits) and hits.graded()[1] >= 0:
        return len(hits)
    return sum([grade >= 0 for _, grade in hits])


def first_of(hits: Sequence[Hit], cutoff: int) -> Sequence[Hit]:
    """The hits down to the cutoff, of hits that go on beyond it."""
    if not isinstance(hits, SharedHits):
        return hits[: bisect_right(hits, cutoff, key=_rank)]
    first = hits.first.get(cutoff)
    if first is None:
        first = hits.first[cutoff] = shared(hits[: bisect_right(hits, cutoff, key=_rank)])
    return first


# --- What every measure does with its cutoff and its relevance threshold.


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
