"""The charts of a pool's page: each from the numbers that its labels tell."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from annotation.common.selectors.pools import PoolProgress
from annotation.models import Pool
from annotation.pools.selectors import projection_of
from benchmarks_app.charts import Chart
from benchmarks_app.charts.chart import day
from benchwright.progress.signals import Rate
from benchwright.texts.counting import counted

Signals = dict[str, Any]
COVERAGE = ("none", "to 25 %", "to 50 %", "to 75 %", "nearly all", "all")
DAY_FORMAT = "%b %-d"


def burn_up(pool: Pool, progress: PoolProgress, signals: Signals, now: datetime) -> Chart:
    """Labels given so far against those wanted, and when the rest comes at the latest pace."""
    days = _given(signals)
    end = projection_of(progress, signals, now)
    n_given = days[-1]["labels"] if days else 0
    rows = [{**row, "day": day(row["day"]), "kind": "given"} for row in days]
    # As the page counts them: labels that were given again are no more of the wanted ones.
    verb = "is" if progress.n_done == 1 else "are"
    description = f"{progress.n_done:,} of {counted(progress.n_wanted, 'label')} {verb} given."
    if n_again := progress.n_again - progress.n_again_done:
        description += f" {n_again:,} {'is' if n_again == 1 else 'are'} to be given again."
    if end:
        expected = [(now.date(), n_given), (end.done_on, n_given + progress.n_left)]
        rows += [{"day": day(on), "labels": n, "kind": "expected"} for on, n in expected]
        description += (
            f" At {end.per_day:,.0f} a day, as of late, the rest is there on {end.done_on}."
        )
    elif progress.n_left:
        description += " Nobody judged in the last two weeks, so no end is foretold."
    x = {"field": "day", "type": "temporal", "title": None, "axis": _days_axis(rows)}
    y = {"field": "labels", "type": "quantitative", "title": "Labels", "scale": {"zero": True}}
    where = {"x": x, "y": y}
    spec = {
        "layer": [
            _part("given", {"type": "area"}, where),
            _part("given", {"type": "line", "point": len(days) < 20}, where),
            _part("expected", {"type": "line", "strokeDash": [5, 4]}, where),
            *_level(progress.n_wanted + progress.n_again, _wanted(progress)),
        ],
    }
    return Chart("Labels given", description, spec, rows)


def _wanted(progress: PoolProgress) -> str:
    """What the line across says: labels that are given again are in the curve, too."""
    again = f", and {progress.n_again:,} again" if progress.n_again else ""
    return f"{progress.n_wanted:,} wanted{again}"


def labels_per_day(pool: Pool, progress: PoolProgress, signals: Signals, now: datetime) -> Chart:
    days = signals["days"]
    rows = [{"day": day(_date(row)), "labels": row["labels"]} for row in days]
    best = max(days, key=lambda row: row["labels"], default=None)
    description = f"Labels on {len(days)} days"
    description += f", most on {best['day']}: {best['labels']:,}." if best else "."
    spec = {
        "mark": {"type": "bar", "width": {"band": 0.8}},
        "encoding": {
            "x": {
                "field": "day",
                "type": "temporal",
                "timeUnit": "yearmonthdate",
                "title": None,
                "axis": _days_axis(rows),
            },
            "y": {"field": "labels", "type": "quantitative", "title": "Labels"},
        },
    }
    return Chart("Labels per day", description, spec, rows)


def coverage(pool: Pool, progress: PoolProgress, signals: Signals, now: datetime) -> Chart:
    """How many queries are judged how far."""
    counts = signals["coverage"]
    rows = [{"judged": name, "queries": n} for name, n in zip(COVERAGE, counts, strict=True)]
    description = (
        f"Of {signals['n_queries']:,} queries {signals['n_complete']:,} are judged completely and "
        f"{signals['n_untouched']:,} not at all."
    )
    bars = {
        "x": {
            "field": "judged",
            "type": "nominal",
            "sort": list(COVERAGE),
            "title": "Of the query's documents, judged",
            "axis": {"labelAngle": 0, "labelOverlap": True},
        },
        "y": {"field": "queries", "type": "quantitative", "title": "Queries"},
    }
    spec = {
        "encoding": bars,
        "layer": [
            {"mark": "bar"},
            {"mark": {"type": "text", "dy": -7}, "encoding": {"text": {"field": "queries"}}},
        ],
    }
    return Chart("Queries by coverage", description, spec, rows)


def relevant_found(pool: Pool, progress: PoolProgress, signals: Signals, now: datetime) -> Chart:
    rows = [{"documents": n, "relevant": hits} for n, hits in signals["found"]]
    description = (
        f"{signals['n_relevant']:,} of {rows[-1]['documents']:,} judged documents are relevant."
    )
    if signals["last"]:
        first, last = Rate(**signals["first"]), Rate(**signals["last"])
        description += f" Of the first {first.of:,} it were {first.n:,}, of the last {last.n:,}."
    spec = {
        "mark": {"type": "line", "interpolate": "monotone"},
        "encoding": {
            "x": {"field": "documents", "type": "quantitative", "title": "Documents judged"},
            "y": {"field": "relevant", "type": "quantitative", "title": "Relevant ones"},
        },
    }
    return Chart("Relevant documents found", description, spec, rows)


def relevant_by_rank(pool: Pool, progress: PoolProgress, signals: Signals, now: datetime) -> Chart:
    """What share is relevant at which rank, with its interval: what a deeper pool would bring."""
    rates = [(row["ranks"], Rate(row["n"], row["of"])) for row in signals["by_rank"]]
    rows = [
        {
            "rank": ranks.replace("-", "\N{EN DASH}"),
            "share": rate.share,
            "low": rate.low,
            "high": rate.high,
            "relevant": rate.n,
            "judged": rate.of,
        }
        for ranks, rate in rates
    ]
    description = "Share of relevant documents by their best rank in any run: "
    description += ", ".join(f"{row['share']:.0%} at {row['rank']}" for row in rows) + "."
    scale = {"domainMin": 0}
    spec = {
        "encoding": {
            "x": {
                "field": "rank",
                "type": "nominal",
                "sort": [row["rank"] for row in rows],
                "title": "Best rank in any run",
                "axis": {"labelAngle": 0},
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "Relevant",
                "scale": scale,
                "axis": {"format": ".0%"},
            },
        },
        "layer": [
            {
                "mark": {"type": "rule", "color": "$line-control", "strokeWidth": 2},
                "encoding": {"y": {"field": "low"}, "y2": {"field": "high"}},
            },
            {"mark": {"type": "point", "size": 80}},
        ],
    }
    return Chart("Relevant by rank", description, spec, rows)


CHARTS: dict[str, Callable[[Pool, PoolProgress, Signals, datetime], Chart]] = {
    "labels-given": burn_up,
    "labels-per-day": labels_per_day,
    "coverage": coverage,
    "relevant-found": relevant_found,
    "relevant-by-rank": relevant_by_rank,
}


def _given(signals: Signals) -> list[dict[str, Any]]:
    """Labels so far by day, from none on the day before the first."""
    rows: list[dict[str, Any]] = []
    for row in signals["days"]:
        if not rows:
            rows.append({"day": _date(row) - timedelta(days=1), "labels": 0})
        rows.append({"day": _date(row), "labels": rows[-1]["labels"] + row["labels"]})
    return rows


def _date(row: dict[str, Any]) -> date:
    return date.fromisoformat(row["day"])


def _part(kind: str, mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    only = [{"filter": {"field": "kind", "equal": kind}}]
    return {"mark": mark, "transform": only, "encoding": encoding}


def _level(value: float, text: str) -> list[dict[str, Any]]:
    """A line across at a value, named at its beginning."""
    once: dict[str, list[dict]] = {"values": [{}]}  # of its own, or it would be drawn for every row
    where = {"y": {"datum": value}}
    named = {"type": "text", "align": "left", "dx": 4, "dy": -7, "text": text, "color": "$text-2"}
    return [
        {"data": once, "mark": {"type": "rule", "color": "$line-control"}, "encoding": where},
        {"data": once, "mark": named, "encoding": {**where, "x": {"value": 0}}},
    ]


def _days_axis(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Day by day while they are few; never an hour, which nobody asked for."""
    n_days = len({row["day"] for row in rows})
    ticks = {"tickCount": {"interval": "day", "step": 1}} if n_days <= 8 else {}
    return {"format": DAY_FORMAT, "labelOverlap": True, **ticks}
