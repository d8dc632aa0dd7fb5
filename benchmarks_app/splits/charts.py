"""The charts of splits: how evenly slices are spread, and when each split was asked."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmarks_app.charts import Chart
from benchwright.splits import SPLITS

MOST_SLICES = 16
ROW_HEIGHT = 26

Described = Mapping[str, Any]


def balance(described: Described) -> Chart:
    """Each slice's share of each split, beside its share of all queries."""
    slices = sorted(described["slices"], key=lambda row: (-row["n"], row["name"]))[:MOST_SLICES]
    rows = [
        {"slice": row["name"], "split": split, "share": share, "queries": row["counts"][split]}
        for row in slices
        for split, share in row["shares"].items()
    ]
    worst = max(slices, key=lambda row: row["deviation"])
    shares = [
        _("%(share)s of %(split)s") % {"share": f"{share:.1%}", "split": split}
        for split, share in worst["shares"].items()
    ]
    description = ngettext(
        "Share of each split by slice, %(n)s slice. Least even: %(name)s, %(share)s of all, "
        "%(shares)s.",
        "Share of each split by slice, %(n)s slices. Least even: %(name)s, %(share)s of all, "
        "%(shares)s.",
        len(slices),
    ) % {
        "n": len(slices),
        "name": worst["name"],
        "share": f"{worst['share']:.1%}",
        "shares": ", ".join(shares),
    }
    names = [row["name"] for row in slices]
    there = [split for split in SPLITS if split in worst["shares"]]
    shapes = {"domain": there, "range": ["circle", "diamond", "square"][: len(there)]}
    spec = {
        "mark": {"type": "point", "size": 70, "filled": True, "opacity": 0.9},
        "encoding": {
            "y": {"field": "slice", "type": "nominal", "sort": names, "title": None},
            "x": {
                "field": "share",
                "type": "quantitative",
                "title": "Of the split's queries",
                "axis": {"format": ".0%", "tickCount": 5},
                "scale": {"zero": True},
            },
            "color": {
                "field": "split",
                "type": "nominal",
                "scale": {"domain": there},
                "title": None,
            },
            "shape": {"field": "split", "type": "nominal", "scale": shapes, "title": None},
        },
    }
    height = max(150, 90 + ROW_HEIGHT * len(slices))
    return Chart(_("Slices over the splits"), description, spec, rows, height)


def times(described: Described) -> Chart:
    """From when to when the queries of each split were first asked."""
    rows = [
        {"split": part["name"], "first": part["first"], "last": part["last"]}
        for part in described["splits"]
        if part["first"]
    ]
    spans = [
        _("%(split)s from %(first)s to %(last)s")
        % {"split": row["split"], "first": row["first"][:10], "last": row["last"][:10]}
        for row in rows
    ]
    description = _("First asked: %(spans)s.") % {"spans": "; ".join(spans)}
    y = {"field": "split", "type": "nominal", "sort": [*SPLITS], "title": None}
    ends = [
        {
            "mark": {"type": "point", "size": 60, "filled": True},
            "encoding": {"y": y, "x": {"field": end, "type": "temporal"}},
        }
        for end in ("first", "last")
    ]
    span = {
        "mark": {"type": "bar", "height": 12},
        "encoding": {
            "y": y,
            "x": {"field": "first", "type": "temporal", "title": "First asked"},
            "x2": {"field": "last"},
        },
    }
    title = _("When each split was asked")
    return Chart(title, description, {"layer": [span, *ends]}, rows, 180)


CHARTS: dict[str, Callable[[Described], Chart]] = {"balance": balance, "times": times}


def charts_for(described: Described) -> list[tuple[str, Chart]]:
    """(name, chart) of those that there is something to draw for."""
    charts = []
    if described["slices"]:
        charts.append(("balance", balance(described)))
    if any(part["first"] for part in described["splits"]):
        charts.append(("times", times(described)))
    return charts
