"""Forms of known grades."""

from collections.abc import Iterable, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from annotation.judging.selectors.starting import PRACTICE_DOCUMENTS
from annotation.models import KnownGrade
from benchmarks_app.common.forms import choice_field
from benchmarks_app.models import Grade

PURPOSES = [
    (KnownGrade.Purpose.GOLD, "Hidden check: comes among the others, and is not told"),
    (KnownGrade.Purpose.PRACTICE, "Practice: comes before the first document, with its answer"),
]
MAX_FILE_BYTES = 10_000_000


class KnownGradeForm(forms.Form):
    qid = forms.CharField(max_length=512, label="Query", help_text="Its id.")
    docid = forms.CharField(max_length=512, label="Document", help_text="Its id.")
    grade = forms.TypedChoiceField(coerce=int)
    purpose = forms.ChoiceField(
        choices=PURPOSES, widget=forms.RadioSelect, initial=KnownGrade.Purpose.PRACTICE
    )
    explanation = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Why",
        help_text="Shown after a practice document was graded.",
    )

    def __init__(self, *args: Any, grades: Iterable[Grade], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice_field(self, "grade").choices = [(grade.value, str(grade)) for grade in grades]


class KnownGradeFileForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="Tab-separated, with a first line that names query-id, corpus-id and grade, "
        "and perhaps purpose (gold or practice) and explanation.",
    )
    purpose = forms.ChoiceField(
        choices=PURPOSES, widget=forms.RadioSelect, label="Where none is named"
    )

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE_BYTES:
            why = f"The file has more than {MAX_FILE_BYTES // 1_000_000} MB; split it."
            raise forms.ValidationError(why)
        return file


class SettledForm(forms.Form):
    """Pairs that are settled, each as `Settled.key`; what they are worth is looked up again."""

    pairs = forms.MultipleChoiceField()
    purpose = forms.ChoiceField(choices=PURPOSES)

    def __init__(self, *args: Any, keys: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice_field(self, "pairs").choices = [(key, key) for key in keys]


class PracticeMarkForm(forms.Form):
    """How many practice documents have to be right; nothing for what guessing does not reach."""

    mark = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=PRACTICE_DOCUMENTS,
        label="Right practice grades that let a person judge",
        help_text="Empty: more than guessing reaches. 0: however many.",
    )


class GoldShareForm(forms.Form):
    percent = forms.FloatField(
        min_value=0,
        max_value=20,
        label="Hidden checks in 100 labels",
        help_text="3 to 5 is usual; 0 gives none.",
    )
