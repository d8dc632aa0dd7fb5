"""Gain without one cutoff: trec_eval's experimental measures of Chris Buckley (2008)."""

from collections.abc import Sequence
from itertools import accumulate, groupby
from math import log2

from scoring.core.measures.checks import relevant_ranks
from scoring.core.measures.gain import Gains, gain_of, ndcg
from scoring.core.reading.hits import Hit


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
    found, total, n_found = 0.0, 0.0, 0
    for rank, grade in hits:
        found += gain(grade) / log2(rank + 1)
        if gain(grade) > 0:
            total += found / best[min(rank, len(ideal))]
            n_found += 1
    if not ideal:
        return 0.0
    return max((total + (len(ideal) - n_found) * found / best[-1]) / len(ideal), 0.0)


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
