"""How the scores of cases are spread."""

from collections.abc import Sequence
from statistics import median

from django.utils.translation import gettext, gettext_noop

from benchmarks_app.charts import Chart, axis_of_counts
from benchwright.evaluation.profiles import histogram

N_BINS = 20
LABEL = gettext_noop("Contextual precision")


def scores_chart(scores: Sequence[float]) -> Chart:
    """How many cases have which score."""
    bins = histogram(scores, n_bins=N_BINS)
    rows = [
        {"from": bar.low, "to": bar.high, "cases": bar.n, "share up to": bar.share_up_to}
        for bar in bins
    ]
    axis = {"format": ".1f", "values": [place / 5 for place in range(6)]}
    spec = {
        "mark": {"type": "rect", "color": "$accent", "stroke": "$surface"},
        "encoding": {
            "x": {"field": "from", "type": "quantitative", "title": LABEL, "axis": axis},
            "x2": {"field": "to"},
            "y": {
                "field": "cases",
                "type": "quantitative",
                "title": "Cases",
                "axis": axis_of_counts(max((bar.n for bar in bins), default=0)),
            },
            "y2": {"datum": 0},
        },
    }
    return Chart(gettext("How the scores are spread"), _said(scores), spec, rows)


def _said(scores: Sequence[float]) -> str:
    if not scores:
        return gettext("No case has a score.")
    n_zero, n_full = (sum(score == end for score in scores) for end in (0, 1))
    sentence = gettext(
        "{measure} of {n:,} cases: half of them have {middle:.3f} or less, {n_zero:,} have 0, "
        "{n_full:,} have 1."
    )
    return sentence.format(
        measure=gettext(LABEL),
        n=len(scores),
        middle=median(scores),
        n_zero=n_zero,
        n_full=n_full,
    )
