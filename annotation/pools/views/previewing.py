"""What a page says of a pool before it is built: figures, a curve, what each run adds."""

from typing import Any

from django.template.defaultfilters import floatformat

from annotation.pools.forms.building import PoolForm
from benchmarks_app.common.forms import row_field
from benchwright.comparison.comparability import COMPARABLE, PROVISIONAL
from benchwright.pools import expected_hours
from benchwright.pools.preview import ROUNDING, measured_elsewhere, shallowest
from benchwright.pools.recipe import CUTOFF

MOST_ALIKE_SHOWN = 5
FEWEST_FOR_CURVE = 2
MOST_TICKS = 5
# Per cent of the width that "depth 12" takes with what stands before and after it.
TICK_ROOM = 14
# From so many times the labels on whole queries are said to be the longer way.
WORTH = 1.05
ORIGINS = {
    "random": "drawn at random",
    "manual": "added by hand",
    "carried": "judged before",
    "candidate": "from the list",
}


def shown_preview(preview: dict[str, Any], form: PoolForm, pace: float | None) -> dict[str, Any]:
    """What the page shows of a preview, the most alike runs first; `pace` is measured, if known."""
    alike = sorted(
        (pair for pair in preview["overlaps"] if pair["rbo"] is not None),
        key=lambda pair: -pair["rbo"],
    )
    judges = form.cleaned_data["annotators"] or row_field(form, "annotators").queryset
    n_judges = len(judges) if judges is not None else 0
    preview = {**preview, **_notes(preview, n_judges, pace)}
    context: dict[str, Any] = {
        "preview": preview,
        "alike": alike[:MOST_ALIKE_SHOWN],
        "runs": _contributions(preview),
    }
    if ways := preview.get("ways"):
        return {**context, "runs": [], "ways": ways, "ways_sentence": _ways_sentence(ways)}
    if preview["runs"]:
        names = ("systems", "depth", "documents", "share")
        line = measured_elsewhere(len(preview["runs"]), preview["reach"])
        context["elsewhere"] = dict(zip(names, line, strict=True))
    if preview.get("depths") and len(preview["runs"]) >= FEWEST_FOR_CURVE:
        context |= {"curve": _curve(preview), "bargain": _bargain(preview)}
    return context


def _ways_sentence(ways: dict[str, Any]) -> str:
    drawn, whole = ways["drawn"], ways["as_narrow"]
    factor = whole["n_labels"] / drawn["n_labels"]
    end = f", {factor:.1f} times as many." if factor >= WORTH else ": judge those, they last."
    width = f"{ways['measure']} of a run to about ±{drawn['half_width']:.3f}"
    return (
        f"{width}, in {drawn['hours']:.1f} h. "
        f"Whole queries as narrow: {whole['n_queries']:,.0f} of {ways['n_queries']:,}, "
        f"{whole['n_labels']:,.0f} documents, {whole['hours']:.1f} h{end}"
    )


def _contributions(preview: dict[str, Any]) -> list[dict[str, Any]]:
    """Each run with what it alone brings, most first; `share` is of the most that any brings."""
    most = max((run["n_unique"] for run in preview["runs"]), default=0)
    least = preview["judged_new_least"]
    runs = [
        {
            **run,
            "left_out": (left_out := preview["judged_left_out"][run["run"]]),
            "share": run["n_unique"] / most if most else 0.0,
            "is_least": left_out is not None and left_out == least,
        }
        for run in preview["runs"]
    ]
    return sorted(runs, key=lambda run: -run["n_unique"])


def _notes(facts: dict[str, Any], n_judges: int, pace: float | None) -> dict[str, str]:
    """What stands below the figures of a preview."""
    sizes, seconds = facts["per_query"], facts["seconds"]
    extras = [
        f"{facts['origins'][origin]:,} {words}"
        for origin, words in ORIGINS.items()
        if origin in facts["origins"]
    ]
    doubled = f"{facts['n_doubles']:,} documents are graded by one more"
    had = f"; {facts['n_without']:,} have their labels already" if facts["n_without"] else ""
    is_measured = pace is not None and max(round(pace), 1) == seconds
    each = f"; {facts['hours'] / n_judges:.1f} each of {n_judges}" if n_judges > 1 else ""
    notes = {
        "sizes_note": f"{sizes['min']} to {sizes['max']} a query, median {sizes['median']:g}"
        + "".join(f"; {extra}" for extra in extras),
        "labels_note": doubled + had,
        "hours_note": f"at {seconds:g} seconds a label, "
        + ("the median here" if is_measured else "assumed")
        + each,
    }
    if facts["judged_new_least"] is not None:
        least = floatformat(facts["judged_new_least"], 2)
        notes["new_note"] = (
            f"of the first ten, by depth {facts['reach']}, each run left out; least {least}"
        )
    return notes


def _curve(preview: dict[str, Any]) -> dict[str, Any]:
    """The share judged of a new system by depth, as points of a picture of 100 by 100."""
    depths, depth = preview["depths"], preview["reach"]
    deepest = len(depths["judged"])
    x = [100 * place / (deepest - 1) for place in range(deepest)]

    def points(shares: list[float]) -> str:
        places = zip(x, shares, strict=True)
        return " ".join(f"{at:.1f},{100 - 100 * share:.1f}" for at, share in places)

    named_depths = sorted({1, min(depth, deepest), CUTOFF, deepest})
    shares = ", ".join(f"{depths['judged'][at - 1]:.2f} at {at}" for at in named_depths)
    step = max(deepest // (MOST_TICKS - 1), 1)
    ticks = {1, *range(step, deepest + 1, step)}
    return {
        "mean": points(depths["judged"]),
        "least": points(depths["least"]),
        "least_run": depths["least_run"],
        "n_runs": len(preview["runs"]),
        "depth": depth,
        "x": f"{x[depth - 1]:.2f}",
        "y": f"{100 - 100 * depths['judged'][depth - 1]:.1f}",
        "description": f"Judged@{CUTOFF} of a new system by depth: {shares}.",
        "ticks": [
            {"x": f"{x[tick - 1]:.2f}", "text": f"{tick}"}
            for tick in sorted(ticks)
            if abs(x[tick - 1] - x[depth - 1]) > TICK_ROOM
        ],
    }


def _bargain(preview: dict[str, Any]) -> dict[str, Any]:
    """The next depth worth its labels: title, text, kind and, if there is one, the depth."""
    shares, depth = preview["depths"]["judged"], preview["reach"]
    now = shares[depth - 1]
    # Rounded as the figure above it: .485 is .49 there.
    judged = round(100 * float(floatformat(now, 2)))
    title = f"At depth {depth} a new system has {100 - judged} % of its first ten unjudged."
    if now >= COMPARABLE - ROUNDING:
        enough = max(shallowest(shares, COMPARABLE) or depth, min(CUTOFF, depth))
        title = f"At depth {depth} a new system has {judged} % of its first ten judged."
        if enough < depth:
            share = floatformat(shares[enough - 1], 2)
            text = f"Depth {enough} has {share} judged, with {_cost(preview, enough)}."
            return {"title": title, "text": text, "depth": enough, "kind": "good"}
        text = f"From {100 * COMPARABLE:.0f} % on runs are compared freely: deeper adds little."
        return {"title": title, "text": text, "kind": "good"}
    enough_for, words = (
        (PROVISIONAL, "from there on it can be compared with these, provisionally")
        if now < PROVISIONAL - ROUNDING
        else (COMPARABLE, "from there on it is compared freely")
    )
    deeper = shallowest(shares, enough_for)
    if deeper:
        reached = floatformat(shares[deeper - 1], 2)
        text = f"Depth {deeper} reaches {reached} for {_cost(preview, deeper)}: {words}."
        return {"title": title, "text": text, "depth": deeper, "kind": "warn"}
    text = (
        f"No depth down to {len(shares)} reaches {enough_for:.2f} with these runs. A system that "
        "works otherwise helps more than depth."
    )
    return {"title": title, "text": text, "kind": "warn"}


def _cost(preview: dict[str, Any], depth: int) -> str:
    """What going to this depth takes, or saves, in documents and hours."""
    documents = preview["depths"]["documents"]
    n_more = documents[depth - 1] - documents[preview["reach"] - 1]
    n_labels = abs(n_more) * preview["labels_each"]
    hours = expected_hours(n_labels, median_seconds=preview["seconds"])
    words = "more" if n_more > 0 else "fewer"
    return f"{abs(n_more):,} documents {words}, about {hours:.1f} h"
