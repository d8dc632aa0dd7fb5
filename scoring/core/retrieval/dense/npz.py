"""Vectors and ids from an .npz: a zip of arrays, read as any zip that comes from outside.

Its entries are streams: none is unpacked under the name it has, and of none is more read than the
array in it says that it takes.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks_app.core.formats.archives import ZipSource
from benchmarks_app.core.formats.sources import Readable
from scoring.core.retrieval.dense.embeddings import DTYPES
from scoring.core.retrieval.dense.errors import EmbeddingFileError
from scoring.core.retrieval.dense.ids import ids_of_array
from scoring.core.retrieval.dense.npy import Header, header_of, refuse_large

SUFFIX = ".npy"
MOST_ENTRIES = 100
CHUNK = 1 << 20
VECTOR_NAMES = ("vectors", "embeddings", "embedding", "vector")
ID_NAMES = ("ids", "id", "_id", "docids", "doc_ids", "qids", "query_ids")
Headers = Mapping[str, Header]


@dataclass(frozen=True, slots=True)
class Found:
    """What an .npz holds: a matrix, ids where it has some, and what to know of them."""

    vectors: npt.NDArray[Any]
    ids: list[str] | None
    notes: list[str]


def read_npz(path: Path, *, name: str, folder: Path | None, max_bytes: int) -> Found:
    """The matrix of an .npz, in a file of `folder` (in memory where that is None), and its ids.

    Raises
    ------
    EmbeddingFileError
        If it holds no matrix or several, Python objects, or more than `max_bytes` of numbers.
    ArchiveError
        If the zip is damaged or unsafe, or inflates to more than it may.
    """
    with closing(ZipSource(path)) as archive:
        headers = _headers(archive, name)
        matrix = _chosen(headers, VECTOR_NAMES, _is_matrix)
        if matrix is None:
            raise EmbeddingFileError(file=name, reason=_without_matrix(headers))
        vectors = _array(archive, matrix, headers[matrix], name, folder, max_bytes)
        listed = _chosen(headers, ID_NAMES, _is_list)
        if listed is None:
            return Found(vectors, None, [])
        array = _array(archive, listed, headers[listed], name, None, max_bytes)
    ids, notes = ids_of_array(array, name=f"{name}/{listed}")
    return Found(vectors, ids, notes)


def _headers(archive: ZipSource, name: str) -> Headers:
    members = [member for member in archive.members() if member.endswith(SUFFIX)]
    if len(members) > MOST_ENTRIES:
        reason = f"holds {len(members):,} arrays; expected ids and vectors. Save these two alone."
        raise EmbeddingFileError(file=name, reason=reason)
    found: dict[str, Header] = {}
    for member in members:
        key = member.removesuffix(SUFFIX)
        with archive.opened(member) as stream:
            found[key] = header_of(stream, name=f"{name}/{key}")
    return found


def _is_matrix(header: Header) -> bool:
    return len(header.shape) == 2 and header.dtype.name in DTYPES


def _is_list(header: Header) -> bool:
    return len(header.shape) == 1 and header.dtype.kind in "USiu"


def _chosen(headers: Headers, names: tuple[str, ...], fits: Callable[[Header], bool]) -> str | None:
    """The array of a usual name, or the only one that fits."""
    candidates = [key for key, header in headers.items() if fits(header)]
    usual = [name for name in names if name in candidates]
    if usual:
        return usual[0]
    return candidates[0] if len(candidates) == 1 else None


def _without_matrix(headers: Headers) -> str:
    told = ", ".join(
        f"{key} ({header.dtype}, {' x '.join(map(str, header.shape)) or 'a number'})"
        for key, header in headers.items()
    )
    return (
        f"holds {told or 'no array'}; expected one matrix of {', '.join(DTYPES)}, called vectors "
        "where there are several. Save np.savez(file, ids=np.array(ids, dtype=str), vectors=…)."
    )


def _array(
    archive: ZipSource,
    key: str,
    header: Header,
    name: str,
    folder: Path | None,
    max_bytes: int,
) -> npt.NDArray[Any]:
    """An entry's array; read as far as its shape says, and refused where there is more or less."""
    refuse_large(header, name=f"{name}/{key}", max_bytes=max_bytes)
    flat = _room(header, folder)
    order = "F" if header.is_fortran else "C"
    with archive.opened(f"{key}{SUFFIX}") as stream:
        header_of(stream, name=f"{name}/{key}")
        n = _fill(flat, stream)
        if n != header.n_bytes or stream.read(1):
            reason = (
                f"'{key}' does not hold the {header.n_bytes:,} bytes of its shape. Save it again."
            )
            raise EmbeddingFileError(file=name, reason=reason)
    return flat.view(header.dtype).reshape(header.shape, order=order)  # type: ignore[call-overload,no-any-return,unused-ignore]


def _room(header: Header, folder: Path | None) -> npt.NDArray[np.uint8]:
    if folder is None or not header.n_bytes:
        return np.empty(header.n_bytes, dtype=np.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "matrix.bin"
    return np.memmap(path, mode="w+", dtype=np.uint8, shape=(header.n_bytes,))


def _fill(flat: npt.NDArray[np.uint8], stream: Readable) -> int:
    n = 0
    while n < len(flat) and (piece := stream.read(min(CHUNK, len(flat) - n))):
        flat[n : n + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        n += len(piece)
    return n
