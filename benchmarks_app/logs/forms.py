"""The forms of query logs: the file, its columns, and what is drawn from it."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from benchmarks_app.common.forms import row_field
from benchmarks_app.common.parameters import form_field, percent_field
from benchmarks_app.logs.services.importing_logs import Reading
from benchmarks_app.models import QueryLog
from benchwright.errors import BenchmarkError
from benchwright.logs.columns import LABELS, LogColumns, checked_columns, is_personal
from benchwright.logs.masking import KIND_LABELS, checked_regions
from benchwright.logs.sampling import Design, parse_given
from benchwright.logs.tables import LogTable
from benchwright.recipes import sampling as recipe
from benchwright.recipes.sampling import Allocation, By, Weighting, Wordings

COLUMN_HELP = {
    "query": "The only one that a log must have.",
    "count": "Without it every row is one search.",
    "date": "Days or times; or name year and month.",
    "clicks": "Ids with | between, id:count, or JSON.",
}


class LogUploadForm(forms.Form):
    file = forms.FileField(label="File")


class LogColumnsForm(forms.Form):
    """What a log's columns are, what is masked, and what is kept."""

    name = forms.CharField(max_length=120, help_text="What the log is called here.")
    floor = form_field(recipe.FLOOR, required=True)
    kinds = forms.MultipleChoiceField(
        choices=list(KIND_LABELS.items()),
        initial=list(KIND_LABELS),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Mask",
    )
    regions = forms.CharField(
        required=False,
        max_length=1000,
        initial=lambda: ", ".join(settings.LOG_REGIONS),
        label="Countries",
        help_text="Whose telephone and personal numbers are masked: two letters each, or none. "
        "Left empty, those of the site.",
    )
    is_lenient = forms.BooleanField(
        required=False,
        label="Leave out rows that cannot be read",
        help_text="They are counted. Otherwise the first hundred are named and nothing is read.",
    )
    keeps_raw = forms.BooleanField(
        required=False,
        label="Keep the uploaded file",
        help_text="It is deleted once it has been read, because nothing in it is masked.",
    )

    def __init__(self, *args: Any, table: LogTable, columns: LogColumns | None, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.table = table
        there = [column for column in table.columns if not is_personal(column)] or table.columns
        for role, label in LABELS.items():
            self.fields[role] = forms.ChoiceField(
                choices=[("", "none"), *((column, column) for column in there)],
                required=role == "query",
                label=label.capitalize(),
                initial=columns.named.get(role, "") if columns else "",
                help_text=COLUMN_HELP.get(role, ""),
                error_messages={"required": "Choose the column that holds the queries."},
            )

    def clean_regions(self) -> tuple[str, ...]:
        try:
            return checked_regions(self.cleaned_data["regions"] or settings.LOG_REGIONS)
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error

    @property
    def roles(self) -> list[forms.BoundField]:
        return [self[role] for role in LABELS]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                checked_columns(self.columns(), self.table.columns, file=self.table.file)
            except BenchmarkError as error:
                raise ValidationError(str(error)) from error
        return cleaned

    def columns(self) -> LogColumns:
        return LogColumns.of({role: self.cleaned_data.get(role, "") for role in LABELS})

    def reading(self) -> Reading:
        """What `services.importing_logs` takes."""
        cleaned = self.cleaned_data
        return Reading(
            name=cleaned["name"],
            columns=self.columns(),
            kinds=tuple(cleaned["kinds"]),
            regions=cleaned["regions"],
            floor=cleaned["floor"],
            is_lenient=cleaned["is_lenient"],
            keeps_raw=cleaned["keeps_raw"],
        )


class SampleForm(forms.Form):
    """How a sample is drawn from a log."""

    log = forms.ModelChoiceField(QueryLog.objects.none(), empty_label=None)
    n_families = form_field(recipe.N_FAMILIES, required=True)
    by = form_field(recipe.BY, required=True, help_text="")
    allocation = form_field(recipe.ALLOCATION, required=True, help_text="")
    given = forms.CharField(
        required=False,
        max_length=2000,
        label="Numbers",
        help_text="For given numbers: stratum=families, such as head=50, torso=100, tail=50.",
    )
    head = percent_field(recipe.HEAD_SHARE, required=True, help_text="")
    tail = percent_field(recipe.TAIL_SHARE, required=True, help_text="")
    weighting = form_field(recipe.WEIGHTING, required=True, help_text="")
    wordings = form_field(recipe.WORDINGS, required=True, help_text="")
    seed = form_field(recipe.SEED)

    def __init__(self, *args: Any, logs: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "log").queryset = logs

    def clean_given(self) -> dict[str, int]:
        text = self.cleaned_data["given"]
        try:
            return parse_given(text)
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("allocation") == Allocation.GIVEN and not cleaned.get("given"):
            self.add_error("given", "Name how many families of each stratum are drawn.")
        return cleaned

    def design(self) -> Design:
        """What `services.sampling` takes."""
        cleaned = self.cleaned_data
        return Design(
            n_families=cleaned["n_families"],
            by=By(cleaned["by"]),
            allocation=Allocation(cleaned["allocation"]),
            given=cleaned["given"],
            weighting=Weighting(cleaned["weighting"]),
            wordings=Wordings(cleaned["wordings"]),
            head_share=float(cleaned["head"] / 100),
            tail_share=float(cleaned["tail"] / 100),
        )
