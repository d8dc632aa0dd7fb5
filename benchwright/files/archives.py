"""Zips and tars read in place: nothing is extracted, nothing in them is believed."""

import io
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Self

from benchwright.errors import ArchiveError, MissingFileError
from benchwright.files.sources import (
    CHUNK,
    DEFAULT_LIMITS,
    FolderSource,
    InflatedReader,
    Limits,
    Readable,
    Source,
    files_in,
    inflated,
    is_hidden,
    missing_member,
    open_inflated,
    too_large,
    whole_lines,
)

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
TAR_MAGIC_AT = 257
# Of a tar: long names and what pax says beside them.
MAX_HEADER_BYTES = 1 << 20
ENCRYPTED = 0x1
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
DRIVE = re.compile(r"^[A-Za-z]:")
# What the list of entries at a zip's end may take; 10,000 names of 512 bytes fit twice.
MAX_DIRECTORY_BYTES = 16 << 20
END = struct.Struct("<4s4H2LH")
END_64_LOCATOR = struct.Struct("<4sLQL")
END_64 = struct.Struct("<4sQ2H2L4Q")


def is_zip(path: Path) -> bool:
    """Return whether a file begins as a zip does, whatever its name."""
    with path.open("rb") as stream:
        return stream.read(4) in ZIP_MAGIC


def is_workbook(path: Path) -> bool:
    """Whether a zip is a spreadsheet of Excel or OpenDocument."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            is_open = "mimetype" in names and "content.xml" in names
            return is_open or any(name.startswith("xl/workbook.") for name in names)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False  # whoever reads it in earnest says what is wrong


def is_tar(path: Path, *, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Return whether a file, inflated where it is gzip or zstd, begins as a tar does."""
    try:
        with open_inflated(path, limits=limits) as stream:
            return stream.read(TAR_MAGIC_AT + 5)[TAR_MAGIC_AT:] == b"ustar"
    except ArchiveError:
        return False  # whoever reads it in earnest says what is wrong


def open_source(path: Path, *, limits: Limits = DEFAULT_LIMITS) -> Source:
    """Return the folder, zip or tar at `path` as a `Source`.

    Raises
    ------
    ArchiveError
        If it is none of them, or one that is unsafe.
    MissingFileError
        If there is nothing at `path`.
    """
    if path.is_dir():
        return FolderSource(path, limits=limits)
    if not path.exists():
        raise MissingFileError(place=path, expected="folder or zip", advice="Check the path.")
    if is_zip(path):
        return ZipSource(path, limits=limits)
    if is_tar(path, limits=limits):
        return TarSource(path, limits=limits)
    reason = "this is neither a folder nor a zip or tar; put the files into one zip"
    raise ArchiveError(file=path.name, reason=reason)


class ZipSource(Source):
    """The files of a zip, whose every entry was found harmless before the first is read."""

    def __init__(self, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self.name = path.name
        self.limits = limits
        self._budget = _Budget(self.name, limits.inflated(path.stat().st_size))
        _refuse_large_directory(path)
        if not zipfile.is_zipfile(path):
            raise _without_directory(path)
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError) as error:
            raise _damaged(self.name, error) from error
        try:
            self._infos = _safe_files(self.name, self._zip.infolist(), limits)
        except ArchiveError:
            self._zip.close()
            raise

    def members(self) -> list[str]:
        return sorted(self._infos)

    def lines(self, member: str) -> Iterator[bytes]:
        if member not in self._infos:
            raise missing_member(self.name, member)
        return _lines(self, member)

    @contextmanager
    def opened(self, member: str) -> Iterator["io.BufferedReader[Any]"]:
        if member not in self._infos:
            raise missing_member(self.name, member)
        info = self._infos[member]
        file = f"{self.name}/{member}"
        try:
            with self._entry(info, file) as entry:
                # The ratio of a .gz inside is reckoned from what the entry takes in the zip:
                # two layers together may not inflate further than one.
                size = info.compress_size
                with _counted(entry, file, self._budget, size, self.limits) as stream:
                    yield stream
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise _damaged(file, error) from error

    def _entry(self, info: zipfile.ZipInfo, file: str) -> IO[bytes]:
        try:
            return self._zip.open(info)
        except (OSError, UnicodeDecodeError, ValueError) as error:  # its own header is damaged
            raise _damaged(file, error) from error

    def close(self) -> None:
        self._zip.close()


class TarSource(Source):
    """The files of a tar, plain or compressed, read from its beginning each time.

    Nothing of it is kept: a member is reached by passing over those before it.
    """

    def __init__(self, path: Path, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self.name = path.name
        self.path = path
        self.limits = limits
        self._budget = _Budget(self.name, limits.inflated(path.stat().st_size))
        self._last = ""
        names: list[str] = []
        with self._tar() as tar:
            for info in _checked_entries(self.name, tar, limits):
                self._last = info.name
                if info.isfile() and not is_hidden(info.name):
                    names.append(info.name)
            if not tar.has_end:
                reason = "it lacks the empty blocks that end every tar"
                raise self._cut_short(reason)
        _refuse_repeated(self.name, names)
        top = _top_folder([_plain(name) for name in names])
        self._names = {_plain(name).removeprefix(top): name for name in names}

    def members(self) -> list[str]:
        return sorted(self._names)

    def lines(self, member: str) -> Iterator[bytes]:
        if member not in self._names:
            raise missing_member(self.name, member)
        return _lines(self, member)

    @contextmanager
    def opened(self, member: str) -> Iterator["io.BufferedReader[Any]"]:
        if member not in self._names:
            raise missing_member(self.name, member)
        file = f"{self.name}/{member}"
        with self._tar() as tar:
            for info in tar:
                if info.name == self._names[member]:
                    entry = tar.extractfile(info)
                    if entry is None:
                        break
                    with _counted(entry, file, self._budget, info.size, self.limits) as stream:
                        yield stream
                    return
        raise missing_member(self.name, member)

    def close(self) -> None:
        """Do nothing: the file is closed whenever it was read."""

    @contextmanager
    def _tar(self) -> Iterator["_ModestTar"]:
        with open_inflated(self.path, file=self.name, limits=self.limits) as stream:
            try:
                # A stream: seeking back is not needed, and what is compressed could not do it.
                with _ModestTar.open(fileobj=stream, mode="r|") as tar:
                    yield tar
            except (tarfile.TarError, EOFError) as error:
                raise self._cut_short(str(error)) from error

    def _cut_short(self, why: str) -> ArchiveError:
        where = f" in or after its member '{self._last[:200]}'" if self._last else ""
        reason = f"the tar is damaged or cut short{where} ({why}); make it again"
        return ArchiveError(file=self.name, reason=reason)


class _ModestInfo(tarfile.TarInfo):
    """An entry whose extended header, which is read into memory, may not be large."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        info = super().frombuf(buf, encoding, errors)
        if info.type not in _CONTENT_TYPES and info.size > MAX_HEADER_BYTES:
            msg = f"a header of {info.size:,} bytes"
            raise tarfile.ReadError(msg)
        return info

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tar)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined,unused-ignore]
            tar.has_end = True  # type: ignore[attr-defined]
            raise


class _ModestTar(tarfile.TarFile):
    """A tar that knows whether its end was met: tarfile takes one that was cut in a header."""

    tarinfo = _ModestInfo
    has_end = False


_CONTENT_TYPES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE, tarfile.GNUTYPE_SPARSE)


def _checked_entries(file: str, tar: tarfile.TarFile, limits: Limits) -> Iterator[tarfile.TarInfo]:
    """Yield the entries, each found safe."""
    for n, info in enumerate(tar, start=1):
        if n > limits.max_entries:
            reason = f"has more than {limits.max_entries:,} entries; pack the files needed only"
            raise ArchiveError(file=file, reason=reason)
        problem = _name_problem(info.name, "pack")
        if not problem and not (info.isfile() or info.isdir()):
            problem = "it is a link or a device, not a file; pack the file it points to"
        if not problem and info.issparse():
            problem = "it is a sparse file; pack it with plain tar, without --sparse"
        if problem:
            raise ArchiveError(file=f"{file}/{info.name[:200]}", reason=problem)
        yield info


def _plain(name: str) -> str:
    """A name without the `./` that `tar c .` writes before it."""
    return name.removeprefix("./")


def _lines(source: Source, member: str) -> Iterator[bytes]:
    with source.opened(member) as stream:
        yield from whole_lines(stream, f"{source.name}/{member}", source.limits.max_line_bytes)


@contextmanager
def _counted(
    entry: Readable, file: str, budget: "_Budget", compressed: int, limits: Limits
) -> Iterator["io.BufferedReader[Any]"]:
    """The bytes of an entry, inflated where it is gzip or zstd, counted before and after."""
    stream = io.BufferedReader(_CountedEntry(entry, file=file, budget=budget), CHUNK)
    with inflated(stream, file=file, compressed=compressed, limits=limits) as whole:
        if whole is stream:
            yield stream
        else:  # many small .gz may be a bomb together
            yield io.BufferedReader(_CountedEntry(whole, file=file, budget=budget), CHUNK)


class _Budget:
    """Bytes all entries of one zip may inflate to together; reading one twice counts once."""

    def __init__(self, file: str, limit: int) -> None:
        self.file = file
        self.limit = limit
        self.total = 0
        self.spent: dict[str, int] = {}

    def spend(self, member: str, n_bytes: int) -> None:
        """Note that so many bytes came out of a member so far; the most ever seen counts."""
        before = self.spent.get(member, 0)
        if n_bytes > before:
            self.spent[member] = n_bytes
            self.total += n_bytes - before
        if self.total > self.limit:
            raise too_large(self.file, self.limit)


class _CountedEntry(InflatedReader):
    """An entry whose bytes are counted while they inflate: a header may say anything."""

    def __init__(self, entry: Readable, *, file: str, budget: _Budget) -> None:
        super().__init__(entry, file=file, limit=budget.limit)
        self.budget = budget

    def check(self) -> None:
        self.budget.spend(self.file, self.n_bytes)

    def _read(self, n: int) -> bytes:
        return self.inner.read(n)  # a broken entry is a broken zip: `ZipSource._lines` says so


def _without_directory(path: Path) -> ArchiveError:
    reason = (
        f"the zip is damaged or cut short: it ends at byte {path.stat().st_size:,}, without the "
        "list of members that ends every zip; make it again, or fetch it anew"
    )
    return ArchiveError(file=path.name, reason=reason)


def _damaged(file: str, error: Exception) -> ArchiveError:
    return ArchiveError(file=file, reason=f"the zip is damaged ({error}); make it again")


def _refuse_large_directory(path: Path) -> None:
    """Refuse a list of entries that would fill the memory before it can be counted."""
    size = _directory_bytes(path)
    if size > MAX_DIRECTORY_BYTES:
        reason = f"its list of entries has {size:,} bytes; zip the three files only"
        raise ArchiveError(file=path.name, reason=reason)


def _directory_bytes(path: Path) -> int:
    """Return the largest size that any record at a zip's end claims for its list of entries."""
    with path.open("rb") as stream:
        length = stream.seek(0, io.SEEK_END)
        stream.seek(max(0, length - END.size - 0xFFFF - END_64_LOCATOR.size - END_64.size))
        tail = stream.read()
    # zipfile takes a record at the very end, else the last one: whichever it is, both count.
    places = {len(tail) - END.size, tail.rfind(b"PK\x05\x06")}
    return max((_claimed_bytes(tail, at) for at in places if at >= 0), default=0)


def _claimed_bytes(tail: bytes, at: int) -> int:
    if tail[at : at + 4] != b"PK\x05\x06" or len(tail) - at < END.size:
        return 0
    before = at - END_64_LOCATOR.size - END_64.size
    if before >= 0 and tail[before : before + 4] == b"PK\x06\x06":
        return int(END_64.unpack_from(tail, before)[8])
    return int(END.unpack_from(tail, at)[5])


def _safe_files(
    file: str, infos: list[zipfile.ZipInfo], limits: Limits
) -> dict[str, zipfile.ZipInfo]:
    """Return the entries by name without their one top folder, each found safe."""
    if len(infos) > limits.max_entries:
        reason = f"has {len(infos):,} entries; at most {limits.max_entries:,} are taken"
        raise ArchiveError(file=file, reason=reason)
    for info in infos:
        problem = _entry_problem(info)
        if problem:
            raise ArchiveError(file=f"{file}/{info.orig_filename[:200]}", reason=problem)
    _refuse_overlaps(file, infos)
    files = [info for info in infos if not info.is_dir() and not is_hidden(info.filename)]
    _refuse_repeated(file, [info.filename for info in files])
    _refuse_claimed_bombs(file, files, limits)
    top = _top_folder([info.filename for info in files])
    return {info.filename.removeprefix(top): info for info in files}


def _entry_problem(info: zipfile.ZipInfo) -> str | None:
    problem = _name_problem(info.orig_filename, "zip")
    if problem:
        return problem
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "it is a link or a device, not a file; zip the file it points to"
    if info.flag_bits & ENCRYPTED:
        return "it is encrypted; zip it without a password"
    if info.compress_type not in METHODS:
        return "its compression method is not taken; use the usual one (deflate)"
    return None


def _name_problem(name: str, pack: str) -> str | None:
    if "\\" in name or "\0" in name:
        return f"its name holds a backslash or a NUL; {pack} it with / between folders"
    if name.startswith("/") or DRIVE.match(name):
        return f"its name is an absolute path; {pack} the folder itself, not its full path"
    if ".." in name.split("/"):
        return f"its name climbs out of the folder (..); {pack} the folder itself"
    return None


def _refuse_repeated(file: str, names: list[str]) -> None:
    names_seen: set[str] = set()
    for name in names:
        if name in names_seen:
            reason = "is in it twice; keep one of the two"
            raise ArchiveError(file=f"{file}/{name}", reason=reason)
        names_seen.add(name)


def _refuse_overlaps(file: str, infos: list[zipfile.ZipInfo]) -> None:
    """Refuse entries that share bytes, with which one megabyte can pretend to be a thousand."""
    ordered = sorted(infos, key=lambda info: info.header_offset)
    for info, following in pairwise(ordered):
        if info.header_offset + 30 + info.compress_size > following.header_offset:
            reason = f"shares bytes with {following.filename}; make the zip again"
            raise ArchiveError(file=f"{file}/{info.filename}", reason=reason)


def _refuse_claimed_bombs(file: str, infos: list[zipfile.ZipInfo], limits: Limits) -> None:
    """Refuse at once what already says that it is too large; the rest is counted on reading."""
    for info in infos:
        allowed = limits.inflated(info.compress_size)
        place = f"{file}/{info.filename}"
        if info.file_size > allowed:
            raise too_large(place, allowed)


def _top_folder(names: list[str]) -> str:
    """Return the folder, with its `/`, that holds all names; empty where there is none.

    A zip whose only folder is `qrels` has no top folder: `qrels/test.tsv` must keep its name.
    """
    firsts = {name.split("/", 1)[0] if "/" in name else "" for name in names}
    only = firsts.pop() if len(firsts) == 1 else ""
    return f"{only}/" if only and only != "qrels" else ""


@contextmanager
def packed(path: Path) -> Iterator[Path]:
    """A file as it is; a folder as one zip: it is kept byte for byte, like any other upload.

    Raises
    ------
    ArchiveError
        If the folder holds no file, or as `files_in`.
    """
    if not path.is_dir():
        yield path
        return
    paths = files_in(path)
    if not paths:
        reason = "is a folder without a file; name one that holds what is to be imported"
        raise ArchiveError(file=path, reason=reason)
    # The folder that one is in, or the one above, is called as it is elsewhere.
    named = path.resolve() if path.name in ("", "..") else path
    with TemporaryDirectory() as folder:
        whole = Path(folder) / f"{named.name}.zip"
        with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as out:
            for inside in paths:
                out.write(inside, inside.relative_to(path).as_posix())
        yield whole
