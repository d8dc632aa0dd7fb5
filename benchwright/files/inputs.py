"""One file to be read, wherever it lies: on its own, or as a member of a folder, zip or tar."""

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from shutil import copyfileobj
from typing import Any

from benchwright.errors import ArchiveError
from benchwright.files.encodings import LOOKED_AT, Transcoded, as_utf8, encoding_of
from benchwright.files.sources import (
    CHUNK,
    GZIP_MAGIC,
    ZSTD_MAGIC,
    Source,
    open_inflated,
    whole_lines,
)

# How texts begin that are closed by a bracket, and tables that are no text.
_CLOSED = {b"{": b"}", b"[": b"]", b"<": b">"}
_BINARY = (b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


class Input(ABC):
    """Bytes that can be read again and again, inflated where they are compressed.

    Text in another encoding is given as UTF-8; `encoding` says which it was, and nothing of UTF-8.
    """

    name: str
    # As messages name it.
    shown: str

    @abstractmethod
    def inflated(self) -> AbstractContextManager["io.BufferedReader[Any]"]:
        """Open it for its bytes as they were written; what is damaged is an ArchiveError."""

    @cached_property
    def encoding(self) -> str:
        """The encoding of its text where that is not UTF-8."""
        start = bytearray()
        with self.inflated() as stream:
            raw = getattr(stream, "raw", None)
            if isinstance(raw, Transcoded):
                return raw.encoding
            with suppress(ArchiveError):  # told where its records are read
                while len(start) < LOOKED_AT and (piece := stream.read(CHUNK)):
                    start += piece
        return encoding_of(bytes(start))

    @contextmanager
    def opened(self) -> Iterator["io.BufferedReader[Any]"]:
        """Open it for reading its bytes, text as UTF-8; what is damaged is an ArchiveError."""
        encoding = self.encoding
        with self.inflated() as stream:
            is_done = not encoding or isinstance(getattr(stream, "raw", None), Transcoded)
            yield stream if is_done else as_utf8(stream, encoding, self.shown)

    def lines(self) -> Iterator[bytes]:
        """Yield its lines, each with its line feed."""
        with self.opened() as stream:
            yield from whole_lines(stream, self.shown)

    @property
    def line_left_open(self) -> int:
        """The number of the last line where no line feed ends it, else 0.

        Of JSON and XML that a bracket closes it is 0, as of tables that are no text.
        """
        with self.opened() as stream:
            piece = stream.read(CHUNK)
            if piece.startswith(_BINARY):
                return 0
            ends = b"\n", _CLOSED.get(piece.lstrip()[:1], b"\n")
            n_lines, last = 0, b"\n"
            while piece:
                n_lines, last = n_lines + piece.count(b"\n"), piece[-1:]
                piece = stream.read(CHUNK)
        return 0 if last in ends else n_lines + 1

    def seekable(self, folder: Path) -> Path:
        """A plain file of the same bytes, made in `folder` where there is none."""
        path = folder / f"part-{len(list(folder.iterdir()))}"
        with self.opened() as stream, path.open("wb") as out:
            copyfileobj(stream, out, CHUNK)
        return path


class FileInput(Input):
    """A file of its own."""

    def __init__(self, path: Path, name: str = "") -> None:
        self.path = path
        self.name = self.shown = name or path.name

    def inflated(self) -> AbstractContextManager["io.BufferedReader[Any]"]:
        return open_inflated(self.path, file=self.shown)

    def seekable(self, folder: Path) -> Path:
        with self.path.open("rb") as stream:
            start = stream.read(4)
        is_packed = start.startswith(GZIP_MAGIC) or start == ZSTD_MAGIC
        return super().seekable(folder) if is_packed else self.path


class MemberInput(Input):
    """A member of a folder, zip or tar."""

    def __init__(self, source: Source, member: str) -> None:
        self.source = source
        self.name = self.shown = member

    def inflated(self) -> AbstractContextManager["io.BufferedReader[Any]"]:
        return self.source.opened(self.name)
