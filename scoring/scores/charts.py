"""How long queries took, and the smallest difference that so many of them show."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from django.utils.translation import gettext as _

from benchmarks_app.charts import Chart, axis_of_counts
from benchmarks_app.result_facts import Reach
from benchwright.evaluation.latency import LatencySummary, latency_bins, latency_summary, told_ms
from benchwright.statistics.power import LARGEST, detectable_differences

# A layer that draws one mark, not one for each row.
ONCE: Mapping[str, list[dict]] = {"values": [{}]}
HEIGHT = 220


def latency_chart(milliseconds: Iterable[float]) -> Chart:
    """How many queries took how long, p50 and p95 marked; an empty one where none was timed."""
    times = list(milliseconds)
    summary = latency_summary(times)
    histogram = latency_bins(times)
    rows = [{"from": bar.low, "to": bar.high, "queries": bar.n} for bar in histogram.bins]
    scale: dict[str, Any] = {"nice": False, "zero": False}
    if histogram.is_logarithmic:
        scale["type"] = "log"
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": scale,
        "axis": {"title": "Milliseconds a query", "tickCount": 6, "format": ",f"},
    }
    most = max((bar.n for bar in histogram.bins), default=0)
    y = {
        "field": "queries",
        "type": "quantitative",
        "title": "Queries",
        "scale": {"zero": True},
        "axis": axis_of_counts(most),
    }
    spec = {
        "layer": [
            {
                "mark": {"type": "rect", "color": "$accent", "stroke": "$surface"},
                "encoding": {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}},
            },
            *(_marks(summary) if summary else ()),
        ]
    }
    words = latency_words(len(times), summary)
    return Chart("Retrieval latency", words, spec, rows, HEIGHT)


def _marks(summary: LatencySummary) -> list[dict[str, Any]]:
    return [
        *_mark("p50", summary.p50, "$text", []),
        *_mark("p95", summary.p95, "$bad", [5, 3]),
    ]


def _mark(name: str, value: float, colour: str, dash: list[int]) -> list[dict[str, Any]]:
    """A line at a value, with its name above: p50 on its left, p95 on its right."""
    is_left = name == "p50"
    side = {"align": "right" if is_left else "left", "dx": -4 if is_left else 4}
    where = {"x": {"datum": value}}
    return [
        {
            "data": ONCE,
            "mark": {"type": "rule", "color": colour, "strokeDash": dash, "strokeWidth": 2},
            "encoding": where,
        },
        {
            "data": ONCE,
            "mark": {"type": "text", "text": name, "color": colour, "baseline": "bottom", **side},
            "encoding": {**where, "y": {"value": -2}},
        },
    ]


class Timed(Protocol):
    """A summary of times: `LatencySummary`, or a row that has its numbers."""

    @property
    def p50(self) -> float: ...
    @property
    def p95(self) -> float: ...
    @property
    def longest(self) -> float: ...


def latency_words(n: int, summary: Timed | None) -> str:
    """The same in words."""
    if summary is None:
        return _("No query was timed.")
    return _(
        "{n} queries: half of them took {half} or less (p50), 95 % {most} or less (p95), the "
        "slowest {longest}."
    ).format(
        n=f"{n:,}",
        half=told_ms(summary.p50),
        most=told_ms(summary.p95),
        longest=told_ms(summary.longest),
    )


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
