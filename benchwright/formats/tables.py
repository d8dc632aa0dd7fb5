"""Tables of any shape as records: CSV, TSV, JSON lines, Parquet, SMART and TREC's documents."""

import csv
import html
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from benchwright.errors import ArchiveError, FileProblemsError, PassedOver, Problems
from benchwright.files.inputs import Input
from benchwright.formats import foreign
from benchwright.formats.beir import BOM, json_records, numbered
from benchwright.formats.errors import UnreadableKindError
from benchwright.formats.mapping import FIELDS, plain_name
from benchwright.formats.numbers import real

Record = dict[str, Any]
Records = Iterator[tuple[int, Record]]
DELIMITERS = ("\t", ";", ",")
# The line above the header by which Excel is told what stands between cells.
SEPARATOR = re.compile(rb"sep=[^\w\s]?\s*", re.IGNORECASE)
PARQUET_MAGIC = b"PAR1"
ROWS_AT_ONCE = 2_000
# Of a table whose cells hold images.
IMAGES_AT_ONCE = 64
# Begins the name that an image of a cell has.
CELL = "cell "
HEAD_BYTES = 256 << 10
HEAD_LINES = 200
# Somebody chooses among them on a page.
MOST_COLUMNS = 5_000
# Bad records before a sample ends: a file of nothing else is neither held nor read to its end.
PASSED_OVER = 1_000
LONGEST_BLOCK = 64 << 20
# Of CSV, in characters: more than any text has, and little enough for a quote left open.
LONGEST_CELL = 16 << 20
csv.field_size_limit(LONGEST_CELL)
SMART_NAMES = {
    "I": "id", "T": "title", "W": "text", "A": "author", "B": "source", "K": "keywords",
    "N": "note", "C": "category", "X": "links",
}  # fmt: skip
# `.I 7`, or a letter alone; blanks after it are no text.
SMART_LINE = re.compile(r"\.(?:(I)[ \t]+(\S.*)|([A-Z])[ \t]*)$")
DOC_START = re.compile(rb"<doc[\s>]", re.IGNORECASE)
DOC_END = re.compile(rb"</doc\s*>", re.IGNORECASE)
DOCNO = re.compile(r"<docno>(.*?)</docno>", re.IGNORECASE | re.DOTALL)
DOC_TITLE = re.compile(
    r"<(title|headline|head|hl)>(.*?)</\1>", re.IGNORECASE | re.DOTALL
)  # the first names the document, others stay text
TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)
IMAGE_NAMES = frozenset(
    name
    for fields in FIELDS.values()
    for field in fields
    if field.name == "image"
    for name in field.names
)
# Names that any of our readers knows: a first line with one of them is a header.
KNOWN_COLUMNS = frozenset(
    name for fields in FIELDS.values() for field in fields for name in field.names
) | {"slice", "weight", "split"}


class Form(StrEnum):
    """How the rows of a table are written down."""

    JSON = "JSON lines"
    CSV = "CSV"
    TSV = "TSV without quotes"
    SPACED = "columns between spaces"
    PARQUET = "Parquet"
    SMART = "SMART"
    DOCS = "TREC documents"
    DOCUMENT = "JSON"
    BULK = "bulk requests"
    SHEET = "spreadsheet"
    LETOR = "LETOR"


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is to be read; `columns` are all that its first rows have.

    An index that has no name stands before them where `has_index`; `note` says what is left out.
    `kept` are keys of metadata that is JSON text, as exports to the Hub have it: what a document
    says there stays as it is, under its own name.
    """

    form: Form
    columns: tuple[str, ...]
    delimiter: str = ""
    has_header: bool = False
    has_index: bool = False
    note: str = ""
    kept: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, or all of it; `lines` is empty where it is no text."""

    start: bytes
    lines: tuple[bytes, ...]
    is_whole: bool = False

    @property
    def is_parquet(self) -> bool:
        return self.start.startswith(PARQUET_MAGIC)

    @property
    def is_sheet(self) -> bool:
        """Whether it may be a spreadsheet: a zip, or an old Office file."""
        return self.start.startswith(foreign.SHEET_MAGIC)

    @property
    def is_foreign(self) -> bool:
        """Whether other tools than those of retrieval write files so."""
        return self.is_sheet or _foreign_form(self.lines) is not None


def head_of(table: Input) -> Head:
    """Read the first lines, of which the last may be cut."""
    with table.opened() as stream:
        content = stream.read(HEAD_BYTES)
    if content.startswith(PARQUET_MAGIC) or b"\0" in content[:1024]:
        return Head(content[:4096], ())
    lines = content.removeprefix(BOM).split(b"\n")
    whole = lines if len(content) < HEAD_BYTES or len(lines) == 1 else lines[:-1]
    is_whole = len(content) < HEAD_BYTES and len(lines) <= HEAD_LINES
    first = tuple(line.rstrip(b"\r") for line in whole[:HEAD_LINES])
    return Head(content[:4096], first[_n_above(first) :], is_whole)


def _n_above(lines: Sequence[bytes]) -> int:
    """How many lines stand above the table."""
    return int(bool(lines) and SEPARATOR.fullmatch(lines[0]) is not None)


# Layout


def layout_of(table: Input, head: Head, folder: Path, *, has_header: bool | None = None) -> Layout:
    """Return how a table is to be read; `has_header` is what a person says, None asks the file.

    Raises
    ------
    UnreadableKindError
        If it has more columns than anybody can choose from.
    """
    layout = _layout_of(table, head, folder, has_header)
    if len(layout.columns) > MOST_COLUMNS:
        what = f"a table of {len(layout.columns):,} columns"
        advice = f"At most {MOST_COLUMNS:,} are taken: leave columns out, or quote the cells."
        raise UnreadableKindError(file=table.shown, what=what, advice=advice)
    return layout


def _layout_of(table: Input, head: Head, folder: Path, has_header: bool | None) -> Layout:
    if head.is_parquet:
        return _parquet_layout(table.seekable(folder), table.shown)
    if head.is_sheet:
        return _sheet_layout(table, folder, has_header)
    lines = [line for line in head.lines if line.strip()]
    first = lines[0] if lines else b""
    if form := _foreign_form(lines):
        return _foreign_layout(form, table, lines)
    if first.lstrip().startswith((b"{", b"[")):
        return Layout(Form.JSON, _json_columns(lines))
    if is_smart(lines):
        return Layout(Form.SMART, tuple(_smart_columns(lines)))
    if DOC_START.match(first.lstrip()):
        return Layout(Form.DOCS, ("id", "title", "text"))
    return delimited_layout(lines, has_header)


def _foreign_form(lines: Sequence[bytes]) -> Form | None:
    if foreign.is_whole_json(lines):
        return Form.DOCUMENT
    if foreign.is_bulk(lines):
        return Form.BULK
    return Form.LETOR if foreign.is_letor(lines) else None


def _foreign_layout(form: Form, table: Input, lines: Sequence[bytes]) -> Layout:
    if form is Form.LETOR:
        has_features = any(len(line.partition(b"#")[0].split()) > 2 for line in lines)
        note = "Features are left out: the grades are taken." if has_features else ""
        return Layout(form, ("query_id", "document_id", "grade"), note=note)
    if form is Form.DOCUMENT:
        return Layout(form, foreign.json_document_columns(table, HEAD_LINES))
    documents = json_records(iter(lines), file=table.shown, problems=PassedOver())
    rows = foreign.bulk_records(documents, table.shown, PassedOver())
    return Layout(form, tuple(dict.fromkeys(name for _, row in rows for name in row)))


def _sheet_layout(table: Input, folder: Path, has_header: bool | None) -> Layout:
    rows, note = foreign.sheet_rows(table, folder)
    cells = next((row for row in rows if foreign.holds_any(row)), [])
    first = [str(cell).strip() for cell in cells]
    if has_header is None:
        has_header = not any(real(cell) is not None for cell in first)
    has_index = has_header and _begins_with_index(first)
    first = first[int(has_index) :]
    names = tuple(_numbered_names(first)) if has_header else _column_names(len(first))
    return Layout(Form.SHEET, names, has_header=has_header, has_index=has_index, note=note)


def _begins_with_index(names: Sequence[str]) -> bool:
    """Whether numbers of rows stand before the columns, under no name, as pandas writes them."""
    return len(names) > 2 and not names[0] and all(names[1:])


def _json_columns(lines: Sequence[bytes]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for line in lines[:50]:
        record = _object_of(line)
        if isinstance(record, dict):
            names |= dict.fromkeys(_flattened(record))
    return tuple(names)


def _flattened(record: Record) -> Record:
    """Metadata and fields side by side, as BEIR's `metadata` means them; a field goes first."""
    metadata = record.get("metadata")
    if isinstance(metadata, str) and metadata.startswith("{"):
        metadata = _object_of(metadata)
    if not isinstance(metadata, dict):
        return record
    return {**metadata, **{key: value for key, value in record.items() if key != "metadata"}}


def _object_of(text: str | bytes) -> Any:
    """What JSON holds, in a line or in a column of tables that know no objects; None if none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_smart(lines: Iterable[bytes]) -> bool:
    """Whether lines hold records of SMART; the first of them may stand before any.

    >>> is_smart([b"made in 1968", b".I 1", b".W"]), is_smart([b".I", b".W"])
    (True, False)
    """
    marks = [match for line in lines if (match := SMART_LINE.match(line.decode(errors="replace")))]
    return bool(marks) and marks[0][1] == "I"


def _smart_columns(lines: Sequence[bytes]) -> Iterator[str]:
    yield from ("id", "title", "text")  # which a record may lack
    letters = {
        match[3] for line in lines if (match := SMART_LINE.match(line.decode(errors="replace")))
    }
    yield from (name for letter, name in SMART_NAMES.items() if letter in letters - set("ITW"))


def _parquet_layout(path: Path, file: str) -> Layout:
    import polars as pl

    try:
        columns = tuple(pl.read_parquet_schema(path))
        if "metadata" not in columns:
            return Layout(Form.PARQUET, columns)
        rows = pl.scan_parquet(path).head(HEAD_LINES).collect().rows(named=True)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged_parquet(file, error) from error
    names = dict.fromkeys(name for row in rows for name in _flattened(row))
    kept = names.keys() - columns if any(isinstance(row["metadata"], str) for row in rows) else ()
    return Layout(Form.PARQUET, tuple(names) or columns, kept=frozenset(kept))


def _damaged_parquet(file: str, error: BaseException) -> ArchiveError:
    cause = str(error).splitlines()[0][:100] if str(error) else type(error).__name__
    reason = f"the Parquet file is damaged or cut short ({cause}); write it again"
    if "allocat" in cause:
        reason = (
            "reading the Parquet file takes more memory than there is for it; write it with "
            "shorter cells and smaller row groups"
        )
    return ArchiveError(file=file, reason=reason)


def delimited_layout(lines: Sequence[bytes], has_header: bool | None = None) -> Layout:
    """Return how cells separated by TAB, semicolon or comma are to be read."""
    first = lines[0].decode(errors="replace") if lines else ""
    delimiter = max(DELIMITERS, key=first.count)
    cells = cells_of(first, delimiter)
    names = [cell.strip() for cell in cells]
    if has_header is None:
        has_header = _is_header(names, delimiter, lines)
    if has_header and _begins_with_index(names):
        columns = tuple(_numbered_names(names[1:]))
        return Layout(Form.CSV, columns, delimiter, has_header=True, has_index=True)
    if has_header and all(names) and len(set(names)) == len(names):
        return Layout(Form.CSV, tuple(names), delimiter, has_header=True)
    if has_header:
        # Told with its line when the table is read.
        return Layout(Form.CSV, tuple(_numbered_names(names)), delimiter, has_header=True)
    if delimiter == "\t":
        # Texts of such files hold tabs of their own; a line without any is a broken one.
        widths = [line.count(b"\t") + 1 for line in lines[:50]]
        width = min((width for width in widths if width > 1), default=1)
        return Layout(Form.TSV, _column_names(width), delimiter)
    return Layout(Form.CSV, _column_names(len(cells)), delimiter)


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of a line, as it stands alone; where its quotes are broken, as it is cut."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def _is_header(names: Sequence[str], delimiter: str, lines: Sequence[bytes]) -> bool:
    if len(names) > 2 and not names[0]:
        names = names[1:]  # an index, which has no name
    if any(real(name) is not None for name in names):
        return False  # `7<TAB>date` is a query, and no header
    if any(plain_name(name) in KNOWN_COLUMNS for name in names):
        return True
    # Comma-separated files have a header nearly always; tab-separated collections nearly never.
    looks_named = all(name and re.fullmatch(r"[^\W\d][\w .\-/()]{0,60}", name) for name in names)
    return delimiter != "\t" and len(names) > 1 and len(lines) > 1 and looks_named


def _column_names(n: int) -> tuple[str, ...]:
    return tuple(f"column {number}" for number in range(1, n + 1))


def _numbered_names(names: Sequence[str]) -> Iterator[str]:
    names_seen: set[str] = set()
    for number, name in enumerate(names, start=1):
        unique = name if name and name not in names_seen else f"column {number}"
        names_seen.add(unique)
        yield unique


# Records


def records(table: Input, layout: Layout, *, folder: Path, problems: Problems) -> Records:
    """Yield the line (of Parquet: the row) and the record of each row that can be read.

    Raises
    ------
    ArchiveError
        If a Parquet file is damaged.
    FileProblemsError
        When `problems` has reached its limit.
    """
    file = table.shown
    if layout.form is Form.PARQUET:
        path = table.seekable(folder)
        rows = parquet_rows(path, file)
        if columns := image_columns(path, file):
            rows = (_with_images_named(row, columns) for row in rows)
        return enumerate(map(_flattened, rows), start=1)
    if layout.form is Form.JSON:
        return (
            (line, _flattened(record))
            for line, record in json_records(table.lines(), file=file, problems=problems)
        )
    if layout.form is Form.DOCUMENT:
        return foreign.json_document_records(table, problems)
    if layout.form is Form.BULK:
        lines = json_records(table.lines(), file=file, problems=problems)
        return foreign.bulk_records(lines, file, problems)
    if layout.form is Form.LETOR:
        return foreign.letor_records(_texts(table.lines(), file, problems), file, problems)
    if layout.form is Form.SHEET:
        cells, _ = foreign.sheet_rows(table, folder)
        return foreign.sheet_records(
            cells, layout.columns, has_header=layout.has_header, has_index=layout.has_index
        )
    if layout.form is Form.SMART:
        return _smart_records(_texts(table.lines(), file, problems), file, problems)
    if layout.form is Form.DOCS:
        return _doc_records(table.lines(), file, problems)
    if layout.form is Form.SPACED:
        return _spaced_records(table.lines(), layout, file, problems)
    if layout.form is Form.TSV:
        return _tsv_records(table.lines(), layout, file, problems)
    return _csv_records(table.lines(), layout, file, problems)


def sample(table: Input, layout: Layout, *, folder: Path, n: int) -> list[tuple[int, Record]]:
    """Return the first `n` records that can be read; what is wrong among them is passed over."""
    rows: list[tuple[int, Record]] = []
    # So many bad ones tell enough: none of them is held, and the rest of the file is not read.
    with suppress(FileProblemsError):
        rows.extend(
            islice(records(table, layout, folder=folder, problems=Problems(PASSED_OVER)), n)
        )
    return rows


def parquet_rows(path: Path, file: str) -> Iterator[Record]:
    """Yield the rows of a Parquet file.

    Raises
    ------
    ArchiveError
        If it is damaged: also where its counts do not fit each other, which its pages alone tell.
    """
    import polars as pl

    number = 0
    try:
        lazy = pl.scan_parquet(path)
        n_told = lazy.select(pl.len()).collect().item()
        n_at_once = IMAGES_AT_ONCE if image_columns(path, file) else ROWS_AT_ONCE
        for batch in lazy.collect_batches(chunk_size=n_at_once, maintain_order=True, lazy=True):
            number += len(batch)
            yield from batch.iter_rows(named=True)
        has_lost_all = not number and _has_pages(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged_parquet(file, error) from error
    if number != n_told or has_lost_all:
        reason = f"the Parquet file says {n_told:,} rows and gives {number:,}; it is damaged, "
        raise ArchiveError(file=file, reason=reason + "write it again")


def image_columns(path: Path, file: str) -> tuple[str, ...]:
    """The columns of a Parquet file whose cells hold images: one, or a list of them.

    Such a cell is a struct of `bytes` and `path`, as the library `datasets` writes it, or, where
    the column has a name that images have, the bytes.

    Raises
    ------
    ArchiveError
        If it is damaged.
    """
    import polars as pl

    try:
        kinds = pl.read_parquet_schema(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged_parquet(file, error) from error
    return tuple(column for column, kind in kinds.items() if _holds_images(column, kind))


def _holds_images(column: str, kind: Any) -> bool:
    import polars as pl

    inner = kind.inner if isinstance(kind, pl.List) else kind
    if isinstance(inner, pl.Struct):
        return any(
            field.name == "bytes" and field.dtype in (pl.Binary, pl.Null) for field in inner.fields
        )
    return bool(inner == pl.Binary) and plain_name(column) in IMAGE_NAMES


def images_of_cell(cell: Any) -> list[tuple[str, bytes]]:
    """Of a cell of `image_columns`: what each image is called in its place, and its bytes.

    A name is `CELL`, a digest, and the path that is told; of a path alone it is that, and there are
    no bytes.

    >>> images_of_cell({"bytes": None, "path": "a.png"})
    [('a.png', b'')]
    """
    images = []
    for image in cell if isinstance(cell, list) else [cell]:
        data, path = (
            (image.get("bytes"), image.get("path")) if isinstance(image, dict) else (image, "")
        )
        if data or path:
            name = f"{CELL}{sha256(data).hexdigest()} {path or ''}".rstrip() if data else str(path)
            images.append((name, data or b""))
    return images


def _with_images_named(row: Record, columns: Iterable[str]) -> Record:
    return row | {column: _image_names(row[column]) for column in columns}


def _image_names(cell: Any) -> str | list[str]:
    names = [name for name, _ in images_of_cell(cell)]
    return names if isinstance(cell, list) else "".join(names)


def _has_pages(path: Path) -> bool:
    """Whether anything stands between the magic bytes and the footer."""
    with path.open("rb") as stream:
        size = stream.seek(-8, os.SEEK_END) + 8
        footer = int.from_bytes(stream.read(4), "little")
    return size - footer > len(PARQUET_MAGIC) + 8


def _texts(
    lines: Iterable[bytes], file: str, problems: Problems
) -> Iterator[tuple[int, str, bool]]:
    """Number and text of each line, and whether it was UTF-8; what is told to Excel is blank."""
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(BOM) if number == 1 else line
        if number == 1 and SEPARATOR.fullmatch(content):
            content = b"\n"
        try:
            yield number, content.decode(), True
        except UnicodeDecodeError as error:
            text = f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
            problems.add(file, number, text)
            yield number, content.decode(errors="replace"), False


def _csv_records(lines: Iterable[bytes], layout: Layout, file: str, problems: Problems) -> Records:
    numbers = _Counted(_texts(lines, file, problems))
    reader = csv.reader(numbers, delimiter=layout.delimiter, strict=True)
    n_before = int(layout.has_index)
    width = len(layout.columns) + n_before
    begins = 1
    if layout.has_header and not _header_is_good(reader, file, problems, n_before):
        return
    begins = numbers.line + 1
    numbers.was_good()
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = f"is not CSV: {error}; check the quotes, or save as JSON lines"
            problems.add(file, begins, problem, is_whole=True)
            return  # after a broken quote no line can be trusted
        if cells is None:
            return
        line, begins = begins, numbers.line + 1
        is_good = numbers.was_good()
        if not cells or not is_good:
            continue
        if len(cells) != width:
            text = f"has {len(cells)} cells; expected {width}, as in the first line. "
            problems.add(file, line, text + "Quote cells that hold the separator.")
            continue
        yield line, dict(zip(layout.columns, cells[n_before:], strict=True))


class _Counted:
    """Texts of lines, and the number of the one handed out last."""

    def __init__(self, lines: Iterator[tuple[int, str, bool]]) -> None:
        self.lines = lines
        self.line = 0
        self.is_good = True

    def was_good(self) -> bool:
        """Whether all lines since this was asked last were UTF-8."""
        was, self.is_good = self.is_good, True
        return was

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.line, text, is_good = next(self.lines)
        self.is_good = self.is_good and is_good
        return text


def _header_is_good(reader: Any, file: str, problems: Problems, n_before: int = 0) -> bool:
    try:
        rows = ([cell.strip() for cell in cells] for cells in reader)
        names = next((row for row in rows if row not in ([], [""])), [])[n_before:]
    except csv.Error as error:
        problem = f"is not CSV: {error}; check the quotes and the ends of lines"
        problems.add(file, reader.line_num, problem, is_whole=True)
        return False
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        problem = f"has two columns called '{twice[0]}'; give each column a name of its own"
        problems.add(file, reader.line_num, problem, is_whole=True)
    elif not all(names):
        problem = (
            f"column {names.index('') + 1} has no name; name it, or say that there is no header"
        )
        problems.add(file, reader.line_num, problem, is_whole=True)
    return not twice and all(names)


def _tsv_records(lines: Iterable[bytes], layout: Layout, file: str, problems: Problems) -> Records:
    width = len(layout.columns)
    for line, content in numbered(iter(lines), file=file, problems=problems):
        try:
            # The last column is what remains: texts of such files hold tabs of their own.
            cells = content.decode().split("\t", width - 1)
        except UnicodeDecodeError as error:
            problem = f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
            problems.add(file, line, problem)
            continue
        if len(cells) != width:
            problem = f"has {len(cells)} columns; expected {width}, separated by one TAB. "
            problems.add(file, line, problem + "Complete the line or drop it.")
            continue
        yield line, dict(zip(layout.columns, cells, strict=True))


def _spaced_records(
    lines: Iterable[bytes], layout: Layout, file: str, problems: Problems
) -> Records:
    width = len(layout.columns)
    for line, text, is_good in _texts(lines, file, problems):
        cells = text.split() if is_good else []
        if not cells or text.startswith("#"):
            continue
        if len(cells) != width:
            problem = f"has {len(cells)} columns; expected {width}, separated by spaces. "
            problems.add(file, line, problem + "Complete the line or drop it.")
            continue
        yield line, dict(zip(layout.columns, cells, strict=True))


def _smart_records(
    lines: Iterable[tuple[int, str, bool]], file: str, problems: Problems
) -> Records:
    begins, field = 0, ""
    has_strays = False
    record: dict[str, list[str]] = {}
    in_all: set[str] | None = None
    is_whole = True
    for number, raw, is_good in lines:
        text = raw.rstrip("\r\n")
        mark = SMART_LINE.match(text)
        if mark and "I" in mark.groups():
            if record:
                in_all = record.keys() & in_all if in_all else set(record)
            if record and is_whole:
                yield begins, _smart(record)
            begins, field, record = number, "I", {"I": [mark[2] or ""]}
            is_whole = True
        elif mark:
            field = mark[3]
            record.setdefault(field, [])
        elif record:
            record[field].append(text)
        elif text.strip() and not has_strays:
            has_strays = True
            problems.warn(file, number, "stands before the first record (.I) and is left out")
        is_whole = is_whole and is_good
    if record and is_whole:
        yield begins, _smart(record)
    if lacks := sorted((in_all or set()) - record.keys()):
        problem = f"the last record has no .{lacks[0]}, as all before it have. If the file was cut "
        problems.warn(file, begins, problem + "short there, write it again and take it whole")


def _smart(record: dict[str, list[str]]) -> Record:
    return {"title": "", "text": ""} | {
        SMART_NAMES.get(letter, letter): "\n".join(lines).strip()
        for letter, lines in record.items()
    }


def _doc_records(lines: Iterable[bytes], file: str, problems: Problems) -> Records:
    block: list[bytes] = []
    begins = size = 0
    for number, line in enumerate(lines, start=1):
        if not block:
            if not DOC_START.search(line):
                continue
            begins, size = number, 0
        block.append(line)
        size += len(line)
        if DOC_END.search(line):
            yield from _doc(b"".join(block), begins, file, problems)
            block = []
        elif size > LONGEST_BLOCK:
            problem = f"<DOC> has no </DOC> within {LONGEST_BLOCK >> 20} MiB; close each document"
            problems.add(file, begins, problem, is_whole=True)
            return
    if block:
        problem = "<DOC> is never closed; expected </DOC>. The file may have been cut short."
        problems.add(file, begins, problem, is_whole=True)


def _doc(block: bytes, line: int, file: str, problems: Problems) -> Records:
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        at = line + block.count(b"\n", 0, error.start)
        problem = f"byte 0x{block[error.start]:02X} is not UTF-8; save the file as UTF-8"
        problems.add(file, at, problem)
        return
    number, title = DOCNO.search(text), DOC_TITLE.search(text)
    if number is None:
        problems.add(file, line, "<DOC> has no <DOCNO>; give each document its id")
        return
    rest = DOCNO.sub(" ", text, count=1)
    if title:
        rest = rest.replace(title[0], " ", 1)
    yield (
        line,
        {
            "id": number[1].strip(),
            "title": _untagged(title[2]) if title else "",
            "text": _untagged(rest),
        },
    )


def _untagged(text: str) -> str:
    return html.unescape(TAG.sub(" ", text)).strip()
