"""One file to be read, wherever it lies: on its own, or as a member of a folder, zip or tar."""

import io
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from shutil import copyfileobj
from typing import Any

from benchwright.files.sources import (
    CHUNK,
    GZIP_MAGIC,
    ZSTD_MAGIC,
    Source,
    open_inflated,
    whole_lines,
)


class Input(ABC):
    """Bytes that can be read again and again, inflated where they are compressed."""

    name: str
    # As messages name it.
    shown: str

    @abstractmethod
    def opened(self) -> AbstractContextManager["io.BufferedReader[Any]"]:
        """Open it for reading its bytes; what is damaged is an ArchiveError."""

    def lines(self) -> Iterator[bytes]:
        """Yield its lines, each with its line feed."""
        with self.opened() as stream:
            yield from whole_lines(stream, self.shown)

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

    def opened(self) -> AbstractContextManager["io.BufferedReader[Any]"]:
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

    def opened(self) -> AbstractContextManager["io.BufferedReader[Any]"]:
        return self.source.opened(self.name)
