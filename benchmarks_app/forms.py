"""Forms of the shared nouns: they validate, and leave writing to the services."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from benchmarks_app.core.detection import FileKind
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.grade_map import parse_grade_map
from benchmarks_app.core.scales import DEFAULT_SCALE, parse_scale
from benchmarks_app.core.versions import parse_version
from benchmarks_app.models import Benchmark, Corpus, QrelSet, Unit


class BenchmarkForm(forms.Form):
    name = forms.CharField(max_length=120)
    slug = forms.SlugField(
        max_length=60,
        required=False,
        label="Short name",
        help_text="Part of every address; made from the name if left empty.",
    )
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One sentence on what it measures.",
    )
    corpus_kind = forms.ChoiceField(
        choices=[
            (Corpus.Kind.TEXTS, "Texts: people can read and judge the documents here"),
            (Corpus.Kind.IDS_ONLY, "Ids only: runs and qrels without texts, as TREC gives them"),
        ],
        initial=Corpus.Kind.TEXTS,
        widget=forms.RadioSelect,
        label="Corpus",
    )
    unit = forms.ChoiceField(
        choices=[choice for choice in Unit.choices if choice[0] != Unit.IMAGE],
        initial=Unit.DOCUMENT,
        label="What is retrieved",
    )
    lang = forms.CharField(
        max_length=35, initial="en", label="Language", help_text="Such as en, de, sw."
    )
    scale = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        initial=DEFAULT_SCALE,
        label="Grades",
        help_text="A line each: digit = name: what it means. A * at the end marks relevant grades.",
    )

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"] or slugify(self.cleaned_data.get("name", ""))[:60]
        if not slug:
            why = "Give a short name of letters, digits and hyphens."
            raise ValidationError(why)
        if Benchmark.objects.filter(slug=slug).exists():
            why = f"'{slug}' is taken; choose another short name."
            raise ValidationError(why)
        return slug

    def clean_scale(self) -> list[dict[str, Any]]:
        try:
            return parse_scale(self.cleaned_data["scale"])
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error


class SettingsForm(forms.ModelForm):
    guideline = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="What annotators are asked to do. A change is a new version.",
    )
    text_format = forms.ChoiceField(
        choices=Corpus.TextFormat,
        required=False,
        label="Format of the documents",
        help_text="How annotators see a text: as it is, or rendered. No picture, link or script "
        "of a document is ever loaded. Scores do not depend on it.",
    )

    class Meta:
        model = Benchmark
        fields = ["name", "description", "visibility"]
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}


class MultipleFileInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class MultipleFileField(forms.FileField):
    """Several files of one input, as a list."""

    widget = MultipleFileInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data]
        files = files or [None]  # nothing chosen: the field says that it is required
        return [super(MultipleFileField, self).clean(file, initial) for file in files]


KIND_LABELS = {
    "auto": "Tell by its content",
    FileKind.BEIR: "BEIR zip (corpus, queries, qrels)",
    FileKind.CORPUS: "Corpus: JSON lines with _id, title, text",
    FileKind.IDS: "Corpus without texts: a document id a line",
    FileKind.QUERIES: "Queries: CSV, TSV or JSON lines",
    FileKind.TOPICS: "TREC topics",
    FileKind.QRELS: "TREC qrels",
    FileKind.BEIR_QRELS: "BEIR qrels (TSV with header)",
    FileKind.RUN: "TREC run",
}


class ImportForm(forms.Form):
    files = MultipleFileField(
        label="Files", help_text="Each also as .gz. Several runs at once are fine."
    )
    kind = forms.ChoiceField(
        choices=list(KIND_LABELS.items()), initial="auto", label="Kind of file"
    )
    name = forms.CharField(
        max_length=120,
        required=False,
        help_text="What a run or a set of qrels is called here; otherwise the file's name.",
    )
    grade_map = forms.CharField(
        max_length=200,
        required=False,
        label="Grade mapping",
        help_text="For qrels on another scale: grade in the file = grade here, such as "
        "1=4, 2=3, 3=2, 4=1, -1=0.",
    )

    def clean_grade_map(self) -> str:
        text = self.cleaned_data["grade_map"]
        try:
            parse_grade_map(text)
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("name") and len(cleaned.get("files", [])) > 1:
            self.add_error("name", "One name cannot serve several files; leave it empty.")
        return cleaned


class ReleaseForm(forms.Form):
    qrel_set = forms.ModelChoiceField(
        QrelSet.objects.none(), label="Qrels", help_text="The grades this release pins for good."
    )
    version = forms.CharField(
        max_length=20,
        help_text="Three numbers. A change that moves scores raises the first or second.",
    )
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ready = QrelSet.objects.ready().filter(benchmark=benchmark)
        self.fields["qrel_set"].queryset = ready.order_by("-created_at")

    def clean_version(self) -> str:
        version = self.cleaned_data["version"].strip()
        try:
            parse_version(version)
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error
        return version
