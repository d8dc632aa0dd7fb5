"""Vectors and ids from Parquet: a column of ids, and one of lists of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from scoring.core.retrieval.dense.embeddings import let_go
from scoring.core.retrieval.dense.errors import EmbeddingFileError, EmbeddingShapeError
from scoring.core.retrieval.dense.ids import ids_of
from scoring.core.retrieval.dense.npy import Header, refuse_large
from scoring.core.retrieval.dense.npz import ID_NAMES, VECTOR_NAMES, Found

if TYPE_CHECKING:
    import polars as pl

BATCH_NUMBERS = 2 << 20


def read_parquet(path: Path, *, name: str, folder: Path | None, max_bytes: int) -> Found:
    """The vectors of a Parquet file as a matrix in a file of `folder`, or in memory; and the ids.

    Numbers keep their width: lists of doubles stay doubles.

    Raises
    ------
    EmbeddingFileError
        If it is damaged, lacks such a column or has several, or holds more than `max_bytes`.
    EmbeddingShapeError
        If a row has another number of dimensions than the first; names row and id.
    """
    import polars as pl

    try:
        scan, id_column, vectors = _columns(path, name)
        n_rows = int(scan.select(pl.len()).collect().item())
        matrix = _room(scan, vectors, n_rows, name, folder, max_bytes)
        ids: list[Any] = []
        size = max(1, BATCH_NUMBERS // max(1, matrix.shape[1]))
        chosen = scan.select(id=pl.col(id_column), vector=pl.col(vectors))
        for batch in chosen.collect_batches(chunk_size=size, maintain_order=True, lazy=True):
            for frame in batch.iter_slices(size):
                first = len(ids)
                matrix[first : first + len(frame)] = _rows(frame, first, matrix.shape[1], name)
                ids.extend(frame["id"].to_list())
                _put_down(matrix)
    except pl.exceptions.PolarsError as error:
        said = str(error).splitlines()[0][:120]
        reason = f"cannot be read as Parquet ({said}). Write it again."
        raise EmbeddingFileError(file=name, reason=reason) from error
    known, notes = ids_of(ids, name=name)
    return Found(matrix, known, notes)


def _columns(path: Path, name: str) -> tuple[pl.LazyFrame, str, str]:
    """The file with the names of its column of ids and of its column of vectors."""
    import polars as pl

    scan = pl.scan_parquet(path)
    schema = scan.collect_schema()
    ids = [key for key, of in schema.items() if of == pl.String or of.is_integer()]
    vectors = [
        key
        for key, of in schema.items()
        if isinstance(of, pl.List | pl.Array) and of.inner is not None and _is_float(of.inner)
    ]
    found = _chosen(ids, ID_NAMES), _chosen(vectors, VECTOR_NAMES)
    if found[0] is None or found[1] is None:
        told = ", ".join(f"{key} ({of})" for key, of in schema.items())
        reason = (
            f"has the columns {told}; expected one of ids (text, called id where there are "
            "several) and one of lists of numbers (called vector). Rename them."
        )
        raise EmbeddingFileError(file=name, reason=reason[:600])
    return scan, found[0], found[1]


def _is_float(of: Any) -> bool:
    return bool(of.is_float()) if hasattr(of, "is_float") else False


def _chosen(candidates: list[str], names: tuple[str, ...]) -> str | None:
    usual = [name for name in names if name in candidates]
    if usual:
        return usual[0]
    return candidates[0] if len(candidates) == 1 else None


def _room(
    scan: pl.LazyFrame, vectors: str, n_rows: int, name: str, folder: Path | None, max_bytes: int
) -> npt.NDArray[Any]:
    """An empty matrix for all rows, as wide as the first."""
    first = scan.select(vectors).head(1).collect()[vectors]
    inner = getattr(first.dtype, "inner", None)
    dtype = np.dtype({"Float64": "f8", "Float16": "f2"}.get(str(inner), "f4"))
    value = first[0] if len(first) else []
    header = Header((n_rows, 0 if value is None else len(value)), is_fortran=False, dtype=dtype)
    refuse_large(header, name=name, max_bytes=max_bytes)
    if folder is None or not header.n_bytes:
        return np.empty(header.shape, dtype=dtype)
    folder.mkdir(parents=True, exist_ok=True)
    return np.memmap(folder / "matrix.bin", mode="w+", dtype=dtype, shape=header.shape)


def _rows(frame: pl.DataFrame, first: int, width: int, name: str) -> npt.NDArray[Any]:
    column = frame["vector"]
    widths = [None if one is None else len(one) for one in column]
    for at, found in enumerate(widths):
        if found != width:
            what = "no vector" if found is None else f"{found:,} dimensions"
            reason = (
                f"row {first + at} (from 0), {frame['id'][at]!r}, has {what}; expected {width:,} "
                "as row 0 has. Embed all rows with one model."
            )
            raise EmbeddingShapeError(name=name, reason=reason)
    flat = column.explode()
    if flat.null_count():
        at = int(np.flatnonzero(flat.is_null().to_numpy())[0]) // max(1, width)
        reason = (
            f"row {first + at} (from 0), {frame['id'][at]!r}, lacks a number; expected {width:,}. "
            "Embed it again."
        )
        raise EmbeddingShapeError(name=name, reason=reason)
    return flat.to_numpy().reshape(len(frame), width)


def _put_down(matrix: npt.NDArray[Any]) -> None:
    """Let what was written go to the disk, so that it takes no memory."""
    if isinstance(matrix, np.memmap):
        matrix.flush()
        let_go(matrix)
