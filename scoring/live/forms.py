"""Forms of live systems: they validate, and leave writing to the services."""

from collections.abc import Callable
from typing import Any, cast

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import ChangeForm
from benchmarks_app.common.parameters import form_field
from benchmarks_app.language import told
from benchmarks_app.models import Benchmark, Run
from benchwright.errors import ScoringError
from benchwright.live.connections import read_url
from benchwright.live.headers import read_headers
from benchwright.live.paths import read_path
from benchwright.live.templates import LARGEST, read_template
from benchwright.recipes import systems
from scoring.live.selectors import SPLITS
from scoring.live.services.systems import CHANGEABLE
from scoring.models import LiveSystem
from scoring.scores.selectors.releases import published_releases

# Which field an error of the service is about, by its code.
FIELD_OF = {
    "live-address": "url",
    "live-template": "template",
    "live-headers": "headers",
    "live-secret": "headers",
    "live-path": "results_path",
    "live-name-taken": "name",
    "run-name-taken": "run",
    "live-queries": "queries",
}


def add_service_error(form: forms.Form, error: ScoringError) -> None:
    """Put an error of a service beside the field it is about."""
    name = FIELD_OF.get(error.code)
    form.add_error(name if name in form.fields else None, told(error))


def _code(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "class": "mono", "spellcheck": "false"})


class LiveSystemForm(forms.Form):
    """How an endpoint is asked, and what its answer looks like."""

    name = forms.CharField(max_length=120, help_text="Such as “staging, BM25”. Runs are named so.")
    url = forms.CharField(
        max_length=500, label="Address", help_text="http or https; secrets go into headers."
    )
    kind = forms.ChoiceField(
        choices=LiveSystem.Kind.choices,
        label="Answers like",
        help_text="Of OpenSearch and Elasticsearch, answers of some shards only count as failures.",
    )
    method = forms.ChoiceField(choices=[("POST", "POST with a JSON body"), ("GET", "GET")])
    template = forms.CharField(
        max_length=LARGEST,
        strip=False,
        widget=_code(8),
        help_text=(
            "JSON, or of a GET the query string. {{query}} and {{k}} are put in as values: no "
            "query can change what is around it."
        ),
    )
    headers = forms.CharField(
        required=False,
        max_length=10_000,
        widget=_code(2),
        help_text=(
            "A line each, as “Authorization: ApiKey $SEARCH_KEY”. A secret is the name of an "
            "environment variable that whoever runs the site has allowed for this address."
        ),
    )
    results_path = forms.CharField(
        max_length=200, label="Path to the results", help_text="In the answer, such as hits.hits."
    )
    id_path = forms.CharField(
        max_length=200, label="Path to the id", help_text="In one result, such as _id."
    )
    score_path = forms.CharField(
        max_length=200,
        required=False,
        label="Path to the score",
        help_text="In one result. Empty: the order of the results is the ranking.",
    )
    k = form_field(systems.K, required=True)
    requests_per_second = form_field(systems.REQUESTS_PER_SECOND, required=True)
    concurrency = form_field(systems.CONCURRENCY, required=True)
    timeout_seconds = form_field(systems.TIMEOUT_SECONDS, required=True)
    retries = form_field(systems.RETRIES, required=True)
    description = forms.CharField(
        required=False, max_length=4000, label="Notes", widget=forms.Textarea(attrs={"rows": 2})
    )

    def clean_url(self) -> str:
        return self._read("url", read_url)

    def clean_headers(self) -> str:
        return self._read("headers", read_headers)

    def clean_results_path(self) -> str:
        return self._read("results_path", lambda text: read_path(text, may_be_many=True))

    def clean_id_path(self) -> str:
        return self._read("id_path", read_path)

    def clean_score_path(self) -> str:
        return self._read("score_path", lambda text: read_path(text) if text else None)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("template") and cleaned.get("method"):
            try:
                read_template(cleaned["template"], method=cleaned["method"])
            except ScoringError as error:
                self.add_error("template", str(error))
        return cleaned

    def _read(self, name: str, reader: Callable[[str], object]) -> str:
        text: str = self.cleaned_data[name]
        try:
            reader(text)
        except ScoringError as error:
            raise forms.ValidationError(str(error)) from error
        return text


class LiveSystemChangeForm(ChangeForm, LiveSystemForm):
    """The same of a system that is there."""

    @staticmethod
    def initial_of(system: LiveSystem) -> dict[str, Any]:
        return {name: getattr(system, name) for name in CHANGEABLE}


class LiveTryForm(forms.Form):
    query = forms.CharField(max_length=2000, label=_("Query"))


class LiveAskForm(forms.Form):
    """What to ask a live system, and what its run is called."""

    run = forms.CharField(
        max_length=Run._meta.get_field("name").max_length, label=_("Name of the run")
    )
    queries = forms.ChoiceField(label=_("Queries"), required=False)
    may_fail = form_field(systems.MAY_FAIL)

    def __init__(self, *args: Any, benchmark: Benchmark, **options: Any) -> None:
        super().__init__(*args, **options)
        cast(forms.ChoiceField, self.fields["queries"]).choices = query_choices(benchmark)

    def clean_may_fail(self) -> int:
        return self.cleaned_data["may_fail"] or 0

    def given(self) -> dict[str, Any]:
        """What the service takes beside the system."""
        cleaned = self.cleaned_data
        which, _, value = cleaned["queries"].partition(":")
        chosen = {which: value} if value else {}
        return {"run": cleaned["run"], "may_fail": cleaned["may_fail"], **chosen}


def query_choices(benchmark: Benchmark) -> list[tuple[str, str]]:
    """All queries, those of a split, those of a published release."""
    in_split = set(benchmark.queries.committed().values_list("family__split", flat=True).distinct())
    splits = [
        (f"split:{name}", gettext("the split %(name)s") % {"name": name})
        for name in SPLITS
        if name in in_split
    ]
    releases = [
        (
            f"release:{release.version}",
            gettext("release %(version)s") % {"version": release.version},
        )
        for release in published_releases(benchmark)[:20]
    ]
    return [("", gettext("all queries")), *splits, *releases]
