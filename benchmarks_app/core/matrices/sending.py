"""A matrix named by the file it is mapped from, for another process to map it too."""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


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
