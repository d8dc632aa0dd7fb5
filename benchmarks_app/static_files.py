"""Addresses of static files that change with their content: no page ever meets an older script."""

import hashlib
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage


class VersionedStaticFiles(StaticFilesStorage):
    """Static files where they lie, nothing collected; `?v=` is a digest of what they say."""

    def url(self, name: str | None) -> str:
        version = version_of(name or "")
        return f"{super().url(name)}?v={version}" if version else super().url(name)


@cache
def version_of(name: str) -> str:
    """Ten hexadecimal digits of a file's SHA-256, read once per process; empty without a file."""
    path = finders.find(name)
    if not isinstance(path, str) or not Path(path).is_file():
        return ""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:10]
