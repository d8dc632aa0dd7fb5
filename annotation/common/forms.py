"""Forms of qrels: publishing them, and the rule that they follow."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.html import format_html

from annotation.common.selectors.ledger import annotators_of
from annotation.common.selectors.policies import policy_of
from annotation.models import AggregationPolicy
from benchmarks_app.common.forms import ChangeForm, row_field
from benchmarks_app.models import Benchmark, QrelSet, User
from benchwright.formats.numbers import row_key
from benchwright.qrels.rules import RULES, Settings, rule_named


class AsOfField(forms.CharField):
    """The number of an event, a day or a time; empty for now."""

    def clean(self, value: Any) -> int | datetime | None:
        text = super().clean(value).strip()
        if not text:
            return None
        if event := row_key(text):
            return event
        moment = as_time(text)
        if moment is None:
            message = "Write the number of an event, or a time such as 2026-11-21 14:30."
            raise forms.ValidationError(message)
        return moment


def as_time(text: str) -> datetime | None:
    """A time of the site's zone; a day alone means its end."""
    try:
        day, moment = parse_date(text), parse_datetime(text)
    except ValueError:
        return None
    if day and (moment is None or len(text) <= len("2026-11-21")):
        moment = datetime.combine(day, datetime.max.time())
    if moment is None:
        return None
    return moment if timezone.is_aware(moment) else timezone.make_aware(moment)


class _SettingsForm(forms.Form):
    """A rule and what it is told; at first what the benchmark's policy says."""

    rule = forms.ChoiceField(
        choices=[
            (rule.name, format_html("<span><b>{}</b>: {}</span>", rule.name, rule.says))
            for rule in RULES
        ],
        widget=forms.RadioSelect,
    )
    adjudicate_from = forms.IntegerField(
        label="Grades that need settling",
        min_value=1,
        max_value=10,
        help_text="Two labels of a document that lie this far apart stay open until somebody "
        "settles them. 1 lets nothing pass, 2 lets neighbours pass.",
    )
    unresolved = forms.ChoiceField(
        label="Where labels stay open",
        choices=AggregationPolicy.Unresolved.choices,
        widget=forms.RadioSelect,
    )
    smoothing = forms.FloatField(
        min_value=0.001,
        max_value=10,
        help_text="For Dawid-Skene alone: added to every count, 0.01 to 1.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        policy = policy_of(benchmark)
        self.benchmark, self._usual = benchmark, policy.settings.as_json()
        initial = {"rule": policy.rule.name, **self._usual}
        super().__init__(*args, **{"initial": initial, **kwargs})
        for name in self._usual:
            # What a short form leaves out is as the policy has it.
            self.fields[name].required = not self.is_bound

    def arguments(self) -> dict[str, Any]:
        """What was chosen, with the settings as one."""
        cleaned = dict(self.cleaned_data)
        chosen = {name: cleaned.pop(name) or usual for name, usual in self._usual.items()}
        return {**cleaned, "settings": Settings(**chosen)}


class PolicyForm(ChangeForm, _SettingsForm):
    """The rule that a benchmark's inbox and next qrels follow."""

    def arguments(self) -> dict[str, Any]:
        arguments = super().arguments()
        return {**arguments, "rule": rule_named(arguments["rule"])}


class QrelsForm(_SettingsForm):
    name = forms.CharField(max_length=120, help_text="Such as “our grades, November”.")
    as_of = AsOfField(
        label="As of",
        required=False,
        help_text="The number of an event, a day or a time. Empty for everything so far.",
    )
    annotator = forms.ModelChoiceField(
        User.objects.none(),
        required=False,
        label="Whose grades",
        empty_label="Everybody's",
        help_text="One person's own grades become a set that bears a pseudonym; it needs no name.",
    )
    without = forms.ModelMultipleChoiceField(
        User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Leave out the labels of",
        help_text="The set says how many people were left out, by pseudonym; documents that nobody "
        "else graded have no grade then.",
    )
    field_order = ("name", "rule", "as_of", "annotator", "without")

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        for name in ("annotator", "without"):
            row_field(self, name).queryset = annotators_of(benchmark)
        # One person's view is named after their pseudonym.
        self.fields["name"].required = not (self.is_bound and self.data.get("annotator"))

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if name and QrelSet.objects.ready().filter(benchmark=self.benchmark, name=name).exists():
            message = "A set of this name is in this benchmark already."
            raise forms.ValidationError(message)
        return name

    @property
    def first_fields(self) -> list[forms.BoundField]:
        return [self["name"], self["rule"]]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        names = ("as_of", "unresolved", "adjudicate_from", "annotator", "without", "smoothing")
        return [self[name] for name in names]
