"""Forms of a corpus: what is known of it, and bringing a collection by its name."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from benchmarks_app.common.forms import choice_field, row_field
from benchmarks_app.models import Benchmark, QrelSet, Unit, User
from benchmarks_app.permissions import KEEPERS
from benchwright.corpora.cuts import LARGEST_SEED, read_max_docs
from benchwright.corpora.units import RULE
from benchwright.errors import BenchmarkError
from benchwright.runs.aggregation import DEFAULT, LABELS

UNITS = Unit.choices


class CorpusForm(forms.Form):
    corpus_unit = forms.ChoiceField(
        choices=UNITS,
        label="Rows of the corpus are",
        help_text="Passages name the document they are of, in parent_id, a column of their own, or "
        "an id such as X#Y.",
    )
    unit = forms.ChoiceField(
        choices=UNITS,
        label="This benchmark measures",
        help_text="A benchmark of documents on a corpus of passages sums up the runs it is given.",
    )
    lang = forms.CharField(max_length=35, label="Language", help_text="Such as en, de, zh-Hant.")
    may_be_passed_on = forms.BooleanField(
        required=False,
        label="The texts may be passed on",
        help_text="If not, exports hold queries, grades and ids, and no text.",
    )
    shown_metadata = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Metadata that judges see",
        help_text="Beside title and text. Not what tells how a document was found.",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        benchmark: Benchmark,
        keys: list[str],
        **kwargs: Any,
    ) -> None:
        corpus = benchmark.corpus
        initial = {
            "corpus_unit": corpus.unit,
            "unit": benchmark.unit,
            "lang": corpus.lang,
            "may_be_passed_on": corpus.may_be_passed_on,
            "shown_metadata": benchmark.shown_metadata,
        }
        super().__init__(data, initial=initial, **kwargs)
        known = sorted({*keys, *benchmark.shown_metadata})
        choice_field(self, "shown_metadata").choices = [(key, key) for key in known]
        if not known:
            del self.fields["shown_metadata"]


class FetchForm(forms.Form):
    collection = forms.CharField(
        max_length=300,
        label="Collection",
        help_text="beir:scifact, hub:owner/name, hub:owner/name/folder@revision, or irds:vaswani",
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocapitalize": "none"}),
    )
    max_docs = forms.CharField(
        max_length=20,
        required=False,
        label="Documents to keep",
        help_text="Every judged or pooled one stays; the others are drawn. Empty keeps them all.",
        widget=forms.TextInput(attrs={"inputmode": "numeric"}),
    )
    seed = forms.IntegerField(
        min_value=0, max_value=LARGEST_SEED, initial=0, required=False, label="Seed of the draw"
    )
    take = forms.BooleanField(
        required=False,
        label="Take the corpus at once",
        help_text="Otherwise a corpus that follows another is looked at before it is taken.",
    )

    def clean_max_docs(self) -> int | None:
        try:
            return read_max_docs(self.cleaned_data["max_docs"])
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error

    def clean_seed(self) -> int:
        return self.cleaned_data["seed"] or 0


class DocumentGradesForm(forms.Form):
    qrel_set = forms.ModelChoiceField(
        QrelSet.objects.none(), label="Grades of passages", empty_label=None
    )
    name = forms.CharField(
        max_length=120, required=False, help_text="Empty: the set's name and “by document”."
    )

    def __init__(self, *args: Any, benchmark: Benchmark, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kept = user.memberships.filter(role__in=KEEPERS).values("benchmark")
        ready = QrelSet.objects.ready().filter(
            benchmark__corpus=benchmark.corpus, benchmark__in=kept
        )
        row_field(self, "qrel_set").queryset = ready.exclude(rule=RULE).order_by("-pk")


def aggregation_choices() -> list[tuple[str, str]]:
    """The ways from passages to documents, the usual one first."""
    return sorted(LABELS.items(), key=lambda pair: pair[0] != DEFAULT)
