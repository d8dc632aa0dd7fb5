"""A matrix from a file: .npy, .npz or Parquet, told by its first bytes.

It is named by the file it is mapped from, for another process to map it too.
"""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.matrices.arrays import NPY_MAGIC, mapped
from benchwright.matrices.errors import MatrixFileError
from benchwright.matrices.wanted import Found, Wanted

ZIP_MAGIC = b"PK\x03\x04"
PARQUET_MAGIC = b"PAR1"


def read_matrix(path: Path, wanted: Wanted, *, name: str, target: Path | None = None) -> Found:
    """What a file holds: mapped from itself, or from the file `target` that it is unpacked into.

    Without a `target` what cannot be mapped is held in memory. Of an .npy that is no matrix it is
    the caller who says so.

    Raises
    ------
    MatrixFileError
        If it is of neither form, damaged, of Python objects, beyond the limits, or holds no matrix
        or several.
    ArchiveError
        If it is a zip that is damaged or unsafe, or inflates to more than it may.
    """
    with path.open("rb") as stream:
        magic = stream.read(len(NPY_MAGIC))
    if magic == NPY_MAGIC:
        return Found(mapped(path, name=name, limits=wanted.limits))
    if magic.startswith(ZIP_MAGIC):
        from benchwright.matrices.npz import read_npz

        return read_npz(path, wanted, name=name, target=target)
    if magic.startswith(PARQUET_MAGIC):
        from benchwright.matrices.tables import read_table

        return read_table(path, wanted, name=name, target=target)
    reason = "is neither .npy, .npz nor Parquet; expected one of them. Save it with np.save."
    raise MatrixFileError(file=name, reason=reason)


@dataclass(frozen=True, slots=True)
class MappedFile:
    """Where the numbers of an array are: `shape` is that of the file, which may be transposed."""

    path: Path
    start: int
    shape: tuple[int, ...]
    dtype: str
    is_transposed: bool

    def opened(self) -> npt.NDArray[Any]:
        """The array, read from the disk as it is asked for."""
        if not prod(self.shape):
            array: npt.NDArray[Any] = np.zeros(self.shape, dtype=self.dtype)
        else:
            array = np.memmap(
                self.path, mode="r", dtype=self.dtype, shape=self.shape, offset=self.start
            )
        return array.T if self.is_transposed else array


def mapped_file(array: npt.NDArray[Any], target: Path) -> MappedFile:
    """Where a matrix is mapped from, whole; one that is held in memory is written to `target`."""
    is_transposed = not array.flags.c_contiguous and bool(array.flags.f_contiguous)
    stored = array.T if is_transposed else array
    shape, dtype = tuple(map(int, stored.shape)), stored.dtype.str
    if isinstance(array, np.memmap):
        path = Path(str(array.filename))
        return MappedFile(path, int(array.offset), shape, dtype, is_transposed)
    target.parent.mkdir(parents=True, exist_ok=True)
    np.ascontiguousarray(stored).tofile(target)
    return MappedFile(target, 0, shape, dtype, is_transposed)
