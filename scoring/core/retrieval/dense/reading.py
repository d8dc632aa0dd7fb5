"""Embeddings from files: .npy with a file of ids, .npz, or Parquet; told by their first bytes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scoring.core.retrieval.dense.embeddings import Embeddings, embeddings
from scoring.core.retrieval.dense.errors import EmbeddingFileError
from scoring.core.retrieval.dense.ids import NPY_MAGIC, read_ids
from scoring.core.retrieval.dense.npy import LARGEST, mapped

ZIP_MAGIC = b"PK\x03\x04"
PARQUET_MAGIC = b"PAR1"
NEEDS_IDS = (
    "holds no ids; expected a second file with one id a line, in the order of the rows, or an "
    ".npz or Parquet file that holds both."
)


def read_embeddings(
    path: Path | str,
    *,
    ids: Path | str | None = None,
    name: str = "",
    folder: Path | None = None,
    max_bytes: int = LARGEST,
) -> Embeddings:
    """The vectors of a file with their ids.

    Parameters
    ----------
    path
        `.npy` (a matrix; needs `ids`), `.npz` (of `np.savez`, compressed or not, with a matrix
        `vectors` and a list `ids`), or Parquet (columns `id` and `vector`, or any names where
        there is one of each kind).
    ids
        A file with one id a line, a JSON list of ids, or an array of numpy's.
    name
        What messages call it; by default the name of the file.
    folder
        Where a matrix that cannot be mapped from the file itself is unpacked; in memory unless
        given.
    max_bytes
        How much the numbers may take, known before they are read.

    Raises
    ------
    EmbeddingFileError
        If a file is none of these, damaged, too large, or holds Python objects.
    EmbeddingShapeError, EmbeddingIdsError
        As `embeddings` does; the numbers themselves are not looked at.
    """
    path = Path(path)
    name = name or path.name
    with path.open("rb") as stream:
        magic = stream.read(len(NPY_MAGIC))
    vectors: Any
    found: Sequence[str] | None
    vectors, found, notes = _read(path, magic, name, folder, max_bytes)
    if ids is not None:
        if found is not None:
            reason = "holds ids itself, and a file of ids was given too; expected one of both."
            raise EmbeddingFileError(file=name, reason=reason)
        found, notes = read_ids(Path(ids), name=f"the ids of {name}")
    if found is None:
        raise EmbeddingFileError(file=name, reason=NEEDS_IDS)
    return embeddings(found, vectors, name=name, notes=notes)


def _read(
    path: Path, magic: bytes, name: str, folder: Path | None, max_bytes: int
) -> tuple[Any, list[str] | None, list[str]]:
    if magic == NPY_MAGIC:
        return mapped(path, name=name, max_bytes=max_bytes), None, []
    if magic.startswith(ZIP_MAGIC):
        from scoring.core.retrieval.dense.npz import read_npz

        packed = read_npz(path, name=name, folder=folder, max_bytes=max_bytes)
        return packed.vectors, packed.ids, packed.notes
    if magic.startswith(PARQUET_MAGIC):
        from scoring.core.retrieval.dense.tables import read_parquet

        table = read_parquet(path, name=name, folder=folder, max_bytes=max_bytes)
        return table.vectors, table.ids, table.notes
    reason = "is neither .npy, .npz nor Parquet; expected one of them. Save it with np.save."
    raise EmbeddingFileError(file=name, reason=reason)


def write_ids(ids: Sequence[str], path: Path) -> None:
    """Write ids as an array of text, which loses none whatever they hold."""
    np.save(path, np.array(list(ids), dtype=str), allow_pickle=False)
