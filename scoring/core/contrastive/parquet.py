"""Embeddings out of a Parquet file: a column of lists, or a column for each feature."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scoring.core.contrastive.errors import PairFileError
from scoring.core.contrastive.stored import Limits, chosen

if TYPE_CHECKING:
    import polars as pl

ID_NAMES = ("id", "_id", "ids", "qid", "docid", "query_id", "doc_id", "query-id", "corpus-id")
ROWS_AT_ONCE = 8192


def unpacked(
    path: Path, folder: Path, preferred: str, file: str, limits: Limits
) -> tuple[Path, tuple[str, ...] | None]:
    """The embeddings as an npy file in `folder`, and the column of ids if there is one."""
    import polars as pl

    try:
        table = pl.scan_parquet(path, glob=False)
        schema = table.collect_schema()
        n_rows = int(table.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = "it is no readable Parquet file: cut or damaged. Save it again."
        raise PairFileError(file=file, reason=reason) from error
    source = _Source(table, file, n_rows)
    ids = source.ids(schema, limits)
    columns = _of_lists(schema)
    target = folder / f"{preferred or 'matrix'}.npy"
    if columns or not (wide := _of_numbers(schema)):
        source.write_lists(chosen(columns, preferred, file, "column of lists"), target, limits)
    else:
        source.write_columns(wide, target, limits)
    return target, ids


def _of_lists(schema: "pl.Schema") -> list[str]:
    import polars as pl

    kinds = {name: kind for name, kind in schema.items() if isinstance(kind, pl.List | pl.Array)}
    return [name for name, kind in kinds.items() if kind.inner.is_numeric()]


def _of_numbers(schema: "pl.Schema") -> list[str]:
    """Columns of numbers that are no ids."""
    return [
        name for name, kind in schema.items() if kind.is_numeric() and name.lower() not in ID_NAMES
    ]


class _Source:
    """A Parquet file, read some rows at a time."""

    def __init__(self, table: "pl.LazyFrame", file: str, n_rows: int) -> None:
        self.table, self.file, self.n_rows = table, file, n_rows

    def ids(self, schema: "pl.Schema", limits: Limits) -> tuple[str, ...] | None:
        import polars as pl

        named = {name.lower(): name for name in schema}
        name = next((named[one] for one in ID_NAMES if one in named), None)
        if name is None:
            return None
        if not (schema[name].is_integer() or schema[name] == pl.String):
            reason = f"its column '{name}' is {schema[name]}; expected texts or whole numbers."
            raise PairFileError(file=self.file, reason=reason)
        limits.refuse_beyond(self.file, (self.n_rows,), np.dtype(np.int64))
        column = self.table.select(pl.col(name).cast(pl.String)).collect().to_series()
        if column.null_count():
            reason = f"its column '{name}' has no value in row {column.is_null().arg_max()}."
            raise PairFileError(file=self.file, reason=f"{reason} Give every row an id.")
        return tuple(column.to_list())

    def write_lists(self, name: str, target: Path, limits: Limits) -> None:
        """One list of numbers a row, all equally long."""
        width = self._width(name)
        out = self._made(target, width, limits)
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            column = self.table.select(name).slice(start, ROWS_AT_ONCE).collect().to_series()
            self._refuse_other_width(column, width, start)
            rows = column.explode(empty_as_null=False) if width else None
            if rows is not None:
                self._refuse_null(rows, width, start)
                out[start : start + len(column)] = rows.to_numpy().reshape(len(column), width)

    def write_columns(self, names: list[str], target: Path, limits: Limits) -> None:
        """A feature in each column, in the order of the file."""
        out = self._made(target, len(names), limits)
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            rows = self.table.select(names).slice(start, ROWS_AT_ONCE).collect()
            for name in names:
                if rows[name].null_count():
                    self._raise_null(start + int(rows[name].is_null().arg_max() or 0))
            out[start : start + len(rows)] = rows.to_numpy()

    def _made(self, target: Path, width: int, limits: Limits) -> Any:
        shape, dtype = (self.n_rows, width), np.dtype(np.float32)
        limits.refuse_beyond(self.file, shape, dtype)
        if not self.n_rows or not width:
            np.save(target, np.empty(shape, dtype))
            return None
        return np.lib.format.open_memmap(target, mode="w+", dtype=dtype, shape=shape)

    def _width(self, name: str) -> int:
        first = self.table.select(name).head(1).collect().to_series()
        if not len(first) or first[0] is None:
            return 0
        return len(first[0])

    def _refuse_other_width(self, column: "pl.Series", width: int, start: int) -> None:
        lists = column.arr.to_list() if str(column.dtype).startswith("Array") else column
        lengths = lists.list.len()
        wrong = (lengths.is_null() | (lengths != width)).fill_null(value=True)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            found = "no list" if lengths[row] is None else f"{lengths[row]} numbers"
            reason = f"row {start + row} has {found}; expected {width}, as row 0. Correct it."
            raise PairFileError(file=self.file, reason=reason)

    def _refuse_null(self, numbers: "pl.Series", width: int, start: int) -> None:
        if numbers.null_count():
            self._raise_null(start + int(numbers.is_null().arg_max() or 0) // width)

    def _raise_null(self, row: int) -> None:
        reason = f"row {row} lacks a number. Fill it, or leave the pair out of both files."
        raise PairFileError(file=self.file, reason=reason)
