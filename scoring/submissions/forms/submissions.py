"""Forms of submissions: they validate, and leave writing to the services."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import NameField
from benchmarks_app.common.selectors.reading import measures_documents_of_passages
from benchmarks_app.common.services import reading_apart
from benchmarks_app.models import Benchmark, Run, Team
from benchwright.errors import BenchmarkError
from benchwright.runs.aggregation import DEFAULT, LABELS
from benchwright.runs.facts import (
    FIELDS,
    IR_METADATA,
    MAX_IR_METADATA_FILE,
    MAX_TEXT,
    FactField,
    RunFactsError,
    Takes,
    checked,
)
from benchwright.uploads.row_streams import metadata_of
from scoring.models import Phase

MAX_METADATA_LINES = 40
MOST_YEARS = 3
FORMATS = _("TREC, three columns (query, document, rank), JSON or Parquet; also .gz, .zst.")
VISIBILITIES = [
    (Run.Visibility.BENCHMARK, _("Everyone who sees this benchmark")),
    (Run.Visibility.TEAM, _("Only my team, and who maintains the benchmark")),
    (Run.Visibility.OWNER, _("Only me, and who maintains the benchmark")),
]


def parse_metadata(text: str) -> dict[str, str]:
    """Facts about a system, one `name: value` a line."""
    facts: dict[str, str] = {}
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_METADATA_LINES:
        reason = _("{n} lines; at most {most} are kept.").format(
            n=len(lines), most=MAX_METADATA_LINES
        )
        raise ValidationError(reason)
    for number, line in enumerate(lines, start=1):
        name, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or not name or not value:
            reason = _("Line {n}: '{line}' is not 'name: value'.").format(n=number, line=line[:60])
            raise ValidationError(reason)
        if name in facts:
            reason = _("Line {n}: '{name}' stands there twice.").format(n=number, name=name)
            raise ValidationError(reason)
        facts[name] = value
    return facts


def _fact_field(field: FactField) -> forms.Field:
    common: dict[str, Any] = {
        "required": False,
        "label": _(field.label),
        "help_text": _(field.help),
    }
    if field.takes is Takes.CHOICE:
        return forms.ChoiceField(
            choices=[("", _("not said")), *((key, _(text)) for key, text in field.choices)],
            **common,
        )
    modes = {Takes.NUMBER: "decimal", Takes.LINK: "url"}
    attrs = {"inputmode": modes[field.takes]} if field.takes in modes else {}
    # What each takes is checked by the library, as for the API; here is only a bound.
    return forms.CharField(max_length=MAX_TEXT, widget=forms.TextInput(attrs=attrs), **common)


def _day(label: Any, help_text: Any) -> forms.DateField:
    widget = forms.DateInput(attrs={"type": "date"})
    return forms.DateField(required=False, label=label, help_text=help_text, widget=widget)


class SubmissionForm(forms.Form):
    """A run with what is said of it; `terms()` is what the service takes beside file and name."""

    file = forms.FileField(label=_("Run file"), help_text=FORMATS, allow_empty_file=True)
    name = NameField(
        label=_("Name"),
        max_length=120,
        help_text=_("What the run is called on the leaderboard, such as “bm25-stem k1=0.9”."),
    )
    phase = forms.ChoiceField(label=_("Phase"), widget=forms.RadioSelect)
    description = forms.CharField(
        label=_("Description"),
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One or two sentences on the system."),
    )
    metadata = forms.CharField(
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        label=_("Other facts"),
        help_text=_("One a line, as “name: value”: model, version, parameters."),
    )
    ir_metadata = forms.CharField(
        required=False,
        max_length=MAX_IR_METADATA_FILE,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        label=_("ir_metadata"),
        help_text=_("Pasted YAML; it fills the fields that you leave out."),
    )
    ir_metadata_file = forms.FileField(
        required=False, label=_("ir_metadata as a file"), help_text=_("The same as .yml or .yaml.")
    )
    team = forms.ChoiceField(
        label=_("Team"),
        required=False,
        help_text=_("The run stands under its name, and counts for you and for it."),
    )
    visibility = forms.ChoiceField(
        choices=VISIBILITIES,
        initial=Run.Visibility.BENCHMARK,
        widget=forms.RadioSelect,
        label=_("Who may see it"),
    )
    public_from = _day(
        _("Public from"), _("From this day (UTC) everyone who sees the benchmark sees it.")
    )
    anonymous_until = _day(
        _("Anonymous until"), _("Until this day (UTC) others are not told who it is by.")
    )
    aggregation = forms.ChoiceField(
        choices=[
            (DEFAULT, _(LABELS[DEFAULT])),
            *((k, _(v)) for k, v in LABELS.items() if k != DEFAULT),
        ],
        required=False,
        label=_("From passages to documents"),
        help_text=_(
            "This benchmark measures documents; a run of passages is summed up in this way."
        ),
    )

    def __init__(
        self,
        *args: Any,
        benchmark: Benchmark | None = None,
        phases: Sequence[Phase] = (),
        teams: Sequence[Team] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.phases = {str(phase.pk): phase for phase in phases}
        self.teams = {str(team.pk): team for team in teams}
        for field in FIELDS:
            self.fields[field.name] = _fact_field(field)
        if len(phases) > 1:
            labels = [
                (key, f"{phase}: {phase.split} of {phase.release.version}")
                for key, phase in self.phases.items()
            ]
            cast(forms.ChoiceField, self.fields["phase"]).choices = labels
            self.fields["phase"].initial = str(phases[0].pk)
        else:
            del self.fields["phase"]
        if teams:
            cast(forms.ChoiceField, self.fields["team"]).choices = [
                ("", _("none: in my own name")),
                *((key, team.name) for key, team in self.teams.items()),
            ]
        else:
            del self.fields["team"]
            cast(forms.ChoiceField, self.fields["visibility"]).choices = [
                choice for choice in VISIBILITIES if choice[0] != Run.Visibility.TEAM
            ]
        if benchmark is None or not measures_documents_of_passages(benchmark):
            del self.fields["aggregation"]

    @property
    def fact_fields(self) -> Iterator[BoundField]:
        return (self[field.name] for field in FIELDS)

    @property
    def has_fact_errors(self) -> bool:
        names = {field.name for field in FIELDS} | {"metadata", "ir_metadata", "ir_metadata_file"}
        return bool(names & self.errors.keys())

    # --- what was chosen -----------------------------------------------------------------

    @property
    def chosen_phase(self) -> Phase:
        key = self.cleaned_data.get("phase") or next(iter(self.phases))
        return self.phases[key]

    @property
    def chosen_team(self) -> Team | None:
        return self.teams.get(self.cleaned_data.get("team") or "")

    def terms(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        return {
            "description": cleaned["description"],
            "metadata": cleaned["facts"],
            "visibility": cleaned["visibility"],
            "public_from": cleaned["public_from"],
            "anonymous_until": cleaned["anonymous_until"],
            "aggregation": cleaned.get("aggregation", ""),
        }

    # --- checking ------------------------------------------------------------------------

    def clean_metadata(self) -> dict[str, str]:
        return parse_metadata(self.cleaned_data["metadata"])

    def clean_ir_metadata(self) -> dict[str, Any]:
        return _tree(self.cleaned_data["ir_metadata"].encode(), str(_("The text")))

    def clean_ir_metadata_file(self) -> dict[str, Any]:
        file = self.cleaned_data["ir_metadata_file"]
        return _tree(file.read(MAX_IR_METADATA_FILE + 1), file.name) if file else {}

    def clean_public_from(self) -> datetime | None:
        return _midnight(self.cleaned_data["public_from"])

    def clean_anonymous_until(self) -> datetime | None:
        return _midnight(self.cleaned_data["anonymous_until"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("visibility") == Run.Visibility.TEAM and not cleaned.get("team"):
            self.add_error("visibility", _("Choose a team above, or who else may see it."))
        tree = cleaned.get("ir_metadata_file") or cleaned.get("ir_metadata") or {}
        facts = {field.name: cleaned.get(field.name, "") for field in FIELDS}
        try:
            cleaned["facts"] = checked(
                {
                    **(cleaned.get("metadata") or {}),
                    **facts,
                    **({IR_METADATA: tree} if tree else {}),
                }
            )
        except RunFactsError as error:
            for name, text in error.fields.items():
                at = name if name in self.fields else "metadata"
                self.add_error(at, text if at == name else f"{name}: {text}")
        return cleaned


def _tree(content: bytes, name: str) -> dict[str, Any]:
    if not content.strip():
        return {}
    try:
        tree: dict[str, Any] = reading_apart.call(metadata_of, content, name, file=name)
    except BenchmarkError as error:
        raise ValidationError(str(error)) from error
    return tree


def _midnight(day: date | None) -> datetime | None:
    """The beginning of a day that is to come, in UTC."""
    if day is None:
        return None
    today = timezone.now().astimezone(UTC).date()
    if day <= today:
        reason = _("Choose a day after today, or leave it out.")
        raise ValidationError(reason)
    if day.year - today.year > MOST_YEARS:
        far = _("At most {n} years ahead.")
        raise ValidationError(far.format(n=MOST_YEARS))
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
