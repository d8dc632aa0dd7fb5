"""How far two assessors agree."""

from collections import Counter
from collections.abc import Sequence


def share_equal(first: Sequence[int], second: Sequence[int]) -> float:
    """Share of items with the same grade, in [0, 1]; NaN without items.

    `first` and `second` hold one grade per item, in the same order.
    """
    pairs = list(zip(first, second, strict=True))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else float("nan")


def weighted_kappa(first: Sequence[int], second: Sequence[int]) -> float:
    """Cohen's kappa with quadratic weights; 1 is perfect, 0 what chance gives.

    NaN where it is undefined: no items, or both assessors gave one and the same grade throughout.

    Notes
    -----
    1 - sum(w O) / sum(w E) with w = (a - b)^2, O the observed and E the expected counts under
    independence: Cohen, Psychological Bulletin 70(4), 1968.

    Examples
    --------
    >>> weighted_kappa([0, 1, 2, 3], [0, 1, 2, 3])
    1.0
    >>> round(weighted_kappa([0, 0, 1, 1], [0, 1, 1, 1]), 4)
    0.5
    """
    pairs = list(zip(first, second, strict=True))
    of_first, of_second = Counter(first), Counter(second)
    observed = sum((a - b) ** 2 for a, b in pairs)
    expected = sum(
        (a - b) ** 2 * n_a * n_b for a, n_a in of_first.items() for b, n_b in of_second.items()
    )
    if not expected:
        return float("nan")
    return 1 - observed * len(pairs) / expected
