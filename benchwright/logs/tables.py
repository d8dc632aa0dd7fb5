"""A log's rows as mappings from column to cell: CSV, TSV, JSON lines, Parquet, plain lines.

A file is told by its first bytes and lines, not by its name; each but Parquet also as .gz or .zst.
Rows come as a stream.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchwright.files.sources import open_lines
from benchwright.formats.beir import BOM
from benchwright.formats.tables import SEPARATOR, parquet_rows
from benchwright.ids import storable
from benchwright.logs.columns import NAMES, said
from benchwright.logs.errors import LogColumnsError, LogEmptyError

PARQUET_MAGIC = b"PAR1"
DELIMITERS = ("\t", ";", ",")
HEAD_LINES = 50
ONE_COLUMN = "query"
HEADER_NAMES = {name for names in NAMES.values() for name in names}
NUMBERS = re.compile(r"[\d\s.,:/TZ+-]*\d[\d\s.,:/TZ+-]*")
# JSON writes so what no database takes; halves of one character may stand side by side as well.
ESCAPED = re.compile(r"\\u(0000|[dD][89a-fA-F])")


@dataclass(frozen=True, slots=True)
class Bad:
    """A row that cannot be taken apart, and why."""

    why: str


Row = Mapping[str, Any] | Bad
Rows = Iterator[tuple[int, Row]]


@dataclass(frozen=True, slots=True)
class LogTable:
    """A file as rows: what it is, its columns, and where its rows come from."""

    path: Path
    file: str
    form: str  # csv, tsv, jsonl, parquet or lines
    columns: tuple[str, ...]
    delimiter: str = ""
    has_header: bool = True

    def rows(self) -> "Rows":
        """The line of each row and its cells by column; empty lines are passed over."""
        if self.form == "parquet":
            rows = parquet_rows(self.path, self.file)
            return ((number, storable(row)) for number, row in enumerate(rows, start=1))
        reader: Callable[[LogTable, Iterable[bytes]], Rows] = _READERS[self.form]
        return reader(self, open_lines(self.path, file=self.file))

    def head(self, n: int) -> list[Mapping[str, Any]]:
        """Its first n rows that can be read."""
        with closing(self.rows()) as rows:  # type: ignore[type-var]
            return list(islice((row for _, row in rows if not isinstance(row, Bad)), n))


def open_table(path: Path, *, file: str) -> LogTable:
    """Find out what a log is and which columns it has.

    Raises
    ------
    ArchiveError
        If it cannot be inflated.
    LogColumnsError, LogEmptyError
        If it is no table, or has no row.
    """
    with path.open("rb") as stream:
        if stream.read(4) == PARQUET_MAGIC:
            return _parquet_table(path, file)
    lines = _decoded(open_lines(path, file=file))
    head = [storable(line).rstrip("\r\n") for _, line in islice(lines, HEAD_LINES)]
    filled = [line for line in head if line.strip()]
    if not filled:
        advice = "Choose a file with a row for each query."
        raise LogEmptyError(file=file, why="the file is empty", advice=advice)
    if filled[0].lstrip().startswith("{"):
        return _json_table(path, file, filled)
    return _delimited_table(path, file, filled)


# --- CSV, TSV, plain lines -----------------------------------------------------------------


def _delimited_table(path: Path, file: str, head: list[str]) -> LogTable:
    delimiter = max(DELIMITERS, key=lambda mark: (head[0].count(mark), mark == "\t"))
    # A lone name in quotes heads CSV of one column; otherwise a line is a query as it stands.
    if head[0].startswith('"') and said(head[0].strip('"')) in HEADER_NAMES:
        delimiter = ","
    elif delimiter not in head[0]:
        has_header = said(head[0]) in HEADER_NAMES
        name = head[0].strip() if has_header else ONE_COLUMN
        return LogTable(path, file, "lines", (name,), "", has_header)
    try:
        cells = next(_cells(iter(head[:1]), delimiter))
    except csv.Error as error:
        why = f"its first line is no row of a table: {error}; check the quotes and line ends."
        raise LogColumnsError(file=file, why=why) from error
    has_header = _is_header(cells)
    names = tuple(cell.strip() for cell in cells) if has_header else _numbered(len(cells))
    repeated = sorted({name for name in names if names.count(name) > 1 or not name})
    if repeated:
        why = f"two columns are called '{repeated[0]}', or one has no name; name each its own."
        raise LogColumnsError(file=file, why=why)
    form = "tsv" if delimiter == "\t" else "csv"
    return LogTable(path, file, form, names, delimiter, has_header)


def _is_header(cells: list[str]) -> bool:
    """Whether the first row names the columns: a known name is there, or no number is."""
    if any(said(cell) in HEADER_NAMES for cell in cells):
        return True
    return not any(NUMBERS.fullmatch(cell.strip()) for cell in cells)


def _numbered(n: int) -> tuple[str, ...]:
    return tuple(f"column {number}" for number in range(1, n + 1))


def _cells(lines: Iterator[str], delimiter: str) -> Any:
    # Tables with tabs are written without quotes, and what was searched for may hold them.
    if delimiter == "\t":
        return csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=delimiter)


def _delimited_rows(table: LogTable, lines: Iterable[bytes]) -> Rows:
    reader = _cells((line for _, line in _decoded(lines)), table.delimiter)
    names, n = table.columns, len(table.columns)
    is_first = True
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield line, Bad(f"is not {table.form.upper()}: {error}; check the quotes")
            continue
        if cells is None:
            return
        is_blank = not any(map(str.strip, cells))
        if is_first and not is_blank:
            is_first = False
            if table.has_header:
                continue
        if len(cells) == n and not is_first:
            yield line, dict(zip(names, cells, strict=True))
        elif not is_blank:
            yield line, Bad(f"has {len(cells)} cells, the header {n}; quote cells with delimiters")


def _plain_rows(table: LogTable, lines: Iterable[bytes]) -> Rows:
    name = table.columns[0]
    filled = ((number, line) for number, line in _decoded(lines) if line.strip())
    for number, line in islice(filled, int(table.has_header), None):
        yield number, {name: line}


def _decoded(lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Each line as text; what is told to Excel is blank.

    A byte that is no UTF-8 becomes U+FFFD, as logs have them now and then.
    """
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(BOM) if number == 1 else line
        if number == 1 and SEPARATOR.fullmatch(content):
            content = b"\n"
        text = content.decode(errors="replace")
        yield number, text.replace("\0", "\N{REPLACEMENT CHARACTER}")


# --- JSON lines ----------------------------------------------------------------------------


def _json_table(path: Path, file: str, head: list[str]) -> LogTable:
    columns: dict[str, None] = {}
    for line in head[:-1] if len(head) == HEAD_LINES else head:
        row = _object(line)
        if isinstance(row, Bad):
            raise LogColumnsError(file=file, why=f"a line {row.why}.")
        columns |= dict.fromkeys(row)
    return LogTable(path, file, "jsonl", tuple(columns))


def _json_rows(table: LogTable, lines: Iterable[bytes]) -> Rows:
    for number, line in _decoded(lines):
        if line.strip():
            yield number, _object(line)


def _object(line: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Bad(f"is not JSON: {error}; write one object a line")
    if not isinstance(row, dict):
        return Bad("is no JSON object; write one object a line")
    return storable(row) if ESCAPED.search(line) else row


# --- Parquet -------------------------------------------------------------------------------


def _parquet_table(path: Path, file: str) -> LogTable:
    import polars as pl

    try:
        schema = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        why = f"is not a Parquet file that can be read ({str(error)[:80]}); write it again."
        raise LogColumnsError(file=file, why=why) from error
    return LogTable(path, file, "parquet", tuple(map(storable, schema)))


_READERS: dict[str, Any] = {
    "csv": _delimited_rows,
    "tsv": _delimited_rows,
    "lines": _plain_rows,
    "jsonl": _json_rows,
}
