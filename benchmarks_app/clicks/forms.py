"""A log of clicks, and what it is graded by."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from benchmarks_app.clicks.services import Asked
from benchmarks_app.common.parameters import form_field
from benchwright.clicks.columns import parts_of, read_columns
from benchwright.errors import BenchmarkError
from benchwright.recipes import clicks as recipe


class LogForm(forms.Form):
    """A log of clicks, and what its columns are called."""

    log = forms.FileField(
        label=_("Log"),
        help_text=_(
            "A row for each page of results or each shown document, or UBI's queries: CSV, TSV, "
            "JSON lines or Parquet."
        ),
    )
    events = forms.FileField(
        required=False,
        label=_("Events"),
        help_text=_("UBI's file of events, where the log is UBI's."),
    )
    columns = forms.CharField(
        required=False,
        max_length=1000,
        label=_("Columns"),
        help_text=_(
            "Where names do not tell: role=name with commas between, such as "
            "query=q,shown=results. Roles: page, query, shown, clicked, doc, position, action, "
            "session, arm."
        ),
    )
    actions = forms.CharField(
        required=False,
        max_length=500,
        label=_("Actions that are clicks"),
        help_text=_("Of UBI's events, with commas between; click and its usual names otherwise."),
    )

    def clean_columns(self) -> dict[str, str]:
        return dict(self._read(lambda text: read_columns(parts_of(text)), "columns"))

    def clean_actions(self) -> tuple[str, ...]:
        return parts_of(self.cleaned_data["actions"])

    def _read(self, reader: Any, name: str) -> Any:
        try:
            return reader(self.cleaned_data[name])
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error

    def logs(self) -> list[Any]:
        files = (self.cleaned_data["log"], self.cleaned_data["events"])
        return [file for file in files if file]


class ClicksForm(LogForm):
    name = forms.CharField(max_length=120, required=False, help_text="Of the set of qrels.")
    model = form_field(recipe.MODEL, required=True)
    least = form_field(recipe.LEAST, required=True)
    cuts = forms.CharField(
        required=False,
        max_length=200,
        label="Cuts",
        help_text="From which value on the next grade begins. Left empty: 0.5,1,2 for expected "
        "clicks, else 0.1,0.3,0.6.",
    )

    def clean_cuts(self) -> tuple[float, ...]:
        from benchwright.clicks.grading import read_cuts

        return self._read(read_cuts, "cuts") if self.cleaned_data["cuts"].strip() else ()

    def asked(self) -> Asked:
        names = ("name", "model", "least", "cuts", "columns", "actions")
        return Asked(**{name: self.cleaned_data[name] for name in names})
