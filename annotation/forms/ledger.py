"""Forms of labels that were given elsewhere."""

from typing import Any

from django import forms

from annotation.core.label_files import MAX_NAME
from annotation.models import Pool
from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.grade_map import parse_grade_map
from benchmarks_app.models import Benchmark


class LabelsImportForm(forms.Form):
    file = forms.FileField(help_text="TREC qrels, CSV or TSV; also as .gz")
    rater = forms.CharField(
        required=False,
        max_length=MAX_NAME,
        label="Annotator",
        help_text="Who gave the labels, where the file has no column that says so. "
        "Left empty, they count as yours.",
    )
    source = forms.CharField(
        required=False,
        max_length=120,
        help_text="Where they are from. Left empty: the name of the file.",
    )
    pool = forms.ModelChoiceField(
        Pool.objects.none(),
        required=False,
        empty_label="no pool: all labels of the file",
        help_text="Labels of a pool count towards what it wants; others of the file are left out.",
    )
    grade_map = forms.CharField(
        required=False,
        label="Grade mapping",
        help_text="From grades of the file to yours, such as 1=4, 2=3, -1=0.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pool"].queryset = Pool.objects.built().filter(benchmark=benchmark)

    def clean_grade_map(self) -> str:
        text = self.cleaned_data["grade_map"]
        try:
            parse_grade_map(text)
        except BenchmarkError as error:
            raise forms.ValidationError(str(error)) from error
        return text
