"""Files as bytes and lines of bytes, read as a stream and never larger than allowed.

A file may be plain, gzip or zstd: its first bytes say which, and not its name. The path `-` is
standard input.
"""

import io
import os
import stat
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, cast

from benchwright.errors import ArchiveError, MissingFileError
from benchwright.files.encodings import UTF16, UTF16_MARKS, as_utf8

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
CHUNK = 1 << 20
INFLATED_CHUNK = 1 << 18  # of what is new each time: larger pieces are given back to the system
STANDARD_INPUT = Path("-")
# How files begin that hold no lines of text, and what to do with each.
NO_LINES = {
    b"PK\x03\x04": "is a zip archive; take the file out of it, plain or as .gz",
    b"%PDF-": "is a PDF; write what is in it as text",
    b"\x89PNG\r": "is a picture; expected lines of text",
    b"\xff\xd8\xff": "is a picture; expected lines of text",
    b"SQLite format 3\0": "is a database; export its tables as text",
    b"PAR1\x15": "is a Parquet file, which is not read here; write it as text",
    b"ARROW1\0": "is an Arrow file, which is not read here; write it as text",
    b"7z\xbc\xaf": "is a 7z archive; take the file out of it, plain or as .gz",
    b"Rar!\x1a": "is a RAR archive; take the file out of it, plain or as .gz",
    b"BZh91AY": "is compressed with bzip2; compress it with gzip or zstd",
    b"\xfd7zXZ": "is compressed with xz; compress it with gzip or zstd",
}
# The names of the file that a spreadsheet, which is a zip, begins with.
OF_OFFICES = (b"[Content_Types]", b"docProps/", b"_rels/", b"xl/", b"mimetype")
OFFICE = "is a spreadsheet or another office file; save it as text, with tabs between columns"

# A thousand bytes of zstd become 32 MiB at most, so a limit is passed by no more than that.
_ZSTD_PIECE = 1 << 10


class Limits(NamedTuple):
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
    """A stream that counts what comes out of another and refuses too much or a broken end.

    `damaged` are the errors by which the inner stream says that it cannot be inflated.
    """

    def __init__(
        self,
        inner: Readable,
        *,
        file: str,
        limit: int,
        compressed: int = 0,
        kind: str = "gzip",
        damaged: tuple[type[Exception], ...] = (zlib.error,),
    ) -> None:
        super().__init__()
        self.inner = inner
        self.file = file
        self.limit = limit
        self.compressed = compressed
        self.kind = kind
        self.damaged = damaged
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
            reason = (
                f"the {self.kind} file ends too early, at byte {self.compressed:,}; it was cut "
                "short, so upload it again"
            )
            raise ArchiveError(file=self.file, reason=reason) from error
        except self.damaged as error:
            reason = f"the {self.kind} file is damaged ({error}); compress it again"
            raise ArchiveError(file=self.file, reason=reason) from error


class _ZstdStream:
    """What a zstd file holds, frame after frame; a frame without its end is an EOFError."""

    def __init__(self, stream: Readable) -> None:
        import zstandard  # only where a file needs it

        self.stream = stream
        self.damaged = zstandard.ZstdError
        self.start_frame = zstandard.ZstdDecompressor().decompressobj
        self.frame = self.start_frame()
        self.is_inside = False
        self.waiting = memoryview(b"")

    def read(self, n: int = CHUNK, /) -> bytes:
        while not self.waiting and (piece := self.stream.read(_ZSTD_PIECE)):
            self.waiting = memoryview(self._inflated(piece))
        if not self.waiting and self.is_inside:
            raise EOFError
        data, self.waiting = self.waiting[:n], self.waiting[n:]
        return bytes(data)

    def _inflated(self, piece: bytes) -> bytes:
        inflated = b""
        while piece:
            inflated += self.frame.decompress(piece)
            self.is_inside, piece = not self.frame.eof, self.frame.unused_data
            if not self.is_inside:
                self.frame = self.start_frame()
        return inflated


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
    """Yield the lines of a plain, gzip or zstd file, each with its line feed.

    Which of them it is, its first bytes say and not its name. Only LF ends a line.

    Raises
    ------
    ArchiveError
        If what is compressed is damaged, cut short or inflates too far, a line is too long, or
        there are no lines in such a file.
    MissingFileError
        If there is no such file.
    """
    name = file or shown_name(path)
    with open_inflated(path, file=name, limits=limits) as stream:
        refuse_no_lines(stream.peek(64), name)
        yield from whole_lines(stream, name, limits.max_line_bytes)


@contextmanager
def open_inflated(
    path: Path, *, file: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Iterator["io.BufferedReader[Any]"]:
    """Open a file for reading its bytes, inflated where it is compressed.

    Raises
    ------
    ArchiveError
        At first or while reading, if what is compressed is damaged, cut short or inflates too far.
    MissingFileError
        If there is no such file.
    """
    try:
        raw = settled(path).open("rb")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise MissingFileError(place=path, expected="file", advice="Check the path.") from error
    with raw:
        size = os.fstat(raw.fileno()).st_size
        with inflated(raw, file=file or shown_name(path), compressed=size, limits=limits) as stream:
            yield stream


def refuse_no_lines(start: bytes, file: str) -> None:
    """Refuse what begins as a file that holds no lines of text; 64 bytes of it are enough.

    Raises
    ------
    ArchiveError
    """
    for magic, reason in NO_LINES.items():
        if start.startswith(magic):
            is_office = magic.startswith(b"PK") and start.startswith(OF_OFFICES, 30)
            raise ArchiveError(file=file, reason=OFFICE if is_office else reason)


def stream_lines(
    stream: "io.BufferedReader[Any]", *, file: str, compressed: int, limits: Limits = DEFAULT_LIMITS
) -> Iterator[bytes]:
    """Yield the lines of an open stream, inflated where it is gzip or zstd.

    `compressed` is the stream's length in bytes, from which the ratio is reckoned.
    """
    with inflated(stream, file=file, compressed=compressed, limits=limits) as whole:
        yield from whole_lines(whole, file, limits.max_line_bytes)


@contextmanager
def inflated(
    stream: "io.BufferedReader[Any]", *, file: str, compressed: int, limits: Limits = DEFAULT_LIMITS
) -> Iterator["io.BufferedReader[Any]"]:
    """The stream itself where it is plain, otherwise one of what it inflates to.

    Text that a mark says to be UTF-16 is given as UTF-8.

    Raises
    ------
    ArchiveError
        If what is compressed is damaged, or compressed again.
    """
    with _inflated(stream, file=file, compressed=compressed, limits=limits) as whole:
        start = whole.peek(4)[:4]
        if whole is not stream and (start.startswith(GZIP_MAGIC) or start == ZSTD_MAGIC):
            reason = "was compressed twice, as a .gz in another is; compress it once"
            raise ArchiveError(file=file, reason=reason)
        is_utf16 = start[:2] in UTF16_MARKS
        yield as_utf8(whole, UTF16, file) if is_utf16 else whole


@contextmanager
def _inflated(
    stream: "io.BufferedReader[Any]", *, file: str, compressed: int, limits: Limits
) -> Iterator["io.BufferedReader[Any]"]:
    start = stream.peek(4)[:4]
    limit = limits.inflated(compressed)
    if start.startswith(GZIP_MAGIC):
        file_type, damaged = _gzip()
        with file_type(fileobj=stream, mode="rb") as inflating:
            counted = InflatedReader(
                inflating, file=file, limit=limit, compressed=compressed, damaged=damaged
            )
            yield io.BufferedReader(counted, INFLATED_CHUNK)
    elif start == ZSTD_MAGIC:
        frames = _ZstdStream(stream)
        counted = InflatedReader(
            frames,
            file=file,
            limit=limit,
            compressed=compressed,
            kind="zstd",
            damaged=(frames.damaged,),
        )
        yield io.BufferedReader(counted, INFLATED_CHUNK)
    else:
        yield stream


def _gzip() -> tuple[Callable[..., Any], tuple[type[Exception], ...]]:
    """What inflates gzip, and how it says that it cannot: isal, or Python's own.

    What few files need is loaded with them: commands start the sooner.
    """
    import gzip

    try:
        from isal import igzip, isal_zlib
    except ImportError:
        return gzip.GzipFile, (zlib.error, gzip.BadGzipFile)
    # Its types call the class of its errors one of them.
    return igzip.IGzipFile, (cast("type[Exception]", isal_zlib.error), gzip.BadGzipFile)


# What can be read only once, by device and inode, is kept here until the process ends.
_spooled: dict[tuple[int, int], Any] = {}


def settled(path: Path) -> Path:
    """The path of the same bytes that can be read again and again.

    Standard input (`-`) and pipes are spooled to a temporary file, once a process; any other path
    is itself.
    """
    where = sys.stdin.fileno() if path == STANDARD_INPUT else path
    try:
        status = os.stat(where)  # noqa: PTH116 - a descriptor has no path
    except OSError:
        return path
    if where is path and not stat.S_ISFIFO(status.st_mode):
        return path
    key = status.st_dev, status.st_ino
    if key not in _spooled:
        import shutil
        import tempfile

        copy = tempfile.NamedTemporaryFile(prefix="benchwright-")  # noqa: SIM115 - see _spooled
        with open(where, "rb", closefd=where is path) as stream:
            shutil.copyfileobj(stream, copy, CHUNK)
        copy.flush()
        _spooled[key] = copy
    return Path(_spooled[key].name)


def shown_name(path: Path) -> str:
    """What messages call a file."""
    return "standard input" if path == STANDARD_INPUT else path.name


def whole_lines(
    stream: "io.BufferedReader[Any]", file: str, longest: int = DEFAULT_LIMITS.max_line_bytes
) -> Iterator[bytes]:
    """Yield the lines of a stream; one of more than `longest` bytes is an ArchiveError."""
    number = 0
    while line := stream.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise line_too_long(file, number, longest)
        yield line


def line_too_long(file: str, number: int, longest: int) -> ArchiveError:
    """Return the error of a line of more than `longest` bytes."""
    reason = f"line {number} has more than {longest:,} bytes; write one record a line"
    return ArchiveError(file=file, reason=reason)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, read in pieces."""
    import hashlib

    with settled(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Source(ABC):
    """A folder, zip or tar of files, seen alike; names are relative to its one top folder."""

    name: str
    limits: Limits

    @abstractmethod
    def members(self) -> list[str]:
        """Return the names of all files, sorted, with `/` between folders."""

    @abstractmethod
    def lines(self, member: str) -> Iterator[bytes]:
        """Yield the lines of a member, inflated where it is gzip or zstd.

        Raises
        ------
        ArchiveError
            If it is damaged or too large.
        MissingFileError
            If there is no such member.
        """

    @abstractmethod
    def opened(self, member: str) -> AbstractContextManager["io.BufferedReader[Any]"]:
        """Open a member for its bytes, inflated where it is compressed; raises as `lines`."""

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
    """The files of a folder and of the two levels of folders in it."""

    def __init__(self, folder: Path, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self.folder = folder
        self.name = folder.name
        self.limits = limits
        self._members: list[str] | None = None

    def members(self) -> list[str]:
        if self._members is None:
            paths = [
                path for pattern in ("*", "*/*", "*/*/*") for path in self.folder.glob(pattern)
            ]
            names = (path.relative_to(self.folder).as_posix() for path in paths if path.is_file())
            self._members = sorted(name for name in names if not is_hidden(name))
        return self._members

    def lines(self, member: str) -> Iterator[bytes]:
        if member not in self.members():
            raise missing_member(self.name, member)
        return open_lines(self.folder / member, file=member, limits=self.limits)

    def opened(self, member: str) -> AbstractContextManager["io.BufferedReader[Any]"]:
        if member not in self.members():
            raise missing_member(self.name, member)
        return open_inflated(self.folder / member, file=member, limits=self.limits)

    def close(self) -> None:
        """Do nothing: each file is closed when its last line is read."""


def is_hidden(name: str) -> bool:
    """Return whether a name is what desktops leave behind: `.DS_Store`, `__MACOSX/`."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def files_in(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, but hidden ones: what of it may be sent elsewhere.

    Raises
    ------
    ArchiveError
        If a link leads out of it, to what nobody has named.
    """
    whole = _whole_folder(folder.resolve())
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if not is_hidden(path.relative_to(folder).as_posix())
    ]
    for path in paths:
        if path.is_symlink() and not path.resolve().is_relative_to(whole):
            reason = "is a link that leads out of the folder; put there what it leads to"
            raise ArchiveError(file=path, reason=reason)
    return [path for path in paths if path.is_file()]


def _whole_folder(folder: Path) -> Path:
    """A folder; of one that the Hub's client keeps, all of it: links lead to its `blobs`."""
    kept = (above.parent for above in folder.parents if above.name == "snapshots")
    return next((place for place in kept if (place / "blobs").is_dir()), folder)


def missing_member(place: str, member: str) -> MissingFileError:
    """Return the error of a folder or zip without this file."""
    return MissingFileError(place=place, expected=member, advice="Add it, or choose another file.")
