"""Charts of plans, of pools without one system, and of approximate indexes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite, isnan

from benchmarks_app.charts import Chart
from benchwright.pools.planning import SHOWN_DEPTHS, plan_of
from benchwright.retrieval.ann import USUAL_BASELINE, AnnRecall
from benchwright.texts.counting import counted
from scoring.planning.services.planning import Planned, Wish
from scoring.planning.services.reusability import ShownSystem

SMALLEST, POINTS = 20, 24
ROW_HEIGHT, MOST_SYSTEMS = 24, 40
# Of a mark that stands for itself, not for each row.
ONCE: Mapping[str, list[dict]] = {"values": [{}]}


def cost_chart(planned: Planned, wish: Wish) -> Chart:
    """The smallest visible difference by hours of labelling, a line for each pool depth."""
    chosen = planned.best or planned.cheapest
    wanted_sizes = [1.2 * plan.n_queries for plan in (planned.best, planned.cheapest) if plan]
    largest = max([*wanted_sizes, planned.known.n_graded, 10 * SMALLEST])
    step = (largest / SMALLEST) ** (1 / POINTS)
    sizes = sorted({round(SMALLEST * step**place) for place in range(POINTS + 1)})
    depths = [depth for depth in sorted({*SHOWN_DEPTHS, wish.depth}) if depth >= wish.depth][:5]
    rows = [
        {
            "depth": f"depth {depth}",
            "queries": n,
            "labels": plan.labels,
            "hours": round(plan.hours, 2),
            "difference": round(plan.detectable, 5),
        }
        for depth in depths
        for n in sizes
        for plan in [plan_of(planned.pilot, n_queries=n, depth=depth)]
        if isfinite(plan.detectable)
    ]
    layers = _lines(depths, wish.delta)
    summary = f"Standard deviation {planned.pilot.sigma:.3f}; a dashed line at ±{wish.delta:g}."
    if chosen and isfinite(chosen.detectable):
        layers += _marked(chosen.hours, chosen.detectable)
        summary = (
            f"{counted(chosen.n_queries, 'query')} at depth {chosen.depth} take "
            f"{chosen.hours:,.0f} hours and show ±{chosen.detectable:.3f}. {summary}"
        )
    return Chart("What labelling buys", summary, {"layer": layers}, rows, 300)


def _lines(depths: Sequence[int], delta: float) -> list[dict]:
    """A line for each depth, and a dashed one at the difference that is wanted."""
    colour = {
        "field": "depth",
        "type": "ordinal",
        "sort": [f"depth {depth}" for depth in depths],
        "title": None,
        "legend": {"columns": {"expr": "width < 360 ? 2 : 5"}},
    }
    x = _logarithmic("hours", "Hours of labelling", "~s")
    y = _logarithmic("difference", "Smallest visible difference", ".3f")
    return [
        {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": colour}},
        {
            "data": ONCE,
            "mark": {"type": "rule", "strokeDash": [4, 4], "color": "$text-2"},
            "encoding": {"y": {"datum": delta}},
        },
    ]


def _logarithmic(field: str, title: str, form: str) -> dict:
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": {"format": form, "title": title, "tickCount": 6},
    }


def _marked(hours: float, difference: float) -> list[dict]:
    """A point where the plan is."""
    place = {
        "x": {"datum": hours, "type": "quantitative"},
        "y": {"datum": difference, "type": "quantitative"},
    }
    return [
        {
            "data": ONCE,
            "mark": {"type": "point", "filled": True, "size": 120, "color": "$text"},
            "encoding": place,
        }
    ]


def reusability_chart(systems: Sequence[ShownSystem]) -> Chart:
    """How far each system's nDCG@10 falls without the judgments that it alone brought."""
    moved = [system for system in systems if system.shift is not None][:MOST_SYSTEMS]
    rows = [
        {
            "system": system.run.name,
            "shift": round(system.shift or 0.0, 5),
            "ndcg": system.full,
            "without": system.without,
            "judged": None if isnan(system.left_out.judged) else round(system.left_out.judged, 4),
            "only_its_own": system.n_unique,
            "shift_alone": None if system.shift_alone is None else round(system.shift_alone, 5),
        }
        for system in moved
    ]
    names = [row["system"] for row in rows]
    y = {"field": "system", "type": "nominal", "sort": names, "title": None}
    x = {
        "field": "shift",
        "type": "quantitative",
        "axis": {"format": "+.3f", "title": "nDCG@10 without its own judgments", "tickCount": 5},
    }
    spec = {"mark": {"type": "bar", "height": 12}, "encoding": {"y": y, "x": x}}
    worst, shift = (moved[0].run.name, moved[0].shift) if moved else ("none", 0.0)
    falls = f"{worst} falls by {-round(shift or 0.0, 5):.3f}"
    summary = f"{len(rows)} systems, each left out with its team's others and near copies; {falls}."
    height = max(120, 70 + ROW_HEIGHT * len(rows))
    return Chart("Each system without its own judgments", summary, spec, rows, height)


def recall_chart(report: AnnRecall) -> Chart:
    """How many queries keep which share of their exact first k."""
    counts = Counter(round(query.recall, 2) for query in report.queries)
    width = max(0.8 / report.k, 0.01) / 2
    rows = [
        {"recall": recall, "from": recall - width, "to": recall + width, "queries": n}
        for recall, n in sorted(counts.items())
    ]
    x = {
        "field": "from",
        "type": "quantitative",
        "scale": {"domain": [-width - 0.01, 1.01 + width], "nice": False},
        "axis": {
            "format": ".0%",
            "title": f"Of the exact first {report.k}",
            "values": [0, 0.2, 0.4, 0.6, 0.8, 1],
        },
    }
    y = {"field": "queries", "type": "quantitative", "title": "Queries", "scale": {"zero": True}}
    bar = {"x": x, "x2": {"field": "to"}, "y": y, "y2": {"datum": 0}}
    spec = {
        "layer": [
            {"mark": {"type": "rect", "color": "$accent"}, "encoding": bar},
            {
                "data": ONCE,
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": "$text-2"},
                "encoding": {"x": {"datum": USUAL_BASELINE}},
            },
            {
                "data": ONCE,
                "mark": {"type": "rule", "color": "$bad", "strokeWidth": 2},
                "encoding": {"x": {"datum": round(report.mean, 4)}},
            },
        ]
    }
    summary = (
        f"Mean {report.mean:.3f} over {counted(len(report.queries), 'query')}, "
        f"{report.n_perfect:,} of them whole; a dashed line at the usual {USUAL_BASELINE:.0%}."
    )
    return Chart(f"Recall@{report.k} against exact search", summary, spec, rows)
