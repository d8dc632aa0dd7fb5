"""Forms of slices: what a slice is to be, a file of slices, queries added by hand."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import ChangeForm
from benchmarks_app.common.parameters import form_field
from benchmarks_app.models import Slice
from benchwright.errors import BenchmarkError
from benchwright.recipes import collections as recipe
from benchwright.slices.frequency import HEAD_SHARE, TAIL_SHARE, Band
from benchwright.slices.names import checked_name
from benchwright.slices.rules import Rule, checked_rule

HAND = Slice.Kind.HAND.value
# Kinds in the order in which people are offered them: title, what it takes.
KINDS: dict[str, tuple[str, str]] = {
    "frequency": ("Frequency", "Head, torso or tail by how often a query is asked."),
    "exact_match": ("Exact match", "Names the very thing: quoted, a code, a version, a title."),
    "semantic": ("Semantic", "Its words are not those of its relevant documents."),
    "navigational": ("Navigational", "After one place: an address, a site, one clicked document."),
    "informational": ("Informational", "A question, or as long as one."),
    "length": ("Length", "From so many words to so many."),
    "language": ("Language", "In one language."),
    "tag": ("Tag", "With a value in a column of the queries' metadata."),
    "expression": ("Expression", "Whatever a short expression says."),
    HAND: ("By hand", "The queries you name."),
}
# The form's fields of each kind, and what a rule calls them.
RULE_FIELDS: dict[str, dict[str, str]] = {
    "frequency": {"band": "band", "head_percent": "head_share", "tail_percent": "tail_share"},
    "length": {"shortest": "from", "longest": "to"},
    "language": {"lang": "lang"},
    "tag": {"key": "key", "value": "value"},
    "expression": {"expression": "expression"},
    "navigational": {"brands": "brands"},
}


class RuleForm(forms.Form):
    """The options of one kind of rule; `rule` is what they come to."""

    band = forms.ChoiceField(
        choices=[(band.value, band.value.capitalize()) for band in Band],
        help_text="Of all queries with a count; who ties with the next one is torso.",
    )
    head_percent = forms.FloatField(
        label="Head, %",
        min_value=0.01,
        max_value=99,
        initial=HEAD_SHARE * 100,
        help_text="Of the distinct queries.",
    )
    tail_percent = forms.FloatField(
        label="Tail, %", min_value=0.01, max_value=99, initial=TAIL_SHARE * 100
    )
    shortest = forms.IntegerField(label="From, words", min_value=0, required=False)
    longest = forms.IntegerField(label="To, words", min_value=0, required=False)
    lang = forms.CharField(
        label="Language", max_length=35, help_text="As the queries say it; en takes en-GB as well."
    )
    key = forms.CharField(label="Column", max_length=100, help_text="Of the queries' metadata.")
    value = forms.CharField(max_length=200)
    expression = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "mono"}),
        help_text='Such as: frequency &gt;= 100 and not lang = "de"',
    )
    brands = forms.CharField(
        label="Brands and sites",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line: words that stand for a place here.",
    )

    def __init__(self, *args: Any, kind: str, rule: Rule | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        option_of_field = RULE_FIELDS.get(kind, {})
        for name in set(RuleForm.base_fields) - set(option_of_field):
            self.fields.pop(name, None)
        for field, option in option_of_field.items():
            if rule and option in rule:
                self.initial[field] = _shown(option, rule[option])
        self.kept = {
            name: rule[name] for name in ("head_above", "tail_below") if rule and name in rule
        }

    @property
    def rule(self) -> dict[str, Any]:
        """The rule as it was filled in; only of a valid form."""
        return self._rule(self.cleaned_data)

    def _rule(self, data: dict[str, Any]) -> dict[str, Any]:
        rule: dict[str, Any] = {"kind": self.kind}
        for field, option in RULE_FIELDS.get(self.kind, {}).items():
            value = data.get(field)
            if value is not None and value != "":
                rule[option] = _meant(option, value)
        if self.kept:
            rule = {"kind": self.kind, "band": rule.get("band"), **self.kept}
        return rule

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.kind != HAND and not self.errors:
            try:
                checked_rule(self._rule(data))
            except BenchmarkError as error:
                field = next(iter(RULE_FIELDS.get(self.kind, {})), None)
                self.add_error(field, str(error))
        return data


def _shown(option: str, value: Any) -> Any:
    if option.endswith("_share"):
        return round(value * 100, 6)
    return "\n".join(value) if isinstance(value, list) else value


def _meant(option: str, value: Any) -> Any:
    if option.endswith("_share"):
        return round(value / 100, 8)
    return [line for line in value.splitlines() if line.strip()] if option == "brands" else value


class SliceForm(ChangeForm, RuleForm):
    """A slice with its name, and the options of its kind."""

    name = forms.CharField(max_length=120, help_text="Short; it stands on the leaderboard.")
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    minimum = form_field(recipe.MINIMUM, required=True)
    qids = forms.CharField(
        label="Query ids",
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono"}),
        help_text="One a line.",
    )
    field_order = ("name", *RuleForm.base_fields, "qids", "description", "minimum")

    def __init__(
        self, *args: Any, is_new: bool = True, is_registered: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if self.kind != HAND or not is_new:
            self.fields.pop("qids")
        for name, field in self.fields.items():
            field.disabled = is_registered and name != "description"

    def clean_name(self) -> str:
        try:
            return checked_name(self.cleaned_data["name"])
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error

    def clean_qids(self) -> list[str]:
        return ids_of(self.cleaned_data["qids"])


class QueryIdsForm(forms.Form):
    qids = forms.CharField(
        label=_("Query ids"),
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono"}),
        help_text=_("One a line."),
    )

    def clean_qids(self) -> list[str]:
        return ids_of(self.cleaned_data["qids"])


class SliceFileForm(forms.Form):
    file = forms.FileField(
        label="File of slices",
        help_text="Two columns separated by a tab: query-id, slice. A query may be in several.",
    )


def ids_of(text: str) -> list[str]:
    """The ids of a text, one a line, each once."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
