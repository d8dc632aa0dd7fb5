"""Agreement of any number of raters, from items x grades counts."""

from enum import StrEnum

import numpy as np

from benchwright.agreement.labels import Floats, Ints
from benchwright.agreement.measured import Measured

NO_PAIRS = "no document has two labels"
ONE_GRADE = "everybody gave one and the same grade, so there is nothing to tell from chance"


class Level(StrEnum):
    """What of grades counts: that they differ, how many lie between, or by how much."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


class Weights(StrEnum):
    """How much of an agreement two grades are that are not the same."""

    NONE = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


def percent_agreement(counts: Ints) -> Measured:
    """Share of the pairs of labels of an item that are equal, averaged over items, in [0, 1]."""
    doubled, n_each = _with_pairs(counts)
    if not len(doubled):
        return Measured.undefined(NO_PAIRS)
    equal = (doubled * (doubled - 1)).sum(axis=1) / (n_each * (n_each - 1))
    return Measured(float(equal.mean()), len(doubled))


def fleiss(counts: Ints) -> Measured:
    """Fleiss' kappa, over the items that have the most common number of labels, two at least.

    The coefficient is defined for a fixed number of raters: items with another number are left
    out, and `n_items` says how many are left.
    """
    doubled, n_each = _with_pairs(counts)
    if not len(doubled):
        return Measured.undefined(NO_PAIRS)
    sizes, how_often = np.unique(n_each, return_counts=True)
    n = int(sizes[how_often == how_often.max()].max())
    doubled = doubled[n_each == n]
    shares = doubled.sum(axis=0) / doubled.sum()
    expected = float((shares**2).sum())
    if _is_one_grade(doubled):
        return Measured.undefined(ONE_GRADE, len(doubled))
    observed = float(((doubled * (doubled - 1)).sum(axis=1) / (n * (n - 1))).mean())
    return Measured((observed - expected) / (1 - expected), len(doubled))


def krippendorff(counts: Ints, scale: tuple[int, ...], level: Level) -> Measured:
    """Krippendorff's alpha: 1 - observed / expected disagreement; items with one label say nothing.

    Notes
    -----
    With coincidences o and their sums n_c: 1 - (n - 1) sum(o d) / sum(n_c n_k d). The distance d is
    1 for different grades (nominal), (a - b)^2 (interval), or the square of the labels that lie
    between two grades, half of each grade's own included (ordinal). Krippendorff, Content Analysis,
    chapter 12.
    """
    doubled, _ = _with_pairs(counts)
    if not len(doubled):
        return Measured.undefined(NO_PAIRS)
    if _is_one_grade(doubled):
        return Measured.undefined(ONE_GRADE, len(doubled))
    o = coincidences(doubled)
    return Measured(float(alphas(o[None], scale, level)[0]), len(doubled))


def coincidences(counts: Ints) -> Floats:
    """Grades x grades: pairs of labels of one item, each weighted so that a label counts once."""
    doubled, n_each = _with_pairs(counts)
    weighted = doubled / (n_each - 1)[:, None]
    return weighted.T @ doubled - np.diag(weighted.sum(axis=0))


def alphas(matrices: Floats, scale: tuple[int, ...], level: Level) -> Floats:
    """Alpha of each coincidence matrix of a stack; NaN where it is undefined."""
    sums = matrices.sum(axis=1)
    totals = sums.sum(axis=1)
    d = _distances(sums, scale, level)
    observed = (matrices * d).sum(axis=(1, 2))
    expected = (sums[:, :, None] * sums[:, None, :] * d).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = 1 - (totals - 1) * observed / expected
    defined: Floats = np.where(expected > 0, values, np.nan)
    return defined


def _distances(sums: Floats, scale: tuple[int, ...], level: Level) -> Floats:
    """Squared distances between grades, for each row of label counts."""
    n, g = sums.shape
    if level is Level.NOMINAL:
        return np.broadcast_to(1.0 - np.eye(g), (n, g, g))
    if level is Level.INTERVAL:
        values = np.array(scale, dtype=np.float64)
        return np.broadcast_to((values[:, None] - values[None, :]) ** 2, (n, g, g))
    upto = sums.cumsum(axis=1)
    middle = upto - sums / 2  # labels below a grade, and half of its own
    between = middle[:, :, None] - middle[:, None, :]
    return between**2


def agreement_weights(n_grades: int, weights: Weights) -> Floats:
    """Grades x grades: 1 on the diagonal, less the further apart two grades are on the scale."""
    if weights is Weights.NONE or n_grades < 2:
        return np.eye(n_grades)
    place = np.arange(n_grades)
    apart = np.abs(place[:, None] - place[None, :]) / (n_grades - 1)
    away: Floats = apart if weights is Weights.LINEAR else apart**2
    return 1.0 - away


def gwet(counts: Ints, weights: Weights = Weights.NONE) -> Measured:
    """Gwet's AC1, or AC2 with weights: chance agreement that does not rise with a common grade.

    Notes
    -----
    (pa - pe) / (1 - pe); pa over the items with two labels or more; pe = T / (q (q - 1))
    sum(p (1 - p)) with T the sum of all weights, q the grades of the scale, and p the mean share of
    each grade over all items that have a label. Gwet, British Journal of Mathematical and
    Statistical Psychology 61, 2008, and Handbook of Inter-Rater Reliability, 4th edition, 2014.
    """
    doubled, n_each = _with_pairs(counts)
    q = counts.shape[1]
    if not len(doubled):
        return Measured.undefined(NO_PAIRS)
    if q < 2:
        return Measured.undefined("the scale has one grade", len(doubled))
    w = agreement_weights(q, weights)
    near = doubled @ w
    pa = float(((doubled * (near - 1)).sum(axis=1) / (n_each * (n_each - 1))).mean())
    labelled = counts[counts.sum(axis=1) > 0]
    shares = (labelled / labelled.sum(axis=1, keepdims=True)).mean(axis=0)
    pe = float(w.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum())
    return Measured((pa - pe) / (1 - pe), len(doubled))


def _with_pairs(counts: Ints) -> tuple[Ints, Ints]:
    """Rows with two labels or more, and how many labels each has."""
    n_each = counts.sum(axis=1)
    return counts[n_each > 1], n_each[n_each > 1]


def _is_one_grade(counts: Ints) -> bool:
    return bool((counts.sum(axis=0) > 0).sum() < 2)
