"""A campaign: which judge, which documents, which words, how much money."""

from typing import Any, cast

from django import forms
from django.conf import settings
from django.db.models import QuerySet

from annotation.campaigns.services.drafting import Wanted
from annotation.models import Campaign, Pool
from benchmarks_app.common.parameters import form_field
from benchmarks_app.models import Benchmark, JudgeEndpoint, Run
from benchwright.errors import BenchmarkError
from benchwright.grading.prompts import LONGEST_TEMPLATE, SLOTS, UMBRELA, pieces_of
from benchwright.recipes import campaigns, contextual


class JudgeField(forms.ModelChoiceField):
    def label_from_instance(self, obj: JudgeEndpoint) -> str:
        return f"{obj.name} ({obj.model})"


class CampaignForm(forms.Form):
    """What `Wanted` holds, with the judge and the pool it is for."""

    judge = JudgeField(JudgeEndpoint.objects.none(), label="Judge", empty_label=None)
    pool = forms.ModelChoiceField(Pool.objects.none(), label="Pool", empty_label=None)
    choice = form_field(campaigns.CHOICE, required=True)
    n_sample = form_field(campaigns.SAMPLE)
    runs = forms.MultipleChoiceField(
        label="Runs",
        required=False,
        help_text="Whose unjudged documents are asked about.",
        widget=forms.CheckboxSelectMultiple,
    )
    cost_cap = form_field(contextual.COST_CAP)
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=120,
        help_text="Empty: the judge's and the pool's.",
    )
    template = forms.CharField(
        label="Prompt",
        required=False,
        max_length=LONGEST_TEMPLATE,
        initial=UMBRELA,
        help_text=(
            "The guideline, the scale and the pair stand in the slots "
            f"{', '.join(f'{{{slot}}}' for slot in SLOTS)}. The rules about data and the form of "
            "the answer are added. Other words are another version, never mixed with this one."
        ),
        widget=forms.Textarea(attrs={"rows": 18, "spellcheck": "false"}),
    )
    max_characters = form_field(campaigns.MAX_CHARACTERS)
    concurrency = form_field(campaigns.CONCURRENCY)
    seed = form_field(contextual.SEED)
    conflict_reason = forms.CharField(
        label="Why it may judge all the same",
        required=False,
        max_length=500,
        help_text="Where it is of the family of a model that a run used. Stays with the campaign.",
    )

    def __init__(
        self,
        *args: Any,
        benchmark: Benchmark,
        judges: QuerySet[JudgeEndpoint],
        pools: QuerySet[Pool],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        cast(forms.ModelChoiceField, self.fields["judge"]).queryset = judges
        cast(forms.ModelChoiceField, self.fields["pool"]).queryset = pools
        runs = Run.objects.filter(pools__in=pools).distinct().order_by("name")
        names = list(runs.values_list("name", flat=True))
        cast(forms.MultipleChoiceField, self.fields["runs"]).choices = [
            (name, name) for name in names
        ]
        if not names:
            del self.fields["runs"]
        if settings.JUDGE_CONFLICTS != "explain":
            del self.fields["conflict_reason"]

    def clean_template(self) -> str:
        # A browser sends CR LF, which would be another version.
        template: str = self.cleaned_data["template"].replace("\r\n", "\n")
        if template.strip():
            try:
                list(pieces_of(template))
            except BenchmarkError as error:
                raise forms.ValidationError(str(error)) from error
        return template if template.strip() else ""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        judge, cap = cleaned.get("judge"), cleaned.get("cost_cap")
        if judge is not None and cap is not None and not judge.has_prices:
            self.add_error("cost_cap", f"{judge.name} has no prices, so a limit cannot be kept.")
        is_sample = cleaned.get("choice") == Campaign.Choice.SAMPLE
        if is_sample and cleaned.get("n_sample") is None and "n_sample" not in self.errors:
            cleaned["n_sample"] = campaigns.SAMPLE.default
        return cleaned

    @property
    def wanted(self) -> Wanted:
        """What the services take; what was left empty is as by default."""
        names = Wanted.__dataclass_fields__
        values = {key: value for key, value in self.cleaned_data.items() if key in names}
        if values.get("concurrency") is None:
            values["concurrency"] = campaigns.CONCURRENCY.default
        return Wanted(**values)


class GoOnForm(forms.Form):
    """Going on; with another money limit where the first is spent."""

    cost_cap = form_field(contextual.COST_CAP, label="New money limit", help_text="")
    with_failed = forms.BooleanField(required=False)
