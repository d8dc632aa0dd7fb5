"""Columns of a frame that offers the DataFrame interchange protocol (`__dataframe__`).

The protocol hands out addresses of buffers; they are copied before they are read. Specification:
https://data-apis.org/dataframe-protocol/latest/
"""

from collections.abc import Iterator, Sequence
from ctypes import string_at
from typing import Any

from benchwright.errors import ColumnsError

# The kinds of a column's type, as the protocol numbers them.
INTEGER, UNSIGNED, FLOAT, BOOLEAN, STRING, CATEGORICAL = 0, 1, 2, 20, 21, 23
FORMATS = {
    (INTEGER, 8): "b",
    (INTEGER, 16): "h",
    (INTEGER, 32): "i",
    (INTEGER, 64): "q",
    (UNSIGNED, 8): "B",
    (UNSIGNED, 16): "H",
    (UNSIGNED, 32): "I",
    (UNSIGNED, 64): "Q",
    (FLOAT, 32): "f",
    (FLOAT, 64): "d",
    (BOOLEAN, 8): "B",
}
# How a column says that a value is missing.
NO_NULLS, NAN, SENTINEL, BITS, BYTES = range(5)


def interchanged(frame: Any) -> dict[str, list[Any]]:
    """Every column by name, as objects of Python; a missing value is None, or NaN as it is.

    Raises
    ------
    ColumnsError
        If a column holds what is neither text nor numbers.
    """
    table = frame.__dataframe__(allow_copy=True)
    chunks = list(table.get_chunks())
    return {
        name: [value for chunk in chunks for value in _values(chunk.get_column_by_name(name), name)]
        for name in table.column_names()
    }


def _values(column: Any, name: str) -> list[Any]:
    kind, bits = int(column.dtype[0]), column.dtype[1]
    if kind == CATEGORICAL:
        values = _categories(column, name)
    elif kind == STRING:
        values = _texts(column)
    elif (kind, bits) in FORMATS:
        values = _numbers(column, column.get_buffers()["data"])
    else:
        reason = f"has a column '{name}' of type {column.dtype[2]!r}"
        raise ColumnsError(name="table", reason=reason)
    missing = _missing(column, values)
    return [
        None if is_missing else value for value, is_missing in zip(values, missing, strict=True)
    ]


def _numbers(column: Any, data: tuple[Any, Any]) -> list[Any]:
    """The numbers of a buffer, from the column's first one on."""
    buffer, dtype = data
    copied = memoryview(string_at(buffer.ptr, buffer.bufsize))
    numbers = copied.cast(FORMATS[int(dtype[0]), dtype[1]])  # type: ignore[call-overload]
    return list(numbers[column.offset : column.offset + column.size()])


def _texts(column: Any) -> list[str]:
    buffers = column.get_buffers()
    data, _ = buffers["data"]
    content = string_at(data.ptr, data.bufsize)
    places, dtype = buffers["offsets"]
    ends = memoryview(string_at(places.ptr, places.bufsize)).cast(
        FORMATS[int(dtype[0]), dtype[1]]  # type: ignore[call-overload]
    )
    first = column.offset
    return [
        content[ends[row] : ends[row + 1]].decode() for row in range(first, first + column.size())
    ]


def _categories(column: Any, name: str) -> list[Any]:
    codes = _numbers(column, column.get_buffers()["data"])
    known = _values(column.describe_categorical["categories"], name)
    return [known[code] if 0 <= code < len(known) else None for code in codes]


def _missing(column: Any, values: Sequence[Any]) -> Iterator[bool]:
    kind, value = int(column.describe_null[0]), column.describe_null[1]
    if kind in (NO_NULLS, NAN) or (kind == SENTINEL and int(column.dtype[0]) == CATEGORICAL):
        return (False for _ in values)  # a code without a category is None already
    if kind == SENTINEL:
        return (item == value for item in values)
    validity = column.get_buffers()["validity"]
    if validity is None:
        return (False for _ in values)
    mask = string_at(validity[0].ptr, validity[0].bufsize)
    rows = range(column.offset, column.offset + len(values))
    if kind == BYTES:
        return (mask[row] == value for row in rows)
    return ((mask[row // 8] >> row % 8) & 1 == value for row in rows)
