"""Which events of the audit log are asked for."""

from typing import Any

from django import forms

from benchmarks_app.common.selectors.audit import KIND_LABELS, Asked

DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class AuditForm(forms.Form):
    kind = forms.ChoiceField(
        choices=[("", "all"), *((kind, label) for kind, label in KIND_LABELS.items())],
        required=False,
    )
    person = forms.CharField(required=False, max_length=150, label="User name")
    since = forms.DateField(required=False, label="From day", widget=DAY)
    until = forms.DateField(required=False, label="To day", widget=DAY)
    text = forms.CharField(required=False, max_length=200, label="Words")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if problem := Asked(**cleaned).problem:
            self.add_error("until", problem)
        return cleaned

    def asked(self) -> Asked:
        """What is asked for, of a form that is valid."""
        return Asked(**self.cleaned_data)
