"""Files in a folder of this machine, or of a disk that hosts share."""

import errno
import os
import shutil
import time
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path

from django.core.files.storage import FileSystemStorage

from benchmarks_app.store.digests import digest_at, remember
from benchmarks_app.store.errors import AlteredError
from benchmarks_app.store.interface import Store
from benchwright.files.durable import make_folder, put_first, sync

# Where files are copied into, on the file system that they are for.
PARTS = "parts"
TORN_AFTER_SECONDS = 24 * 3600


class FolderStore(Store):
    """The folder of a `FileSystemStorage`."""

    def __init__(self, storage: FileSystemStorage) -> None:
        self._storage = storage
        self.folder: Path = self._path("")
        self.place = str(self.folder)

    def _path(self, name: str) -> Path:
        return Path(self._storage.path(name))

    def put(self, path: Path, name: str, sha256: str) -> None:
        target = self._path(name)
        make_folder(target.parent)
        sync(path)  # a name that is on the disk before its bytes is an empty file after a power cut
        move(path, target, self._partial())
        sync(target.parent)
        if sha256:  # so an upload of gigabytes is not read once more before it is shown
            remember(target, sha256)

    def put_first(self, name: str, content: bytes) -> bytes:
        path = self._path(name)
        make_folder(path.parent)
        return put_first(path, content)

    def copy(self, name: str, to: str) -> None:
        target, partial = self._path(to), self._partial()
        shutil.copyfile(self._path(name), partial)
        sync(partial)
        partial.replace(target)
        sync(target.parent)

    def local(self, name: str, sha256: str = "") -> Path:
        path = self._path(name)
        changed_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if sha256 and (digest := digest_at(path)) != sha256:
            raise AlteredError(digest, changed_at)
        return path

    def opened(self, name: str) -> BufferedReader:
        return self._path(name).open("rb")

    def exists(self, name: str) -> bool:
        return self._storage.exists(name)

    def size(self, name: str) -> int:
        return self._storage.size(name)

    def changed_at(self, name: str) -> datetime:
        return self._storage.get_modified_time(name)

    def delete(self, name: str) -> None:
        self._storage.delete(name)

    def listed(self, folder: str) -> tuple[list[str], list[str]]:
        try:
            return self._storage.listdir(folder)
        except FileNotFoundError:
            return [], []

    def check(self) -> None:
        if not (self.folder.is_dir() and os.access(self.folder, os.W_OK)):
            raise PermissionError(errno.EACCES, "cannot be written", str(self.folder))

    def release(self) -> None:
        """Nothing is: its files lie where they lie."""

    def sweep(self) -> None:
        """Remove what killed processes, of any host, have left of files that they copied in."""
        for path in self._path(PARTS).glob("*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - TORN_AFTER_SECONDS:
                    path.unlink()

    def _partial(self) -> Path:
        """Where a file can be written until it is whole."""
        folder = self._path(PARTS)
        folder.mkdir(exist_ok=True)
        return folder / uuid.uuid4().hex


def move(path: Path, target: Path, partial: Path) -> None:
    """Move a file; from another file system by way of `partial`, which nobody else writes to."""
    try:
        path.replace(target)
    except OSError:  # another file system: a crash while copying leaves no half file under the name
        try:
            shutil.copyfile(path, partial)
            sync(partial)
            partial.replace(target)
        except OSError:  # no room for it: what was copied must not take up the rest
            partial.unlink(missing_ok=True)
            raise
        path.unlink()
