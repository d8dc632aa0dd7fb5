"""How many families are drawn for people to label."""

from django import forms

from benchmarks_app.common.parameters import form_field
from benchwright.recipes.sampling import FAMILIES_DRAWN


class DrawForm(forms.Form):
    n = form_field(FAMILIES_DRAWN, required=True)
