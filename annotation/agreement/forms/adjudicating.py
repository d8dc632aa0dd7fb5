"""The form of a case: a grade, or why there is none."""

import uuid
from typing import Any

from django import forms

from annotation.models import Judgment

Outcome = Judgment.Outcome
NO_GRADE = (Outcome.THIRD_OPINION, Outcome.QUERY_AMBIGUOUS, Outcome.GUIDELINE_UNCLEAR)


class AdjudicationForm(forms.Form):
    """`grade` is a button for each grade of the scale, `outcome` one for each other ending."""

    grade = forms.IntegerField(required=False)
    outcome = forms.ChoiceField(
        choices=[(outcome, outcome.label) for outcome in NO_GRADE], required=False
    )
    reason = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Needed for a grade that nobody gave; others read it in similar cases.",
    )
    client_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, *args: Any, given: list[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.given = given

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("grade") is not None:
            is_given = cleaned["grade"] in self.given
            cleaned["outcome"] = Outcome.PICK if is_given else Outcome.OVERRIDE
        if not cleaned.get("outcome"):
            message = "Choose a grade, or why there is none."
            raise forms.ValidationError(message)
        if cleaned["outcome"] == Outcome.OVERRIDE and not cleaned.get("reason", "").strip():
            self.add_error("reason", "Nobody gave this grade: say why it is right.")
        return cleaned
