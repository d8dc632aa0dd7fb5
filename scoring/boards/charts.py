"""Charts of boards."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks_app.charts import Chart
from scoring.scores.selectors.boards import Record
from scoring.scores.shown import Shown

# A point further right than this has its name on its left.
LEFT_FROM = 0.6


def history_chart(measure: Shown, records: Sequence[Record]) -> Chart:
    """The best value over time, with whose it was and its interval."""
    rows = [_row(record, records) for record in records]
    x = {"field": "at", "type": "temporal", "axis": {"title": "Submitted", **_ticks(records)}}
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"zero": False, "padding": 14},
        "axis": {"title": measure.label, "format": ".3f"},
    }
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "rule", "color": "$line-control"},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "point", "filled": True, "size": 90}, "encoding": {"x": x, "y": y}},
        _names(x, y, is_left=False),
        _names(x, y, is_left=True),
    ]
    return Chart(
        title=_("Best {measure} over time").format(measure=measure.label),
        description=_description(measure, records),
        spec={"layer": layers},
        rows=rows,
    )


def _ticks(records: Sequence[Record]) -> dict[str, Any]:
    """Times of the day where all came within two: a part of a second has no name."""
    if records and records[-1].at - records[0].at < timedelta(days=2):
        return {"tickCount": 2, "format": "%b %d, %H:%M", "labelOverlap": "greedy"}
    return {"tickCount": 6}


def _names(x: dict[str, Any], y: dict[str, Any], *, is_left: bool) -> dict[str, Any]:
    mark = {"type": "text", "dy": -12, "limit": 160, "color": "$text"}
    side = {"align": "right", "dx": -4} if is_left else {"align": "left", "dx": 4}
    return {
        "transform": [{"filter": f"datum.is_late === {str(is_left).lower()}"}],
        "mark": {**mark, **side},
        "encoding": {"x": x, "y": y, "text": {"field": "run"}},
    }


def _row(record: Record, records: Sequence[Record]) -> dict[str, Any]:
    first, last = records[0].at, records[-1].at
    whole = (last - first).total_seconds()
    low, high = record.interval or (None, None)
    return {
        "at": record.at.isoformat(),
        "value": record.value,
        "low": low,
        "high": high,
        "run": record.row.run.name,
        "by": record.row.by,
        "is_late": bool(whole) and (record.at - first).total_seconds() > LEFT_FROM * whole,
    }


def _description(measure: Shown, records: Sequence[Record]) -> str:
    if not records:
        return _("No run has a value.")
    first, last = records[0], records[-1]
    best = _("{run} has {value} since {day}").format(
        run=last.row.run.name, value=f"{last.value:.4f}", day=f"{last.at:%Y-%m-%d}"
    )
    if len(records) == 1:
        return _("{best}, and nobody before it.").format(best=best)
    n_steps = len(records) - 1
    return ngettext(
        "From {value} ({run}, {day}) in {n} step: {best}.",
        "From {value} ({run}, {day}) in {n} steps: {best}.",
        n_steps,
    ).format(
        value=f"{first.value:.4f}",
        run=first.row.run.name,
        day=f"{first.at:%Y-%m-%d}",
        n=n_steps,
        best=best,
    )
