"""The form that makes a list of documents worth judging."""

from typing import Any

from django import forms


class TopUpForm(forms.Form):
    n = forms.IntegerField(
        label="Documents", min_value=1, help_text="The first of the list, by influence."
    )

    def __init__(self, *args: Any, n: int | None, most: int, **options: Any) -> None:
        super().__init__(*args, initial={"n": n}, **options)
        field = self.fields["n"]
        field.max_value = max(most, 1)
        field.widget.attrs |= {"min": 1, "max": max(most, 1)}

    def clean_n(self) -> int:
        return min(self.cleaned_data["n"], self.fields["n"].max_value)
