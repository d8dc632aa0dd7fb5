"""Files behind Django's storage: written once under a name, read through a local path."""

import hashlib
import shutil
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, default_storage


def publish(path: Path, name: str) -> str:
    """Move a staged file into the storage as `name`; the same name again keeps what is there.

    Names carry a digest of the content or the job that made it, so an earlier file of this name
    has the same bytes: it was published by an attempt that died before its commit.
    """
    if default_storage.exists(name):
        return name
    if isinstance(default_storage._wrapped or default_storage, FileSystemStorage):
        target = Path(default_storage.path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        _move(path, target)
        return name
    with path.open("rb") as content:
        return default_storage.save(name, File(content))


def _move(path: Path, target: Path) -> None:
    try:
        path.replace(target)
    except OSError:  # another file system: a crash while copying leaves no half file under the name
        partial = target.with_name(f"{target.name}.part")
        try:
            shutil.copyfile(path, partial)
            partial.replace(target)
        except OSError:  # no room for it: what was copied must not take up the rest
            partial.unlink(missing_ok=True)
            raise


def local_path(name: str) -> Path:
    """A path on this machine with the content of `name`; remote content is fetched once."""
    try:
        return Path(default_storage.path(name))
    except NotImplementedError:
        return _cached_copy(name)


def _cached_copy(name: str) -> Path:
    key = hashlib.sha256(name.encode()).hexdigest()
    cached = settings.DATA_DIR / "cache" / f"{key}{Path(name).suffix}"
    if not cached.exists():
        cached.parent.mkdir(parents=True, exist_ok=True)
        partial = cached.with_suffix(".part")
        with default_storage.open(name) as content, partial.open("wb") as out:
            shutil.copyfileobj(content, out)
        partial.replace(cached)
    return cached
