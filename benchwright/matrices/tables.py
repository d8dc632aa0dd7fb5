"""Matrices from Parquet: a column of lists, or one for each dimension, and a column of ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from benchwright.matrices.arrays import Header, gathered, refuse_unreadable
from benchwright.matrices.errors import MatrixFileError, MatrixRowError
from benchwright.matrices.ids import ids_of
from benchwright.matrices.wanted import Found, Wanted, chosen

if TYPE_CHECKING:
    import polars as pl

BATCH_NUMBERS = 2 << 20
SINGLE: np.dtype[Any] = np.dtype(np.float32)
WIDTHS: dict[str, np.dtype[Any]] = {
    "Float64": np.dtype(np.float64),
    "Float16": np.dtype(np.float16),
}


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
        table = _Table(path, wanted, name)
        matrix = gathered(table.numbers(), table.header, name=name, target=target)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        problem = str(error).splitlines()[0][:120]
        reason = f"cannot be read as Parquet ({problem}). Write it again."
        raise MatrixFileError(file=name, reason=reason) from error
    return Found(matrix, *ids_of(table.ids, name=name)) if table.has_ids else Found(matrix)


class _Table:
    """A Parquet file, read a batch of rows at a time; `ids` are those of the rows read so far."""

    def __init__(self, path: Path, wanted: Wanted, name: str) -> None:
        import polars as pl

        self.name = name
        self.ids: list[Any] = []
        self.n_read = 0
        scan = pl.scan_parquet(path, glob=False)
        schema = scan.collect_schema()
        id_column = _id_column(schema, wanted, name)
        vectors, n_columns = _vectors(schema, wanted)
        self.has_ids, self.is_wide = id_column is not None, n_columns > 0
        if vectors is None or (wanted.is_any_list_ids and not self.has_ids):
            raise MatrixFileError(file=name, reason=_without_columns(schema, wanted)[:600])
        self.rows = scan.select(vectors, **({"id": pl.col(id_column)} if id_column else {}))
        self.header = self._header(n_columns, wanted)
        refuse_unreadable(self.header, name=name, limits=wanted.limits)

    def _header(self, n_columns: int, wanted: Wanted) -> Header:
        """The matrix of all rows: of so many columns, or as wide as the first list."""
        import polars as pl

        n_rows = int(self.rows.select(pl.len()).collect().item())
        if n_columns:
            return Header((n_rows, n_columns), is_fortran=False, dtype=SINGLE)
        first = self.rows.select("vector").head(1).collect()["vector"]
        inner = str(getattr(first.dtype, "inner", None))
        dtype = WIDTHS.get(inner, SINGLE) if wanted.keeps_width else SINGLE
        value = first[0] if len(first) else None
        return Header((n_rows, 0 if value is None else len(value)), is_fortran=False, dtype=dtype)

    def numbers(self) -> Iterator[bytes]:
        """The rows of the matrix, a batch at a time."""
        size = max(1, BATCH_NUMBERS // max(1, self.header.shape[1]))
        for batch in self.rows.collect_batches(chunk_size=size, maintain_order=True, lazy=True):
            for frame in batch.iter_slices(size):
                rows = self._of_columns(frame) if self.is_wide else self._of_lists(frame)
                if self.has_ids:
                    self.ids.extend(frame["id"].to_list())
                self.n_read += len(frame)
                yield rows.astype(self.header.dtype, copy=False).tobytes()

    def _of_columns(self, frame: pl.DataFrame) -> npt.NDArray[Any]:
        import polars as pl

        numbers = frame.drop("id", strict=False)
        if any(column.null_count() for column in numbers):
            is_null = numbers.select(pl.any_horizontal(pl.all().is_null())).to_series()
            raise self._lacking(frame, is_null.arg_max())
        return numbers.to_numpy()

    def _of_lists(self, frame: pl.DataFrame) -> npt.NDArray[Any]:
        import polars as pl

        column, width = frame["vector"], self.header.shape[1]
        lists = column.arr.to_list() if isinstance(column.dtype, pl.Array) else column
        wrong = (lists.list.len() != width).fill_null(value=True)
        if wrong.any():
            at = wrong.arg_max() or 0
            what = "no vector" if lists[at] is None else f"{len(lists[at]):,} dimensions"
            advice = "as row 0 has. Embed all rows with one model."
            raise self._row_error(frame, at, f"has {what}; expected {width:,} {advice}")
        flat = lists.explode(empty_as_null=False)
        if flat.null_count():
            raise self._lacking(frame, (flat.is_null().arg_max() or 0) // width)
        return flat.to_numpy().reshape(len(frame), width)

    def _lacking(self, frame: pl.DataFrame, at: int | None) -> MatrixRowError:
        what = f"lacks a number; expected {self.header.shape[1]:,}. Embed it again."
        return self._row_error(frame, at or 0, what)

    def _row_error(self, frame: pl.DataFrame, at: int, what: str) -> MatrixRowError:
        of_id = f", {frame['id'][at]!r}," if self.has_ids else ""
        return MatrixRowError(
            file=self.name, reason=f"row {self.n_read + at} (from 0){of_id} {what}"
        )


def _id_column(schema: pl.Schema, wanted: Wanted, name: str) -> str | None:
    import polars as pl

    texts = [key for key, of in schema.items() if of == pl.String]
    fitting = [key for key, of in schema.items() if key in texts or of.is_integer()]
    column = chosen(fitting, wanted.id_columns, or_only=wanted.is_any_list_ids)
    # Beside whole numbers, such as a count, the only column of text.
    column = column or chosen(texts, (), or_only=wanted.is_any_list_ids)
    named = chosen(list(schema), wanted.id_columns, or_only=False)
    if column is None and named is not None:
        reason = f"its column '{named}' is {schema[named]}; expected texts or whole numbers."
        raise MatrixFileError(file=name, reason=reason)
    return column


def _vectors(schema: pl.Schema, wanted: Wanted) -> tuple[pl.Expr | None, int]:
    """The column of lists, and 0; or the columns of the dimensions, and how many they are."""
    import polars as pl

    lists = [
        key
        for key, of in schema.items()
        if isinstance(of, pl.List | pl.Array) and _is_number(of.inner, wanted)
    ]
    if column := chosen(lists, wanted.names):
        return pl.col(column).alias("vector"), 0
    no_ids = [key for key in schema if key.lower() not in wanted.id_columns]
    wide = [key for key in no_ids if schema[key].is_numeric()]
    if lists or not wide or not wanted.takes_columns:
        return None, 0
    return pl.col(wide), len(wide)


def _is_number(of: Any, wanted: Wanted) -> bool:
    return bool(of.is_float() if wanted.kinds == "f" else of.is_numeric())


def _without_columns(schema: pl.Schema, wanted: Wanted) -> str:
    listed = ", ".join(f"{key} ({of})" for key, of in schema.items())
    or_wide = ", or a column for each dimension" if wanted.takes_columns else ""
    ids = " and one of ids (text, called id where there are several)"
    kind = "floating-point numbers" if wanted.kinds == "f" else "numbers"
    return (
        f"has the columns {listed[:300]}; expected one of lists of {kind}{wanted.advised}{or_wide}"
        f"{ids if wanted.is_any_list_ids else ''}. Rename or convert them."
    )
