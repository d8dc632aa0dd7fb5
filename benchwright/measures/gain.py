"""Discounted cumulative gain, as it is and as a share of the best there could be."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, groupby
from math import log2, nan
from operator import truediv
from typing import Literal

from benchwright.errors import CutoffError, GradeTooLargeError
from benchwright.measures.shared_hits import SharedHits, ranks_from, relevant_ranks, within
from benchwright.reading.hits import Hit

# --- Discounted cumulative gain, as it is and as a share of the best there could be.

Gain = Literal["log2", "exp-log2"]
"""`log2`: a grade is its gain. `exp-log2`: 2^grade - 1. Both divide by log2(rank + 1)."""

Gains = Mapping[int, float]
"""The gain of each grade that is not its own gain."""

LARGEST_EXPONENT = 1000

DISCOUNTS = tuple(map(log2, range(2, 1026)))
"""log2(rank + 1) of the first ranks, for what is asked of every query."""

DISCOUNT_OF = (nan, *DISCOUNTS)
"""The same by rank."""


def ndcg(
    hits: Sequence[Hit],
    ideal: Sequence[int],
    *,
    cutoff: int | None = None,
    dcg: Gain = "log2",
    gains: Gains | None = None,
) -> float:
    """nDCG of one query, in [0, 1]; 0.0 where no judged document has a gain.

    Parameters
    ----------
    hits
        Rank (from 1, ascending) and grade of each judged document retrieved.
    ideal
        Every grade of the query whose gain is above 0, by gain descending (`ideal_grades`).
    cutoff
        Ranks counted, at least 1; all where it is None.
    dcg, gains
        The gain of a grade; `gains` goes before `dcg`. A gain below 0 counts against the run, which
        may then come out below 0.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.
    GradeTooLargeError
        If the gain is exponential and a grade above 1000.

    Notes
    -----
    Linear gain, discount log2(rank + 1): trec_eval `ndcg` and `ndcg_cut`. From Järvelin &
    Kekäläinen, TOIS 20(4), 2002, whose own discount differs at the first ranks. Exponential gain:
    Burges et al., ICML 2005.

    Examples
    --------
    >>> round(ndcg([Hit(rank=2, grade=3)], [3], cutoff=10), 4)
    0.6309
    """
    gained = discounted_gain(hits, cutoff=cutoff, dcg=dcg, gains=gains)
    best = ideal_gain(ideal, cutoff=cutoff, dcg=dcg, gains=gains)
    return gained / best if best else 0.0


def discounted_gain(
    hits: Sequence[Hit],
    *,
    cutoff: int | None = None,
    dcg: Gain = "log2",
    gains: Gains | None = None,
) -> float:
    """DCG of one query, from 0 up without a limit; see `ndcg`. trec_eval `dcg`.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.
    GradeTooLargeError
        If the gain is exponential and a grade above 1000.

    Examples
    --------
    >>> discounted_gain([Hit(rank=1, grade=2), Hit(rank=3, grade=2)], dcg="exp-log2")
    4.5
    """
    counted = within(hits, cutoff)
    if gains is None and dcg == "log2":
        # The common case, without a call for each grade.
        return sum(_linear_terms(counted), start=0.0)
    return _sum(counted, gain_of(dcg, gains))


def _linear_terms(hits: Sequence[Hit]) -> Sequence[float]:
    if not isinstance(hits, SharedHits) or hits[-1][0] >= len(DISCOUNT_OF):
        return [grade / log2(rank + 1) for rank, grade in hits if grade > 0]
    if hits.linear_terms is None:
        grades, lowest = hits.graded()
        gains = filter(None, grades) if lowest >= 0 else [grade for grade in grades if grade > 0]
        graded = zip(gains, ranks_from(hits, 1), strict=True)
        hits.linear_terms = [grade / DISCOUNT_OF[rank] for grade, rank in graded]
    return hits.linear_terms


def ideal_gain(
    ideal: Sequence[int],
    *,
    cutoff: int | None = None,
    dcg: Gain = "log2",
    gains: Gains | None = None,
) -> float:
    """The DCG of the best ranking there could be, from 0 up. trec_eval `ideal_dcg`.

    `ideal` is as `ndcg` takes it.

    Raises
    ------
    CutoffError
        If `cutoff` is below 1.
    GradeTooLargeError
        If the gain is exponential and a grade above 1000.

    Examples
    --------
    >>> ideal_gain([2, 1, 1], cutoff=1)
    2.0
    """
    if cutoff is not None and cutoff < 1:
        raise CutoffError(cutoff=cutoff)
    n_counted = min(cutoff or len(ideal), len(ideal))
    if gains is None and dcg == "log2" and n_counted <= len(DISCOUNTS):
        return sum(map(truediv, ideal[:cutoff], DISCOUNTS), start=0.0)
    return _sum(enumerate(ideal[:cutoff], start=1), gain_of(dcg, gains))


def ideal_grades(grades: Iterable[int], gains: Gains | None = None) -> tuple[int, ...]:
    """The grades whose gain is above 0, by gain descending.

    Examples
    --------
    >>> ideal_grades([1, -1, 2, 0, 3], gains={1: 5.0, 3: 0.0})
    (1, 2)
    """
    gain = gain_of("log2", gains)
    return tuple(sorted((grade for grade in grades if gain(grade) > 0), key=gain, reverse=True))


def gain_of(dcg: Gain, gains: Gains | None) -> Callable[[int], float]:
    """The gain of a grade; a grade below 0 is not judged and has none."""
    if gains is not None:
        return lambda grade: float(gains.get(grade, grade)) if grade >= 0 else 0.0
    return _exponential if dcg == "exp-log2" else _linear


def _sum(graded: Iterable[tuple[int, int]], gain: Callable[[int], float]) -> float:
    return sum((gain(grade) / log2(rank + 1) for rank, grade in graded), start=0.0)


def _linear(grade: int) -> float:
    return float(max(grade, 0))


def _exponential(grade: int) -> float:
    if grade > LARGEST_EXPONENT:
        raise GradeTooLargeError(grade=grade, largest=LARGEST_EXPONENT)
    return 2.0 ** max(grade, 0) - 1.0


# --- Gain without one cutoff: trec_eval's experimental measures of Chris Buckley (2008).


def binary_g(hits: Sequence[Hit], n_relevant: int, *, rel: int = 1) -> float:
    """Mean over all relevant documents of 1 / log2(2 + non-relevant above), in [0, 1].

    A document that was not retrieved counts 0; an unjudged one above is non-relevant. 0.0 where no
    judged document is relevant. trec_eval `binG`.

    Raises
    ------
    RelevanceThresholdError
        If `rel` is below 1.

    Examples
    --------
    >>> binary_g([Hit(1, 1), Hit(4, 1)], n_relevant=2)
    0.75
    """
    ranks = relevant_ranks(hits, rel=rel)
    worth = sum(1 / log2(2 + rank - above) for above, rank in enumerate(ranks, start=1))
    return worth / n_relevant if n_relevant else 0.0


def graded_g(hits: Sequence[Hit], ideal: Sequence[int], *, gains: Gains | None = None) -> float:
    """G, normalised gain, in [0, 1]; 0.0 where no judged document has a gain.

    A document counts gain / log2(2 + what the best ranking had gained to here - what this one has),
    where the best ranking gains at least 1 a rank; the sum is divided by all gain there is. `ideal`
    is as `gain.ndcg` takes it. trec_eval `G`.

    Examples
    --------
    >>> graded_g([Hit(1, 2), Hit(4, 1)], [2, 1])
    0.8333333333333334
    """
    gain = gain_of("log2", gains)
    best = [gain(grade) for grade in ideal]
    costs = list(accumulate((max(worth, 1.0) for worth in best), initial=0.0))
    worth, gained = 0.0, 0.0
    for rank, grade in hits:
        gained += gain(grade)
        cost = costs[min(rank, len(best))] + max(rank - len(best), 0)
        worth += gain(grade) / log2(2 + cost - gained)
    return worth / sum(best) if best else 0.0


def ndcg_at_relevant(
    hits: Sequence[Hit], ideal: Sequence[int], *, gains: Gains | None = None
) -> float:
    """Mean of nDCG at the rank of each document with a gain, in [0, 1]; 0.0 where there is none.

    A document that was not retrieved counts the nDCG of the whole ranking. `ideal` is as
    `gain.ndcg` takes it. trec_eval `ndcg_rel`.

    Examples
    --------
    >>> round(ndcg_at_relevant([Hit(1, 1), Hit(3, 1)], [1, 1, 1]), 4)
    0.8026
    """
    gain = gain_of("log2", gains)
    terms = (gain(grade) / log2(rank) for rank, grade in enumerate(ideal, start=2))
    best = list(accumulate(terms, initial=0.0))
    gained, total, n_found = 0.0, 0.0, 0
    for rank, grade in hits:
        gained += gain(grade) / log2(rank + 1)
        if gain(grade) > 0:
            total += gained / best[min(rank, len(ideal))]
            n_found += 1
    if not ideal:
        return 0.0
    return max((total + (len(ideal) - n_found) * gained / best[-1]) / len(ideal), 0.0)


def ndcg_at_levels(
    hits: Sequence[Hit],
    ideal: Sequence[int],
    n_retrieved: int,
    n_relevant: int,
    *,
    gains: Gains | None = None,
    rel: int = 1,
) -> float:
    """Mean of nDCG where the best ranking goes from one gain to the next, in [0, 1].

    These ranks are the number of documents of the highest gain, of the two highest, and so on down
    to all with a gain, and the end of the ranking if that is more than one rank further. 0.0 where
    no judged document has a gain, or none the grade `rel`, which is all that `rel` does. `ideal` is
    as `gain.ndcg` takes it. trec_eval `Rndcg`.

    Examples
    --------
    >>> round(ndcg_at_levels([Hit(1, 1), Hit(2, 2)], [2, 1], n_retrieved=2, n_relevant=2), 4)
    0.6799
    """
    ranks = level_ranks(ideal, n_retrieved, gains=gains) if n_relevant else []
    values = [ndcg(hits, ideal, cutoff=rank, gains=gains) for rank in ranks]
    return sum(values) / len(values) if values else 0.0


def level_ranks(ideal: Sequence[int], n_retrieved: int, *, gains: Gains | None = None) -> list[int]:
    """The ranks at which `ndcg_at_levels` looks."""
    levels = groupby(map(gain_of("log2", gains), ideal))
    ranks = list(accumulate(len(list(level)) for _, level in levels))
    return [*ranks, n_retrieved] if ranks and n_retrieved > len(ideal) + 1 else ranks
