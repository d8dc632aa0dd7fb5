"""p-values of many slices, looked at to find where a difference is rather than to decide."""

from collections.abc import Collection, Iterable

import numpy as np

from scoring.core.statistics.aligning import OVERALL
from scoring.core.statistics.comparison import Pair
from scoring.core.statistics.corrections import benjamini_hochberg

PlaceOfPair = tuple[str, str, str, str]
"""Measure, slice, run and reference."""


def slice_p_values(
    pairs: Iterable[Pair], *, without: Collection[str] = ()
) -> dict[PlaceOfPair, float]:
    """Benjamini-Hochberg's p of each pair over a slice: all slices of one measure together.

    `OVERALL` is no slice, and those named in `without` are left out. Overlapping slices depend on
    each other positively, where the false discovery rate still holds (Benjamini and Yekutieli,
    Annals of Statistics 29, 2001).
    """
    by_measure: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.slice != OVERALL and pair.slice not in without:
            by_measure.setdefault(pair.measure, []).append(pair)
    found = {}
    for measure, of in by_measure.items():
        adjusted = benjamini_hochberg(np.array([pair.p for pair in of]))
        for pair, p in zip(of, adjusted.tolist(), strict=True):
            found[measure, pair.slice, pair.run, pair.reference] = p
    return found
