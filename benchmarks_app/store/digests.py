"""Digests of files of this machine, remembered by size and times of change."""

import hashlib
import uuid
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from benchwright.files.sources import sha256_of

# Smaller files are read anew by each process: that takes a millisecond.
REMEMBERED_FROM = 1 << 20
# So many digests each process holds, in 6 MB; with the paths of 65,536 files they took 77.
DIGESTS_HELD = 1 << 13


def digest_at(path: Path) -> str:
    """The SHA-256 of a file; read anew only where it was changed since it was last asked for."""
    at = path.stat()
    return _digest_at(str(path), at.st_size, (at.st_mtime_ns, at.st_ctime_ns))


def remember(path: Path, sha256: str) -> None:
    """Take the digest of a file that was just written as known, in all processes."""
    at = path.stat()
    _remember(path, at.st_size, (at.st_mtime_ns, at.st_ctime_ns), sha256)


@lru_cache(maxsize=DIGESTS_HELD)
def _digest_at(place: str, size: int, changed: tuple[int, int]) -> str:
    """The SHA-256 of a file; of a large one it is remembered for the other processes, too.

    It is remembered by size and times of change: of the content, and of the file's entry, which
    nobody can set back.
    """
    path = Path(place)
    if size < REMEMBERED_FROM:
        return sha256_of(path)
    with suppress(OSError, ValueError):
        *at, digest = _memory_of(path).read_text("ascii").split()
        if at == [str(number) for number in (size, *changed)] and len(digest) == 64:
            return digest
    digest = sha256_of(path)
    _remember(path, size, changed, digest)
    return digest


def _remember(path: Path, size: int, changed: tuple[int, int], digest: str) -> None:
    if size < REMEMBERED_FROM:
        return
    memory = _memory_of(path)
    with suppress(OSError):  # a full disk is no reason not to read
        memory.parent.mkdir(parents=True, exist_ok=True)
        partial = memory.with_name(f"{memory.name}.{uuid.uuid4().hex}.part")
        partial.write_text(" ".join(map(str, (size, *changed, digest))), "ascii")
        partial.replace(memory)


def _memory_of(path: Path) -> Path:
    key = hashlib.sha256(str(path).encode()).hexdigest()
    return settings.DATA_DIR / "cache" / "digests" / key
