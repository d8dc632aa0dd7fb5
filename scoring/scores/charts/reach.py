"""The smallest visible difference by the number of queries."""

import numpy as np

from benchmarks_app.charts import Chart
from benchmarks_app.reach import Reach
from benchwright.statistics.power import LARGEST, detectable_differences

# Of the curve of visible differences: the fewest queries on it, and how many points it has.
SMALLEST_SIZE, POINTS = 10, 40


def reach_chart(name: str, reach: Reach) -> Chart:
    """The smallest visible difference by the number of queries, and where a slice stands."""
    effect = reach.n / reach.n_effective
    largest = max(reach.n * 2, reach.n_for_hundredth, SMALLEST_SIZE * 2)
    step = (largest / SMALLEST_SIZE) ** (1 / POINTS)
    sizes = sorted({round(SMALLEST_SIZE * step**place) for place in range(POINTS + 1)} | {reach.n})
    least_visible = detectable_differences(reach.sigma, np.array(sizes) / effect, largest=LARGEST)
    rows = [
        {"queries": n, "difference": round(float(least), 5), "slice": n == reach.n}
        for n, least in zip(sizes, least_visible, strict=True)
        if np.isfinite(least)
    ]
    axis = {"format": ".3f", "title": "Smallest visible difference"}
    x = {
        "field": "queries",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": {"title": "Queries", "format": ",d", "tickCount": 6, "labelOverlap": True},
    }
    y = {"field": "difference", "type": "quantitative", "axis": axis}
    here = "none" if reach.detectable is None else f"±{reach.detectable:.3f}"
    here = f"{here} with {reach.n:,}"
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
