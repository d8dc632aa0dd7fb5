"""Forms of pools that are there: they validate, and leave writing to the services."""

from django import forms

from annotation.models import Pool


class PoolStateForm(forms.Form):
    state = forms.ChoiceField(
        choices=[(state, state.label) for state in Pool.State if state != Pool.State.BUILDING]
    )
