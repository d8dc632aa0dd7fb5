"""Forms of teams: they validate, and leave writing to the services."""

from django import forms
from django.core.exceptions import ValidationError

from benchmarks_app.models import Team


class TeamForm(forms.Form):
    name = forms.CharField(
        max_length=Team._meta.get_field("name").max_length,
        help_text="As boards show it; nobody else's team can be called so.",
    )

    def clean_name(self) -> str:
        name = " ".join(self.cleaned_data["name"].split())
        if not name.isprintable():
            reason = "The name holds a control character; remove it."
            raise ValidationError(reason)
        if name.lower() in ("anonymous", "you"):
            reason = f"“{name}” means something else on boards; choose another name."
            raise ValidationError(reason)
        return name


class MateForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        label="User name",
        help_text="Of somebody who works on one of your benchmarks.",
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
