"""One grade of several, by counting or by order."""

from collections import Counter
from collections.abc import Sequence


def lower_median(grades: Sequence[int]) -> int:
    """The middle grade; of two middle ones the lower.

    `grades` holds one grade of each annotator, at least one, in any order.

    Examples
    --------
    >>> lower_median([3, 0, 2])
    2
    >>> lower_median([3, 2])
    2
    """
    return sorted(grades)[(len(grades) - 1) // 2]


def upper_median(grades: Sequence[int]) -> int:
    """The middle grade; of two middle ones the higher.

    Examples
    --------
    >>> upper_median([3, 2])
    3
    """
    return sorted(grades)[len(grades) // 2]


def majority(grades: Sequence[int]) -> int:
    """The grade that most annotators gave; of grades given equally often, the lowest.

    Examples
    --------
    >>> majority([3, 1, 3])
    3
    >>> majority([3, 1])
    1
    """
    counted = Counter(grades)
    most = max(counted.values())
    return min(grade for grade, n in counted.items() if n == most)
