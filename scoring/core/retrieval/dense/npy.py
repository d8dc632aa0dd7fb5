"""Arrays of numpy's files: mapped, never unpickled, and no larger than allowed."""

from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks_app.core.formats.sources import Readable
from scoring.core.retrieval.dense.errors import EmbeddingFileError

PICKLED = (
    "holds Python objects, which are never read (they could run code); expected {expected}. "
    "Save {advice}."
)
LARGEST = 64 << 30


@dataclass(frozen=True, slots=True)
class Header:
    """What an array says of itself before its numbers."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: "np.dtype[Any]"

    @property
    def n_bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


def header_of(stream: Readable, *, name: str) -> Header:
    """The header of an array in a stream, which is left where the numbers begin.

    Raises
    ------
    EmbeddingFileError
        If it is no array, or one of Python objects.
    """
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        version = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call,unused-ignore]
        if version not in read:
            raise EmbeddingFileError(file=name, reason=f"is of .npy version {version}; expected 1")
        shape, is_fortran, dtype = read[version](stream)  # type: ignore[no-untyped-call,unused-ignore]
    except (ValueError, EOFError, OSError, TypeError) as error:
        raise not_an_array(name, error) from error
    if dtype.hasobject:
        told = {"expected": "plain numbers or text", "advice": "np.array(ids, dtype=str)"}
        raise EmbeddingFileError(file=name, reason=PICKLED.format(**told))
    if any(length < 0 for length in shape):
        raise not_an_array(name, "a negative length")
    return Header(shape, is_fortran, dtype)


def not_an_array(name: str, error: object) -> EmbeddingFileError:
    said = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
    reason = f"cannot be read as an array of numpy's ({said}). Save it again with np.save."
    return EmbeddingFileError(file=name, reason=reason)


def mapped(path: Path, *, name: str, max_bytes: int = LARGEST) -> npt.NDArray[Any]:
    """The array of an .npy file, read from the disk as it is asked for.

    Raises
    ------
    EmbeddingFileError
        If it is no array, one of Python objects, cut short, or larger than `max_bytes`.
    """
    with path.open("rb") as stream:
        header = header_of(stream, name=name)
        start = stream.tell()
    refuse_large(header, name=name, max_bytes=max_bytes)
    n_there = path.stat().st_size - start
    if n_there != header.n_bytes:
        reason = (
            f"{n_there:,} bytes of numbers; expected {header.n_bytes:,} for its shape "
            f"{shown(header.shape)}. It was cut short or damaged: copy it again."
        )
        raise EmbeddingFileError(file=name, reason=reason)
    if not header.n_bytes:
        return np.zeros(header.shape, dtype=header.dtype)
    # A Fortran matrix is its transpose, row by row.
    shape = header.shape[::-1] if header.is_fortran else header.shape
    array: npt.NDArray[Any] = np.memmap(
        path, mode="r", dtype=header.dtype, shape=shape, offset=start
    )
    return array.T if header.is_fortran else array


def refuse_large(header: Header, *, name: str, max_bytes: int) -> None:
    """Raise where the numbers would take more than `max_bytes`."""
    if header.n_bytes > max_bytes:
        reason = (
            f"{shown(header.shape)} numbers of {header.dtype} are {header.n_bytes / 1e6:,.0f} MB; "
            f"expected at most {max_bytes / 1e6:,.0f} MB. Save them as float16, or with fewer "
            "dimensions."
        )
        raise EmbeddingFileError(file=name, reason=reason)


def shown(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{length:,}" for length in shape)
