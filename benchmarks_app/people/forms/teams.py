"""Forms of teams: they validate, and leave writing to the services."""

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from benchmarks_app.models import Team


class TeamForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=Team._meta.get_field("name").max_length,
        help_text=_("As boards show it; nobody else's team can be called so."),
    )

    def clean_name(self) -> str:
        name = " ".join(self.cleaned_data["name"].split())
        if not name.isprintable():
            reason = _("The name holds a control character; remove it.")
            raise ValidationError(reason)
        if name.lower() in ("anonymous", "you"):
            taken = _("“{name}” means something else on boards; choose another name.")
            raise ValidationError(taken.format(name=name))
        return name


class MateForm(forms.Form):
    username = forms.CharField(
        max_length=150,
        label=_("User name"),
        help_text=_("Of somebody who works on one of your benchmarks."),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
