"""Head, torso and tail: queries by how often they were asked.

The head is the `head_share` of the distinct queries that were asked most, the tail the `tail_share`
asked least, the torso what lies between. A cut may fall among queries that were asked equally
often; no order between them means anything, so all of them go to the torso. Head and tail thus
hold at most their share, and a query's band depends on nothing but its count.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from benchwright.errors import BenchmarkError
from benchwright.recipes import sampling

HEAD_SHARE: float = sampling.HEAD_SHARE.default
TAIL_SHARE: float = sampling.TAIL_SHARE.default


class Band(StrEnum):
    """How often a query is asked, beside the others; in the order in which people read them."""

    HEAD = "head"
    TORSO = "torso"
    TAIL = "tail"


class FrequencyError(BenchmarkError, code="no-frequency-bands"):
    """Counts that tell no head from a tail."""

    message = "{why}"


@dataclass(frozen=True, slots=True)
class Part:
    """One band: its distinct queries, and how often they were asked together."""

    n_queries: int
    n_traffic: int


@dataclass(frozen=True, slots=True)
class FrequencyCuts:
    """The two cuts through one set of counts.

    A query asked more than `head_above` times is head, one asked less than `tail_below` times
    tail, any other torso.
    """

    head_above: int
    tail_below: int
    head: Part
    torso: Part
    tail: Part

    @property
    def parts(self) -> dict[Band, Part]:
        """Each band's size, head first."""
        return {Band.HEAD: self.head, Band.TORSO: self.torso, Band.TAIL: self.tail}

    @property
    def n_queries(self) -> int:
        return sum(part.n_queries for part in self.parts.values())

    @property
    def n_traffic(self) -> int:
        return sum(part.n_traffic for part in self.parts.values())

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be said of bands that nobody is in, and why; usually nothing."""
        notes = []
        if not self.head.n_queries:
            notes.append(
                f"No query is head: the queries asked most were asked {self.head_above:,} times "
                f"each, and there are too many of them for the share of the head."
            )
        if not self.tail.n_queries:
            often = "once" if self.tail_below == 1 else f"{self.tail_below:,} times"
            notes.append(
                f"No query is tail: too many were asked only {often}, the least "
                "of all, so the cut falls among them and they are torso. A larger share of the "
                "tail, one that takes them all in, makes them tail."
            )
        return tuple(notes)


def frequency_cuts(
    counts: Sequence[int] | NDArray[np.int64],
    *,
    head_share: float = HEAD_SHARE,
    tail_share: float = TAIL_SHARE,
) -> FrequencyCuts:
    """Where head and tail are cut off, of distinct queries asked `counts` times.

    Parameters
    ----------
    counts
        One number above 0 for each distinct query, in any order.

    Raises
    ------
    FrequencyError
        If there is no query, if every query was asked equally often (once each, as in a log
        without counts), if a count is below 1, or if the two shares are no shares that fit
        beside each other.

    Examples
    --------
    Of ten queries half are tail. The cut falls among the three that were asked twice:

    >>> cuts = frequency_cuts([90, 9, 8, 7, 2, 2, 2, 1, 1, 1], head_share=0.1)
    >>> [(str(band), part.n_queries) for band, part in cuts.parts.items()]
    [('head', 1), ('torso', 6), ('tail', 3)]
    """
    n_head, n_tail = _sizes(len(counts), head_share, tail_share)
    ordered = np.sort(np.asarray(counts, dtype=np.int64))
    _refuse_flat(ordered)
    # The first query outside of each band, counted from its own end.
    head_above = int(ordered[len(ordered) - 1 - n_head])
    tail_below = int(ordered[n_tail])
    below = int(np.searchsorted(ordered, tail_below, side="left"))
    above = int(np.searchsorted(ordered, head_above, side="right"))
    return FrequencyCuts(
        head_above=head_above,
        tail_below=tail_below,
        head=_part(ordered[above:]),
        torso=_part(ordered[below:above]),
        tail=_part(ordered[:below]),
    )


def _sizes(n: int, head_share: float, tail_share: float) -> tuple[int, int]:
    """How many queries each band may have at most; 5 % of 100 is 5, whatever floats make of it."""
    head, tail = Fraction(str(head_share)), Fraction(str(tail_share))
    if not (0 < head < 1 and 0 < tail < 1 and head + tail < 1):
        raise FrequencyError(
            why=f"Head {head_share:g} and tail {tail_share:g} are no shares that leave room for "
            "a torso; give each above 0, together below 1, such as 0.05 and 0.5."
        )
    return int(n * head), int(n * tail)


def _refuse_flat(ordered: NDArray[np.int64]) -> None:
    if not len(ordered):
        raise FrequencyError(
            why="No query has a count, so there is no head and no tail. "
            "Import a log, or queries with a column frequency."
        )
    least, most = int(ordered[0]), int(ordered[-1])
    if least < 1:
        raise FrequencyError(
            why=f"A query was asked {least} times; a count is a whole number above 0."
        )
    if least == most:
        times = "once" if least == 1 else f"{least:,} times"
        raise FrequencyError(
            why=f"Every query was asked {times}, so none is more frequent than another and there "
            "is no head and no tail. Upload a log with a column of counts, or one row for each "
            "time a query was asked, over a longer time."
        )


def _part(counts: NDArray[np.int64]) -> Part:
    return Part(len(counts), int(counts.sum()))
