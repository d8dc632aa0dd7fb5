"""Charts of scores: small ones as path data for a template, larger ones as specifications."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from benchmarks_app.charts import Chart
from benchmarks_app.reach import Reach
from scoring.core.statistics.power import detectable_differences

WIDTH, HEIGHT = 1000, 200
# Of the curve of visible differences: the fewest queries on it, and how many points it has.
SMALLEST_SIZE, POINTS = 10, 40
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


def reach_chart(name: str, reach: Reach) -> Chart:
    """The smallest visible difference by the number of queries, and where a slice stands."""
    effect = reach.n / reach.n_effective
    largest = max(reach.n * 2, reach.n_for_hundredth, SMALLEST_SIZE * 2)
    step = (largest / SMALLEST_SIZE) ** (1 / POINTS)
    sizes = sorted({round(SMALLEST_SIZE * step**place) for place in range(POINTS + 1)} | {reach.n})
    seen = detectable_differences(reach.sigma, np.array(sizes) / effect)
    rows = [
        {"queries": n, "difference": round(float(least), 5), "slice": n == reach.n}
        for n, least in zip(sizes, seen, strict=True)
    ]
    axis = {"format": ".3f", "title": "Smallest visible difference"}
    x = {
        "field": "queries",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": {"title": "Queries", "format": ",d", "tickCount": 6, "labelOverlap": True},
    }
    y = {"field": "difference", "type": "quantitative", "axis": axis}
    here = f"±{reach.detectable:.3f} with {reach.n:,}"
    return Chart(
        title="Smallest visible difference by number of queries",
        description=(
            f"{name} shows differences of {here} queries; {reach.n_for_hundredth:,} show ±0.010. "
            f"Standard deviation {reach.sigma:.3f}{', assumed' if reach.is_assumed else ''}."
        ),
        spec={
            "layer": [
                {"mark": {"type": "line"}, "encoding": {"x": x, "y": y}},
                {
                    "mark": {"type": "rule", "strokeDash": [4, 4], "color": "$text-2"},
                    "encoding": {"y": {"datum": 0.01}},
                },
                {
                    "transform": [{"filter": "datum.slice"}],
                    "mark": {"type": "point", "filled": True, "size": 110},
                    "encoding": {"x": x, "y": y},
                },
                {
                    "transform": [{"filter": "datum.slice"}],
                    "mark": {"type": "text", "align": "left", "dx": 9, "dy": -9, "color": "$text"},
                    "encoding": {"x": x, "y": y, "text": {"value": here}},
                },
            ]
        },
        rows=rows,
    )
