"""Asking that people are spared what a campaign gave 0."""

from typing import Any, cast

from django import forms
from django.db.models import QuerySet

from annotation.models import Campaign
from benchmarks_app.common.parameters import form_field
from benchwright.recipes import campaigns as recipe


class SparingForm(forms.Form):
    """What was left empty is as by default."""

    campaign = forms.ModelChoiceField(Campaign.objects.none(), label="Machine", empty_label=None)
    n_audit = form_field(recipe.AUDITED)
    most_missed = form_field(recipe.MOST_MISSED)
    checked_share = form_field(recipe.CHECKED_SHARE)

    def __init__(self, *args: Any, campaigns: QuerySet[Campaign], **options: Any) -> None:
        super().__init__(*args, **options)
        cast(forms.ModelChoiceField, self.fields["campaign"]).queryset = campaigns

    @property
    def wanted(self) -> dict[str, Any]:
        """What the service takes."""
        cleaned = self.cleaned_data
        numbers = {
            parameter.name: parameter.default
            if cleaned[parameter.name] is None
            else cleaned[parameter.name]
            for parameter in recipe.SPARING
        }
        return {"campaign": cleaned["campaign"], **numbers}
