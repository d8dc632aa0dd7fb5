"""What forms of several features share: fields of rows and choices, lists that come as a file."""

from collections.abc import Iterable
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from benchwright.corpora.cuts import read_max_docs
from benchwright.errors import BenchmarkError

MOST_LIST_BYTES = 32 << 20


def row_field(form: forms.BaseForm, name: str) -> forms.ModelChoiceField:
    """The field of that name, whose class says that it offers rows; to be told which."""
    return cast(forms.ModelChoiceField, form.fields[name])


def has_rows(form: forms.BaseForm, name: str) -> bool:
    """Whether the field of that name has anything to choose."""
    rows = row_field(form, name).queryset
    return rows is not None and rows.exists()


def choice_field(form: forms.BaseForm, name: str) -> forms.ChoiceField:
    """The field of that name, whose class says that it offers choices; to be told which."""
    return cast(forms.ChoiceField, form.fields[name])


class ChangeForm(forms.BaseForm):
    """A form of something that is there: what a page sends as it showed it stays as it is by now.

    Another person may have changed it since the page was opened.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            # What is no part of the thing, such as another key, is always as it is sent.
            field.show_hidden_initial = name in self.initial

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        unchanged = [name for name in cleaned if name in self.initial and not self.is_changed(name)]
        return cleaned | {name: self.initial[name] for name in unchanged}

    def is_changed(self, name: str) -> bool:
        """Whether another value was sent than a page showed; what no page showed is."""
        # Of a list that was empty no page says anything.
        is_of_page = any(self[field].html_initial_name in self.data for field in self.fields)
        return name in self.changed_data or not is_of_page


class SelectOfMany(forms.Select):
    """As Django's, byte for byte; a template for each option takes ten times as long."""

    def optgroups(self, name: str, value: list[str], attrs: Any = None) -> list[Any]:
        return []

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        html, end = super().render(name, value, attrs, renderer), "\n</select>"
        chosen = self.format_value(value)
        options = (
            f'\n  <option value="{escape(key)}"{" selected" if str(key) in chosen else ""}>'
            f"{escape(label)}</option>\n"
            for key, label in self.choices
        )
        return mark_safe("".join([html.removesuffix(end), *options, end]))


class SelectMultipleOfMany(SelectOfMany, forms.SelectMultiple):
    """The same, of which several may be chosen."""


def offer_runs(form: forms.BaseForm, names: Iterable[str], runs: QuerySet) -> None:
    """Let fields choose from these runs by name, which are read once for all of them."""
    choices = list(runs.values_list("pk", "name"))
    for name in names:
        field = row_field(form, name)
        field.queryset = runs
        empty = [] if field.empty_label is None else [("", field.empty_label)]
        cast(forms.Select, field.widget).choices = [*empty, *choices]


class NameField(forms.CharField):
    """A name of one line, whose words have one blank between them."""

    def clean(self, value: Any) -> str:
        name = " ".join(super().clean(value).split())
        if not name.isprintable():
            raise ValidationError(_("The name holds a control character; remove it."))
        return name


class CutField(forms.CharField):
    """How many documents of a corpus are kept; None for all."""

    def clean(self, value: Any) -> int | None:
        try:
            return read_max_docs(super().clean(value))
        except BenchmarkError as error:
            raise ValidationError(str(error)) from error


class ListFileField(forms.FileField):
    """A file whose bytes are handed to a reader whole."""

    def clean(self, data: Any, initial: Any = None) -> UploadedFile | None:
        file: UploadedFile | None = super().clean(data, initial)
        if file and (file.size or 0) > MOST_LIST_BYTES:
            message = f"The file has more than {MOST_LIST_BYTES >> 20} MB; compress it with gzip."
            raise ValidationError(message)
        return file
