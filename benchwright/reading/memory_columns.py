"""Tables in memory, whatever library made them, as rows of query, document and value.

A table is a frame (polars, pandas: anything whose `columns` are names and whose columns have
`to_list`), anything that exports itself as Arrow (`__arrow_c_stream__`) or offers the DataFrame
interchange protocol (`__dataframe__`), a structured numpy array, a tuple of three columns, or an
iterable of rows: named tuples, mappings, or plain triples.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchwright.errors import ColumnsError
from benchwright.formats.mapping import GRADE_NAMES

QUERY = ("qid", "queryid", "query", "topic", "topicid")
DOCUMENT = ("docid", "documentid", "document", "doc", "docno", "corpusid", "did", "pid")
SCORE = ("score", "similarity", "sim")
# What may as well be of a system counts only where nothing else says a grade.
UNSURE_GRADE = ("score", "value")
GRADE = tuple(name.replace("_", "") for name in GRADE_NAMES if name not in UNSURE_GRADE)

Row = tuple[Any, Any, Any]
Pick = Callable[[Any], Row]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which table is read, as messages call it, and what its third column may be called.

    A name of `fallback` counts only where there is none of `values`.
    """

    name: str
    values: tuple[str, ...]
    fallback: tuple[str, ...] = ()


RUN = Wanted("run", SCORE)
QRELS = Wanted("qrels", GRADE, fallback=UNSURE_GRADE)


def rows_of(given: Any, wanted: Wanted) -> Iterator[Row]:
    """Query, document and value of each row, as they are.

    Raises
    ------
    ColumnsError
        If it is no table, or which of its columns is which cannot be told.
    """
    columns = named_columns(given, wanted)
    if columns is not None:
        return zip(*columns, strict=True)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | bytearray):
        return _picked(given, wanted)
    raise ColumnsError(name=wanted.name, reason=f"is {type(given).__name__}")


def named_columns(given: Any, wanted: Wanted) -> list[list[Any]] | None:
    """Queries, documents and values of what has columns, or None where it has none.

    Raises
    ------
    ColumnsError
        If which of its columns is which cannot be told, or they are of different lengths.
    """
    columns = _columns_of(given)
    if columns is not None:
        picked = [columns[at] for at in _places(list(columns), wanted)]
    elif isinstance(given, tuple) and len(given) == 3:
        picked = [_listed(column) for column in given]
    else:
        return None
    _refuse_uneven(picked, wanted)
    return picked


def _columns_of(given: Any) -> dict[str, list[Any]] | None:
    """Every column by name, or None where columns have no names."""
    if hasattr(given, "collect"):  # a LazyFrame of polars
        given = given.collect()
    dtype = getattr(given, "dtype", None)
    if names := getattr(dtype, "names", None):
        return {name: given[name].tolist() for name in names}
    names = getattr(given, "columns", None)
    if names is not None and all(isinstance(name, str) for name in names):
        return {name: _listed(given[name]) for name in names}
    if hasattr(given, "__arrow_c_stream__"):
        import polars as pl

        return pl.DataFrame(given).to_dict(as_series=False)
    if hasattr(given, "__dataframe__"):
        from benchwright.reading.interchange import interchanged

        return interchanged(given)
    return None


def _listed(column: Any) -> list[Any]:
    """The values as objects of Python."""
    for method in ("to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _refuse_uneven(columns: Sequence[list[Any]], wanted: Wanted) -> None:
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        listed = ", ".join(map(str, lengths))
        raise ColumnsError(name=wanted.name, reason=f"has columns of {listed} rows")


def _places(names: Sequence[str], wanted: Wanted) -> tuple[str, str, str]:
    """The names of the three columns."""
    plain = {name: plain_name(name) for name in names}
    values = wanted.values
    if not set(values) & set(plain.values()):
        values = wanted.fallback
    query, document = _one(plain, QUERY, wanted), _one(plain, DOCUMENT, wanted)
    return query, document, _one(plain, values or wanted.values, wanted)


def plain_name(name: str) -> str:
    """`query-id`, `query_id` and `queryId` are one name."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _one(plain: Mapping[str, str], known: Sequence[str], wanted: Wanted) -> str:
    names = [name for name, as_plain in plain.items() if as_plain in known]
    if len(names) == 1:
        return names[0]
    what = " and ".join(f"'{name}'" for name in names) or f"none of {', '.join(known)}"
    there = ", ".join(f"'{name}'" for name in plain) or "no column"
    raise ColumnsError(name=wanted.name, reason=f"has {what} among its columns ({there})")


def _picked(rows: Iterable[Any], wanted: Wanted) -> Iterator[Row]:
    pick: Pick | None = None
    for number, row in enumerate(rows):
        pick = pick or _pick_of(row, wanted)
        try:
            yield pick(row)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            reason = f"row {number} (from 0) is {str(row)[:60]!r}, unlike the rows before it"
            raise ColumnsError(name=wanted.name, reason=reason) from error


def _pick_of(row: Any, wanted: Wanted) -> Pick:
    """How to get the three out of a row, as the first row says."""
    if isinstance(row, Mapping):
        keys = _places(list(row), wanted)
        return lambda record: (record[keys[0]], record[keys[1]], record[keys[2]])
    if hasattr(row, "_fields"):
        fields = _places(list(row._fields), wanted)
        return lambda one: (
            getattr(one, fields[0]),
            getattr(one, fields[1]),
            getattr(one, fields[2]),
        )
    if isinstance(row, Sequence) and not isinstance(row, str | bytes) and len(row) == 3:
        return _triple
    raise ColumnsError(name=wanted.name, reason=f"has {str(row)[:60]!r} as its first row")


def _triple(row: Any) -> Row:
    query, document, value = row
    return query, document, value
