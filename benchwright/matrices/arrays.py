"""Arrays of numpy's: their headers, and their numbers mapped from files; no larger than allowed."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from sys import maxsize
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.files.sources import Readable
from benchwright.matrices.errors import MatrixFileError

NPY_MAGIC = b"\x93NUMPY"
# numpy takes no header of a sixth of this, but reads it before it says so.
LONGEST_HEADER = 64 << 10
PICKLED = (
    "holds Python objects, which are never read (they could run code); expected plain numbers or "
    "text. Save np.array(ids, dtype=str), or the numbers as float32."
)
# What numpy raises for a header that is none.
NO_HEADER = (ValueError, TypeError, TokenError, RecursionError, EOFError, OSError)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much an array may claim to hold, which is looked at before its numbers are read.

    `ratio` is how many times larger than its .npz it may be: by default what deflate reaches.
    """

    bytes: int = 64 << 30
    rows: int = maxsize
    ratio: int = 1100


@dataclass(frozen=True, slots=True)
class Header:
    """What an array says of itself before its numbers."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: "np.dtype[Any]"

    @property
    def n_bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


class _Head:
    """A stream of which no more is read at once than a header takes."""

    def __init__(self, stream: Readable) -> None:
        self.stream = stream

    def read(self, n: int = -1, /) -> bytes:
        if not 0 <= n <= LONGEST_HEADER:
            msg = f"a header of {n:,} bytes"
            raise ValueError(msg)
        return self.stream.read(n)


def header_of(stream: Readable, *, name: str) -> Header:
    """The header of an array in a stream, which is left where the numbers begin.

    Raises
    ------
    MatrixFileError
        If it is no array.
    """
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    head = _Head(stream)
    try:
        version = np.lib.format.read_magic(head)  # type: ignore[no-untyped-call,unused-ignore]
        if version not in read:
            raise not_an_array(name, f".npy version {version}; expected 1 or 2")
        shape, is_fortran, dtype = read[version](head)  # type: ignore[no-untyped-call,unused-ignore]
    except NO_HEADER as error:
        raise not_an_array(name, error) from error
    if any(length < 0 for length in shape):
        raise not_an_array(name, "a negative length")
    return Header(shape, is_fortran, dtype)


def not_an_array(name: str, error: object) -> MatrixFileError:
    problem = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
    reason = f"cannot be read as an array of numpy's ({problem}). Save it again with np.save."
    return MatrixFileError(file=name, reason=reason)


def mapped(path: Path, *, name: str, limits: Limits) -> npt.NDArray[Any]:
    """The array of an .npy file, read from the disk as it is asked for.

    Raises
    ------
    MatrixFileError
        If it is no array, one of Python objects, of more or fewer bytes than its shape needs, or
        beyond the limits.
    """
    with path.open("rb") as stream:
        header = header_of(stream, name=name)
        start = stream.tell()
    refuse_unreadable(header, name=name, limits=limits)
    return _mapped_from(path, start, header, name)


def gathered(
    pieces: Iterable[bytes], header: Header, *, name: str, target: Path | None
) -> npt.NDArray[Any]:
    """The array of these bytes, mapped from the file `target`; in memory where that is None.

    Raises
    ------
    MatrixFileError
        If they are more or fewer than its shape needs.
    """
    if target is None:
        content = bytearray()
        for piece in pieces:
            content += piece
        _refuse_other_size(len(content), header, name)
        flat = np.frombuffer(content, dtype=np.uint8)
        order = "F" if header.is_fortran else "C"
        return flat.view(header.dtype).reshape(header.shape, order=order)  # type: ignore[call-overload,no-any-return,unused-ignore]
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as out:
        out.writelines(pieces)
    return _mapped_from(target, 0, header, name)


def _mapped_from(path: Path, start: int, header: Header, name: str) -> npt.NDArray[Any]:
    _refuse_other_size(path.stat().st_size - start, header, name)
    if not header.n_bytes:
        return np.zeros(header.shape, dtype=header.dtype)
    # A Fortran matrix is its transpose, row by row.
    shape = header.shape[::-1] if header.is_fortran else header.shape
    array: npt.NDArray[Any] = np.memmap(
        path, mode="r", dtype=header.dtype, shape=shape, offset=start
    )
    return array.T if header.is_fortran else array


def refuse_unreadable(header: Header, *, name: str, limits: Limits) -> None:
    """Raise where an array is of Python objects, or of more than is taken."""
    if header.dtype.hasobject:
        raise MatrixFileError(file=name, reason=PICKLED)
    if not header.dtype.itemsize:
        raise not_an_array(name, f"{header.dtype} of no bytes")
    if header.shape and header.shape[0] > limits.rows:
        reason = (
            f"{header.shape[0]:,} rows; at most {limits.rows:,} are taken. Take a sample of them."
        )
        raise MatrixFileError(file=name, reason=reason)
    if header.n_bytes > limits.bytes:
        reason = (
            f"{shown(header.shape)} numbers of {header.dtype} are {header.n_bytes / 1e6:,.0f} MB; "
            f"expected at most {limits.bytes / 1e6:,.0f} MB. Save them as float16, or with fewer "
            "dimensions."
        )
        raise MatrixFileError(file=name, reason=reason)


def _refuse_other_size(n_there: int, header: Header, name: str) -> None:
    if n_there != header.n_bytes:
        reason = (
            f"{n_there:,} bytes of numbers; expected {header.n_bytes:,} for its shape "
            f"{shown(header.shape)}. It was cut short or damaged: copy it again."
        )
        raise MatrixFileError(file=name, reason=reason)


def shown(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{length:,}" for length in shape)
