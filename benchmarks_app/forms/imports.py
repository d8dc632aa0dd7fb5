"""The form that takes files."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from benchmarks_app.core.detection import FileKind
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.grade_map import parse_grade_map


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
