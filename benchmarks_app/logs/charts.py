"""The charts of a query log."""

from typing import Any

from benchmarks_app.charts import Chart
from benchwright.logs.strata import frequency_curve
from benchwright.slices.frequency import FrequencyCuts, FrequencyError, frequency_cuts

TITLE = "How often queries are asked"
HEIGHT = 300


def frequency_chart(counts: Any, *, head_share: float, tail_share: float) -> Chart:
    """Counts by rank, both on logarithmic scales, with the cuts of head and tail."""
    try:
        cuts = frequency_cuts(counts, head_share=head_share, tail_share=tail_share)
    except FrequencyError:
        cuts = None
    rows = [{"rank": rank, "searches": count} for rank, count in frequency_curve(counts)]
    curve = {
        "mark": {"type": "line", "strokeWidth": 2.5},
        "encoding": {
            "x": {
                "field": "rank",
                "type": "quantitative",
                "scale": {"type": "log", "domain": [1, max(2, len(counts))], "nice": False},
                "title": "Distinct queries, the most frequent first",
                "axis": {"format": ",d", "tickCount": 5, "labelOverlap": True},
            },
            "y": {
                "field": "searches",
                "type": "quantitative",
                "scale": {"type": "log", "domain": [int(counts[-1]), int(counts[0])]},
                "title": "Searches",
                "axis": {"format": ",d", "tickCount": 5, "labelOverlap": True},
            },
        },
    }
    layers = [curve, *(_cuts(cuts) if cuts else [])]
    return Chart(TITLE, described(cuts, len(counts), counts), {"layer": layers}, rows, HEIGHT)


def described(cuts: FrequencyCuts | None, n: int, counts: Any) -> str:
    """The curve in words."""
    text = f"{n:,} distinct queries; the most frequent was asked {int(counts[0]):,} times, "
    text += f"the rarest {int(counts[-1]):,}."
    if cuts is None:
        return text
    parts = [
        f"{band} {part.n_queries:,} queries with {_share(part.n_traffic, cuts.n_traffic)} of the "
        "searches"
        for band, part in cuts.parts.items()
    ]
    return f"{text} {', '.join(parts)}.".replace(". head", ". Head")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def _cuts(cuts: FrequencyCuts) -> list[dict[str, Any]]:
    """A line at each cut, and a name in each part; a part of nothing has none."""
    once: dict[str, list[dict]] = {"values": [{}]}
    edges = [cuts.head.n_queries, cuts.head.n_queries + cuts.torso.n_queries]
    lines = [
        {
            "data": once,
            "mark": {"type": "rule", "color": "$line-control", "strokeDash": [4, 4]},
            "encoding": {"x": {"datum": edge}},
        }
        for edge in edges
        if 1 <= edge < cuts.n_queries
    ]
    starts = [1, *(max(1, edge) for edge in edges)]
    named = zip(cuts.parts.items(), starts, [*edges, cuts.n_queries], strict=True)
    names = [
        {
            "data": once,
            "mark": {"type": "text", "text": str(band), "color": "$text-2", "baseline": "top"},
            "encoding": {
                "x": {"datum": max(1.0, start) ** 0.5 * max(1.0, end) ** 0.5},
                "y": {"value": 2},
            },
        }
        for (band, part), start, end in named
        if part.n_queries
    ]
    return [*lines, *names]
