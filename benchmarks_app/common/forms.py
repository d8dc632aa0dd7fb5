"""Lists that come as a file and are read while the page waits."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

MOST_LIST_BYTES = 32 << 20


class ListFileField(forms.FileField):
    """A file whose bytes are handed to a reader whole."""

    def clean(self, data: Any, initial: Any = None) -> UploadedFile | None:
        file: UploadedFile | None = super().clean(data, initial)
        if file and (file.size or 0) > MOST_LIST_BYTES:
            message = f"The file has more than {MOST_LIST_BYTES >> 20} MB; compress it with gzip."
            raise ValidationError(message)
        return file
