"""What an export is: named members, written as a stream into a zip or a folder.

Members are named relative to the export's one top folder. Two runs over one release give the same
bytes; hidden splits are not in a release's source and so in no export.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchwright.exports.errors import ExportFolderError, ExportLeftOutError, ExportNeedsTextsError
from benchwright.formats.beir_writing import DocumentLike, streamed_zip
from benchwright.releases.source import ReleaseSource

CHUNK = 1 << 16
# Whatever Python, ir_datasets or a spreadsheet takes for the end of a line or of a column.
_LINE_ENDS = re.compile("[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")

Member = tuple[str, Iterable[bytes]]
# The members of a release in one format; the folder is for files that must be whole before they
# are read, and is emptied by whoever gave it.
Members = Callable[[ReleaseSource, Path], Iterator[Member]]


@dataclass(frozen=True, slots=True)
class Snippet:
    """How one reader of the field loads an export; `{folder}` and `{split}` are filled in."""

    reader: str
    code: str

    def filled(self, **facts: str) -> str:
        """Return the code for one release."""
        text = self.code
        for name, value in facts.items():
            text = text.replace("{" + name + "}", value)
        return text


@dataclass(frozen=True)
class Exporter:
    """One format that a release can be written in.

    `loses` is what of a release the format cannot carry, as sentences; empty where an import of
    the export gives an equal release. `suffix` keeps zips of one release apart.
    """

    name: str
    label: str
    about: str
    needs_texts: bool
    loses: tuple[str, ...]
    members: Members
    snippets: tuple[Snippet, ...] = ()
    suffix: str = ""
    # Whether a zip can be sent while it is made, however large the corpus is.
    is_streamed: bool = True
    # Whether it holds the images of documents; the others carry their digests alone.
    has_images: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost."""
        return not self.loses

    def stem(self, source: ReleaseSource) -> str:
        """The name of the zip without `.zip`, and of its one top folder."""
        return f"{source.stem}{self.suffix}"

    def check(self, source: ReleaseSource) -> None:
        """Refuse a release that this format cannot hold.

        Raises
        ------
        ExportLeftOutError
            If the release is not given in this format.
        ExportNeedsTextsError
            If the format is made of texts, and the corpus has none or may not be passed on.
        """
        if self.name in source.manifest.get("formats_left_out", ()):
            raise ExportLeftOutError(format=self.label)
        if self.needs_texts and source.documents is None:
            raise ExportNeedsTextsError(format=self.label)


def zipped(exporter: Exporter, source: ReleaseSource, work: Path) -> Iterator[bytes]:
    """Yield the export as a zip, in pieces; raises as `Exporter.check` does, at the call."""
    exporter.check(source)
    top = exporter.stem(source)
    named = ((f"{top}/{name}", pieces) for name, pieces in exporter.members(source, work))
    return streamed_zip(named)


def written(exporter: Exporter, source: ReleaseSource, folder: Path) -> list[str]:
    """Write the export's members into a folder, which is new or empty; return their names.

    If it breaks off, nothing of it is left in the folder.

    Raises
    ------
    ExportNeedsTextsError
        As `Exporter.check`.
    ExportFolderError
        If the folder holds anything: files of an earlier export would stay beside the new ones.
    """
    exporter.check(source)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExportFolderError(folder=folder)
    is_new = not folder.exists()
    work = folder / ".work"
    work.mkdir(parents=True)
    names: list[str] = []
    try:
        for name, pieces in exporter.members(source, work):
            names.append(name)
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as out:
                out.writelines(pieces)
    except BaseException:
        # Half a collection is taken for a whole one by whoever finds it.
        shutil.rmtree(work, ignore_errors=True)
        _take_away([folder / name for name in names], folder, with_folder=is_new)
        raise
    shutil.rmtree(work, ignore_errors=True)
    return names


def _take_away(paths: Iterable[Path], folder: Path, *, with_folder: bool) -> None:
    """Remove these files, and the folders that are empty then; what others have put there stays."""
    folders = {folder} if with_folder else set()
    for path in paths:
        path.unlink(missing_ok=True)
        folders.update(parent for parent in path.parents if folder in parent.parents)
    for emptied in sorted(folders, key=lambda emptied: -len(emptied.parts)):
        with suppress(OSError):
            emptied.rmdir()


def file_pieces(path: Path, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Yield what a file holds from a byte on, up to another or its end, in pieces."""
    with path.open("rb") as stream:
        stream.seek(begin)
        n_left = (path.stat().st_size if end is None else end) - begin
        while n_left > 0 and (piece := stream.read(min(CHUNK, n_left))):
            n_left -= len(piece)
            yield piece


def judged(source: ReleaseSource, split: str) -> Iterator[tuple[str, str, int]]:
    """Yield the grades of a split without pairs that were pooled and not judged."""
    return (row for row in source.qrels(split) if row[2] >= 0)


def documents_of(source: ReleaseSource) -> Iterator[DocumentLike]:
    """Yield the documents of a source that has them: `Exporter.check` was asked before."""
    return source.documents() if source.documents else iter(())


def one_line(text: str) -> str:
    """Return a text on one line: what ends a line for any reader, and the tab, becomes a blank.

    >>> one_line("first\\tsecond\\r\\nthird")
    'first second third'
    """
    return _LINE_ENDS.sub(" ", text)
