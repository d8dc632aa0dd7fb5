"""Where a collection lies: a folder, an archive, single files, or several of them together."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from benchwright.datasets.errors import PointerError
from benchwright.errors import MissingFileError
from benchwright.files.archives import is_tar, is_zip, open_source
from benchwright.files.inputs import FileInput, Input, MemberInput
from benchwright.files.sources import Source, is_hidden, missing_member, open_inflated, open_lines

Where = Path | str | Sequence[Path | str]
# Deep enough for a clone of a repository of collections, and an end for a wrong folder.
DEEPEST, MOST_FILES = 6, 20_000
POINTER = b"version https://git-lfs"


def open_place(where: Where) -> Source:
    """Return what is read alike wherever it lies.

    Raises
    ------
    MissingFileError
        If there is nothing at one of the paths.
    ArchiveError
        If an archive is unsafe or damaged.
    """
    sources = [_open_one(Path(path)) for path in paths_of(where)]
    if not sources:
        raise MissingFileError(place="the list", expected="path", advice="Name a folder or files.")
    return sources[0] if len(sources) == 1 else Together(sources)


def paths_of(where: Where) -> list[Path | str]:
    """The one path, or every one of several."""
    return [where] if isinstance(where, str | Path) else list(where)


def input_of(source: Source, member: str) -> Input:
    """Return a member for reading; one that is a file of its own is not copied for it."""
    if isinstance(source, Files):
        return FileInput(source.path_of(member), member)
    return MemberInput(source, member)


def refuse_pointer(source: Source, member: str) -> None:
    """Refuse what a clone without its large files has in their place.

    Raises
    ------
    PointerError
        If the file is one.
    """
    with source.opened(member) as stream:
        if stream.read(len(POINTER)) == POINTER:
            raise PointerError(place=source.name, file=member)


def _open_one(path: Path) -> Source:
    if path.is_dir():
        return Files(path.resolve().name, dict(_files_in(path)))
    if path.is_file() and not is_zip(path) and not is_tar(path):
        return Files(path.name, {path.name: path})
    return open_source(path)


def _files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    waiting, n_files = [(folder, 1)], 0
    while waiting:
        inside, depth = waiting.pop()
        for path in sorted(inside.iterdir()):
            name = path.relative_to(folder).as_posix()
            if is_hidden(name):
                continue
            if path.is_dir():
                waiting += [(path, depth + 1)] if depth < DEEPEST else []
                continue
            n_files += 1
            if n_files > MOST_FILES:
                advice = f"It has more than {MOST_FILES:,} files: name the folder of the data."
                raise MissingFileError(place=folder, expected="collection", advice=advice)
            yield name, path


class Files(Source):
    """Files under names; those of a folder keep their paths in it."""

    def __init__(self, name: str, files: Mapping[str, Path]) -> None:
        self.name = name
        self.files = files

    def members(self) -> list[str]:
        return sorted(self.files)

    def lines(self, member: str) -> Iterator[bytes]:
        return open_lines(self.path_of(member), file=member)

    def opened(self, member: str) -> AbstractContextManager["io.BufferedReader[Any]"]:
        return open_inflated(self.path_of(member), file=member)

    def close(self) -> None:
        """Do nothing: each file is closed when it has been read."""

    def path_of(self, member: str) -> Path:
        """Return where a member lies; raises MissingFileError if there is none of this name."""
        if member not in self.files:
            raise missing_member(self.name, member)
        return self.files[member]


class Together(Source):
    """Several places as one; a member has the name of its place before its own."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self.name = " and ".join(source.name for source in sources)
        self._of: dict[str, tuple[Source, str]] = {}
        for number, source in enumerate(sources, start=1):
            for member in source.members():
                name = member if member == source.name else f"{source.name}/{member}"
                name = f"{number}/{name}" if name in self._of else name
                self._of[name] = source, member

    def members(self) -> list[str]:
        return sorted(self._of)

    def lines(self, member: str) -> Iterator[bytes]:
        source, name = self._found(member)
        return source.lines(name)

    def opened(self, member: str) -> AbstractContextManager["io.BufferedReader[Any]"]:
        source, name = self._found(member)
        return source.opened(name)

    def close(self) -> None:
        for source in self.sources:
            source.close()

    def _found(self, member: str) -> tuple[Source, str]:
        if member not in self._of:
            raise missing_member(self.name, member)
        return self._of[member]
