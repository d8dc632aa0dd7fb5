"""The forms that take files, and that say what each of them is."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote

from django import forms
from django.http import QueryDict

from benchmarks_app.collections.forms import aggregation_choices
from benchmarks_app.common.forms import CutField, choice_field
from benchmarks_app.common.selectors.qrel_sets import relevant_values
from benchmarks_app.importing.services.previewing_uploads import Preview
from benchmarks_app.models import Benchmark, QrelSet, QueryFamily, Unit
from benchwright.detection import (
    CONTENT_OF,
    GRADED_KINDS,
    KIND_LABELS,
    QUERY_KINDS,
    RUN_KINDS,
    FileKind,
    Part,
)
from benchwright.formats.mapping import EVERY_ROW, FIELD_NAMES, FIELDS, PARENT_FROM_ID, Content
from benchwright.formats.numbers import FileGrade, grade_of_file, suggested_grades, whole
from benchwright.qrels.grade_map import written_grade_map
from benchwright.qrels.raters import looks_like_a_model
from benchwright.qrels.scales import Relevance
from benchwright.runs.aggregation import DEFAULT
from benchwright.uploads import Look

POOLED = "pooled"
POOLED_GRADE = -1
POOLED_LABEL = "pooled, not judged"
GRADE_FIELD = "grade_"
LEAVE_OUT = ""
MOST_GRADES = 40

SPLIT_CHOICES = [("", "as they are"), *QueryFamily.Split.choices[1:]]
LEAVE_OUT_CHOICES = [
    ("", "Import nothing until it is mended"),
    ("records", "Leave out the bad records"),
    ("files", "Leave out the files with bad records"),
]


class MultipleFileInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class MultipleFileField(forms.FileField):
    """Several files of one input, as a list."""

    widget = MultipleFileInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data]
        files = [file for file in files if file]
        return [super(MultipleFileField, self).clean(file, initial) for file in files]


class UploadForm(forms.Form):
    """Files of the drop zone: chosen one by one, or a folder."""

    # The field of a form may be called what a form calls its files: Django takes it away.
    # An empty file holds up no other: `put_down` names it.
    files = MultipleFileField(  # type: ignore[assignment]
        required=False, label="Files", allow_empty_file=True
    )
    folder = MultipleFileField(required=False, label="Folder", allow_empty_file=True)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        chosen = [*cleaned.get("files", []), *cleaned.get("folder", [])]
        if not chosen:
            self.add_error(None, "Choose a file, or drop one here.")
        cleaned["chosen"] = chosen
        return cleaned


class PartForm(forms.Form):
    """What one file is, and which of its columns is what."""

    # Only drawn: what is posted is read by `posted_part`.
    use_required_attribute = False

    kind = forms.ChoiceField(label="This is")
    header = forms.BooleanField(required=False, label="The first line names the columns")
    lang = forms.CharField(
        max_length=35, required=False, label="Language of the queries", help_text="Such as en, de."
    )
    split = forms.ChoiceField(
        required=False,
        choices=SPLIT_CHOICES,
        label="Its queries are in split",
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        look: Look,
        is_member: bool,
        has_passages: bool,
        **kwargs: Any,
    ) -> None:
        part = look.part
        self.look = look
        self.was = part.kind.value if part.kind else ""
        initial = {
            "kind": part.kind or LEAVE_OUT,
            "header": bool(part.has_header),
            "lang": part.lang,
            "split": part.split,
        }
        super().__init__(data, initial=initial, **kwargs)
        choice_field(self, "kind").choices = list(_kinds(is_member))
        if part.kind not in QUERY_KINDS:
            del self.fields["lang"]
        if part.kind not in GRADED_KINDS:
            del self.fields["split"]
        elif part.split and part.split not in QueryFamily.Split.values:
            other = (part.split, f"{part.split} (not one of ours)")
            choice_field(self, "split").choices = [*SPLIT_CHOICES, other]
        if not look.may_have_header:
            del self.fields["header"]
        content = CONTENT_OF.get(part.kind) if part.kind else None
        for field in FIELDS[content] if content else ():
            self.fields[f"map_{field.name}"] = forms.ChoiceField(
                required=False,
                choices=list(_columns(look, content, field.name, has_passages)),
                initial=part.mapping.get(field.name, ""),
                label=field.label.capitalize(),
                help_text="needed" if field.is_required else "",
            )

    @property
    def mapping_fields(self) -> list[Any]:
        """The fields that say which column is what."""
        return [self[name] for name in self.fields if name.startswith("map_")]

    @property
    def other_fields(self) -> list[Any]:
        """Header, language and split, where they apply."""
        return [self[name] for name in ("header", "lang", "split") if name in self.fields]

    @property
    def was_header(self) -> str:
        """What the hidden field says, so that a change of the header is seen."""
        return "1" if self.look.part.has_header else ""


def posted_part(look: Look, prefix: str, data: QueryDict) -> Part:
    """A part as the form said it is: another kind, or another header, begins without a mapping.

    Whether the columns are there, the preview says.
    """
    was = look.part
    if f"{prefix}-kind" not in data:
        return was
    kind_name = data[f"{prefix}-kind"]
    kind = FileKind(kind_name) if kind_name in {file_kind.value for file_kind in FileKind} else None
    if kind is None:
        return replace(was, kind=None, mapping={}, note="is left out")
    is_same = data.get(f"{prefix}-was") == kind_name
    had_header = f"{prefix}-had_header" in data
    header = bool(data.get(f"{prefix}-header")) if had_header else was.has_header
    is_turned = had_header and header != bool(data[f"{prefix}-had_header"])
    columns = {name: _sent(data, f"{prefix}-map_{name}") for name in FIELD_NAMES}
    return replace(
        was,
        kind=kind,
        # Columns have other names with a header than without.
        mapping={name: column for name, column in columns.items() if column}
        if is_same and not is_turned
        else {},
        split=_sent(data, f"{prefix}-split")[:40] if is_same else was.split,
        lang=_sent(data, f"{prefix}-lang")[:35] if is_same else was.lang,
        has_header=header if is_same else None,
        note="",
    )


def _sent(data: QueryDict, name: str) -> str:
    """What a field was sent with; a job keeps it as JSON, in which no database takes NUL."""
    return data.get(name, "").replace("\0", "")


def _kinds(is_member: bool) -> Iterator[tuple[str, str]]:
    yield LEAVE_OUT, "Leave it out" if is_member else "Choose what it is"
    for kind, label in KIND_LABELS.items():
        if kind is not FileKind.BEIR:
            yield kind.value, label


def _columns(
    look: Look, content: Content | None, field: str, has_passages: bool
) -> Iterator[tuple[str, str]]:
    yield "", "choose a column" if field == "grade" else "none"
    if field == "parent" and has_passages:
        yield PARENT_FROM_ID, "the id before #"
    if field == "grade":
        yield EVERY_ROW, f"none: {EVERY_ROW} (grade 1)"
    for column in look.columns:
        yield column, column


def _grade_help(grade: FileGrade, scale: Collection[int]) -> str:
    if isinstance(grade, str):
        return "A word: only you know which grade it is."
    if grade < 0:
        return (
            "Below 0, TREC means: in the pool, without a judgment. Some files mean spam, which "
            "was judged."
        )
    return "" if grade in scale else "It is not on this benchmark's scale."


def _unlisted_help(preview: Preview) -> str:
    """What to think of, by what the file shows; whether it is so, a person says."""
    if preview.unlisted == QrelSet.Unlisted.NOT_RELEVANT:
        return "The export says so. Nothing counts as unjudged then."
    has_words = any(isinstance(grade, str) for grade in preview.grades)
    if 0 not in preview.grades and not has_words:
        return (
            "No document of this file has the grade 0: does it list the relevant ones alone? Then "
            "those that are not listed are not relevant, and nothing counts as unjudged."
        )
    return "Not relevant where the judgments are complete: nothing counts as unjudged then."


def grade_fields(
    counts: Collection[tuple[FileGrade, int]], scale: Mapping[int, str]
) -> Iterator[tuple[str, forms.ChoiceField]]:
    """A field for each grade of a file, by its name: what that grade is here.

    `counts` are rows by grade; `scale` has the benchmark's grades with their names. Where words are
    known, what they may mean is chosen to begin with.
    """
    suggested = suggested_grades([grade for grade, _ in counts if isinstance(grade, str)])
    for grade, n in islice(counts, MOST_GRADES):
        choices = [(str(value), label) for value, label in scale.items()]
        begins = suggested.get(grade) if isinstance(grade, str) else grade
        if isinstance(grade, str):
            choices = [("", "Choose a grade"), *choices, (str(POOLED_GRADE), POOLED_LABEL)]
        elif grade < 0:
            choices.insert(0, (POOLED, POOLED_LABEL))
        elif grade not in scale:
            choices.insert(0, ("", "Choose a grade"))
        field = forms.ChoiceField(
            choices=choices,
            initial=str(begins) if begins in scale else choices[0][0],
            label=f"Grade {grade} ({n:,} row{'s' if n != 1 else ''})",
            help_text=_grade_help(grade, scale),
        )
        field.n_rows = n  # type: ignore[attr-defined]
        yield _grade_name(grade), field


def _grade_name(grade: FileGrade) -> str:
    """What the field of a grade is called: of a word, without blanks and marks."""
    return f"{GRADE_FIELD}{quote(str(grade), safe='')}"


def mapped_relevance(
    form: forms.Form, rows: Iterable[tuple[FileGrade, int]], benchmark: Benchmark
) -> Relevance:
    """How many of the rows by grade count as relevant, mapped as the fields of a form say now."""
    counts: Counter[int] = Counter()
    for grade, n in rows:
        name = _grade_name(grade)
        mapped = whole(form[name].value() if name in form.fields else grade)
        is_pooled = mapped is None and isinstance(grade, int)
        if is_pooled:
            mapped = min(int(grade), POOLED_GRADE)
        if mapped is not None:
            counts[mapped] += n
    return Relevance.of(counts, relevant_values(benchmark))


def posted_grade_map(fields: Mapping[str, Any]) -> str:
    """The mapping that such fields say, as `parse_file_grade_map` reads it."""
    grades = {
        grade_of_file(unquote(name.removeprefix(GRADE_FIELD))): value
        for name, value in fields.items()
        if name.startswith(GRADE_FIELD) and value != POOLED
    }
    return written_grade_map(
        (grade, int(value)) for grade, value in grades.items() if value != str(grade)
    )


class GradesForm(forms.Form):
    """What each grade of a waiting file is here."""

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        grades: Mapping[FileGrade, int],
        scale: Mapping[int, str],
        grade_map: Mapping[FileGrade, int],
        **kwargs: Any,
    ) -> None:
        super().__init__(data, **kwargs)
        for grade, (name, field) in zip(grades, grade_fields(grades.items(), scale), strict=False):
            field.label = str(grade)
            field.initial = str(grade_map.get(grade, field.initial))
            self.fields[name] = field

    @property
    def rows(self) -> list[Any]:
        return [self[name] for name in self.fields]


class ImportForm(forms.Form):
    """What an import is told beside the files: names, grades, metadata, a cut."""

    name = forms.CharField(
        max_length=120,
        required=False,
        help_text="What the run or the set of qrels is called here; otherwise the file's name.",
    )
    shown_metadata = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Metadata that judges see",
        help_text="Beside title and text. Not what tells how a document was found.",
    )
    max_docs = CutField(
        max_length=20,
        required=False,
        label="Documents to keep",
        help_text="Every judged or pooled one stays; the others are drawn. Empty keeps them all.",
        widget=forms.TextInput(attrs={"inputmode": "numeric"}),
    )
    unlisted = forms.ChoiceField(
        required=False, choices=QrelSet.Unlisted.choices, label="Documents that are not listed are"
    )
    leave_out = forms.ChoiceField(
        required=False,
        label="What cannot be read",
        choices=LEAVE_OUT_CHOICES,
        help_text="What is left out is named and counted, with the import and in the history. "
        "A run is taken whole or not at all.",
    )
    machine = forms.BooleanField(
        required=False,
        label="A machine gave these grades",
        help_text="The set is called a machine's wherever it is used, and on a release's card.",
    )
    aggregation = forms.ChoiceField(
        required=False, label="Documents get the score of", initial=DEFAULT
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        preview: Preview,
        benchmark: Benchmark,
        **kwargs: Any,
    ) -> None:
        super().__init__(data, initial={"shown_metadata": benchmark.shown_metadata}, **kwargs)
        self.preview = preview
        if not preview.is_named:
            del self.fields["name"]
        keys = dict.fromkeys([*preview.metadata, *benchmark.shown_metadata])
        choice_field(self, "shown_metadata").choices = [(key, key) for key in keys]
        if not (preview.metadata and preview.has_corpus):
            del self.fields["shown_metadata"]
        if not preview.has_corpus:
            del self.fields["max_docs"]
        if not any(look.n_bad or look.error for look in preview.taken) and not preview.bad_records:
            del self.fields["leave_out"]
        elif not preview.is_collection:
            choice_field(self, "leave_out").choices = LEAVE_OUT_CHOICES[:-1]
        kinds = {look.part.kind for look in preview.taken}
        is_summed_up = benchmark.corpus.unit == Unit.PASSAGE and benchmark.unit == Unit.DOCUMENT
        if is_summed_up and kinds & {*RUN_KINDS}:
            choice_field(self, "aggregation").choices = aggregation_choices()
        else:
            del self.fields["aggregation"]
        if preview.grades:
            self.fields["unlisted"].initial = preview.unlisted
            self.fields["unlisted"].help_text = _unlisted_help(preview)
            self.fields["machine"].initial = looks_like_a_model(preview.upload.name)
        else:
            del self.fields["unlisted"], self.fields["machine"]
        self._add_grades(preview, benchmark)

    def _add_grades(self, preview: Preview, benchmark: Benchmark) -> None:
        """What each grade of the file is here: itself, unless somebody says otherwise.

        Scales run either way (1 may be the best), so every grade is shown.
        """
        scale = {grade.value: f"{grade.value} {grade.name}" for grade in benchmark.grades.all()}
        self.fields.update(grade_fields(preview.grades.items(), scale))

    @property
    def relevance(self) -> Relevance | None:
        """How many grades count as relevant, mapped as the form says now; None without qrels."""
        if not self.preview.grades:
            return None
        return mapped_relevance(self, self.preview.grades.items(), self.preview.upload.benchmark)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        # A form that was sent without them leaves each grade what it is.
        for name in [name for name in self.fields if name.startswith("grade_")]:
            grade = name.removeprefix("grade_")
            is_silent = self.add_prefix(name) not in self.data
            if is_silent and self.fields[name].initial == grade:
                self.errors.pop(name, None)
                cleaned[name] = grade
        return cleaned

    def keep(self, data: QueryDict) -> None:
        """Show what was chosen when only the preview was asked for: nothing is checked yet."""
        for name, field in self.fields.items():
            if name in data:
                is_several = isinstance(field, forms.MultipleChoiceField)
                self.initial[name] = data.getlist(name) if is_several else data[name]

    @property
    def grade_fields(self) -> list[Any]:
        return [self[name] for name in self.fields if name.startswith("grade_")]

    @property
    def more_fields(self) -> list[Any]:
        names = (
            "leave_out",
            "name",
            "unlisted",
            "machine",
            "shown_metadata",
            "max_docs",
            "aggregation",
        )
        return [self[name] for name in names if name in self.fields]

    def options(self) -> dict[str, Any]:
        """The arguments of `import_arguments` that the form knows."""
        cleaned = self.cleaned_data
        return {
            "name": cleaned.get("name", ""),
            "grade_map": posted_grade_map(cleaned),
            "shown_metadata": cleaned.get("shown_metadata"),
            "corpus": {"max_docs": cleaned.get("max_docs")},
            "aggregation": cleaned.get("aggregation") or DEFAULT,
            "unlisted": cleaned.get("unlisted", ""),
            "leave_out": cleaned.get("leave_out", ""),
            "machine": cleaned.get("machine"),
        }
