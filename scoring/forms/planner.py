"""What somebody plans with, as a form and as a part of an address."""

from collections.abc import Mapping
from typing import Any

from django import forms

from scoring.core.planning import ASSUMED_SYSTEMS, CUTOFF, DEEPEST
from scoring.services.planning import (
    DEFAULT_DELTA,
    DEFAULT_OVERLAP,
    DEFAULT_SECONDS,
    Wish,
)

PERCENT = 100
NAMES = ("delta", "hours", "depth", "judged", "overlap", "seconds", "systems")


class PlannerForm(forms.Form):
    """Every field may be left empty: then its default counts."""

    delta = forms.FloatField(
        label="Smallest difference to see",
        required=False,
        min_value=0.001,
        max_value=0.5,
        help_text="Of nDCG@10, such as 0.02.",
    )
    hours = forms.FloatField(
        label="Hours of labelling there are",
        required=False,
        min_value=0.1,
        max_value=1_000_000,
        help_text="Empty: what the difference costs.",
    )
    depth = forms.IntegerField(
        label="Pool depth, at least",
        required=False,
        min_value=1,
        max_value=DEEPEST,
        help_text="Below 10, even pooled systems have unjudged documents in nDCG@10.",
    )
    judged = forms.FloatField(
        label="Judged of a new system, %",
        required=False,
        min_value=0,
        max_value=100,
        help_text="Of the first ten of a system outside the pool, at least.",
    )
    overlap = forms.FloatField(
        label="Labelled twice, %",
        required=False,
        min_value=0,
        max_value=300,
        help_text="Of the documents, by a second person.",
    )
    seconds = forms.FloatField(label="Seconds a label", required=False, min_value=1, max_value=3600)
    systems = forms.IntegerField(
        label="Systems in the pool",
        required=False,
        min_value=1,
        max_value=200,
        help_text="There are no runs yet: how a pool grows is assumed.",
    )

    def __init__(self, data: Mapping[str, Any], *, seconds: float | None, has_runs: bool) -> None:
        self.default_seconds = round(seconds) if seconds else DEFAULT_SECONDS
        defaults = {
            "delta": DEFAULT_DELTA,
            "depth": CUTOFF,
            "overlap": round(DEFAULT_OVERLAP * PERCENT),
            "seconds": round(self.default_seconds),
            "systems": ASSUMED_SYSTEMS,
        }
        # Shown filled in, also before anything was asked for.
        filled = {name: data.get(name) or defaults.get(name, "") for name in NAMES}
        super().__init__(filled)
        how = "the median of the newest labels" if seconds else "assumed"
        self.fields["seconds"].help_text = f"{self.default_seconds:.0f}: {how}."
        if has_runs:
            del self.fields["systems"]

    def wish(self) -> Wish:
        """What is asked for; defaults alone where the form has a mistake."""
        if not self.is_valid():
            return Wish(seconds=self.default_seconds)
        told = self.cleaned_data
        return Wish(
            delta=told["delta"],
            hours=told["hours"],
            depth=told["depth"],
            judged=None if told["judged"] is None else told["judged"] / PERCENT,
            overlap=told["overlap"] / PERCENT,
            seconds=told["seconds"],
            systems=told.get("systems") or ASSUMED_SYSTEMS,
        )


def wish_text(wish: Wish) -> str:
    """A wish as one part of an address.

    Examples
    --------
    >>> wish_text(Wish(hours=40.0))
    '0.02_40_10__0.1_30_3'
    """
    return "_".join("" if (of := getattr(wish, name)) is None else f"{of:g}" for name in NAMES)


def read_wish(text: str) -> Wish | None:
    """The wish that `wish_text` wrote, None where it is none or beyond what the form takes.

    Examples
    --------
    >>> read_wish("0.02_40_10__0.1_30_3") == Wish(hours=40.0), read_wish("x")
    (True, None)
    """
    parts = text.split("_")
    if len(parts) != len(NAMES):
        return None
    given = dict(zip(NAMES, parts, strict=True))
    try:
        for name in ("judged", "overlap"):
            given[name] = f"{float(given[name]) * PERCENT:g}" if given[name] else ""
    except ValueError:
        return None
    form = PlannerForm(given, seconds=None, has_runs=False)
    return form.wish() if form.is_valid() else None
