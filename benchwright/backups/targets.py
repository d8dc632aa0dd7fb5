"""What a backup is written to: a folder that keeps what it has, or a stream that begins anew.

A stream is laid out again as the folder it would have been.
"""

import hashlib
import os
import re
import shutil
import tarfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Protocol

from benchwright.backups.errors import BackupDamagedError, KeptDamagedError
from benchwright.backups.layout import (
    MANIFEST,
    PART,
    PIECE,
    BackupFolder,
    open_private,
)
from benchwright.backups.lines import rows_in
from benchwright.backups.verifying import problem_of_files
from benchwright.files.durable import sync

# What a backup is made of; whatever else a stream has is passed over.
NAME = re.compile(
    r"(?:\./)?((?:objects/[0-9a-f]{2}/[0-9a-f]{64})|(?:snapshots/\d{8}T\d{6}\.\d{6}Z/"
    r"(?:manifest\.json(?:\.sha256)?|files\.jsonl\.zst|rows/[a-z0-9_]+\.jsonl\.zst)))"
)
# Called with the bytes that were read since the last call.
Tell = Callable[[int], None]


class Target(Protocol):
    """Where backups go; `place` is its name for people."""

    place: str

    def writing(self, name: str) -> AbstractContextManager[Path]:
        """A folder for the snapshot's own files: there under `name` after the block, or gone."""

    def size_of(self, sha256: str) -> int | None:
        """How many bytes the file of this digest has, if it is kept already; "" is none's."""

    def add(self, content: IO[bytes], sha256: str, tell: Tell) -> tuple[str, int]:
        """Copy a file: its SHA-256 and size. Of other bytes than `sha256` (if any) none is kept."""


class FolderTarget:
    """A folder of backups; what it keeps of earlier ones is not copied again."""

    def __init__(self, path: Path) -> None:
        self.folder = BackupFolder(path)
        self.place = str(path)

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        self.folder.make()
        with self.folder.held():
            self.folder.clear_halves()
            part = self.folder.parts / f"{name}{PART}"
            try:
                _make(part)
                yield part
                objects = self.folder.path / "objects"
                for path in (part / "rows", part, *objects.iterdir(), objects):
                    sync(path)
                part.rename(self.folder.parts / name)
                sync(self.folder.parts)
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                self.folder.clear_halves()
                raise

    def size_of(self, sha256: str) -> int | None:
        path = self.folder.object_path(sha256)
        return path.stat().st_size if path.is_file() else None

    def add(self, content: IO[bytes], sha256: str, tell: Tell) -> tuple[str, int]:
        part = self.folder.path / "objects" / (sha256 or "00")[:2] / f"{uuid.uuid4().hex}{PART}"
        part.parent.mkdir(mode=0o700, exist_ok=True)
        digest, size = copied(content, part, tell)
        if sha256 in ("", digest):
            path = self.folder.object_path(digest)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            part.replace(path)
        else:
            part.unlink()
        return digest, size

    def keep(self, n: int) -> int:
        """Remove all but the newest `n` snapshots, and files none of these names; returns how many.

        An object that a backup has begun with is no other's: the folder is held meanwhile.

        Raises
        ------
        KeptDamagedError
            If a snapshot that is to stay cannot tell which files it needs; all stay then.
        """
        with self.folder.held():
            snapshots = self.folder.snapshots()
            n_old = max(len(snapshots) - n, 0)
            old, kept = snapshots[:n_old], snapshots[n_old:]
            for snapshot in kept:
                if problem := problem_of_files(snapshot):
                    raise KeptDamagedError(name=snapshot.name, problem=problem)
            named = {row[1] for snapshot in kept for row in rows_in(snapshot.files)}
            for snapshot in old:
                # Not a snapshot any more from here on, whenever this ends.
                part = snapshot.folder.with_name(f"{snapshot.name}{PART}")
                snapshot.folder.rename(part)
                shutil.rmtree(part)
            for path in self.folder.objects():
                if path.name not in named:
                    path.unlink()
        return len(old)


class TarTarget:
    """A stream of tar, laid out as the folder would be; the manifest comes last."""

    def __init__(self, stream: IO[bytes], workspace: Path) -> None:
        self.place = "-"
        self._stream = stream
        self._workspace = workspace
        self._sent: dict[str, int] = {}

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        part = self._workspace / f"backup-{uuid.uuid4().hex}"
        self._part = part
        try:
            _make(part)
            with tarfile.open(fileobj=self._stream, mode="w|", format=tarfile.PAX_FORMAT) as tar:
                self._tar = tar
                yield part
                paths = sorted(path for path in part.rglob("*") if path.is_file())
                for path in sorted(paths, key=lambda path: path.name == MANIFEST):
                    self._send(path, f"snapshots/{name}/{path.relative_to(part)}")
            self._stream.flush()
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def size_of(self, sha256: str) -> int | None:
        return self._sent.get(sha256)

    def add(self, content: IO[bytes], sha256: str, tell: Tell) -> tuple[str, int]:
        path = self._part / f"object{PART}"
        digest, size = copied(content, path, tell)
        if sha256 in ("", digest) and digest not in self._sent:
            self._send(path, f"objects/{digest[:2]}/{digest}")
            self._sent[digest] = size
        path.unlink()
        return digest, size

    def _send(self, path: Path, name: str) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = path.stat().st_size, 0o600
        with path.open("rb") as content:
            self._tar.addfile(member, content)


def _make(part: Path) -> None:
    for folder in (part, part / "rows"):
        folder.mkdir(mode=0o700)


def copied(content: IO[bytes], path: Path, tell: Tell) -> tuple[str, int]:
    """Copy bytes into a new file, on the disk when it returns: their SHA-256, and how many."""
    digest, size = hashlib.sha256(), 0
    with open_private(path) as out:
        while piece := content.read(PIECE):
            digest.update(piece)
            out.write(piece)
            size += len(piece)
            tell(len(piece))
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest(), size


def unpack(stream: IO[bytes], path: Path) -> BackupFolder:
    """Write a stream of tar into an empty folder.

    Raises
    ------
    BackupDamagedError
        If it is none, or ends too early.
    """
    folder = BackupFolder(path)
    folder.make()
    try:
        with tarfile.open(fileobj=stream, mode="r|*") as tar:
            for member in tar:
                name = NAME.fullmatch(member.name)
                content = tar.extractfile(member) if name and member.isreg() else None
                if name and content:
                    target = path / name.group(1)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    copied(content, target, lambda n_bytes: None)
    except (tarfile.TarError, EOFError) as error:
        raise BackupDamagedError(name="on standard input", problems=str(error)) from error
    # Between two members, or in the head of one, tarfile takes the end of the stream for its own.
    manifests = [snapshot.folder / MANIFEST for snapshot in folder.snapshots()]
    if not manifests or not all(path.is_file() for path in manifests):
        raise BackupDamagedError(
            name="on standard input", problems=f"it ends before its {MANIFEST}"
        )
    return folder
