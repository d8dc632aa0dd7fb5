"""Forms of submissions: they validate, and leave writing to the services."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from benchmarks_app.core.aggregating import DEFAULT, LABELS
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.selectors import measures_documents_of_passages

MAX_METADATA_LINES = 40


def parse_metadata(text: str) -> dict[str, str]:
    """Facts about a system, one `name: value` a line."""
    facts: dict[str, str] = {}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_METADATA_LINES:
        reason = f"{len(lines)} lines; at most {MAX_METADATA_LINES} are kept."
        raise ValidationError(reason)
    for number, line in enumerate(lines, start=1):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not name or not value:
            reason = f"Line {number}: '{line[:60]}' is not 'name: value'."
            raise ValidationError(reason)
        if name in facts:
            reason = f"Line {number}: '{name}' stands there twice."
            raise ValidationError(reason)
        facts[name] = value
    return facts


class SubmissionForm(forms.Form):
    file = forms.FileField(
        label="Run file", help_text="TREC format, also as .gz.", allow_empty_file=True
    )
    name = forms.CharField(
        max_length=120,
        help_text="What the run is called on the leaderboard, such as “bm25-stem k1=0.9”.",
    )
    description = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One or two sentences on the system.",
    )
    metadata = forms.CharField(
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        label="Facts",
        help_text="One a line, as “name: value”: model, version, parameters, a link to the code.",
    )
    visibility = forms.ChoiceField(
        choices=[
            (Run.Visibility.BENCHMARK, "Everyone who sees this benchmark"),
            (Run.Visibility.OWNER, "Only me, and who maintains the benchmark"),
        ],
        initial=Run.Visibility.BENCHMARK,
        widget=forms.RadioSelect,
        label="Who may see it",
    )

    aggregation = forms.ChoiceField(
        choices=[(DEFAULT, LABELS[DEFAULT]), *((k, v) for k, v in LABELS.items() if k != DEFAULT)],
        required=False,
        label="From passages to documents",
        help_text="This benchmark measures documents; a run of passages is summed up in this way.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if benchmark is None or not measures_documents_of_passages(benchmark):
            del self.fields["aggregation"]

    def clean_name(self) -> str:
        return " ".join(self.cleaned_data["name"].split())

    def clean_metadata(self) -> dict[str, str]:
        return parse_metadata(self.cleaned_data["metadata"])
