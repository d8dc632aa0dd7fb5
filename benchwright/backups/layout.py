"""What lies where in a folder of backups.

    objects/ab/ab12…              stored files, each under its SHA-256, kept once
    snapshots/20261123T…Z/        one backup
        manifest.json             version, migrations, tables with their counts and digests
        manifest.json.sha256      as sha256sum writes it
        files.jsonl.zst           name, SHA-256, size and recorded SHA-256 of every stored file
        rows/TABLE.jsonl.zst      rows of a table, by key
    lock                          held by whoever writes or reads

A snapshot is made in a folder that ends with `.part` and gets its name when it is whole.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.backups.errors import BackupBusyError, ForeignFolderError, NoBackupError

try:
    import fcntl
except ImportError:  # Windows: two backups into one folder at once are not told apart
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
MANIFEST, MANIFEST_DIGEST, FILES = "manifest.json", "manifest.json.sha256", "files.jsonl.zst"
PART = ".part"
PATTERN = re.compile(r"\d{8}T\d{6}\.\d{6}Z")
PIECE = 1 << 20


@dataclass(frozen=True)
class Snapshot:
    """One backup in a folder, by the time it was taken at."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads((self.folder / MANIFEST).read_bytes())
        return manifest

    def rows_of(self, table: str) -> Path:
        return self.folder / "rows" / f"{table}.jsonl.zst"

    @property
    def files(self) -> Path:
        return self.folder / FILES


@dataclass(frozen=True)
class BackupFolder:
    """A folder of backups, whether it is there yet or not."""

    path: Path

    @property
    def parts(self) -> Path:
        return self.path / "snapshots"

    def object_path(self, sha256: str) -> Path:
        return self.path / "objects" / sha256[:2] / sha256

    def objects(self) -> Iterator[Path]:
        """Every kept file, and what was left of one half copied."""
        return (path for path in self.path.glob("objects/*/*") if path.is_file())

    def snapshots(self) -> list[Snapshot]:
        """Whole snapshots, the oldest first; half of one is none."""
        paths = (path for path in self.parts.glob("*") if PATTERN.fullmatch(path.name))
        return [Snapshot(path) for path in sorted(paths)]

    def snapshot(self, name: str = "") -> Snapshot:
        """The snapshot of a name, or the newest.

        Raises
        ------
        NoBackupError
            If there is none; it says which there are.
        """
        snapshots = self.snapshots()
        named = [snapshot for snapshot in snapshots if name in ("", snapshot.name)]
        if not named:
            names = ", ".join(snapshot.name for snapshot in snapshots[-5:])
            there = f"The newest there are: {names}." if names else "It has no whole snapshot."
            what = f"snapshot {name}" if name else "backup"
            raise NoBackupError(what=what, place=self.path, there=there)
        return named[-1]

    def make(self) -> None:
        """Make the folder, for its owner alone; one that is there must be one of backups.

        Raises
        ------
        ForeignFolderError
            If other things are in it.
        """
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        others = {path.name for path in self.path.iterdir()} - {"objects", "snapshots", "lock"}
        others.discard("lost+found")  # a disk of its own
        if others:
            raise ForeignFolderError(place=self.path, found=", ".join(sorted(others)[:3]))
        for name in ("objects", "snapshots"):
            (self.path / name).mkdir(mode=0o700, exist_ok=True)

    @contextmanager
    def held(self, *, for_reading: bool = False) -> Iterator[None]:
        """Keep others from writing here, or removing; readers go together.

        Raises
        ------
        BackupBusyError
            If one is at it.
        """
        try:
            lock = os.fdopen(os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600))
        except OSError:
            if not for_reading:
                raise
            yield  # nobody writes to a medium that is for reading only
            return
        with lock:
            if fcntl is not None:
                try:
                    kind = fcntl.LOCK_SH if for_reading else fcntl.LOCK_EX
                    fcntl.flock(lock, kind | fcntl.LOCK_NB)
                except BlockingIOError as error:
                    raise BackupBusyError(place=self.path) from error
            yield

    def clear_halves(self) -> None:
        """Remove what backups that were cut off have left; while the folder is held."""
        for part in self.parts.glob(f"*{PART}"):
            shutil.rmtree(part)
        for path in self.objects():
            if path.suffix == PART:
                path.unlink()


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """The manifest of a snapshot and its digest, both on the disk."""
    content = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
    digest = hashlib.sha256(content).hexdigest()
    for name, text in ((MANIFEST, content), (MANIFEST_DIGEST, f"{digest}  {MANIFEST}\n".encode())):
        with open_private(folder / name) as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())


def open_private(path: Path) -> Any:
    """A new file that its owner alone reads, to be written: backups hold what nobody else sees."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
