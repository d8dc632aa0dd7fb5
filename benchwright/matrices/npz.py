"""Arrays from an .npz: a zip of them, read as any zip that comes from outside.

Its entries are streams: none is unpacked under the name it has, and of none is more read than the
array in it says that it takes, and one byte.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy.typing as npt

from benchwright.files.archives import ZipSource
from benchwright.files.sources import CHUNK, DEFAULT_LIMITS
from benchwright.matrices.arrays import (
    Header,
    Limits,
    gathered,
    header_of,
    refuse_unreadable,
    shown,
)
from benchwright.matrices.errors import MatrixFileError
from benchwright.matrices.ids import ID_KINDS, ids_of_array, refuse_no_ids
from benchwright.matrices.wanted import Found, Wanted, chosen

SUFFIX = ".npy"
MOST_ARRAYS, MOST_NAMED = 1000, 6


@dataclass(frozen=True, slots=True)
class Npz:
    """The arrays of an open .npz: {name: header}, and their numbers as they are asked for."""

    archive: ZipSource
    name: str
    limits: Limits
    headers: Mapping[str, Header]

    def array(self, key: str, target: Path | None = None) -> npt.NDArray[Any]:
        """An array, mapped from the file `target`; in memory where that is None.

        Raises
        ------
        MatrixFileError
            If it is of Python objects, beyond the limits, or not of the size of its shape.
        ArchiveError
            If the zip is damaged, or inflates to more than it may.
        """
        header, name = self.headers[key], f"{self.name}/{key}"
        refuse_unreadable(header, name=name, limits=self.limits)
        return gathered(self._numbers(key, header.n_bytes), header, name=name, target=target)

    def _numbers(self, key: str, n_bytes: int) -> Iterator[bytes]:
        """What follows the header, as far as one byte more than there should be."""
        n_left = n_bytes + 1
        with self.archive.opened(f"{key}{SUFFIX}") as stream:
            header_of(stream, name=f"{self.name}/{key}")
            while piece := stream.read(min(CHUNK, n_left)):
                n_left -= len(piece)
                yield piece


@contextmanager
def opened_npz(path: Path, *, name: str, limits: Limits) -> Iterator[Npz]:
    """Open an .npz whose every entry was found harmless, and every header read.

    Raises
    ------
    MatrixFileError
        If it holds very many arrays, or what is called one and is none.
    ArchiveError
        If the zip is damaged or unsafe, or inflates to more than it may.
    """
    allowed = DEFAULT_LIMITS._replace(max_ratio=limits.ratio)
    with ZipSource(path, limits=allowed) as archive:
        yield Npz(archive, name, limits, _headers(archive, name))


def _headers(archive: ZipSource, name: str) -> dict[str, Header]:
    keys = [member.removesuffix(SUFFIX) for member in archive.members() if member.endswith(SUFFIX)]
    if len(keys) > MOST_ARRAYS:
        reason = f"holds {len(keys):,} arrays; expected ids and vectors. Save these two alone."
        raise MatrixFileError(file=name, reason=reason)
    headers = {}
    for key in keys:
        with archive.opened(f"{key}{SUFFIX}") as stream:
            headers[key] = header_of(stream, name=f"{name}/{key}")
    return headers


# --- a matrix and its ids ------------------------------------------------------------------


def read_npz(path: Path, wanted: Wanted, *, name: str, target: Path | None) -> Found:
    """The matrix of an .npz, in the file `target` (in memory where that is None), and its ids.

    Raises
    ------
    MatrixFileError, ArchiveError
        As `opened_npz` and `Npz.array` do; and if it holds no such matrix, or several.
    """
    with opened_npz(path, name=name, limits=wanted.limits) as npz:
        fitting = [key for key, header in npz.headers.items() if _is_matrix(header, wanted)]
        key = chosen(fitting, wanted.names)
        if key is None:
            raise MatrixFileError(file=name, reason=_without_matrix(npz.headers, wanted))
        matrix = npz.array(key, target)
        listed = _list_of_ids(npz.headers, wanted)
        if listed is None:
            return Found(matrix)
        return Found(matrix, *_ids(npz, listed, wanted))


def _is_matrix(header: Header, wanted: Wanted) -> bool:
    return len(header.shape) == 2 and header.dtype.kind in wanted.kinds


def _list_of_ids(headers: Mapping[str, Header], wanted: Wanted) -> str | None:
    """The list of ids; where none can be, what is called so, for the sake of what is said."""
    fitting = [
        key
        for key, header in headers.items()
        if len(header.shape) == 1 and header.dtype.kind in ID_KINDS
    ]
    texts = [key for key in fitting if headers[key].dtype.kind in "US"]
    name = chosen(fitting, wanted.id_names, or_only=wanted.is_any_list_ids)
    # Beside whole numbers, such as labels, the only list of text.
    name = name or chosen(texts, (), or_only=wanted.is_any_list_ids)
    return name or chosen(list(headers), wanted.id_names, or_only=False)


def _ids(npz: Npz, key: str, wanted: Wanted) -> tuple[list[str], list[str]]:
    header, name = npz.headers[key], f"{npz.name}/{key}"
    refuse_unreadable(header, name=name, limits=npz.limits)
    refuse_no_ids(header.shape, header.dtype, name=name)
    return ids_of_array(npz.array(key), name=name, errors=wanted.id_errors)


def _without_matrix(headers: Mapping[str, Header], wanted: Wanted) -> str:
    listed = ", ".join(
        f"{key} ({header.dtype}, {shown(header.shape) or 'a number'})"
        for key, header in islice(headers.items(), MOST_NAMED)
    )
    more = ", …" if len(headers) > MOST_NAMED else ""
    kind = "floating-point" if wanted.kinds == "f" else "real"
    return (
        f"holds {listed or 'no array'}{more}; expected one matrix of {kind} numbers"
        f"{wanted.advised}. Save np.savez(file, ids=np.array(ids, dtype=str), "
        f"{wanted.names[0] if wanted.names else 'vectors'}=…)."
    )
