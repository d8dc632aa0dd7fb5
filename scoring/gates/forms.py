"""Forms of gates: a policy, a candidate to hold against it, what an A/B test said."""

from dataclasses import fields
from typing import Any, cast

from django import forms
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from benchmarks_app.clicks.forms import LogForm
from benchmarks_app.common.forms import SelectMultipleOfMany, SelectOfMany, offer_runs
from benchmarks_app.common.parameters import form_field
from benchmarks_app.common.selectors.words import holds
from benchmarks_app.language import told
from benchmarks_app.models import Benchmark, Release, Run
from benchmarks_app.releases.selectors import release_splits
from benchwright.gates.policy import DEFAULTS
from benchwright.measures.registry import measure_names
from benchwright.recipes import clicks as recipes_of_clicks
from benchwright.recipes import gates as recipe
from scoring.gates.services.errors import OnlineIntervalError
from scoring.gates.services.online import check_interval
from scoring.gates.services.online_logs import LogAsked
from scoring.gates.services.policies import slices_offered
from scoring.models import GatePolicy, GateResult, OnlineResult
from scoring.scores.selectors.rankings import runs_offered
from scoring.scores.selectors.releases import newest_release, published_releases

RAILS = DEFAULTS.guard_rails


class PolicyForm(forms.Form):
    """What a candidate must show; `content` is what a policy is read from."""

    name = forms.CharField(
        label=_("Name"), max_length=120, help_text=_("A name that is taken gets a new version.")
    )
    baseline = forms.ModelChoiceField(
        Run.objects.none(),
        label=_("Baseline"),
        widget=SelectOfMany,
        empty_label=None,
        help_text=_("The system that is there now."),
    )
    goal = form_field(recipe.GOAL, required=True, help_text="", widget=forms.RadioSelect)
    measure = forms.CharField(label=_("Measure"), max_length=120, initial=DEFAULTS.measure)
    split = forms.ChoiceField(
        required=False, label=_("Queries"), help_text=_("Of which split of a release.")
    )
    slices = forms.MultipleChoiceField(
        label=_("Slices"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Registered slices; each of 30 queries and more can block."),
    )
    margin = form_field(recipe.MARGIN, label=_("Margin"), required=True)
    delta_min = form_field(recipe.DELTA_MIN, required=True)
    alpha = form_field(recipe.ALPHA, required=True)
    labels = form_field(recipe.LABELS, required=True, help_text="", widget=forms.RadioSelect)
    guard_measures = forms.CharField(
        label=_("Guarded measures"),
        required=False,
        max_length=300,
        initial=" ".join(RAILS.measures),
        help_text=_("They must not fall beyond the margin; spaces between."),
    )
    worst_loss = form_field(recipe.WORST_LOSS, required=True)
    worst_share = form_field(recipe.WORST_SHARE, required=True)
    worst_rule = form_field(recipe.WORST_RULE, required=True, widget=forms.RadioSelect)
    exact_slice = forms.ChoiceField(label=_("Exact-match slice"), required=False)
    lexical = forms.ModelChoiceField(
        Run.objects.none(),
        label=_("Lexical run"),
        widget=SelectOfMany,
        required=False,
        empty_label=_("none"),
        help_text=_("BM25 or the like: a candidate must not fall behind it on exact matches."),
    )

    runs = forms.ModelMultipleChoiceField(
        Run.objects.none(),
        label=_("Rehearse with"),
        widget=SelectMultipleOfMany,
        required=False,
        help_text=_(
            "1 to 10 runs that are there already, never the candidate: how often the policy would "
            "be right between them and the baseline."
        ),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer_runs(self, ("baseline", "lexical", "runs"), runs_offered(benchmark, user))
        release = newest_release(benchmark)
        self.offered = slices_offered(release) if release else []
        names = [(part.name, _with_size(part.name, part.n)) for part in self.offered]
        cast(forms.ChoiceField, self.fields["slices"]).choices = names
        cast(forms.ChoiceField, self.fields["exact_slice"]).choices = [
            ("", gettext("none")),
            *names,
        ]
        splits = list(release_splits(release)) if release else []
        cast(forms.ChoiceField, self.fields["split"]).choices = [
            ("", gettext("all queries")),
            *((name, name) for name in splits),
        ]
        if len(splits) < 2:
            del self.fields["split"]
        if not names:
            del self.fields["slices"], self.fields["exact_slice"]

    @property
    def content(self) -> dict[str, Any]:
        """The policy as JSON has it."""
        cleaned = self.cleaned_data
        plain = ("goal", "measure", "margin", "delta_min", "alpha", "labels")
        return {
            **{name: cleaned[name] for name in plain},
            "split": cleaned.get("split", ""),
            "slices": cleaned.get("slices", []),
            "guard_rails": {
                "measures": measure_names(cleaned["guard_measures"]),
                "worst_loss": cleaned["worst_loss"],
                "worst_share": cleaned["worst_share"],
                "worst_rule": cleaned["worst_rule"],
                "exact_slice": cleaned.get("exact_slice", ""),
            },
        }


def _with_size(name: str, n: int) -> str:
    text = ngettext("%(name)s (%(n)s query)", "%(name)s (%(n)s queries)", n)
    return text % {"name": name, "n": f"{n:,}"}


class ReleaseField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Release) -> str:
        return obj.version


class GateForm(forms.Form):
    """A candidate and the release it is decided on."""

    candidate = forms.ModelChoiceField(
        Run.objects.none(), label=_("Candidate"), widget=SelectOfMany, empty_label=None
    )
    release = ReleaseField(Release.objects.none(), label=_("Release"), empty_label=None)

    def __init__(self, *args: Any, policy: GatePolicy, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        benchmark = policy.benchmark
        offered = runs_offered(benchmark, user).exclude(pk=policy.baseline_id)
        offer_runs(self, ["candidate"], offered.order_by("-pk"))
        cast(forms.ModelChoiceField, self.fields["release"]).queryset = published_releases(
            benchmark
        )


class GateFilterForm(forms.Form):
    """Which gates are listed; what is no choice shows all."""

    verdict = forms.ChoiceField(
        label=_("Verdict"),
        required=False,
        choices=[
            ("", _("any verdict")),
            *((key, _(label)) for key, label in GateResult.Verdict.choices),
        ],
    )
    policy = forms.ChoiceField(label=_("Policy"), required=False)
    q = forms.CharField(label=_("Candidate"), required=False, max_length=120)

    def __init__(self, *args: Any, policies: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(str(policy.pk), str(policy)) for policy in policies]
        cast(forms.ChoiceField, self.fields["policy"]).choices = [
            ("", gettext("any policy")),
            *named,
        ]

    def chosen(self, gates: Any) -> Any:
        """The gates that are asked for."""
        self.is_valid()
        cleaned = self.cleaned_data
        if cleaned.get("verdict"):
            gates = gates.filter(verdict=cleaned["verdict"])
        if cleaned.get("policy"):
            gates = gates.filter(policy=cleaned["policy"])
        if cleaned.get("q"):
            gates = gates.filter(holds("candidate__name", cleaned["q"]))
        return gates


class OnlineLogForm(LogForm):
    """The log of an A/B test, and which arm is whose."""

    baseline_arm = forms.CharField(required=False, max_length=200)
    candidate_arm = forms.CharField(required=False, max_length=200)
    metric = form_field(recipes_of_clicks.OUTCOME, required=True, widget=forms.RadioSelect)
    cutoff = form_field(recipes_of_clicks.CUTOFF, required=True)
    note = forms.CharField(label=_("Note"), required=False, max_length=2_000)

    def __init__(self, *args: Any, gate: GateResult, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        arms = {"baseline_arm": gate.policy.baseline, "candidate_arm": gate.candidate}
        for name, run in arms.items():
            self.fields[name].label = gettext("Arm of %(run)s") % {"run": run.name}
            self.fields[name].help_text = gettext(
                "As the log calls it in its column arm, variant or query_attributes.arm; left "
                "empty: as the run is called."
            )

    def asked(self) -> LogAsked:
        return LogAsked(**{field.name: self.cleaned_data[field.name] for field in fields(LogAsked)})


class OnlineResultForm(forms.Form):
    """What an A/B test said."""

    outcome = forms.ChoiceField(
        label=_("Outcome"),
        choices=[(key, _(label)) for key, label in OnlineResult.Outcome.choices],
        widget=forms.RadioSelect,
    )
    metric = forms.CharField(
        label=_("Metric"), max_length=120, help_text=_("Such as clicks a search.")
    )
    difference = forms.FloatField(label=_("Difference"), required=False)
    low = forms.FloatField(label=_("Interval from"), required=False)
    high = forms.FloatField(label=_("Interval to"), required=False)
    has_no_interval = forms.BooleanField(
        label=_("There is no difference with an interval"),
        required=False,
        help_text=_("Say so where the test gave none; else all three are wanted."),
    )
    note = forms.CharField(label=_("Note"), required=False, max_length=2_000)

    def clean(self) -> dict[str, Any]:
        result = super().clean() or {}
        if not self.errors:
            numbers = {name: result[name] for name in ("difference", "low", "high")}
            try:
                check_interval(**numbers, has_no_interval=result["has_no_interval"])
            except OnlineIntervalError as error:
                self.add_error("difference", told(error))
        return result
