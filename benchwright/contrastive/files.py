"""Embeddings from files: npy, npz and Parquet, known by their first bytes; nothing is unpickled.

What comes back is mapped from a file, never held whole: an npy file itself, and what was unpacked
from an npz or Parquet file into a folder that the caller removes.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from benchwright.contrastive.arrays import REAL_KINDS
from benchwright.contrastive.errors import PairFileError, PairIdsError
from benchwright.errors import ArchiveError, Problems
from benchwright.files.sources import open_lines
from benchwright.formats.trec import BYTE_ORDER_MARK
from benchwright.matrices.arrays import Limits
from benchwright.matrices.errors import MatrixFileError
from benchwright.matrices.reading import MappedFile, mapped_file
from benchwright.matrices.reading import read_matrix as read_any_matrix
from benchwright.matrices.wanted import Found, Wanted
from benchwright.sandbox import reader

# --- Embeddings from files: npy, npz and Parquet, known by their first bytes; nothing is
# unpickled.

LIMITS = Limits(rows=10_000_000)
ID_NAMES = ("ids", "id", "qids", "docids", "keys")
ID_COLUMNS = ("id", "_id", "ids", "qid", "docid", "query_id", "doc_id", "query-id", "corpus-id")


@dataclass(frozen=True)
class StoredMatrix:
    """A matrix mapped from a file, with the ids the file brought (None: it has none)."""

    file: str
    matrix: NDArray[Any]
    ids: tuple[str, ...] | None = None


def read_matrix(
    path: Path,
    *,
    folder: Path,
    preferred: str = "",
    name: str = "",
    limits: Limits = LIMITS,
) -> StoredMatrix:
    """The embeddings in a file.

    Parameters
    ----------
    folder
        Where to unpack what cannot be mapped as it is.
    preferred
        Which array or column to take of several; "z1" and "z2" tell those of one file apart.
    name
        What messages call the file; without it, its own name.

    Raises
    ------
    PairFileError
        If it is neither of the three formats, is cut or damaged, holds no matrix of numbers or
        several of which none is `preferred`, or more than `limits`.
    """
    file = name or path.name
    _refuse_unopened(path, file)
    wanted = Wanted(
        kinds=REAL_KINDS,
        names=(preferred,) if preferred else (),
        id_names=ID_NAMES,
        id_columns=ID_COLUMNS,
        id_errors="backslashreplace",
        takes_columns=True,
        limits=limits,
    )
    target = folder / f"{preferred or 'matrix'}.bin"
    try:
        contents = read_any_matrix(path, wanted, name=file, target=target)
    except MatrixFileError as error:
        raise PairFileError(file=error.file, reason=error.reason) from error
    except ArchiveError as error:
        place = str(error.file).replace(path.name, file, 1)
        raise PairFileError(file=place, reason=f"{error.reason}.") from error
    return _checked(contents, file)


@reader
def sent_matrix(
    path: Path, folder: Path, preferred: str, name: str, limits: Limits
) -> Generator[str, None, tuple[MappedFile, bool]]:
    """Yield the ids of embeddings from outside; returns where they are, and whether they have ids.

    Raises as `read_matrix` does.
    """
    stored = read_matrix(path, folder=folder, preferred=preferred, name=name, limits=limits)
    yield from stored.ids or ()
    where = mapped_file(stored.matrix, folder / f"{preferred or 'matrix'}.held")
    return where, stored.ids is not None


def _refuse_unopened(path: Path, file: str) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}."
        raise PairFileError(file=file, reason=reason) from error


def _checked(contents: Found, file: str) -> StoredMatrix:
    """What was found, unless it is not two-dimensional and of real numbers."""
    matrix = contents.matrix
    if matrix.ndim != 2 or matrix.dtype.kind not in REAL_KINDS:
        what = f"an array of shape {matrix.shape} and type {matrix.dtype}"
        reason = f"it holds {what}; expected rows x features of real numbers."
        raise PairFileError(file=file, reason=reason)
    return StoredMatrix(file, matrix, None if contents.ids is None else tuple(contents.ids))


# --- Which id each pair has: from a file of its own, or as the files of embeddings bring them.


def read_ids(path: Path, *, name: str = "") -> tuple[str, ...]:
    """One id a line, in the order of the rows.

    Raises
    ------
    FileProblemsError
        Naming lines that are empty, or hold an id that an earlier line has.
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated.
    """
    file = name or path.name
    problems = Problems()
    lines: dict[str, int] = {}
    for number, line in enumerate(open_lines(path, file=file), start=1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        row_id = text.strip(b"\r\n").decode("utf-8", "backslashreplace")
        if not row_id.strip():
            problems.add(file, number, "no id; expected one. Every row needs a line of its own.")
        elif (first := lines.setdefault(row_id, number)) != number:
            problems.add(file, number, f"'{row_id}' was in line {first} already; expected it once.")
    problems.raise_found()
    return tuple(lines)


@reader
def sent_ids(path: Path, name: str) -> Iterator[str]:
    """As `read_ids`, of a file from outside."""
    yield from read_ids(path, name=name)


def ids_of_pair(
    first: StoredMatrix, second: StoredMatrix, ids: tuple[str, ...] | None = None
) -> tuple[str, ...] | None:
    """The given ids, else those that the files bring; None where there are none.

    Raises
    ------
    PairIdsError
        If both files bring ids and a row has two.
    """
    if ids is not None:
        return ids
    if first.ids is None or second.ids is None:
        return second.ids if first.ids is None else first.ids
    for row, (own, other) in enumerate(zip(first.ids, second.ids, strict=False)):
        if own != other:
            reason = (
                f"row {row} is '{own}' there and '{other}' in {second.file}; expected the same ids "
                "in the same order. Sort both files by id."
            )
            raise PairIdsError(name=first.file, reason=reason)
    return first.ids
