"""Which two runs to compare as exact and approximate search, and how deep."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import SelectOfMany, offer_runs
from benchmarks_app.models import Run
from benchwright.retrieval.ann import TOLERANCE
from scoring.systems.services.ann import CUTOFF, DEEPEST


class AnnForm(forms.Form):
    exact = forms.ModelChoiceField(
        Run.objects.none(),
        label=_("Exact search"),
        widget=SelectOfMany,
        help_text=_("Every document compared."),
    )
    approximate = forms.ModelChoiceField(
        Run.objects.none(),
        label=_("Approximate index"),
        widget=SelectOfMany,
        help_text=_("Of the same model."),
    )
    k = forms.IntegerField(
        label=_("First"), required=False, min_value=1, max_value=DEEPEST, initial=CUTOFF
    )
    tolerance = forms.FloatField(
        label=_("Scores this near are equal"),
        required=False,
        min_value=0,
        initial=TOLERANCE,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def __init__(self, *args: Any, runs: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        offer_runs(self, ("exact", "approximate"), runs)
        self.fields["k"].widget.attrs["placeholder"] = CUTOFF

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["k"] = cleaned.get("k") or CUTOFF
        cleaned["tolerance"] = (
            TOLERANCE if cleaned.get("tolerance") is None else cleaned["tolerance"]
        )
        if cleaned.get("exact") and cleaned.get("exact") == cleaned.get("approximate"):
            self.add_error("approximate", _("Choose another run than the exact one."))
        return cleaned
