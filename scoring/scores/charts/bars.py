"""Values as bars, small enough for a template: path data."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

WIDTH, HEIGHT = 1000, 200
GAP_BELOW = 200  # with more bars than this a gap between them could not be seen


@dataclass(frozen=True)
class SortedBars:
    """One bar a value, highest first, in a box of 1000 by 200; and what a caption tells of it.

    The box is 1 high, or as high as the highest bar where that is more; below 0 there is no bar.
    """

    path: str
    mean_y: float
    n: int
    n_zero: int
    n_full: int
    n_undefined: int
    top: float = 1.0
    width: int = WIDTH
    height: int = HEIGHT


def sorted_bars(values: Sequence[float]) -> SortedBars:
    """Bars of values, NaN left out and counted.

    Examples
    --------
    >>> sorted_bars([0.0, 1.0]).path
    'M0 200V0H480V200ZM500 200V200H980V200Z'
    """
    defined = sorted((value for value in values if not isnan(value)), reverse=True)
    top = max([1.0, *defined[:1]])
    step = WIDTH / max(len(defined), 1)
    width = step * (0.96 if len(defined) < GAP_BELOW else 1)
    bars = (
        f"M{place * step:.5g} {HEIGHT}V{HEIGHT * (1 - max(value, 0) / top):.5g}"
        f"H{place * step + width:.5g}V{HEIGHT}Z"
        for place, value in enumerate(defined)
    )
    mean = sum(defined) / len(defined) if defined else 0.0
    return SortedBars(
        path="".join(bars),
        mean_y=round(HEIGHT * (1 - max(mean, 0) / top), 1),
        n=len(defined),
        n_zero=sum(value == 0 for value in defined),
        n_full=sum(value == 1 for value in defined),
        n_undefined=len(values) - len(defined),
        top=top,
    )
