"""The form that publishes a release."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.versions import parse_version
from benchmarks_app.models import Benchmark, QrelSet


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
