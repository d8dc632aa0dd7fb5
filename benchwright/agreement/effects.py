"""How much settling a disagreement could move runs apart: what the inbox is sorted by."""

from collections.abc import Sequence
from math import log2

CUTOFF = 10
# Below this, all that remains open could hardly change how two runs compare.
NEGLIGIBLE = 0.001


def discount(rank: int | None) -> float:
    """What nDCG@10 makes of a grade at a rank; 0 below the cutoff or where a run has it not."""
    return 1 / log2(rank + 1) if rank is not None and rank <= CUTOFF else 0.0


def ideal_gain(grades: Sequence[int]) -> float:
    """The gain of the best possible first ten documents of a query."""
    best = sorted((grade for grade in grades if grade > 0), reverse=True)[:CUTOFF]
    return sum(grade * discount(rank) for rank, grade in enumerate(best, start=1))


def mean_difference(values: Sequence[float]) -> float:
    """The mean of |a - b| over all pairs of values; 0 where there are fewer than two."""
    n = len(values)
    if n < 2:
        return 0.0
    # In ascending order, the value at place i is added i times and taken off n - 1 - i times.
    total = sum((2 * place - n + 1) * value for place, value in enumerate(sorted(values)))
    return total / (n * (n - 1) / 2)


def effect(grades: Sequence[int], ranks: Sequence[int | None], ideal: float) -> float:
    """By how much nDCG@10 of two runs may move apart on a query, on average over pairs of runs.

    Parameters
    ----------
    grades
        The grades that a document was given.
    ranks
        Its rank in each run of the pool, None where a run does not have it.
    ideal
        The gain of the query's best ranking, as labels are now; 0 where nothing is relevant yet.

    Notes
    -----
    (highest - lowest grade) x mean |disc(a) - disc(b)| / ideal: what changes when the document
    gets the one grade instead of the other and the ideal stays. With nothing relevant, the document
    itself would be the ideal.

    Examples
    --------
    >>> effect([3, 0], [1, None], ideal=3.0)
    1.0
    >>> effect([3, 0], [1, 1], ideal=3.0)
    0.0
    """
    apart = max(grades) - min(grades)
    scale = ideal or float(max(grades))
    if not apart or scale <= 0:
        return 0.0
    return apart * mean_difference([discount(rank) for rank in ranks]) / scale
