"""The form that orders are compared with."""

from typing import Any

from django import forms

from benchmarks_app.common.forms import row_field
from benchmarks_app.common.parameters import form_field
from benchmarks_app.models import QrelSet, Run
from benchwright.pools.adaptive import BURN_IN
from benchwright.recipes import pools


class SimulationForm(forms.Form):
    qrel_set = forms.ModelChoiceField(
        QrelSet.objects.none(),
        label="Known grades",
        help_text="The labels that would have come.",
    )
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(), widget=forms.CheckboxSelectMultiple, help_text="Two or more."
    )
    depth = form_field(
        pools.DEPTH,
        required=True,
        initial=20,
        help_text="Of the pool: each run's first so many.",
    )
    burn_in = forms.IntegerField(
        min_value=0,
        max_value=1000,
        initial=BURN_IN,
        label="Ranks before learning",
        help_text="The orders that learn judge each run's first so many ranks before they begin.",
    )

    def __init__(self, *args: Any, runs: Any, qrel_sets: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "runs").queryset = runs
        row_field(self, "qrel_set").queryset = qrel_sets
