"""Files as lines of bytes, plain or gzip, read as a stream and never larger than allowed."""

import gzip
import hashlib
import io
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from benchmarks_app.core.errors import ArchiveError, MissingFileError

GZIP_MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20
UNREADABLE = (EOFError, zlib.error, gzip.BadGzipFile)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a compressed file may become; what passes any of them is refused.

    `max_ratio` counts only above `ratio_free_bytes`: small files of zeros harm nobody.
    """

    max_bytes: int = 64 << 30
    max_ratio: int = 200
    ratio_free_bytes: int = 16 << 20
    max_line_bytes: int = 64 << 20
    max_entries: int = 10_000

    def inflated(self, compressed: int) -> int:
        """Return the bytes that a file of `compressed` bytes may become."""
        return min(self.max_bytes, max(self.ratio_free_bytes, compressed * self.max_ratio))


DEFAULT_LIMITS = Limits()


class Readable(Protocol):
    """Anything with `read(n)`."""

    def read(self, n: int = ..., /) -> bytes: ...


class InflatedReader(io.RawIOBase):
    """A stream that counts what comes out of another and refuses too much or a broken end."""

    def __init__(self, inner: Readable, *, file: str, limit: int) -> None:
        super().__init__()
        self.inner = inner
        self.file = file
        self.limit = limit
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._read(len(buffer))
        self.n_bytes += len(data)
        self.check()
        buffer[: len(data)] = data
        return len(data)

    def check(self) -> None:
        if self.n_bytes > self.limit:
            raise too_large(self.file, self.limit)

    def _read(self, n: int) -> bytes:
        try:
            return self.inner.read(n)
        except EOFError as error:
            reason = "the gzip file ends too early; it was cut short, so upload it again"
            raise ArchiveError(file=self.file, reason=reason) from error
        except UNREADABLE as error:
            reason = f"the gzip file is damaged ({error}); compress it again"
            raise ArchiveError(file=self.file, reason=reason) from error


def too_large(file: str, limit: int) -> ArchiveError:
    """Return the error of a file that inflates beyond `limit` bytes."""
    reason = (
        f"inflates to more than {limit:,} bytes, which its compressed size does not justify or "
        "the server does not take; upload it uncompressed, or in parts"
    )
    return ArchiveError(file=file, reason=reason)


def open_lines(
    path: Path, *, file: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Iterator[bytes]:
    """Yield the lines of a plain or gzip file, each with its line feed.

    Which of the two it is, its first bytes say and not its name. Only LF ends a line.

    Raises
    ------
    ArchiveError
        If the gzip is damaged, cut short or inflates too far, or a line is too long.
    MissingFileError
        If there is no such file.
    """
    name = file or path.name
    try:
        raw = path.open("rb")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise MissingFileError(place=path, expected="file", advice="Check the path.") from error
    with raw:
        size = os.fstat(raw.fileno()).st_size
        yield from stream_lines(raw, file=name, compressed=size, limits=limits)


def stream_lines(
    stream: "io.BufferedReader[Any]", *, file: str, compressed: int, limits: Limits = DEFAULT_LIMITS
) -> Iterator[bytes]:
    """Yield the lines of an open stream, inflated where it is gzip.

    `compressed` is the stream's length in bytes, from which the ratio is reckoned.
    """
    if stream.peek(2)[:2] != GZIP_MAGIC:
        yield from _whole_lines(stream, file, limits.max_line_bytes)
        return
    with gzip.GzipFile(fileobj=stream, mode="rb") as inflating:
        counted = InflatedReader(inflating, file=file, limit=limits.inflated(compressed))
        yield from _whole_lines(io.BufferedReader(counted, CHUNK), file, limits.max_line_bytes)


def _whole_lines(stream: "io.BufferedReader[Any]", file: str, longest: int) -> Iterator[bytes]:
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest:
            reason = f"line {number} has more than {longest:,} bytes; write one record a line"
            raise ArchiveError(file=file, reason=reason)
        yield line


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Source(ABC):
    """A folder or a zip of files, seen alike; names are relative to its one top folder."""

    name: str

    @abstractmethod
    def members(self) -> list[str]:
        """Return the names of all files, sorted, with `/` between folders."""

    @abstractmethod
    def lines(self, member: str) -> Iterator[bytes]:
        """Yield the lines of a member, inflated where it is gzip.

        Raises
        ------
        ArchiveError
            If it is damaged or too large.
        MissingFileError
            If there is no such member.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the file behind it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def plain_or_gz(self, member: str) -> str | None:
        """Return `member` or `member.gz`, whichever there is, or None."""
        names = self.members()
        return next((name for name in (member, f"{member}.gz") if name in names), None)


class FolderSource(Source):
    """The files of a folder and of the folders directly in it."""

    def __init__(self, folder: Path, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self.folder = folder
        self.name = folder.name
        self.limits = limits
        self._members: list[str] | None = None

    def members(self) -> list[str]:
        if self._members is None:
            found = [path for pattern in ("*", "*/*") for path in self.folder.glob(pattern)]
            names = (path.relative_to(self.folder).as_posix() for path in found if path.is_file())
            self._members = sorted(name for name in names if not is_hidden(name))
        return self._members

    def lines(self, member: str) -> Iterator[bytes]:
        if member not in self.members():
            raise missing_member(self.name, member)
        return open_lines(self.folder / member, file=member, limits=self.limits)

    def close(self) -> None:
        """Do nothing: each file is closed when its last line is read."""


def is_hidden(name: str) -> bool:
    """Return whether a name is what desktops leave behind: `.DS_Store`, `__MACOSX/`."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def missing_member(place: str, member: str) -> MissingFileError:
    """Return the error of a folder or zip without this file."""
    return MissingFileError(place=place, expected=member, advice="Add it, or choose another file.")
