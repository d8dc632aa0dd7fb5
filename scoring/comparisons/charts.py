"""Charts of comparisons: queries by their difference, two runs against each other, slices."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks_app.charts import Chart
from benchwright.comparison.aligning import OVERALL
from benchwright.texts.counting import signed_beside
from scoring.comparisons.services.query_differences import QueryDifference

# Words of a query in a tooltip, and points beyond which a chart would be too heavy.
WORDS, MOST_POINTS = 60, 4_000
ROW_HEIGHT = 28
SHAPES = {"win": "triangle-up", "tie": "circle", "loss": "triangle-down"}


def _rows(differences: Sequence[QueryDifference]) -> list[dict[str, Any]]:
    """A row for each query, thinned evenly where there are too many."""
    step = max(1, -(-len(differences) // MOST_POINTS))
    return [
        {
            "place": place + 1,
            "query": row.qid,
            "text": row.text[:WORDS],
            "run": round(row.run, 6),
            "reference": round(row.reference, 6),
            "difference": round(row.difference, 6),
            "outcome": row.outcome,
        }
        for place, row in enumerate(differences)
        if place % step == 0
    ]


def _said(differences: Sequence[QueryDifference], run: str, reference: str) -> str:
    counts = {name: sum(row.outcome == name for row in differences) for name in SHAPES}
    return (
        f"{run} against {reference} on {len(differences)} queries: better on {counts['win']}, "
        f"level on {counts['tie']}, worse on {counts['loss']}."
    )


def differences_chart(
    differences: Sequence[QueryDifference], run: str, reference: str, measure: str
) -> Chart:
    """A bar for each query, from the run's largest win to its largest loss."""
    ordered = sorted(differences, key=lambda row: -row.difference)
    spec = {
        "mark": {"type": "bar"},
        "encoding": {
            "x": {
                "field": "place",
                "type": "quantitative",
                "title": "Queries, best for the run first",
                "scale": {"nice": False},
            },
            "y": {"field": "difference", "type": "quantitative", "title": f"Difference, {measure}"},
            "color": {
                "condition": {"test": "datum.difference < 0", "value": "$bad"},
                "value": "$good",
            },
            "tooltip": _tooltip(),
        },
    }
    return Chart(
        f"Difference by query, {measure}", _said(differences, run, reference), spec, _rows(ordered)
    )


def _tooltip() -> list[dict[str, Any]]:
    numbers = [
        {"field": name, "type": "quantitative", "format": ".4f"}
        for name in ("run", "reference", "difference")
    ]
    words = [{"field": name, "type": "nominal"} for name in ("query", "text")]
    return [*words, *numbers]


def scatter_chart(
    differences: Sequence[QueryDifference], run: str, reference: str, measure: str
) -> Chart:
    """Each query as a point: the reference's value across, the run's upwards."""
    top = max([1.0, *(max(row.run, row.reference) for row in differences)])
    line = [{"x": 0, "y": 0}, {"x": top, "y": top}]
    spec = {
        "layer": [
            {
                "data": {"values": line},
                "mark": {
                    "type": "line",
                    "color": "$line-control",
                    "strokeDash": [4, 4],
                    "point": False,
                },
                "encoding": {
                    "x": {"field": "x", "type": "quantitative"},
                    "y": {"field": "y", "type": "quantitative"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50, "opacity": 0.7},
                "encoding": {
                    "x": {
                        "field": "reference",
                        "type": "quantitative",
                        "title": f"Reference: {reference}",
                    },
                    "y": {"field": "run", "type": "quantitative", "title": f"Run: {run}"},
                    "shape": {
                        "field": "outcome",
                        "type": "nominal",
                        "title": None,
                        "scale": {"domain": list(SHAPES), "range": list(SHAPES.values())},
                    },
                    "color": {
                        "field": "outcome",
                        "type": "nominal",
                        "title": None,
                        "scale": {"domain": list(SHAPES), "range": ["$good", "$text-2", "$bad"]},
                    },
                    "tooltip": _tooltip(),
                },
            },
        ]
    }
    summary = f"{_said(differences, run, reference)} Above the line the run is better."
    return Chart(f"Two runs by query, {measure}", summary, spec, _rows(differences), height=320)


def slices_chart(pairs: Sequence[Mapping[str, Any]], measure: str) -> Chart:
    """The difference over all queries and each slice, as a point on its 95 % interval."""
    rows = [
        {
            "slice": f"{'all queries' if pair['slice'] == OVERALL else pair['slice']}"
            f" ({pair['n_queries']})",
            "difference": pair["difference"],
            "low": pair["interval"]["low"],
            "high": pair["interval"]["high"],
        }
        for pair in pairs
        if pair["difference"] is not None
    ]
    names = [row["slice"] for row in rows]
    y = {"field": "slice", "type": "nominal", "sort": names, "title": None}
    axis = {"format": "+.3f"}
    bounds = {"field": "low", "type": "quantitative", "title": f"Difference, {measure}"}
    layers = [
        {
            "mark": {"type": "rule", "color": "$line-control", "strokeDash": [4, 4]},
            "encoding": {"x": {"datum": 0, "type": "quantitative"}},
        },
        {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"y": y, "x": {**bounds, "axis": axis}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 80},
            "encoding": {"y": y, "x": {"field": "difference", "type": "quantitative"}},
        },
    ]
    summary = "; ".join(
        f"{row['slice']}: {signed_beside(row['difference'], decimals=3)}" for row in rows
    )
    height = slices_height(len(rows))
    return Chart(f"Difference by slice, {measure}", f"{summary}.", {"layer": layers}, rows, height)


def slices_height(n: int) -> int:
    """The height of a chart of so many slices, all queries among them."""
    return max(150, 90 + ROW_HEIGHT * n)
