"""Embeddings from files: npy, npz and Parquet, known by their first bytes; nothing is unpickled.

What comes back is mapped from a file, never held whole: an npy file itself, and what was unpacked
from an npz or Parquet file into a folder that the caller removes.
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from benchmarks_app.core.apart import reader
from benchmarks_app.core.errors import ArchiveError
from benchmarks_app.core.matrices.arrays import Limits
from benchmarks_app.core.matrices.errors import MatrixFileError
from benchmarks_app.core.matrices.reading import read_matrix as read_any_matrix
from benchmarks_app.core.matrices.sending import MappedFile, mapped_file
from benchmarks_app.core.matrices.wanted import Found, Wanted
from scoring.core.contrastive.arrays import REAL_KINDS
from scoring.core.contrastive.errors import PairFileError

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
        found = read_any_matrix(path, wanted, name=file, target=target)
    except MatrixFileError as error:
        raise PairFileError(file=error.file, reason=error.reason) from error
    except ArchiveError as error:
        place = str(error.file).replace(path.name, file, 1)
        raise PairFileError(file=place, reason=f"{error.reason}.") from error
    return _checked(found, file)


@reader
def sent_matrix(
    path: Path, folder: Path, preferred: str, name: str, limits: Limits
) -> Generator[str, None, tuple[MappedFile, bool]]:
    """Yield the ids of embeddings from outside; returns where they are, and whether they have ids.

    Raises as `read_matrix` does.
    """
    found = read_matrix(path, folder=folder, preferred=preferred, name=name, limits=limits)
    yield from found.ids or ()
    where = mapped_file(found.matrix, folder / f"{preferred or 'matrix'}.held")
    return where, found.ids is not None


def _refuse_unopened(path: Path, file: str) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}."
        raise PairFileError(file=file, reason=reason) from error


def _checked(found: Found, file: str) -> StoredMatrix:
    """What was found, unless it is not two-dimensional and of real numbers."""
    matrix = found.matrix
    if matrix.ndim != 2 or matrix.dtype.kind not in REAL_KINDS:
        what = f"an array of shape {matrix.shape} and type {matrix.dtype}"
        reason = f"it holds {what}; expected rows x features of real numbers."
        raise PairFileError(file=file, reason=reason)
    return StoredMatrix(file, matrix, None if found.ids is None else tuple(found.ids))
