"""Values reported from elsewhere, as a page takes them."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import ChangeForm, SelectOfMany, offer_runs, row_field
from benchmarks_app.models import Benchmark, Run
from scoring.models import ReportedScore
from scoring.scores.selectors.rankings import runs_offered
from scoring.scores.selectors.releases import published_releases


class ReleaseChoiceForm(forms.Form):
    """What both ways to report share: of which release, and of which system."""

    system = forms.CharField(
        label=_("System"), max_length=200, help_text=_("As its authors call it, with its version.")
    )
    release = forms.ChoiceField(label=_("Of release"), required=False)

    def __init__(self, *args: Any, benchmark: Benchmark, **more: Any) -> None:
        super().__init__(*args, **more)
        self._releases = {release.version: release for release in published_releases(benchmark)}
        versions = [(version, version) for version in self._releases]
        cast(forms.ChoiceField, self.fields["release"]).choices = [("", _("Not known")), *versions]

    def arguments(self) -> dict[str, Any]:
        """What the services take."""
        cleaned = self.cleaned_data
        return {**cleaned, "release": self._releases.get(cleaned["release"])}


class ReportedFileForm(ReleaseChoiceForm):
    """A result file of MTEB."""

    file = forms.FileField(
        label=_("Result file"), help_text=_("One that MTEB writes: JSON with task_name and scores.")
    )
    source = forms.CharField(
        label=_("Where it is from"),
        required=False,
        max_length=480,
        help_text=_("An address or a paper; the file's name where this is empty."),
    )
    task = forms.CharField(
        label=_("Task"),
        required=False,
        max_length=200,
        help_text=_("Only where the file holds several."),
    )
    field_order = ["file", "system", "task", "source", "release"]

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["system"].required = False
        self.fields["system"].help_text = _("Only where the file does not name its model.")


class ReportedValueForm(ReleaseChoiceForm):
    """One value, entered by hand."""

    measure = forms.CharField(
        label=_("Measure"), max_length=120, help_text=_("By name, such as nDCG@10 or R@100.")
    )
    value = forms.FloatField(label=_("Value"))
    split = forms.CharField(label=_("Split"), required=False, max_length=16)
    source = forms.CharField(
        label=_("Source"),
        max_length=500,
        help_text=_("An address, a DOI, or a paper with its table."),
    )
    run = forms.ModelChoiceField(
        Run.objects.none(),
        label=_("Our run of this system"),
        widget=SelectOfMany,
        required=False,
        empty_label=_("The run called like the system"),
        help_text=_("What it measured here stands beside the value."),
    )
    note = forms.CharField(
        label=_("Note"),
        required=False,
        max_length=500,
        help_text=_("Such as another tokeniser, or grades of another year."),
    )
    field_order = ["system", "measure", "value", "split", "source", "release", "run", "note"]

    def __init__(self, *args: Any, benchmark: Benchmark, viewer: Any, **more: Any) -> None:
        super().__init__(*args, benchmark=benchmark, **more)
        offer_runs(self, ["run"], runs_offered(benchmark, viewer))


class ReportedChangeForm(ChangeForm, ReportedValueForm):
    """The same of a value that is there."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        run, offered = self.initial["run"], row_field(self, "run").queryset
        if run is not None and offered is not None and run not in offered:
            # Whoever may not see the run leaves it as it is.
            del self.fields["run"]

    @classmethod
    def initial_of(cls, score: ReportedScore) -> dict[str, Any]:
        values = {name: getattr(score, name) for name in cls.base_fields}
        return {**values, "release": score.release.version if score.release else ""}
