"""Embeddings from files: npy, npz and Parquet, known by their first bytes; nothing is unpickled.

What comes back is mapped from a file, never held whole: an npy file itself, and what was unpacked
from an npz or Parquet file into a folder that the caller removes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.core.contrastive import parquet, zipped
from scoring.core.contrastive.errors import PairFileError
from scoring.core.contrastive.stored import UNLIMITED, Limits, header_of

NPY, ZIP, PARQUET = b"\x93NUMPY", b"PK\x03\x04", b"PAR1"


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
    limits: Limits = UNLIMITED,
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
    start = _first_bytes(path, file)
    if start.startswith(NPY):
        return StoredMatrix(file, _mapped(path, file, limits))
    if start.startswith(ZIP):
        member, ids = zipped.unpacked(path, folder, preferred, file, limits)
        return StoredMatrix(file, _mapped(member, file, limits), ids)
    if start.startswith(PARQUET):
        member, ids = parquet.unpacked(path, folder, preferred, file, limits)
        return StoredMatrix(file, _mapped(member, file, limits), ids)
    reason = "it is no npy, npz or Parquet file. Save the embeddings as one of these."
    raise PairFileError(file=file, reason=reason)


def _first_bytes(path: Path, file: str) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(8)
    except OSError as error:
        reason = f"it cannot be read: {error.strerror}."
        raise PairFileError(file=file, reason=reason) from error


def _mapped(path: Path, file: str, limits: Limits) -> NDArray[Any]:
    with path.open("rb") as stream:
        shape, dtype = header_of(stream, file)
        needed = stream.tell() + dtype.itemsize * int(np.prod(shape, dtype=object))
    refuse_no_matrix(shape, dtype, file)
    limits.refuse_beyond(file, shape, dtype)
    if path.stat().st_size < needed:
        reason = f"it is cut: {needed:,} bytes are announced. Copy or save it again."
        raise PairFileError(file=file, reason=reason)
    if not shape[0] or not shape[1]:
        return np.empty(shape, dtype=dtype)  # nothing to map
    found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return found


def refuse_no_matrix(shape: Sequence[int], dtype: "np.dtype[Any]", file: str) -> None:
    """Raise unless it is two-dimensional and of real numbers."""
    if len(shape) != 2 or min(shape) < 0 or dtype.kind not in "biuf":
        found = f"an array of shape {tuple(shape)} and type {dtype}"
        reason = f"it holds {found}; expected rows x features of real numbers."
        raise PairFileError(file=file, reason=reason)
