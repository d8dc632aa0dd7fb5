"""p-values that stay honest when several tests are read together.

All take p-values along the last axis (one family of tests a row) and return adjusted ones in the
same places. A NaN is no test: it stays NaN and does not count.
"""

import numpy as np

from benchwright.statistics.families import Floats


def holm(p: Floats) -> Floats:
    """Family-wise error rate: the chance of even one false finding is bounded. Holm, 1979.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    ordered, order, n_tests = _ascending(p)
    weight = np.maximum(n_tests - np.arange(p.shape[-1]), 1)
    return _in_place(np.maximum.accumulate(ordered * weight, axis=-1), order)


def benjamini_hochberg(p: Floats) -> Floats:
    """False discovery rate: the expected share of false findings among the findings is bounded.

    Benjamini and Hochberg, JRSS B 57, 1995.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    ordered, order, n_tests = _ascending(p)
    raised = ordered * n_tests / np.arange(1, p.shape[-1] + 1)
    smallest_of_rest = np.fmin.accumulate(raised[..., ::-1], axis=-1)[..., ::-1]
    return _in_place(np.where(np.isnan(ordered), np.nan, smallest_of_rest), order)


def _ascending(p: Floats) -> tuple[Floats, np.ndarray[tuple[int, ...], np.dtype[np.intp]], Floats]:
    """Sorted p-values with NaN last, where each came from, and how many are tests."""
    order = np.argsort(p, axis=-1, kind="stable")
    n_tests = np.count_nonzero(~np.isnan(p), axis=-1, keepdims=True).astype(np.float64)
    return np.take_along_axis(p, order, axis=-1), order, n_tests


def _in_place(adjusted: Floats, order: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Floats:
    back = np.empty_like(adjusted)
    np.put_along_axis(back, order, np.minimum(adjusted, 1.0), axis=-1)
    return back
