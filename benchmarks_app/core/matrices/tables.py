"""Matrices from Parquet: a column of lists, or one for each dimension, and a column of ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchmarks_app.core.matrices.arrays import Header, gathered, refuse_unreadable
from benchmarks_app.core.matrices.errors import MatrixFileError, MatrixRowError
from benchmarks_app.core.matrices.ids import ids_of
from benchmarks_app.core.matrices.wanted import Found, Wanted, chosen

if TYPE_CHECKING:
    import polars as pl

BATCH_NUMBERS = 2 << 20
WIDTHS = {"Float64": "f8", "Float16": "f2"}


def read_table(path: Path, wanted: Wanted, *, name: str, target: Path | None) -> Found:
    """The matrix of a Parquet file, in the file `target` (in memory where that is None), and ids.

    Raises
    ------
    MatrixFileError
        If it is damaged, lacks such a column or has several, or is beyond the limits.
    MatrixRowError
        If a row has another number of dimensions than the first; names the row, and its id.
    """
    import polars as pl

    try:
        return _read(_table(path, wanted, name), wanted, target)
    except pl.exceptions.PolarsError as error:
        said = str(error).splitlines()[0][:120]
        reason = f"cannot be read as Parquet ({said}). Write it again."
        raise MatrixFileError(file=name, reason=reason) from error


@dataclass(slots=True)
class _Table:
    """The column `vector` of lists, and `id` where there is one; ids are kept as they are read."""

    name: str
    rows: pl.LazyFrame
    has_ids: bool
    ids: list[Any] = field(default_factory=list)


def _table(path: Path, wanted: Wanted, name: str) -> _Table:
    import polars as pl

    scan = pl.scan_parquet(path, glob=False)
    schema = scan.collect_schema()
    ids = _id_column(schema, wanted, name)
    vectors = _vectors(schema, wanted)
    if vectors is None or (ids is None and wanted.is_any_list_ids):
        raise MatrixFileError(file=name, reason=_without_columns(schema, wanted)[:600])
    columns = {"vector": vectors} if ids is None else {"id": pl.col(ids), "vector": vectors}
    return _Table(name, scan.select(**columns), ids is not None)


def _id_column(schema: pl.Schema, wanted: Wanted, name: str) -> str | None:
    import polars as pl

    fitting = [key for key, of in schema.items() if of == pl.String or of.is_integer()]
    found = chosen(fitting, wanted.id_columns, or_only=wanted.is_any_list_ids)
    named = chosen(list(schema), wanted.id_columns, or_only=False)
    if found is None and named is not None:
        reason = f"its column '{named}' is {schema[named]}; expected texts or whole numbers."
        raise MatrixFileError(file=name, reason=reason)
    return found


def _vectors(schema: pl.Schema, wanted: Wanted) -> pl.Expr | None:
    """The column of lists, or one made of a column for each dimension."""
    import polars as pl

    lists = [
        key
        for key, of in schema.items()
        if isinstance(of, pl.List | pl.Array) and _is_number(of.inner, wanted)
    ]
    if found := chosen(lists, wanted.names):
        return pl.col(found)
    wide = [
        key
        for key, of in schema.items()
        if of.is_numeric() and key.lower() not in wanted.id_columns
    ]
    if lists or not wide or not wanted.takes_columns:
        return None
    return pl.concat_list([pl.col(key).cast(pl.Float32) for key in wide])


def _is_number(of: Any, wanted: Wanted) -> bool:
    return bool(of.is_float() if wanted.kinds == "f" else of.is_numeric())


def _without_columns(schema: pl.Schema, wanted: Wanted) -> str:
    told = ", ".join(f"{key} ({of})" for key, of in schema.items())
    or_wide = ", or a column for each dimension" if wanted.takes_columns else ""
    ids = " and one of ids (text, called id where there are several)"
    return (
        f"has the columns {told[:300]}; expected one of lists of numbers{wanted.advised}{or_wide}"
        f"{ids if wanted.is_any_list_ids else ''}. Rename them."
    )


def _read(table: _Table, wanted: Wanted, target: Path | None) -> Found:
    header = _header(table.rows, wanted)
    refuse_unreadable(header, name=table.name, limits=wanted.limits)
    matrix = gathered(_numbers(table, header), header, name=table.name, target=target)
    if not table.has_ids:
        return Found(matrix)
    return Found(matrix, *ids_of(table.ids, name=table.name))


def _header(rows: pl.LazyFrame, wanted: Wanted) -> Header:
    """The matrix of all rows, as wide as the first."""
    import polars as pl

    n_rows = int(rows.select(pl.len()).collect().item())
    first = rows.select("vector").head(1).collect()["vector"]
    inner = str(getattr(first.dtype, "inner", None))
    dtype = np.dtype(WIDTHS.get(inner, "f4") if wanted.keeps_width else "f4")
    value = first[0] if len(first) else None
    return Header((n_rows, 0 if value is None else len(value)), is_fortran=False, dtype=dtype)


def _numbers(table: _Table, header: Header) -> Iterator[bytes]:
    """The rows of the matrix, a batch at a time; with each come its ids."""
    size = max(1, BATCH_NUMBERS // max(1, header.shape[1]))
    n = 0
    for batch in table.rows.collect_batches(chunk_size=size, maintain_order=True, lazy=True):
        for frame in batch.iter_slices(size):
            rows = _checked(table, frame, n, header.shape[1])
            n += len(frame)
            if table.has_ids:
                table.ids.extend(frame["id"].to_list())
            yield rows.astype(header.dtype, copy=False).tobytes()


def _checked(table: _Table, frame: pl.DataFrame, first: int, width: int) -> npt.NDArray[Any]:
    """The rows of a batch that begins with row `first`."""
    import polars as pl

    column = frame["vector"]
    lists = column.arr.to_list() if isinstance(column.dtype, pl.Array) else column
    wrong = (lists.list.len() != width).fill_null(value=True)
    if wrong.any():
        at = int(wrong.arg_max() or 0)
        found = "no vector" if lists[at] is None else f"{len(lists[at]):,} dimensions"
        reason = (
            f"{_place(frame, at, first)} has {found}; expected {width:,} as row 0 has. "
            "Embed all rows with one model."
        )
        raise MatrixRowError(file=table.name, reason=reason)
    flat = lists.explode(empty_as_null=False)
    if flat.null_count():
        at = int(flat.is_null().arg_max() or 0) // width
        reason = f"{_place(frame, at, first)} lacks a number; expected {width:,}. Embed it again."
        raise MatrixRowError(file=table.name, reason=reason)
    return flat.to_numpy().reshape(len(frame), width)


def _place(frame: pl.DataFrame, at: int, first: int) -> str:
    of_id = f", {frame['id'][at]!r}," if "id" in frame.columns else ""
    return f"row {first + at} (from 0){of_id}"
