"""Static files: addresses that change with their content, and bytes that are compressed once."""

import gzip
import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

COMPRESSED = frozenset({".css", ".js", ".svg", ".json"})
# Less fits into one packet as it is.
WORTH_IT = 1_000


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


class CompressedStaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise, with a compressed twin of each text, made once and kept in the cache.

    Styles stand before the first paint of a page: on a slow line their bytes are its seconds.
    """

    def get_static_file(self, path: str, url: str, stat_cache: Any = None) -> StaticFile:
        plain = super().get_static_file(path, url, stat_cache)
        twin = _twin_of(Path(path))
        if twin is None:
            return plain
        headers = [
            (name, value)
            for name, value in plain.alternatives[-1][2]
            if name not in {"Content-Length", "Vary", "ETag", "Last-Modified"}
        ]
        return StaticFile(path, headers, encodings={"gzip": str(twin)})


def _twin_of(path: Path) -> Path | None:
    """The compressed file beside whose name stands what it says; None where none is worth it."""
    if path.suffix not in COMPRESSED or path.stat().st_size < WORTH_IT:
        return None
    content = path.read_bytes()
    folder = Path(settings.DATA_DIR) / "cache" / "static"
    twin = folder / f"{hashlib.sha256(content).hexdigest()[:20]}{path.suffix}.gz"
    if not twin.exists():
        folder.mkdir(parents=True, exist_ok=True)
        begun = twin.with_suffix(f".{os.getpid()}")
        # The same bytes whenever it is made: no time is written into it.
        begun.write_bytes(gzip.compress(content, 9, mtime=0))
        begun.replace(twin)
    return twin
