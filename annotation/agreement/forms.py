"""Forms of agreement: which judgments a page is about; a grade of a case, or why it has none."""

import uuid
from datetime import date, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from annotation.agreement.selectors.agreement import Filters
from annotation.models import Judgment, Pool
from benchmarks_app.common.forms import row_field
from benchmarks_app.models import Benchmark


class AgreementFilterForm(forms.Form):
    pool = forms.ModelChoiceField(Pool.objects.none(), required=False, empty_label="All pools")
    since = forms.DateTimeField(
        required=False, label="From", widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateTimeField(
        required=False, label="To", widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "pool").queryset = (
            Pool.objects.built().filter(benchmark=benchmark).order_by("-pk")
        )

    @property
    def filters(self) -> Filters:
        """What was asked for; what cannot be understood counts as not asked."""
        cleaned = self.cleaned_data if self.is_bound and self.is_valid() else {}
        pool, until = cleaned.get("pool"), cleaned.get("until")
        if until is not None and timezone.localtime(until).time() == until.min.time():
            # A day means all of it, and the last one there is all that comes.
            until = until + timedelta(days=1) if until.date() < date.max else None
        return Filters(pool and pool.pk, cleaned.get("since"), until)


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

    def __init__(self, *args: Any, grades: list[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.grades = grades

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("grade") is not None:
            is_given = cleaned["grade"] in self.grades
            cleaned["outcome"] = Outcome.PICK if is_given else Outcome.OVERRIDE
        if not cleaned.get("outcome"):
            message = "Choose a grade, or why there is none."
            raise forms.ValidationError(message)
        if cleaned["outcome"] == Outcome.OVERRIDE and not cleaned.get("reason", "").strip():
            self.add_error("reason", "Nobody gave this grade: say why it is right.")
        return cleaned
