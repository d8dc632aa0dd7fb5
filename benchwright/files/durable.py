"""What a power cut leaves: bytes and names that are on the disk."""

import os
import uuid
from contextlib import suppress
from pathlib import Path


def sync(path: Path) -> None:
    """Wait until a file's bytes, or the names in a folder, are on the disk.

    Where no folder can be waited for (outside of POSIX), this waits for nothing.
    """
    if os.name == "posix":
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, whose names are on the disk; one that is there stays."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        sync(path.parent)


def put_first(path: Path, content: bytes, *, mode: int = 0o666) -> bytes:
    """A file of whoever came first: what is there afterwards, whole and on the disk.

    `mode` is who may read and write it, less what the process's mask takes away.
    """
    if not path.exists():
        own = path.with_name(f"{path.name}-{uuid.uuid4().hex}")
        with os.fdopen(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileExistsError):  # another was first
            path.hardlink_to(own)
        own.unlink()
        sync(path.parent)
    return path.read_bytes()
