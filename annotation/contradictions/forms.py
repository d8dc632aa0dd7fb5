"""Which contradictions are shown, what is to become of one, and the words of an example."""

from django import forms

from annotation.contradictions.selectors import Direction, State
from annotation.models import GradeExample, Judgment

OUTCOMES = (Judgment.Outcome.THIRD_OPINION, Judgment.Outcome.GUIDELINE_UNCLEAR)


class ContradictionFilterForm(forms.Form):
    state = forms.ChoiceField(label="Show", choices=State.choices, required=False)
    direction = forms.ChoiceField(label="Direction", choices=Direction.choices, required=False)

    @property
    def wanted(self) -> dict[str, str]:
        """What is shown; without a word of it, what is open."""
        cleaned = self.cleaned_data if self.is_valid() else {}
        return {
            "state": cleaned.get("state") or State.OPEN,
            "direction": cleaned.get("direction", ""),
        }


class LookAgainForm(forms.Form):
    """`outcome` is a button."""

    outcome = forms.ChoiceField(choices=[(outcome, outcome.label) for outcome in OUTCOMES])
    client_id = forms.UUIDField()


class ExampleForm(forms.Form):
    # How long it may be the service says: a browser counts the end of a line as one character.
    text = forms.CharField(
        label="Example",
        help_text="At most 1,000 characters. Say what in the document decides the grade.",
        widget=forms.Textarea(attrs={"rows": 8, "maxlength": GradeExample.MOST_CHARACTERS}),
    )
