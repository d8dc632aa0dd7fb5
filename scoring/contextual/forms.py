"""Cases sent in, and what is to be judged by whom."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.parameters import form_field
from benchmarks_app.importing.forms import MultipleFileField
from benchmarks_app.models import Benchmark, JudgeEndpoint
from benchmarks_app.slices.selectors import counted_slices
from benchwright.recipes import contextual
from scoring.contextual.selectors import USUAL_ANSWERS, answer_columns
from scoring.contextual.services.people import Said
from scoring.models import CaseSet, ContextualEvaluation

ALL, FIRST, SLICE = "all", "first", "slice"


class CaseSetForm(forms.Form):
    """A file of cases, and the images they show."""

    cases = forms.FileField(
        label="Cases",
        help_text="JSON lines, one case a line; also as .gz or .zst.",
        widget=forms.ClearableFileInput(attrs={"accept": ".jsonl,.ndjson,.json,.gz,.zst"}),
    )
    images = MultipleFileField(
        required=False,
        label="Images",
        help_text="Those the cases name: PNG, JPEG, GIF, WebP or TIFF, or one zip of them.",
    )
    name = forms.CharField(
        required=False,
        max_length=120,
        label="Name",
        help_text="The file's name where this is empty.",
    )


class RunCasesForm(forms.Form):
    """How cases are made of a run."""

    depth = form_field(contextual.DEPTH)
    slice_name = forms.ChoiceField(label="Queries", required=False)
    n_sample = form_field(contextual.N_SAMPLE)
    seed = form_field(contextual.SEED)
    expected = forms.ChoiceField(
        label="Expected answers",
        required=False,
        help_text="Where queries say what should come out. A query that says nothing there, or all "
        "of them, take any correct answer.",
    )
    name = forms.CharField(
        required=False,
        max_length=120,
        label="Name",
        help_text="After the run where this is empty.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **options: Any) -> None:
        super().__init__(*args, **options)
        columns = answer_columns(benchmark)
        cast(forms.ChoiceField, self.fields["slice_name"]).choices = [
            ("", "all that the run answers"),
            *(
                (of.name, f"slice {of.name} ({vars(of)['n_members']:,})")
                for of in counted_slices(benchmark)
            ),
        ]
        cast(forms.ChoiceField, self.fields["expected"]).choices = [
            ("", "none: any correct answer"),
            *((column, column) for column in columns),
        ]
        if columns and columns[0] in USUAL_ANSWERS:
            self.fields["expected"].initial = columns[0]

    @property
    def recipe(self) -> dict[str, Any]:
        """What services take beside the name; an empty depth is the usual one."""
        cleaned = {name: self.cleaned_data[name] for name in self.fields if name != "name"}
        return {**cleaned, "depth": cleaned["depth"] or contextual.DEPTH.default}


class VerdictsForm(forms.Form):
    """Yes or no to each node of a case, in the order of `nodes`, with a reason if one likes."""

    WORDS = (("yes", _("yes")), ("no", _("no")))

    def __init__(self, *args: Any, nodes: Sequence[int], **options: Any) -> None:
        super().__init__(*args, **options)
        self.nodes = nodes
        for place, node in enumerate(nodes, start=1):
            self.fields[f"verdict-{node}"] = forms.ChoiceField(
                choices=self.WORDS,
                widget=forms.RadioSelect,
                label=gettext("Does text {n} help?").format(n=place),
            )
            self.fields[f"reason-{node}"] = forms.CharField(
                required=False, max_length=2000, label=_("Reason")
            )

    def of(self, node: int) -> tuple[forms.BoundField, forms.BoundField]:
        return self[f"verdict-{node}"], self[f"reason-{node}"]

    @property
    def verdicts(self) -> dict[int, Said]:
        """As the service takes them."""
        cleaned = self.cleaned_data
        return {
            node: Said(cleaned[f"verdict-{node}"] == "yes", cleaned[f"reason-{node}"])
            for node in self.nodes
        }


class JudgeField(forms.ModelChoiceField):
    def label_from_instance(self, obj: JudgeEndpoint) -> str:
        return f"{obj.name} ({obj.model})"


class EvaluationForm(forms.Form):
    """Which cases a judge is asked about, and what counts as good."""

    judge = JudgeField(JudgeEndpoint.objects.none(), label="Judge", empty_label=None)
    which = forms.ChoiceField(label="Cases", initial=ALL)
    first = form_field(contextual.FIRST)
    threshold = form_field(contextual.THRESHOLD)
    is_strict = forms.BooleanField(
        label="Strict",
        required=False,
        help_text="Only 1 is good: every lower score becomes 0.",
    )
    has_reasons = forms.BooleanField(
        label="Explain each score",
        required=False,
        initial=True,
        help_text="A second, shorter question for each case.",
    )
    cost_cap = form_field(contextual.COST_CAP)

    def __init__(
        self, *args: Any, case_set: CaseSet, judges: QuerySet[JudgeEndpoint], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        self.case_set = case_set
        cast(forms.ModelChoiceField, self.fields["judge"]).queryset = judges
        self.fields["first"].widget.attrs["placeholder"] = min(10, case_set.n_cases)
        cast(forms.ChoiceField, self.fields["which"]).choices = [
            (ALL, f"all {case_set.n_cases:,}"),
            (FIRST, "the first, to see what comes"),
            *((f"{SLICE}:{name}", f"slice {name} ({n:,})") for name, n in case_set.slices.items()),
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        which = cleaned.get("which") or ALL
        if which == FIRST and cleaned.get("first") is None and "first" not in self.errors:
            cleaned["first"] = min(10, self.case_set.n_cases)
        judge, cap = cleaned.get("judge"), cleaned.get("cost_cap")
        if judge is not None and cap is not None and not judge.has_prices:
            self.add_error("cost_cap", f"{judge.name} has no prices, so a limit cannot be kept.")
        return cleaned

    @property
    def choice(self) -> dict[str, Any]:
        """Which cases, as services take it."""
        which = self.cleaned_data.get("which") or ALL
        kind, _, name = which.partition(":")
        return {
            "only_slice": name if kind == SLICE else "",
            "only_first": self.cleaned_data.get("first") if kind == FIRST else None,
        }

    @property
    def settings(self) -> dict[str, Any]:
        """Everything but the cost limit, as an estimate and a start both need it."""
        return {"has_reasons": self.cleaned_data["has_reasons"], **self.choice}


class RetryForm(forms.Form):
    """Going on; with another cost limit where the first is spent."""

    cost_cap = form_field(contextual.COST_CAP, label=_("New cost limit"), help_text="")


class EvaluationField(forms.ModelChoiceField):
    def label_from_instance(self, obj: ContextualEvaluation) -> str:
        """An evaluation among others of its set."""
        facts = [f"{obj.judge_name} ({obj.model})", f"{obj.created_at:%Y-%m-%d %H:%M}"]
        return ", ".join([*facts, gettext("strict")] if obj.is_strict else facts)


class ComparisonForm(forms.Form):
    """Two evaluations of one set."""

    before = EvaluationField(ContextualEvaluation.objects.none(), label=_("From"))
    after = EvaluationField(ContextualEvaluation.objects.none(), label=_("To"))

    def __init__(
        self, *args: Any, evaluations: QuerySet[ContextualEvaluation], **options: Any
    ) -> None:
        super().__init__(*args, **options)
        for name in ("before", "after"):
            cast(forms.ModelChoiceField, self.fields[name]).queryset = evaluations

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("before") and cleaned.get("before") == cleaned.get("after"):
            self.add_error("after", "Choose another evaluation than the first.")
        return cleaned
