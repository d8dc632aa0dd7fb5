"""Asking that the queue of a pool is put in order."""

from typing import Any

from django import forms

from annotation.models import Campaign, Pool
from annotation.queueing.selectors import campaigns_of, runs_of
from benchmarks_app.common.forms import row_field
from benchmarks_app.common.parameters import form_field
from benchmarks_app.models import Run, User
from benchwright.recipes import pools


class QueueForm(forms.Form):
    """What was left empty is as by default."""

    by = form_field(pools.BY, widget=forms.RadioSelect, required=True)
    campaigns = forms.ModelMultipleChoiceField(
        Campaign.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Campaigns",
        help_text="Of two or more models. What one alone has graded comes last.",
    )
    first = forms.ModelChoiceField(
        Run.objects.none(), required=False, label="One run", empty_label="choose two"
    )
    second = forms.ModelChoiceField(
        Run.objects.none(), required=False, label="and another", empty_label="choose two"
    )
    measure = form_field(pools.MEASURE, help_text="Others do not add up over documents.")
    cutoff = form_field(pools.CUTOFF)

    def __init__(self, *args: Any, pool: Pool, user: User, **options: Any) -> None:
        super().__init__(*args, **options)
        row_field(self, "campaigns").queryset = campaigns_of(pool)
        for name in ("first", "second"):
            row_field(self, name).queryset = runs_of(pool.benchmark, user)

    @property
    def wanted(self) -> dict[str, Any]:
        """What the service takes."""
        cleaned = self.cleaned_data
        return {
            "by": cleaned["by"],
            "campaigns": list(cleaned["campaigns"]),
            "runs": [run for run in (cleaned["first"], cleaned["second"]) if run],
            "measure": cleaned["measure"] or pools.MEASURE.default,
            "cutoff": cleaned["cutoff"] or pools.CUTOFF.default,
        }
