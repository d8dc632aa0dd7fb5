"""Forms of labels that were given elsewhere."""

from collections import Counter
from typing import Any

from django import forms

from annotation.models import Pool
from benchmarks_app.common.forms import row_field
from benchmarks_app.models import Benchmark, Upload, User
from benchwright.errors import BenchmarkError
from benchwright.ids import LONGEST_NAME
from benchwright.qrels.grade_map import parse_grade_map
from benchwright.qrels.raters import known_raters

NOBODY, MACHINE, ACCOUNT = "", "machine", "account:"
# Of more raters than these the first by number of labels are asked about.
MOST_ASKED = 200


class LabelsImportForm(forms.Form):
    """A file with where it is from; `upload` is the file that was sent with the first answer."""

    upload = forms.ModelChoiceField(Upload.objects.none(), required=False, widget=forms.HiddenInput)
    file = forms.FileField(required=False, help_text="TREC qrels, CSV or TSV; also as .gz")
    rater = forms.CharField(
        required=False,
        max_length=LONGEST_NAME,
        label="Annotator",
        help_text="Who gave the labels, where the file has no column that says so. "
        "Left empty, they count as yours.",
    )
    source = forms.CharField(
        required=False,
        max_length=120,
        help_text="Where they are from. Left empty: the name of the file.",
    )
    pool = forms.ModelChoiceField(
        Pool.objects.none(),
        required=False,
        empty_label="no pool: all labels of the file",
        help_text="Labels of a pool count towards what it wants; others of the file are left out.",
    )
    grade_map = forms.CharField(
        required=False,
        label="Grade mapping",
        help_text="From grades of the file to yours, such as 1=4, 2=3, -1=0.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row_field(self, "upload").queryset = Upload.objects.filter(benchmark=benchmark, owner=owner)
        row_field(self, "pool").queryset = Pool.objects.built().filter(benchmark=benchmark)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not (cleaned.get("file") or cleaned.get("upload") or self.errors):
            self.add_error("file", "Choose a file, or drop one here.")
        return cleaned

    def clean_grade_map(self) -> str:
        text = self.cleaned_data["grade_map"]
        try:
            parse_grade_map(text)
        except BenchmarkError as error:
            raise forms.ValidationError(str(error)) from error
        return text


class RatersForm(forms.Form):
    """Who the raters of a file are: members, people without an account, machines."""

    def __init__(
        self, *args: Any, counts: Counter[str], benchmark: Benchmark, importer: User, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        people = User.objects.filter(memberships__benchmark=benchmark).order_by("username")
        self.members = dict(people.values_list("username", "pk"))
        self.counts, self.importer = counts, importer.pk
        self.presumed = presumed = known_raters(counts.keys(), self.members)
        choices = [
            (NOBODY, "a person without an account here"),
            (MACHINE, "a machine"),
            *((f"{ACCOUNT}{name}", name) for name in self.members),
        ]
        named = [rater for rater, _ in counts.most_common() if rater][:MOST_ASKED]
        self.raters = {f"rater-{number}": rater for number, rater in enumerate(named)}
        for key, rater in self.raters.items():
            is_machine = rater in presumed.machines
            account = f"{ACCOUNT}{rater}" if rater in presumed.accounts else NOBODY
            self.fields[key] = forms.ChoiceField(
                choices=choices,
                required=False,
                label=rater,
                initial=MACHINE if is_machine else account,
            )

    @property
    def rows(self) -> list[tuple[forms.BoundField, int]]:
        """A field and the number of labels of each rater."""
        return [(self[key], self.counts[rater]) for key, rater in self.raters.items()]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        answers = {rater: cleaned.get(key, NOBODY) for key, rater in self.raters.items()}
        accounts = {
            rater: answer.removeprefix(ACCOUNT)
            for rater, answer in answers.items()
            if answer != MACHINE
        }
        machines = [rater for rater, answer in answers.items() if answer == MACHINE]
        machines += self.presumed.machines - answers.keys()
        try:
            known_raters(
                self.counts.keys(),
                self.members,
                accounts=accounts,
                machines=machines,
                importer=self.importer,
            )
        except BenchmarkError as error:
            self.add_error(None, str(error))
        return {"accounts": accounts, "machines": machines}
