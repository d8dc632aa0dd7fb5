"""Accuracy of a pair of embeddings by k, both ways, and by slice."""

from collections.abc import Mapping
from typing import Any

from benchmarks_app.charts import Chart

FORWARD, BACKWARD = "z1 → z2", "z2 → z1"
ALL = "all pairs"
ROW_HEIGHT, MOST_SLICES = 30, 40


def accuracy_chart(report: Mapping[str, Any]) -> Chart:
    """The share of partners among the k most similar, a line for each direction."""
    rows = [
        {"direction": name, "k": point["k"], "accuracy": round(point[way], 6)}
        for way, name in (("forward", FORWARD), ("backward", BACKWARD))
        for point in report["curve"]
    ]
    x = {
        "field": "k",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": {"title": "k most similar rows", "format": "~s", "tickCount": 6},
    }
    y = {
        "field": "accuracy",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "title": "Partners found", "tickCount": 6},
    }
    colour = {
        "field": "direction",
        "type": "nominal",
        "sort": [FORWARD, BACKWARD],
        "title": None,
    }
    # Where both lines are one, the dashes show both.
    dashes = {**colour, "scale": {"range": [[1, 0], [5, 4]]}, "legend": None}
    spec = {
        "mark": {"type": "line", "point": True},
        "encoding": {"x": x, "y": y, "color": colour, "strokeDash": dashes},
    }
    first, last = report["curve"][0], report["curve"][-1]
    summary = (
        f"At k = 1, {first['forward']:.1%} of the rows of z1 find their partner and "
        f"{first['backward']:.1%} of those of z2; all are found by k = {last['k']:,}."
    )
    return Chart("Accuracy by k", summary, spec, rows)


def contrastive_slices_chart(report: Mapping[str, Any]) -> Chart:
    """Accuracy@1 of all pairs and of each slice, both ways together, with its interval."""
    parts = [part for part in report["parts"] if part["n"]][: MOST_SLICES + 1]
    rows = [_slice_row(part) for part in parts]
    k = parts[0]["accuracy"][0]["k"]
    y = {"field": "slice", "type": "nominal", "sort": None, "title": None}
    x = {
        "field": "accuracy",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "title": f"Accuracy@{k}", "tickCount": 6},
    }
    whole = {"data": {"values": [rows[0]]}, "mark": {"type": "rule", "strokeDash": [4, 4]}}
    spec = {
        "layer": [
            {**whole, "encoding": {"x": x}},
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": {"y": y, "x": x},
            },
        ]
    }
    summary = "; ".join(f"{row['slice']} {row['accuracy']:.3f}" for row in rows)
    return Chart(
        title=f"Accuracy@{k} by slice",
        description=f"{summary}.",
        spec=spec,
        rows=rows,
        height=70 + ROW_HEIGHT * len(rows),
    )


def _slice_row(part: Mapping[str, Any]) -> dict[str, Any]:
    first = part["accuracy"][0]
    # Without an interval, as of a single pair, the point stands alone.
    ends = {name: first["mean"] if first[name] is None else first[name] for name in ("low", "high")}
    numbers = {name: round(value, 6) for name, value in {"accuracy": first["mean"], **ends}.items()}
    return {"slice": part["name"] or ALL, "pairs": part["n"], **numbers}
