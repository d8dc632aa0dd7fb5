"""Forms that make a benchmark and set it up."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from benchmarks_app.common.forms import row_field
from benchmarks_app.models import Benchmark, Corpus, Unit, User
from benchmarks_app.permissions import KEEPERS
from benchwright.errors import BenchmarkError
from benchwright.qrels.scales import DEFAULT_SCALE, parse_scale


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
        kept = Benchmark.objects.filter(memberships__user=user, memberships__role__in=KEEPERS)
        if user is not None and kept.exists():
            row_field(self, "corpus_of").queryset = kept.order_by("name")
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


class SettingsForm(forms.ModelForm):
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
