"""Forms of pools and judging: they validate, and leave writing to the services."""

from typing import Any

from django import forms

from annotation.core.rules import DEFAULT_RULE, RULES
from annotation.models import Pool
from annotation.selectors import DEFAULT_SECONDS
from annotation.services.pooling import MAX_SEED
from benchmarks_app.models import Benchmark, QrelSet, Run

# A page that stayed open over lunch says nothing about how long a label takes.
MAX_DWELL_MS = 10 * 60 * 1000
CANT_JUDGE_REASONS = (
    "Empty or unreadable",
    "Unclear query",
    "Unknown language",
    "Needs an expert",
)


class PoolForm(forms.Form):
    name = forms.CharField(max_length=120)
    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="Three or more different systems, a lexical one among them.",
    )
    depth = forms.IntegerField(
        min_value=1,
        max_value=1000,
        initial=10,
        help_text="At least the cutoff of your measure: 10 for nDCG@10.",
    )
    overlap = forms.IntegerField(
        min_value=1,
        max_value=5,
        initial=1,
        label="People per document",
        help_text="How many people grade each document.",
    )
    seconds = forms.IntegerField(
        min_value=1,
        max_value=3600,
        initial=DEFAULT_SECONDS,
        label="Seconds per label",
        help_text="The median you expect; the hours follow from it.",
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=MAX_SEED,
        required=False,
        help_text="Orders the queue. Drawn if left empty; the same seed gives the same pool.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, runs: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.fields["runs"].queryset = runs

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if Pool.objects.built().filter(benchmark=self.benchmark, name=name).exists():
            message = "A pool of this name is in this benchmark already."
            raise forms.ValidationError(message)
        return name


class PoolStateForm(forms.Form):
    state = forms.ChoiceField(
        choices=[(state, state.label) for state in Pool.State if state != Pool.State.BUILDING]
    )


class QrelsForm(forms.Form):
    name = forms.CharField(max_length=120, help_text="Such as “our grades, November”.")
    rule = forms.ChoiceField(
        choices=[(rule.name, rule.says) for rule in RULES],
        initial=DEFAULT_RULE.name,
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if QrelSet.objects.ready().filter(benchmark=self.benchmark, name=name).exists():
            message = "A set of this name is in this benchmark already."
            raise forms.ValidationError(message)
        return name


class _EventForm(forms.Form):
    token = forms.CharField()
    client_id = forms.UUIDField()
    dwell_ms = forms.IntegerField(required=False, min_value=0)

    def clean_dwell_ms(self) -> int | None:
        dwell = self.cleaned_data["dwell_ms"]
        return dwell if dwell is None or dwell <= MAX_DWELL_MS else None


class JudgmentForm(_EventForm):
    grade = forms.IntegerField()


class CantJudgeForm(_EventForm):
    """`reason` is a button, `other` a line of one's own; what was written wins."""

    reason = forms.CharField(required=False)
    other = forms.CharField(required=False)

    @property
    def said(self) -> str:
        return self.cleaned_data["other"] or self.cleaned_data["reason"]


class UndoForm(forms.Form):
    client_id = forms.UUIDField()
