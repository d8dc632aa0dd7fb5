"""The charts of one run: its values, where it found what, its slices beside a baseline's."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from statistics import median
from typing import Any

from django.utils.translation import gettext as _

from benchmarks_app.charts import Chart, axis_of_counts
from benchwright.evaluation.profiles import GradeRanks, band_labels, cumulative, histogram
from benchwright.texts.counting import signed_beside
from scoring.comparisons.services.against import SliceAgainst

WIDTH, HEIGHT = 1000, 200
GAP_BELOW = 200  # with more bars than this a gap between them could not be seen

ROW_HEIGHT, SMALLEST_HEIGHT = 26, 140
MOST_STEPS = 300
NOT_FOUND = "not found"


def distribution_chart(label: str, values: Sequence[float]) -> Chart:
    """How many queries have which value."""
    bins = histogram(values)
    rows = [
        {"from": bar.low, "to": bar.high, "queries": bar.n, "share up to": bar.share_up_to}
        for bar in bins
    ]
    axis = {"format": ".1f", "values": [place / 5 for place in range(6)]} if _is_share(rows) else {}
    spec = {
        "mark": {"type": "rect", "color": "$accent", "stroke": "$surface"},
        "encoding": {
            "x": {"field": "from", "type": "quantitative", "title": label, "axis": axis},
            "x2": {"field": "to"},
            "y": {
                "field": "queries",
                "type": "quantitative",
                "title": "Queries",
                "axis": axis_of_counts(max((bar.n for bar in bins), default=0)),
            },
            "y2": {"datum": 0},
        },
    }
    return Chart(
        _("How {measure} is spread").format(measure=label), _spread(label, values), spec, rows
    )


def _is_share(rows: Sequence[dict[str, Any]]) -> bool:
    return not rows or (rows[0]["from"], rows[-1]["to"]) == (0, 1)


def _spread(label: str, values: Sequence[float]) -> str:
    defined = [value for value in values if value == value]
    if not defined:
        return _("No query has a value.")
    low, high = min(defined), max(defined)
    n_low, n_high = (sum(value == end for value in defined) for end in (low, high))
    return _(
        "{measure} of {n} queries: half of them have {median} or less, {n_low} the lowest value "
        "{low}, {n_high} the highest {high}."
    ).format(
        measure=label,
        n=f"{len(defined):,}",
        median=f"{median(defined):.3f}",
        n_low=f"{n_low:,}",
        low=f"{low:.3f}",
        n_high=f"{n_high:,}",
        high=f"{high:.3f}",
    )


def cumulative_chart(label: str, values: Sequence[float]) -> Chart:
    """The share of queries that have no more than a value."""
    steps = cumulative(values)
    if len(steps) > MOST_STEPS:
        last = len(steps) - 1
        steps = [steps[place * last // (MOST_STEPS - 1)] for place in range(MOST_STEPS)]
    rows = [{"value": step.value, "share": step.share} for step in steps]
    spec = {
        "mark": {"type": "line", "interpolate": "step-after"},
        "encoding": {
            "x": {"field": "value", "type": "quantitative", "title": label},
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "Share of queries with no more",
                "axis": {"format": ".0%"},
                "scale": {"domain": [0, 1]},
            },
        },
    }
    title = _("Share of queries up to each {measure}").format(measure=label)
    return Chart(title, _spread(label, values), spec, rows)


def grades_chart(ranks: Sequence[GradeRanks], names: dict[int, str]) -> Chart:
    """At which ranks the documents of each grade were found."""
    bands = [*band_labels(), NOT_FOUND]
    labels = [_graded(row.grade, names) for row in ranks]
    rows = [
        {
            "grade": label,
            "ranks": band,
            "documents": n,
            "share": n / row.n_judged if row.n_judged else 0.0,
        }
        for label, row in zip(labels, ranks, strict=True)
        for band, n in zip(bands, [*row.counts, row.n_not_found], strict=True)
    ]
    summary = " ".join(
        _("{grade}: {n_first} of {n} in the first 10, {n_not_found} not found.").format(
            grade=label,
            n_first=f"{sum(row.counts[:4]):,}",
            n=f"{row.n_judged:,}",
            n_not_found=f"{row.n_not_found:,}",
        )
        for label, row in zip(labels, ranks, strict=True)
    )
    height = max(SMALLEST_HEIGHT, 60 * len(ranks) + 60)
    title = _("At which ranks documents of each grade were found")
    summary = summary or _("No document is judged.")
    return Chart(title, summary, _bubbles(bands, labels), rows, height)


def _bubbles(bands: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """A point for each grade and band, as large as the share, with the number beside it."""
    where = {
        "x": {
            "field": "ranks",
            "type": "nominal",
            "sort": bands,
            "title": "Rank",
            "axis": {"labelAngle": 0, "labelOverlap": True},
        },
        "y": {
            "field": "grade",
            "type": "nominal",
            "sort": labels,
            "title": None,
        },
    }
    return {
        "layer": [
            {
                "mark": {"type": "point", "filled": True, "opacity": 0.85},
                "encoding": {
                    **where,
                    "size": {
                        "field": "share",
                        "type": "quantitative",
                        "scale": {"range": [0, 700], "domain": [0, 1]},
                        "legend": None,
                    },
                },
            },
            {
                "mark": {"type": "text", "dy": 20, "color": "$text-2", "fontSize": 10},
                "encoding": {**where, "text": {"field": "documents", "type": "quantitative"}},
            },
        ]
    }


def _graded(grade: int, names: dict[int, str]) -> str:
    return f"{grade} {names[grade]}" if names.get(grade) else str(grade)


def slices_chart(label: str, rows: Sequence[SliceAgainst], baseline: str) -> Chart:
    """Differences from a baseline by slice with their intervals; means where there is none."""
    points = [_point(row, is_difference=bool(baseline)) for row in rows]
    points = [point for point in points if point["value"] is not None]
    title = _("{measure} by slice").format(measure=label)
    if baseline:
        title = _("{measure} less that of {reference}, by slice").format(
            measure=label, reference=baseline
        )
    apart = [point["slice"] for point in points if point["told apart"]]
    summary = "; ".join(
        f"{point['slice']} {signed_beside(point['value'], decimals=3)}" for point in points
    )
    if not baseline:
        summary = "; ".join(f"{point['slice']} {point['value']:.3f}" for point in points)
    elif apart:
        outside = _("The interval leaves out 0 for {slices}").format(slices=", ".join(apart))
        summary += f". {outside}"
    y = {
        "field": "slice",
        "type": "nominal",
        "sort": [point["slice"] for point in points],
        "title": None,
    }
    x = {"field": "value", "type": "quantitative", "title": title.partition(", by")[0]}
    low_to_high = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y}
    colour = {"condition": {"test": "datum['told apart']", "value": "$accent"}, "value": "$text-2"}
    zero = {"mark": {"type": "rule", "strokeDash": [4, 4], "color": "$text-2"}}
    spec = {
        "layer": [
            *([{**zero, "encoding": {"x": {"datum": 0}}}] if baseline else []),
            {"mark": {"type": "rule"}, "encoding": {**low_to_high, "color": colour}},
            {
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": {"x": x, "y": y, "color": colour},
            },
        ]
    }
    height = max(SMALLEST_HEIGHT, ROW_HEIGHT * len(points) + 60)
    description = f"{summary}." if summary else _("No slice has a value.")
    return Chart(title, description, spec, points, height)


def _point(row: SliceAgainst, *, is_difference: bool) -> dict[str, Any]:
    if is_difference:
        value, ends = row.difference, (row.difference_low, row.difference_high)
    else:
        value, ends = row.mean, (row.low, row.high)
    low, high = (value if end is None else end for end in ends)
    return {
        "slice": row.name,
        "value": value,
        "low": low,
        "high": high,
        "queries": row.n,
        "told apart": row.is_told_apart if is_difference else True,
    }


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
