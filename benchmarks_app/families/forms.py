"""Forms of families: how to group, and what to do with one."""

from typing import Any

from django import forms

from benchmarks_app.common.forms import choice_field, row_field
from benchmarks_app.common.parameters import form_field
from benchmarks_app.models import Benchmark, QrelSet, QueryFamily
from benchmarks_app.splits.selectors import default_qrels
from benchwright.errors import BenchmarkError
from benchwright.families import GroupingOptions, Linkage
from benchwright.matrices import static_vectors
from benchwright.recipes import families
from benchwright.recipes.parameters import Real


def _threshold(parameter: Real, **changes: Any) -> forms.Field:
    widget = forms.NumberInput(attrs={"step": "0.01"})
    return form_field(parameter, widget=widget, required=True, **changes)


DEFAULTS = GroupingOptions()


class GroupForm(forms.Form):
    """From where on wordings are one family, and what else is to count."""

    merge_at = _threshold(families.MERGE_AT)
    review_at = _threshold(families.REVIEW_AT)
    qrel_set = forms.ModelChoiceField(
        QrelSet.objects.none(),
        required=False,
        label="Relevant documents of",
        empty_label="Do not count relevant documents",
        help_text="Queries that share half of their relevant documents are one family.",
    )
    relevant_at = _threshold(families.RELEVANT_AT)
    embeddings = forms.FileField(
        required=False,
        label="Embeddings",
        help_text="An .npz file with “ids” (query ids) and “embeddings” (one row an id), "
        "or an .npy file with its ids beside it.",
    )
    ids = forms.FileField(
        required=False, label="Ids of an .npy file", help_text="Text, one query id a line."
    )
    embedding_at = _threshold(families.EMBEDDING_AT)
    paraphrases = forms.BooleanField(
        required=False,
        label="Look for paraphrases",
        help_text="Static vectors of words find wordings that share a meaning and few letters. "
        "Made for English.",
    )
    paraphrase_at = _threshold(families.PARAPHRASE_AT)
    largest = form_field(families.LARGEST, required=True)
    least_similarity = _threshold(families.LEAST_SIMILARITY)
    recut_by = form_field(families.RECUT_BY, required=True)
    recut_at = _threshold(families.RECUT_AT)

    def __init__(self, *args: Any, benchmark: Benchmark, **more: Any) -> None:
        super().__init__(*args, **more)
        ready = QrelSet.objects.ready().filter(benchmark=benchmark).order_by("-created_at")
        row_field(self, "qrel_set").queryset = ready
        self.fields["qrel_set"].initial = default_qrels(benchmark)
        if static_vectors.is_installed():
            self.fields["paraphrases"].initial = (benchmark.corpus.lang or "en") == "en"
        else:
            self.fields["paraphrases"].disabled = True
            self.fields["paraphrases"].help_text = "Needs the extra demo, which is not installed."
        self.fields["paraphrase_at"].required = False
        self.language = benchmark.corpus.lang or DEFAULTS.language

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        file = data.get("embeddings")
        if file and file.name.endswith(".npy") and not data.get("ids"):
            self.add_error("ids", "An .npy file holds no ids: add the file that lists them.")
        if data.get("ids") and not file:
            self.add_error("embeddings", "There are ids and no embeddings: add their file.")
        if not self.errors:
            self._set_options(data)
        return data

    def _set_options(self, data: dict[str, Any]) -> None:
        names = ("merge_at", "review_at", "relevant_at", "embedding_at", "largest")
        more = ("least_similarity", "recut_at")
        values = {name: data[name] for name in (*names, *more)}
        values["paraphrase_at"] = data["paraphrase_at"] or DEFAULTS.paraphrase_at
        try:
            self.options = GroupingOptions(
                **values, recut_by=Linkage(data["recut_by"]), language=self.language
            )
        except BenchmarkError as error:
            self.add_error(None, str(error))


class DecisionForm(forms.Form):
    """What somebody says of a family; the families and queries are looked up by the view."""

    ACTS = ("same", "different", "confirm", "split", "merge")

    act = forms.ChoiceField(choices=[(act, act) for act in ACTS])
    seen = forms.CharField(required=False, max_length=200_000)
    a = forms.IntegerField(required=False)
    b = forms.IntegerField(required=False)
    queries = forms.TypedMultipleChoiceField(required=False, coerce=int)
    other = forms.CharField(required=False, max_length=512)
    other_typed = forms.CharField(required=False, max_length=512)
    split = forms.ChoiceField(
        required=False, choices=[(value, value) for value in QueryFamily.Split.values if value]
    )
    then = forms.ChoiceField(required=False, choices=[("review", ""), ("detail", "")])

    def __init__(self, *args: Any, members: list[int], **more: Any) -> None:
        super().__init__(*args, **more)
        choice_field(self, "queries").choices = [(pk, pk) for pk in members]
        self.fields["queries"].error_messages["invalid_choice"] = (
            "Query %(value)s is not in this family any more. Load the page again."
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        act = cleaned.get("act")
        cleaned["other"] = cleaned.get("other") or cleaned.get("other_typed") or ""
        if act in ("same", "different") and not (cleaned.get("a") and cleaned.get("b")):
            self.add_error(None, "A verdict is about two queries: choose both.")
        if act == "merge" and not cleaned.get("other"):
            self.add_error(None, "Name the family to merge with, by its number or a query's id.")
        return cleaned
