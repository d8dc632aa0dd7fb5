"""Embeddings out of an npz file, which is a zip of npy files."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from scoring.core.contrastive.errors import PairFileError
from scoring.core.contrastive.stored import Limits, chosen, header_of

CHUNK = 1 << 20
ID_NAMES = ("ids", "id", "qids", "docids", "keys")
# Of letters, bytes and whole numbers.
ID_KINDS = "USiu"
MOST_ARRAYS = 1000


def unpacked(
    path: Path, folder: Path, preferred: str, file: str, limits: Limits
) -> tuple[Path, tuple[str, ...] | None]:
    """The npy file of the embeddings, unpacked into `folder`, and their ids if there are any."""
    with _opened(path, file) as archive:
        arrays = _arrays(archive, file)
        matrices = [
            name
            for name, (shape, dtype) in arrays.items()
            if len(shape) == 2 and dtype.kind in "biuf"
        ]
        name = chosen(matrices, preferred, file, "matrix of numbers")
        limits.refuse_beyond(file, *arrays[name])
        target = folder / f"{preferred or 'matrix'}.npy"
        _copy(archive, f"{name}.npy", target, limits.bytes + CHUNK, file)
        return target, _ids(archive, arrays, file, limits)


@contextmanager
def _opened(path: Path, file: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # RuntimeError: the archive asks for a password.
        reason = f"it is no readable npz file ({error}). Save it again with numpy.savez."
        raise PairFileError(file=file, reason=reason) from error


def _arrays(
    archive: zipfile.ZipFile, file: str
) -> dict[str, tuple[tuple[int, ...], "np.dtype[Any]"]]:
    """{name: shape and type}, from the headers alone."""
    names = [name for name in archive.namelist() if name.endswith(".npy")]
    if len(names) > MOST_ARRAYS:
        reason = f"{len(names):,} arrays; expected the embeddings and, if there are any, their ids."
        raise PairFileError(file=file, reason=reason)
    found = {}
    for name in names:
        with archive.open(name) as stream:
            found[name.removesuffix(".npy")] = header_of(stream, f"{file}, {name}")
    return found


def _copy(archive: zipfile.ZipFile, name: str, target: Path, most: int, file: str) -> None:
    """Unpack one member; what unpacks to more than its header told is stopped."""
    n = 0
    with archive.open(name) as stream, target.open("wb") as out:
        while piece := stream.read(CHUNK):
            n += len(piece)
            if n > most:
                raise PairFileError(file=file, reason="it unpacks to more than it announces.")
            out.write(piece)


def _ids(
    archive: zipfile.ZipFile,
    arrays: dict[str, tuple[tuple[int, ...], "np.dtype[Any]"]],
    file: str,
    limits: Limits,
) -> tuple[str, ...] | None:
    """The array of one dimension that is called as ids are, or None."""
    for name in ID_NAMES:
        if name not in arrays:
            continue
        shape, dtype = arrays[name]
        if len(shape) != 1 or dtype.kind not in ID_KINDS:
            what = f"'{name}' is of shape {shape} and type {dtype}"
            reason = f"{what}; expected one text or whole number a row. Save it without objects."
            raise PairFileError(file=file, reason=reason)
        limits.refuse_beyond(file, shape, dtype)
        with archive.open(f"{name}.npy") as stream:
            return tuple(_text(one) for one in _read(stream, file).tolist())
    return None


def _read(stream: IO[bytes], file: str) -> Any:
    try:
        return np.lib.format.read_array(stream, allow_pickle=False)
    except ValueError as error:
        raise PairFileError(file=file, reason=f"its ids cannot be read: {error}") from error


def _text(value: Any) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
