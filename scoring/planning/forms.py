"""What somebody plans with, as a form and as a part of an address; how old a label may be."""

from collections.abc import Mapping
from typing import Any

from django import forms

from benchwright.formats.numbers import row_key
from benchwright.pools.planning import ASSUMED_SYSTEMS, CUTOFF, DEEPEST
from scoring.planning.services.planning import DEFAULT_DELTA, DEFAULT_OVERLAP, DEFAULT_SECONDS, Wish

PERCENT = 100
NAMES = ("delta", "hours", "depth", "judged", "overlap", "seconds", "systems")


def _optional(
    label: str,
    least: float,
    most: float,
    help_text: str = "",
    *,
    field: type[forms.FloatField | forms.IntegerField] = forms.FloatField,
) -> forms.Field:
    """A number that may be left empty."""
    bounds: dict[str, Any] = {"min_value": least, "max_value": most}
    return field(label=label, required=False, help_text=help_text, **bounds)


class PlannerForm(forms.Form):
    """Every field may be left empty: then its default counts."""

    delta = _optional("Smallest difference to see", 0.001, 0.5, "Of nDCG@10, such as 0.02.")
    hours = _optional(
        "Hours of labelling there are", 0.1, 1_000_000, "Empty: what the difference costs."
    )
    depth = _optional(
        "Pool depth, at least",
        1,
        DEEPEST,
        "Below 10, even pooled systems have unjudged documents in nDCG@10.",
        field=forms.IntegerField,
    )
    judged = _optional(
        "Judged of a new system, %",
        0,
        100,
        "Of the first ten of a system outside the pool, at least.",
    )
    overlap = _optional("Labelled twice, %", 0, 300, "Of the documents, by a second person.")
    seconds = _optional("Seconds a label", 1, 3600)
    systems = _optional(
        "Systems in the pool",
        1,
        200,
        "There are no runs yet: how a pool grows is assumed.",
        field=forms.IntegerField,
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
        cleaned = self.cleaned_data
        return Wish(
            delta=cleaned["delta"],
            hours=cleaned["hours"],
            depth=cleaned["depth"],
            judged=None if cleaned["judged"] is None else cleaned["judged"] / PERCENT,
            overlap=cleaned["overlap"] / PERCENT,
            seconds=cleaned["seconds"],
            systems=cleaned.get("systems") or ASSUMED_SYSTEMS,
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
    fields = dict(zip(NAMES, parts, strict=True))
    try:
        for name in ("judged", "overlap"):
            fields[name] = f"{float(fields[name]) * PERCENT:g}" if fields[name] else ""
    except ValueError:
        return None
    form = PlannerForm(fields, seconds=None, has_runs=False)
    return form.wish() if form.is_valid() else None


LONGEST_DAYS = 36_500


def asked_days(text: str) -> int | None:
    """How old a label may be, as an address says it; None where it does not."""
    days = row_key(text)
    return min(days, LONGEST_DAYS) if days else None
