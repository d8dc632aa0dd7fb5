"""The form that makes a list of documents worth judging."""

from collections.abc import Mapping
from typing import Any

from django import forms


class TopUpForm(forms.Form):
    n = forms.IntegerField(
        label="Documents", min_value=1, help_text="The first of the list, by influence."
    )

    def __init__(self, data: Mapping[str, Any] | None, *, n: int | None, most: int) -> None:
        super().__init__(data, initial={"n": n})
        self.most = max(most, 1)
        self.fields["n"].widget.attrs |= {"min": 1, "max": self.most}

    def clean_n(self) -> int:
        return min(self.cleaned_data["n"], self.most)
