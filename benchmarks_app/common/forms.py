"""What forms of several features share: fields of rows and choices, lists that come as a file."""

from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

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


class ListFileField(forms.FileField):
    """A file whose bytes are handed to a reader whole."""

    def clean(self, data: Any, initial: Any = None) -> UploadedFile | None:
        file: UploadedFile | None = super().clean(data, initial)
        if file and (file.size or 0) > MOST_LIST_BYTES:
            message = f"The file has more than {MOST_LIST_BYTES >> 20} MB; compress it with gzip."
            raise ValidationError(message)
        return file
