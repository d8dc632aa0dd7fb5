"""Forms of the guideline and of questions about it."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.validators import MaxLengthValidator

from benchmarks_app.models import Grade, Guideline


class GuidelineForm(forms.Form):
    """The text, and for each grade the line that says what it means."""

    text = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 18}),
        # By no attribute of the field: browsers would cut what is pasted without a word.
        validators=[MaxLengthValidator(Guideline.MOST_CHARACTERS)],
        label="Guideline",
        help_text="Markdown: # headings, - lists, **bold**. A change is a new version, which every "
        "annotator sees, with what changed, before the next document.",
    )
    written_upon = forms.IntegerField(widget=forms.HiddenInput, min_value=0)

    def __init__(self, *args: Any, grades: Sequence[Grade], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.values = [grade.value for grade in grades]
        for grade in grades:
            self.fields[f"anchor_{grade.value}"] = forms.CharField(
                max_length=200,
                required=False,
                label=str(grade),
                initial=grade.anchor,
                show_hidden_initial=True,
            )

    @property
    def anchor_fields(self) -> list[Any]:
        return [self[f"anchor_{value}"] for value in self.values]

    @property
    def anchors(self) -> dict[int, str]:
        """Those that were sent, and not as the page showed them: a form without them changes
        none."""
        fields = {value: f"anchor_{value}" for value in self.values}
        return {
            value: self.cleaned_data[name]
            for value, name in fields.items()
            if name in self.data
            and (name in self.changed_data or self[name].html_initial_name not in self.data)
        }


class AnswerForm(forms.Form):
    answer = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), max_length=10_000)
    guideline_line = forms.CharField(
        required=False,
        max_length=1000,
        label="Line for the guideline",
        help_text="Makes a new version of the guideline with this line at its end.",
    )
