"""Grades as the most likely ones, given how often each annotator gives which grade for which.

From Dawid & Skene, Applied Statistics 28(1), 1979: every document has one true grade, every
annotator confuses grades in a way of their own, and an expectation-maximisation finds both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchwright.qrels.errors import DawidSkeneRefusedError
from benchwright.qrels.events import Pair, Rater

MAX_ITERATIONS = 100
TOLERANCE = 1e-5
MIN_RATERS = 5
MIN_SHARED = 20
# Two grades whose probabilities differ by less are equally likely: the lower one is given.
NEARLY = 1e-9

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fitted:
    """What the expectation-maximisation found.

    `probabilities` are documents x grades; `confusions[rater, true, given]` are shares whose rows
    add up to 1; `prior` is how common each grade is.
    """

    scale: tuple[int, ...]
    raters: tuple[Rater, ...]
    probabilities: Floats
    confusions: Floats
    prior: Floats
    n_iterations: int
    is_converged: bool

    @property
    def grades(self) -> list[int]:
        """The most likely grade of each document; of equally likely ones the lowest."""
        best = self.probabilities.max(axis=1, keepdims=True)
        first = (self.probabilities >= best - NEARLY).argmax(axis=1)
        return [self.scale[index] for index in first]


def refuse_if_thin(pairs: Sequence[Pair]) -> None:
    """Say why these labels are too few to tell annotators and documents apart.

    With few annotators, or few documents that two of them graded, the method still gives numbers,
    and they mean nothing.

    Raises
    ------
    DawidSkeneRefusedError
        If fewer than five annotators have 20 documents that somebody else graded too.
    """
    n_shared: dict[Rater, int] = {}
    for pair in pairs:
        for label in pair.labels:
            n_shared.setdefault(label.rater, 0)
            n_shared[label.rater] += len(pair.labels) > 1
    n_enough = sum(n >= MIN_SHARED for n in n_shared.values())
    if n_enough < MIN_RATERS:
        raise DawidSkeneRefusedError(
            n_wanted=MIN_RATERS, n_shared=MIN_SHARED, n_raters=len(n_shared), n_enough=n_enough
        )


def fit(pairs: Sequence[Pair], *, smoothing: float = 0.1) -> Fitted:
    """The most likely grades and confusions of pairs that have a label each.

    The first guess is the majority (its tied grades in equal parts). `smoothing` is added to every
    count, as a symmetric Dirichlet prior would; the result depends on nothing but the labels.
    """
    scale = tuple(sorted({grade for pair in pairs for grade in pair.grades}))
    raters = tuple(sorted({label.rater for pair in pairs for label in pair.labels}))
    items, who, grades = _columns(pairs, scale, raters)
    n_items, n_grades = len(pairs), len(scale)
    likely = _majorities(items, grades, n_items, n_grades)
    is_converged, n = False, 0
    while not is_converged and n < MAX_ITERATIONS:
        n += 1
        prior, confusions = _maximised(likely, items, who, grades, len(raters), smoothing)
        after = _expected(prior, confusions, items, who, grades, n_items)
        is_converged = bool(np.abs(after - likely).max(initial=0.0) < TOLERANCE)
        likely = after
    prior, confusions = _maximised(likely, items, who, grades, len(raters), smoothing)
    return Fitted(scale, raters, likely, confusions, prior, n, is_converged)


def _columns(
    pairs: Sequence[Pair], scale: Sequence[int], raters: Sequence[Rater]
) -> tuple[Ints, Ints, Ints]:
    """(document, rater, grade) of every label, as positions."""
    place = {grade: index for index, grade in enumerate(scale)}
    seat = {rater: index for index, rater in enumerate(raters)}
    rows = [
        (item, seat[label.rater], place[label.grade])
        for item, pair in enumerate(pairs)
        for label in sorted(pair.labels, key=lambda label: label.rater)
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _majorities(items: Ints, grades: Ints, n_items: int, n_grades: int) -> Floats:
    flat = np.bincount(items * n_grades + grades, minlength=n_items * n_grades)
    counts = flat.reshape(n_items, n_grades)
    first = (counts == counts.max(axis=1, keepdims=True)).astype(np.float64)
    shares: Floats = first / first.sum(axis=1, keepdims=True)
    return shares


def _maximised(
    likely: Floats, items: Ints, who: Ints, grades: Ints, n_raters: int, smoothing: float
) -> tuple[Floats, Floats]:
    """How common grades are, and each rater's confusions, if `likely` were true."""
    n_grades = likely.shape[1]
    prior = likely.sum(axis=0) + smoothing
    cell = who * n_grades + grades
    counts = np.stack(
        [
            np.bincount(cell, weights=likely[items, true], minlength=n_raters * n_grades)
            for true in range(n_grades)
        ],
        axis=0,
    ).reshape(n_grades, n_raters, n_grades)
    confusions = counts.transpose(1, 0, 2) + smoothing
    return prior / prior.sum(), confusions / confusions.sum(axis=2, keepdims=True)


def _expected(
    prior: Floats, confusions: Floats, items: Ints, who: Ints, grades: Ints, n_items: int
) -> Floats:
    """How likely each grade of each document is, given the confusions."""
    likelihoods = np.log(confusions)[who, :, grades]
    logs = np.stack(
        [
            np.bincount(items, weights=likelihoods[:, true], minlength=n_items)
            for true in range(len(prior))
        ],
        axis=1,
    ) + np.log(prior)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares
