"""The forms that map grades, and draft, publish and deprecate a release."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from benchmarks_app.common.forms import ChangeForm, choice_field, row_field
from benchmarks_app.common.selectors.qrel_sets import grades_in
from benchmarks_app.importing.forms import (
    grade_fields,
    mapped_relevance,
    posted_grade_map,
)
from benchmarks_app.models import Benchmark, QrelSet, Release
from benchwright.errors import BenchmarkError
from benchwright.exports import EXPORTERS
from benchwright.findings import Finding, Severity
from benchwright.measures.registry import measure_names
from benchwright.qrels.scales import Relevance
from benchwright.releases.options import ReleaseOptions
from benchwright.releases.versions import parse_version


class QrelMapForm(forms.Form):
    """What each grade of a set is to be, and what documents are that it does not list."""

    name = forms.CharField(
        max_length=120,
        required=False,
        help_text="Of the new set; otherwise the old one's, numbered.",
    )
    unlisted = forms.ChoiceField(
        choices=QrelSet.Unlisted.choices,
        label="Documents that are not listed are",
        help_text="Not relevant where the judgments are complete, or list the relevant documents "
        "alone: nothing counts as unjudged then.",
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, qrel_set: QrelSet, **kwargs: Any
    ) -> None:
        super().__init__(data, initial={"unlisted": qrel_set.unlisted}, **kwargs)
        self.qrel_set = qrel_set
        self.grades = grades_in(qrel_set)
        scale = {
            grade.value: f"{grade.value} {grade.name}" for grade in qrel_set.benchmark.grades.all()
        }
        self.fields.update(grade_fields(self.grades.items(), scale))

    @property
    def grade_fields(self) -> list[Any]:
        return [self[name] for name in self.fields if name.startswith("grade_")]

    @property
    def relevance(self) -> Relevance:
        """How many grades count as relevant, mapped as the form says now."""
        return mapped_relevance(self, self.grades.items(), self.qrel_set.benchmark)

    def options(self) -> dict[str, str]:
        """The arguments of `map_qrels` that the form knows."""
        cleaned = self.cleaned_data
        return {
            "name": cleaned["name"],
            "grade_map": posted_grade_map(cleaned),
            "unlisted": cleaned["unlisted"],
        }


BY_SCALE = ""


class DraftForm(forms.Form):
    qrel_set = forms.ModelChoiceField(
        QrelSet.objects.none(), label="Qrels", help_text="The grades this release pins for good."
    )
    version = forms.CharField(
        max_length=20,
        required=False,
        help_text="Three numbers. Left empty, it follows from what changed since the last one.",
    )
    notes = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What is new; the first lines of its entry in the changelog.",
    )
    description = forms.CharField(
        required=False,
        label="Card",
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="Markdown: what is searched, who asks, what counts as relevant, what it is not "
        "good for. Counts, splits, agreement and limits are added by themselves.",
    )
    licence = forms.CharField(
        required=False, max_length=120, help_text="Such as CC-BY-4.0 or Apache-2.0."
    )
    citation = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text="BibTeX. Left empty, an entry is made of name, owners, year and version.",
    )
    threshold = forms.TypedChoiceField(
        required=False,
        coerce=int,
        empty_value=None,
        label="Relevant from",
        help_text="Measures that know only relevant and not relevant count from this grade on.",
    )
    drops_all_zero = forms.BooleanField(
        required=False,
        label="Drop queries that have no grade above 0",
        help_text="Kept, every system scores 0 on them. What was dropped is in the manifest.",
    )
    passes_on_texts = forms.BooleanField(
        required=False,
        initial=True,
        label="Pass on the documents' texts",
        help_text="If not, exports hold queries, qrels, ids and hashes of texts.",
    )
    measures = forms.CharField(
        required=False,
        label="Measures told of hidden splits",
        help_text="Whose means submitters and visitors see, with spaces between, such as "
        "nDCG@10 R@100. Left empty, those of every board. They never change.",
    )
    machine_labels = forms.MultipleChoiceField(
        required=False,
        label="Machine labels beside them",
        widget=forms.CheckboxSelectMultiple,
        help_text="In machine_labels.tsv, with judge, model and prompt; never among the qrels. Of "
        "hidden splits there are none.",
    )
    formats = forms.MultipleChoiceField(
        required=False,
        choices=[(exporter.name, exporter.label) for exporter in EXPORTERS.values()],
        widget=forms.CheckboxSelectMultiple,
        help_text="What their readers would stumble over is an error or a warning of the draft.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = QrelSet.objects.ready().filter(benchmark=benchmark)
        row_field(self, "qrel_set").queryset = ready.order_by("-created_at")
        sets = ready.filter(kind=QrelSet.Kind.MACHINE).order_by("name")
        names = list(sets.values_list("name", flat=True))
        choice_field(self, "machine_labels").choices = [(name, name) for name in names]
        if not names:
            del self.fields["machine_labels"]
        grades = [(grade.value, str(grade)) for grade in benchmark.grades.all() if grade.value]
        choice_field(self, "threshold").choices = [(BY_SCALE, "as the scale says"), *grades]
        if not benchmark.hidden_splits:
            del self.fields["measures"]
        corpus = benchmark.corpus
        if not corpus.has_texts or not corpus.may_be_passed_on:
            self.fields["passes_on_texts"].disabled = True
            self.fields["passes_on_texts"].help_text = (
                "This corpus may not be passed on: exports hold ids and hashes of texts."
                if corpus.has_texts
                else "This corpus holds ids only."
            )

    @classmethod
    def initial_of(
        cls, options: ReleaseOptions, *, version: str = "", **more: Any
    ) -> dict[str, Any]:
        """What a draft's form begins with."""
        formats = [name for name in EXPORTERS if name not in options.left_out]
        return {
            **options.as_json(),
            "formats": formats,
            "measures": " ".join(options.measures),
            "version": "" if options.is_version_proposed else version,
            **more,
        }

    def clean_version(self) -> str:
        version = self.cleaned_data["version"].strip()
        try:
            if version:
                parse_version(version)
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error
        return version

    def arguments(self) -> dict[str, Any]:
        """What `create_draft` and `change_draft` take."""
        cleaned = self.cleaned_data
        names = (
            "description",
            "licence",
            "citation",
            "threshold",
            "drops_all_zero",
            "passes_on_texts",
        )
        left_out = tuple(name for name in EXPORTERS if name not in cleaned["formats"])
        return {
            "qrel_set": cleaned["qrel_set"],
            "version": cleaned["version"],
            "notes": cleaned["notes"],
            "options": ReleaseOptions(
                **{name: cleaned[name] for name in names},
                left_out=left_out,
                measures=tuple(measure_names(cleaned.get("measures", ""))),
                machine_labels=tuple(cleaned.get("machine_labels", ())),
            ),
        }


class DraftChangeForm(ChangeForm, DraftForm):
    """The same of a draft that is there."""


class PublishForm(forms.Form):
    """Every kind of warning is ticked by whoever publishes: nobody can say they were not told."""

    accepted = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, label="Warnings that you have read"
    )

    def __init__(self, *args: Any, findings: list[Finding], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.codes = sorted(
            {finding.code for finding in findings if finding.severity is Severity.WARNING}
        )
        choice_field(self, "accepted").choices = [(code, code) for code in self.codes]

    def clean_accepted(self) -> list[str]:
        accepted = self.cleaned_data["accepted"]
        unseen = [code for code in self.codes if code not in accepted]
        if unseen:
            why = f"Read and tick every warning first: {', '.join(unseen)}."
            raise ValidationError(why)
        return accepted


class DeprecateForm(forms.Form):
    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Shown on its page and its leaderboard, for whoever has used it.",
    )
    successor = forms.ModelChoiceField(
        Release.objects.none(), required=False, label="Use instead", empty_label="none"
    )

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        others = Release.objects.filter(
            benchmark=release.benchmark, state=Release.State.PUBLISHED
        ).exclude(pk=release.pk)
        row_field(self, "successor").queryset = others.newest_first().select_related("benchmark")
