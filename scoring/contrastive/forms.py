"""What somebody says when sending a pair of embeddings."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import NameField
from benchmarks_app.models import Run, Team
from scoring.models import EmbeddingPair
from scoring.submissions.forms.submissions import VISIBILITIES

FILES = ("z1", "z2", "ids", "slices")


class EmbeddingPairForm(forms.Form):
    """Two matrices and how to compare them; `choices()` is what the service takes beside files."""

    z1 = forms.FileField(
        label=_("First embeddings (z1)"),
        help_text=_("npy, npz or Parquet."),
        allow_empty_file=True,
    )
    z2 = forms.FileField(
        label=_("Second embeddings (z2)"),
        help_text=_("Row i belongs to row i of z1."),
        allow_empty_file=True,
    )
    name = NameField(
        max_length=120,
        label=_("Name"),
        help_text=_("What is compared, such as “e5-base, questions and answers”."),
    )
    description = forms.CharField(
        required=False,
        label=_("Description"),
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("One or two sentences on model and samples."),
    )
    ids = forms.FileField(
        required=False,
        label=_("Ids"),
        help_text=_(
            "One a line, in the order of the rows; also .gz, .zst. npz and Parquet files may bring "
            "their own."
        ),
        allow_empty_file=True,
    )
    slices = forms.FileField(
        required=False,
        label=_("Slices"),
        help_text=_("Lines id, tab, slice; also .gz, .zst."),
        allow_empty_file=True,
    )
    takes_own_slices = forms.BooleanField(
        required=False,
        label=_("Take the slices of this benchmark"),
        help_text=_("Where the ids are those of its queries, and no file of slices is sent."),
    )
    normalize = forms.BooleanField(
        required=False,
        initial=True,
        label=_("Compare by cosine"),
        help_text=_("Without it by dot products, of the rows as they are."),
    )
    ties = forms.ChoiceField(
        choices=[(value, _(label)) for value, label in EmbeddingPair.Ties.choices],
        initial=EmbeddingPair.Ties.EXPECTED,
        widget=forms.RadioSelect,
        label=_("Rows exactly as similar as the partner"),
    )
    team = forms.ChoiceField(
        required=False, label=_("Team"), help_text=_("Its members see the pair as well.")
    )
    visibility = forms.ChoiceField(
        choices=VISIBILITIES,
        initial=Run.Visibility.BENCHMARK,
        widget=forms.RadioSelect,
        label=_("Who may see it"),
    )

    def __init__(self, *args: Any, teams: Sequence[Team] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self.teams = {str(team.pk): team for team in teams}
        if teams:
            named = ((key, team.name) for key, team in self.teams.items())
            cast(forms.ChoiceField, self.fields["team"]).choices = [
                ("", _("none: in my own name")),
                *named,
            ]
        else:
            del self.fields["team"]
            without = [choice for choice in VISIBILITIES if choice[0] != Run.Visibility.TEAM]
            cast(forms.ChoiceField, self.fields["visibility"]).choices = without

    @property
    def chosen_team(self) -> Team | None:
        return self.teams.get(self.cleaned_data.get("team") or "")

    def given_files(self) -> dict[str, Any]:
        """The files that were sent, by what they are."""
        return {name: self.cleaned_data[name] for name in FILES if self.cleaned_data.get(name)}

    def choices(self) -> dict[str, Any]:
        names = ("name", "description", "normalize", "ties", "takes_own_slices", "visibility")
        return {name: self.cleaned_data[name] for name in names}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("visibility") == Run.Visibility.TEAM and not cleaned.get("team"):
            self.add_error("visibility", _("Choose a team above, or who else may see it."))
        if cleaned.get("slices") and cleaned.get("takes_own_slices"):
            self.add_error("takes_own_slices", _("A file of slices is sent: choose one of both."))
        return cleaned
