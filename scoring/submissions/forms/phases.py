"""Forms of phases: they validate, and leave writing to the services."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any, cast

from django import forms
from django.utils import timezone

from benchmarks_app.common.forms import ChangeForm
from benchmarks_app.common.parameters import form_field
from benchmarks_app.models import Release
from benchwright.recipes import submissions
from scoring.models import Phase

MINUTES = "%Y-%m-%dT%H:%M"


class HiddenMinutes(forms.DateTimeInput):
    """A time as the page shows it, which has no seconds."""

    input_type = "hidden"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__(attrs, format=MINUTES)


def _time(label: str, help_text: str) -> forms.DateTimeField:
    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MINUTES)
    field = forms.DateTimeField(required=False, label=label, help_text=help_text, widget=widget)
    field.hidden_widget = HiddenMinutes
    return field


class PhaseForm(forms.Form):
    """What can be changed of a phase at any time. All times are UTC."""

    name = forms.CharField(max_length=Phase._meta.get_field("name").max_length)
    description = forms.CharField(
        required=False,
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What is asked of those who submit.",
    )
    opens_at = _time("Opens", "UTC; empty: now.")
    closes_at = _time("Closes", "UTC; empty: it stays open.")
    daily_limit = form_field(submissions.DAILY_LIMIT, required=True, initial=None)
    total_limit = form_field(submissions.TOTAL_LIMIT)

    has_ladder = forms.BooleanField(
        required=False,
        initial=True,
        label="Hold exact means of a hidden split back until the phase ends",
        help_text=(
            "Until then the value of a submission moves only where it is significantly better than "
            "the best of its team and its sender, so that many submissions tell little of the "
            "grades. Off for friendly rounds."
        ),
    )

    def clean_opens_at(self) -> Any:
        return self.cleaned_data["opens_at"] or timezone.now()

    @staticmethod
    def initial_of(phase: Phase) -> dict[str, Any]:
        names = (
            *("name", "description", "opens_at", "closes_at", "daily_limit", "total_limit"),
            "has_ladder",
        )
        values = {name: getattr(phase, name) for name in names}
        for name in ("opens_at", "closes_at"):
            values[name] = values[name].astimezone(UTC) if values[name] else None
        return values


class PhaseChangeForm(ChangeForm, PhaseForm):
    """As it is on the page of a phase."""

    @property
    def changes(self) -> dict[str, Any]:
        """What the service takes."""
        return {name: value for name, value in self.cleaned_data.items() if self.is_changed(name)}


class NewPhaseForm(PhaseForm):
    """A phase of one of the releases, over one of its splits."""

    release = forms.ChoiceField(help_text="Its grades never change.")
    split = forms.ChoiceField(
        choices=[("test", "test"), ("dev", "dev"), ("train", "train")],
        help_text="The queries that the phase is about.",
    )

    field_order = ("name", "release", "split")

    def __init__(self, *args: Any, releases: Sequence[Release] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.releases = {str(release.pk): release for release in releases}
        cast(forms.ChoiceField, self.fields["release"]).choices = [
            (key, release.version) for key, release in self.releases.items()
        ]

    @property
    def chosen_release(self) -> Release:
        return self.releases[self.cleaned_data["release"]]

    def given(self) -> dict[str, Any]:
        """What the service takes beside the release."""
        return {name: value for name, value in self.cleaned_data.items() if name != "release"}
