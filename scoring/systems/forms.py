"""Which systems to run, how deep; which two runs are an exact and an approximate search."""

from typing import Any, cast

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import SelectOfMany, offer_runs
from benchmarks_app.common.parameters import form_field
from benchmarks_app.models import Benchmark, Run
from benchwright.languages import NAMES
from benchwright.recipes import systems as recipe
from benchwright.retrieval.ann import TOLERANCE
from benchwright.retrieval.catalog import CATALOG
from benchwright.retrieval.languages import language_or_english
from scoring.systems.services.ann import CUTOFF, DEEPEST


class BaselineForm(forms.Form):
    """`systems` are shown in a table of the page, which says of each what it is."""

    systems = forms.MultipleChoiceField(
        label=_("Systems"),
        choices=[(name, entry.title) for name, entry in CATALOG.items()],
        error_messages={"required": _("Choose a system.")},
    )
    language = forms.ChoiceField(
        label=_("Language"),
        help_text=_("Of stemming and of words; BM25 and TF-IDF use it."),
        widget=forms.Select(attrs={"lang": "en"}),
    )
    depth = form_field(recipe.DEPTH, required=True)
    shards = form_field(
        recipe.SHARDS,
        help_text=_("Parts of the corpus that workers share; by its size where this is empty."),
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **options: Any) -> None:
        super().__init__(*args, **options)
        own = language_or_english(benchmark.corpus.lang)
        names = dict(sorted({own: own, **NAMES}.items(), key=lambda item: item[1]))
        language = cast(forms.ChoiceField, self.fields["language"])
        language.choices = [(code, name.capitalize()) for code, name in names.items()]
        language.initial = own
        depth = cast(forms.IntegerField, self.fields["depth"])
        depth.max_value = settings.RUN_MAX_DEPTH
        depth.widget.attrs["max"] = settings.RUN_MAX_DEPTH

    def clean_depth(self) -> int:
        return min(self.cleaned_data["depth"], settings.RUN_MAX_DEPTH)


class AnnForm(forms.Form):
    exact = forms.ModelChoiceField(
        Run.objects.none(),
        label=_("Exact search"),
        widget=SelectOfMany,
        help_text=_("Every document compared."),
    )
    approximate = forms.ModelChoiceField(
        Run.objects.none(),
        label=_("Approximate index"),
        widget=SelectOfMany,
        help_text=_("Of the same model."),
    )
    k = forms.IntegerField(
        label=_("First"), required=False, min_value=1, max_value=DEEPEST, initial=CUTOFF
    )
    tolerance = forms.FloatField(
        label=_("Scores this near are equal"),
        required=False,
        min_value=0,
        initial=TOLERANCE,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def __init__(self, *args: Any, runs: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        offer_runs(self, ("exact", "approximate"), runs)
        self.fields["k"].widget.attrs["placeholder"] = CUTOFF

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["k"] = cleaned.get("k") or CUTOFF
        cleaned["tolerance"] = (
            TOLERANCE if cleaned.get("tolerance") is None else cleaned["tolerance"]
        )
        if cleaned.get("exact") and cleaned.get("exact") == cleaned.get("approximate"):
            self.add_error("approximate", _("Choose another run than the exact one."))
        return cleaned
