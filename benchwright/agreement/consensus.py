"""Each label beside what the others say of the same document."""

import numpy as np

from benchwright.agreement.labels import Ints, Labels

NOBODY = -1


def consensus_of_others(labels: Labels) -> Ints:
    """For each label the lower median of the item's other labels, as a position on the scale.

    -1 where nobody else labelled the item. No rater is compared with a consensus that holds their
    own grade.
    """
    counts = labels.counts()
    by_own = np.stack(
        [_lower_median_without(counts, grade) for grade in range(labels.n_grades)], axis=1
    )
    return by_own[labels.items, labels.grades]


def _lower_median_without(counts: Ints, grade: int) -> Ints:
    """The lower median of each item's labels, one label of `grade` taken away."""
    others = counts.copy()
    others[:, grade] -= 1
    n_others = others.sum(axis=1)
    upto = others.cumsum(axis=1)
    middle = (n_others - 1) // 2
    medians = (upto <= middle[:, None]).sum(axis=1)
    return np.where((n_others > 0) & (others[:, grade] >= 0), medians, NOBODY)


def confusion(labels: Labels, consensus: Ints) -> Ints:
    """Grades x grades: how often the others' consensus (row) met which grade (column)."""
    known = consensus != NOBODY
    g = labels.n_grades
    flat = consensus[known] * g + labels.grades[known]
    return np.bincount(flat, minlength=g * g).reshape(g, g)
