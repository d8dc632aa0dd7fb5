"""How many practice documents one has to grade right, so that guessing does not do."""

from collections import Counter
from collections.abc import Sequence
from math import comb

# Guessing gets through less than once in a hundred times.
GUESSED = 0.01


def chance_to_pass(mark: int, known_grades: Sequence[int], n_grades: int) -> float:
    """The chance that somebody who does not read has `mark` grades right, or more.

    The best of three who do not read: one takes any grade, one takes grades as often as they come
    up in `known_grades`, one gives the most common grade throughout.

    >>> known = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3]
    >>> chance_to_pass(4, known, 4), round(chance_to_pass(7, known, 4), 4)
    (1.0, 0.007)
    """
    n, counts = len(known_grades), Counter(known_grades)
    if mark <= max(counts.values(), default=0):
        return 1.0
    share = max(1 / max(n_grades, 1), sum(count * count for count in counts.values()) / n**2)
    return 1.0 - at_most(mark - 1, n, share)


def usual_mark(known_grades: Sequence[int], n_grades: int) -> int:
    """The lowest mark that guessing reaches less than once in a hundred times; all of the
    documents where they are too few for any to be.

    >>> usual_mark([0, 0, 0, 0, 1, 1, 2, 2, 3, 3], 4), usual_mark([0, 1], 4), usual_mark([], 4)
    (7, 2, 0)
    """
    marks = range(1, len(known_grades) + 1)
    safe = (mark for mark in marks if chance_to_pass(mark, known_grades, n_grades) < GUESSED)
    return next(safe, len(known_grades))


def at_most(k: int, n: int, share: float) -> float:
    """The chance of `k` or fewer of `n`, each with this chance (the binomial distribution)."""
    return sum(comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k + 1))
