"""Forms that make a benchmark and set it up; of a corpus, and of collections by their names."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.utils.text import slugify

from benchmarks_app.common.forms import ChangeForm, CutField, choice_field, row_field
from benchmarks_app.models import Benchmark, Corpus, Guideline, QrelSet, Unit, User
from benchmarks_app.permissions import KEEPERS
from benchwright.corpora.cuts import LARGEST_SEED
from benchwright.corpora.units import RULE
from benchwright.errors import BenchmarkError
from benchwright.qrels.scales import DEFAULT_SCALE, parse_scale
from benchwright.runs.aggregation import DEFAULT, LABELS

GUIDELINE_CHANGED = (
    "Another version of the guideline was saved while you wrote; your text is not lost: copy it, "
    "open this page again, and write it into the newest version."
)


class BenchmarkForm(forms.Form):
    name = forms.CharField(max_length=120)
    slug = forms.SlugField(
        max_length=60,
        required=False,
        label="Short name",
        help_text="Part of every address; made from the name if left empty.",
    )
    description = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One sentence on what it measures.",
    )
    corpus_kind = forms.ChoiceField(
        choices=[
            (Corpus.Kind.TEXTS, "Texts: people can read and judge the documents here"),
            (Corpus.Kind.IDS_ONLY, "Ids only: runs and qrels without texts, as TREC gives them"),
        ],
        initial=Corpus.Kind.TEXTS,
        widget=forms.RadioSelect,
        label="Corpus",
    )
    corpus_of = forms.ModelChoiceField(
        Benchmark.objects.none(),
        required=False,
        to_field_name="slug",
        empty_label="a corpus of its own",
        label="Share the corpus of",
        help_text="Of a benchmark you keep: its documents are searched and graded here as well.",
    )
    unit = forms.ChoiceField(
        choices=Unit,
        initial=Unit.DOCUMENT,
        label="What is retrieved",
    )
    lang = forms.CharField(
        max_length=35, initial="en", label="Language", help_text="Such as en, de, sw."
    )
    tie_rule = forms.ChoiceField(
        choices=Benchmark.TieRule,
        initial=Benchmark.TieRule.TREC,
        required=False,
        label="Equal scores",
        help_text="Which document goes first. It stays: runs are kept in this order.",
    )
    scale = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        initial=DEFAULT_SCALE,
        label="Grades",
        help_text="A line each: digit = name: what it means. A * at the end marks relevant grades.",
    )

    def __init__(self, *args: Any, user: User | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own_benchmarks = Benchmark.objects.filter(
            memberships__user=user, memberships__role__in=KEEPERS
        )
        if user is not None and own_benchmarks.exists():
            row_field(self, "corpus_of").queryset = own_benchmarks.order_by("name")
        else:
            del self.fields["corpus_of"]

    def clean_slug(self) -> str:
        slug = self.cleaned_data["slug"] or slugify(self.cleaned_data.get("name", ""))[:60]
        if not slug:
            why = "Give a short name of letters, digits and hyphens."
            raise ValidationError(why)
        if Benchmark.objects.filter(slug=slug).exists():
            why = f"'{slug}' is taken; choose another short name."
            raise ValidationError(why)
        return slug

    def clean_tie_rule(self) -> str:
        return self.cleaned_data["tie_rule"] or Benchmark.TieRule.TREC

    def clean_scale(self) -> list[dict[str, Any]]:
        try:
            return parse_scale(self.cleaned_data["scale"])
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error


class SettingsForm(ChangeForm, forms.ModelForm):
    guideline = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="What annotators are asked to do. A change is a new version.",
    )
    text_format = forms.ChoiceField(
        choices=Corpus.TextFormat,
        required=False,
        label="Format of the documents",
        help_text="How annotators see a text: as it is, or rendered. No picture, link or script "
        "of a document is ever loaded. Scores do not depend on it.",
    )
    line_breaks = forms.ChoiceField(
        choices=Corpus.LineBreaks,
        required=False,
        widget=forms.RadioSelect,
        label="A single line break in plain text is",
        help_text="Old collections end their lines where a terminal did. Empty lines, lists, "
        "indented lines and code stay as they are.",
    )

    class Meta:
        model = Benchmark
        fields = ["name", "description", "visibility", "may_embed"]
        labels = {"may_embed": "Other sites may show the leaderboard"}
        help_texts = {
            "may_embed": "In a frame or as a badge, as far as anybody may see it; of a public "
            "benchmark alone. The leaderboard then has what to copy."
        }
        widgets = {"description": forms.Textarea(attrs={"rows": 2})}

    @property
    def changed_columns(self) -> list[str]:
        """Those of the benchmark's own fields that another value was sent for."""
        return [name for name in self.Meta.fields if self.is_changed(name)]

    @property
    def changed_guideline(self) -> str:
        """What was sent as the guideline; empty where it is the one that was shown."""
        return self.cleaned_data["guideline"] if self.is_changed("guideline") else ""

    def clean_guideline(self) -> str:
        """Refuse one that was written upon another than the newest version."""
        upon = self.data.get(self["guideline"].html_initial_name)
        is_upon_newest = upon is None or _lines(upon) == _lines(self.initial["guideline"])
        if self.is_changed("guideline") and not is_upon_newest:
            raise ValidationError(GUIDELINE_CHANGED)
        guideline: str = self.cleaned_data["guideline"]
        if self.is_changed("guideline"):
            MaxLengthValidator(Guideline.MOST_CHARACTERS)(guideline)
        return guideline


def _lines(text: str) -> str:
    """A text as it is stored, however its lines were sent."""
    return text.replace("\r\n", "\n").strip()


UNITS = Unit.choices


class CorpusForm(ChangeForm, forms.Form):
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
        known_keys = sorted({*keys, *benchmark.shown_metadata})
        choice_field(self, "shown_metadata").choices = [(key, key) for key in known_keys]
        if not known_keys:
            del self.fields["shown_metadata"]


class FetchForm(forms.Form):
    collection = forms.CharField(
        max_length=300,
        label="Collection",
        help_text="beir:scifact, hub:owner/name, hub:owner/name/folder@revision, or irds:vaswani",
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocapitalize": "none"}),
    )
    max_docs = CutField(
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
        own_benchmarks = user.memberships.filter(role__in=KEEPERS).values("benchmark")
        ready = QrelSet.objects.ready().filter(
            benchmark__corpus=benchmark.corpus, benchmark__in=own_benchmarks
        )
        row_field(self, "qrel_set").queryset = ready.exclude(rule=RULE).order_by("-pk")


def aggregation_choices() -> list[tuple[str, str]]:
    """The ways from passages to documents, the usual one first."""
    return sorted(LABELS.items(), key=lambda pair: pair[0] != DEFAULT)
