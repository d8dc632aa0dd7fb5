"""Forms of splits and of checks against outside queries."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from benchmarks_app.common.forms import ListFileField, choice_field, row_field
from benchmarks_app.common.parameters import form_field, percent_field
from benchmarks_app.language import told
from benchmarks_app.models import Benchmark, QrelSet
from benchmarks_app.splits import selectors as reads
from benchwright.errors import BenchmarkError
from benchwright.recipes import splits
from benchwright.recipes.splits import Mode, Straddling
from benchwright.splits import DEFAULT_SHARES, SPLITS, SplitRecipe
from benchwright.splits.recipe import check_shares

MODES: dict[str, tuple[str, str]] = {
    mode: (splits.MODE.choices[mode], words)
    for mode, words in {
        Mode.STRATIFIED: gettext_noop(
            "Sizes as asked, every slice and label density spread evenly. Usual."
        ),
        Mode.RANDOM: gettext_noop("Families at random, nothing spread on purpose."),
        Mode.CHRONOLOGICAL: gettext_noop(
            "What was asked before a day is for training, what came later for testing."
        ),
        Mode.LEAVE_SLICE_OUT: gettext_noop(
            "A slice is the test split: how well is it served by who never saw its kind?"
        ),
        Mode.GIVEN: gettext_noop("A split that exists already."),
    }.items()
}
FIELDS: dict[str, list[str]] = {
    Mode.STRATIFIED: ["train", "dev", "test", "seed"],
    Mode.RANDOM: ["train", "dev", "test", "seed"],
    Mode.CHRONOLOGICAL: [
        *("test_from", "dev_from", "gap_days", "straddling", "document_date"),
        *("train", "dev", "test"),
    ],
    Mode.LEAVE_SLICE_OUT: ["slice", "train", "dev", "seed"],
    Mode.GIVEN: ["file"],
}
REQUIRED = {mode: ["train", "dev", "test", "seed"] for mode in (Mode.STRATIFIED, Mode.RANDOM)}
ALWAYS = ["qrel_set", "hidden", "accept_small"]
MOST_GIVEN_BYTES = 64 << 20
SPLIT_CHOICES = [(split, split) for split in SPLITS]


def share_field(split: str) -> forms.DecimalField:
    initial = round(100 * DEFAULT_SHARES[split], 2)
    return percent_field(splits.SHARE, initial=initial, label=f"{split} %", help_text="")


class HiddenForm(forms.Form):
    """Which splits' grades only keepers see."""

    hidden = forms.MultipleChoiceField(
        choices=SPLIT_CHOICES,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Hide the grades of"),
        help_text=_(
            "Queries stay public, grades and per-query scores are the owner's. Grades that "
            "were public once cannot be hidden."
        ),
    )


class SplitForm(HiddenForm):
    """How to split; only the fields of the chosen mode are there."""

    train = share_field("train")
    dev = share_field("dev")
    test = share_field("test")
    seed = form_field(splits.SEED)
    test_from = form_field(splits.TEST_FROM)
    dev_from = form_field(splits.DEV_FROM)
    gap_days = form_field(splits.GAP_DAYS)
    straddling = form_field(splits.STRADDLING)
    document_date = forms.ChoiceField(
        required=False,
        label=_("Documents appeared on"),
        help_text=_(
            "The column of the documents that holds a date: then train must have no grade "
            "of a document that came after the cut."
        ),
    )
    slice = forms.ChoiceField(required=False, label=_("Slice to leave out"))
    file = ListFileField(
        required=False,
        label=_("File"),
        help_text=_("A line each: query id, TAB, and train, dev, test or none."),
    )
    qrel_set = forms.ModelChoiceField(
        QrelSet.objects.none(),
        required=False,
        label=_("Relevant documents by"),
        empty_label=_("the newest qrels"),
        help_text=_("For label density and shared relevant documents."),
    )
    accept_small = forms.BooleanField(
        required=False,
        label=_("Accept registered slices below their minimum"),
    )

    field_order = [
        *("test_from", "dev_from", "gap_days", "straddling", "document_date", "slice", "file"),
        *("train", "dev", "test", "seed", "qrel_set", "hidden", "accept_small"),
    ]

    def __init__(self, *args: Any, benchmark: Benchmark, mode: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.mode = Mode(mode)
        wanted_names = {*FIELDS[self.mode], *ALWAYS}
        for name in [name for name in self.fields if name not in wanted_names]:
            del self.fields[name]
        for name in REQUIRED.get(self.mode, ["seed", "gap_days", "straddling"]):
            if name in self.fields:
                self.fields[name].required = True
        ready = QrelSet.objects.ready().filter(benchmark=benchmark)
        row_field(self, "qrel_set").queryset = ready.order_by("-pk")
        if not self.is_bound:
            self.initial.setdefault("hidden", benchmark.hidden_splits)
        if "slice" in self.fields:
            names = benchmark.slices.order_by("name").values_list("name", flat=True)
            choice_field(self, "slice").choices = [
                ("", _("choose one")),
                *((name, name) for name in names),
            ]
        if "document_date" in self.fields:
            keys = reads.document_date_keys(benchmark)
            choice_field(self, "document_date").choices = [
                ("", _("not checked")),
                *((key, key) for key in keys),
            ]
            if "first_seen" in keys:
                self.initial.setdefault("document_date", "first_seen")

    @property
    def share_fields(self) -> list[forms.BoundField]:
        return [self[split] for split in SPLITS if split in self.fields]

    @property
    def others(self) -> list[forms.BoundField]:
        """What stands above the shares."""
        return [self[name] for name in self.fields if name not in (*SPLITS, "seed", *ALWAYS)]

    def clean_file(self) -> UploadedFile | None:
        file = self.cleaned_data["file"]
        if file and file.size > MOST_GIVEN_BYTES:
            why = gettext("%(file)s has more than %(most)s MB; expected a line a query.")
            raise ValidationError(why % {"file": file.name, "most": MOST_GIVEN_BYTES >> 20})
        return file

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        try:
            self._check(cleaned)
        except BenchmarkError as error:
            raise ValidationError(told(error), code=error.code) from error
        return cleaned

    def _check(self, cleaned: dict[str, Any]) -> None:
        if self.mode == Mode.LEAVE_SLICE_OUT and not cleaned.get("slice"):
            self.add_error("slice", _("Choose the slice that is to be the test split."))
        needs_shares = self.mode in (Mode.STRATIFIED, Mode.RANDOM, Mode.LEAVE_SLICE_OUT)
        if self.mode == Mode.CHRONOLOGICAL:
            needs_shares = not cleaned.get("test_from")
            if cleaned.get("dev_from") and needs_shares:
                self.add_error("test_from", _("Say when test begins, too, or leave both empty."))
        if needs_shares and self.mode == Mode.LEAVE_SLICE_OUT:
            cleaned["test"] = 0
            total = sum(float(cleaned.get(split) or 0) for split in SPLITS)
            if total <= 0:
                self.add_error("train", _("Give train or dev a share of what is left."))
        elif needs_shares:
            shares = {split: float(cleaned.get(split) or 0) for split in SPLITS}
            check_shares(shares, whole=100)

    def recipe(self) -> SplitRecipe:
        """What was asked for."""
        data = self.cleaned_data
        parts = {split: float(data.get(split) or 0) for split in SPLITS}
        whole = sum(parts.values()) or 1.0
        return SplitRecipe(
            mode=self.mode,
            shares={split: part / whole for split, part in parts.items() if part},
            seed=data.get("seed") or 0,
            test_from=data.get("test_from"),
            dev_from=data.get("dev_from"),
            gap_days=data.get("gap_days") or 0,
            straddling=Straddling(data.get("straddling") or Straddling.KEEP_EARLIER),
            slice_name=data.get("slice", ""),
        )

    def options(self) -> dict[str, Any]:
        """The rest, as `services.splitting` takes it."""
        data = self.cleaned_data
        return {
            "qrel_set": data.get("qrel_set"),
            "hidden": data.get("hidden", []),
            "accept_small": data.get("accept_small", False),
            "document_date": data.get("document_date", ""),
        }


class ContaminationForm(forms.Form):
    file = forms.FileField(
        label="File of queries, or sketch",
        help_text="A query a line, or TSV, CSV, JSON lines or Parquet with a column of queries "
        "and perhaps one of relevant documents; also as .gz. Or what benchwright sketch made.",
    )
    name = forms.CharField(
        max_length=120,
        required=False,
        help_text="What the list is, such as MS MARCO train. Otherwise the file's name.",
    )
    salt = forms.CharField(
        max_length=200,
        required=False,
        label="Salt",
        help_text="Of a sketch that was made with a salt of its owner's. Otherwise leave it empty.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class CleanSliceForm(forms.Form):
    without_possible = forms.BooleanField(
        required=False, label="Leave out those that are possibly the same, too"
    )
