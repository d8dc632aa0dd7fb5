"""The differences of a gate with their bounds, on the line of the margin."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchmarks_app.charts import Chart
from benchmarks_app.language import translated
from benchwright.texts.counting import signed_beside

ROW_HEIGHT = 34
OVERALL = gettext_noop("all queries")
NUMBERS = ("difference", "lower", "upper")
PART = {"field": "part", "type": "nominal", "sort": None, "title": None}
TOOLTIP = [
    {"field": "part", "type": "nominal"},
    {"field": "outcome", "type": "nominal"},
    *({"field": name, "type": "quantitative", "format": "+.4f"} for name in NUMBERS),
]


def gate_chart(report: Mapping[str, Any]) -> Chart:
    """All queries first, then every slice: difference, one-sided bounds, and the margin."""
    rows = list(_rows(report))
    margin = report["policy"]["margin"]
    summary = "; ".join(
        f"{_part(row['part'])} {signed_beside(row['difference'], decimals=3)} "
        f"({translated(row['outcome'])})"
        for row in rows
    )
    return Chart(
        title=_("Differences and the margin"),
        description=_("Margin {margin}. {parts}.").format(margin=f"{-margin:+g}", parts=summary),
        spec={"layer": list(_layers(report["policy"]["measure"], margin))},
        rows=rows,
        height=70 + ROW_HEIGHT * len(rows),
    )


def _layers(measure: str, margin: float) -> Iterator[dict[str, Any]]:
    """Two lines, at the margin and at 0; the bounds of each part, and its difference."""
    axis = {"format": "+.2f", "tickCount": 6, "labelOverlap": True}
    x = {
        "field": "difference",
        "type": "quantitative",
        "title": f"Difference, {measure}",
        "axis": axis,
    }
    yield {
        "mark": {"type": "rule", "strokeDash": [4, 4], "color": "$text-2"},
        "encoding": {"x": {"datum": -margin, "type": "quantitative"}},
    }
    yield {
        "mark": {"type": "rule", "color": "$text-2"},
        "encoding": {"x": {"datum": 0, "type": "quantitative"}},
    }
    yield {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"y": PART, "x": {**x, "field": "lower"}, "x2": {"field": "upper"}},
    }
    yield {
        "mark": {"type": "point", "filled": True, "size": 70},
        "encoding": {"y": PART, "x": x, "tooltip": TOOLTIP},
    }


def _part(name: str) -> str:
    return translated(name) if name == OVERALL else name


def _rows(report: Mapping[str, Any]) -> Any:
    for check in report["checks"]:
        if check["name"] not in ("overall", "slices"):
            continue
        for finding in check["findings"]:
            numbers = finding["numbers"]
            if numbers.get("lower") is None or numbers.get("difference") is None:
                continue
            yield {
                "part": OVERALL if check["name"] == "overall" else finding["name"],
                "queries": numbers["n"],
                **{name: round(numbers[name], 6) for name in NUMBERS},
                "outcome": finding["outcome"],
            }
