"""Queries as CSV, JSON lines or a table without header, and lists of document ids."""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import Any

from benchwright.errors import Problems
from benchwright.formats.beir import (
    BOM,
    CorpusRow,
    QueryRow,
    is_new,
    json_records,
    numbered,
    text_problem,
)
from benchwright.ids import id_problem

ID_COLUMNS = ("qid", "query-id", "query_id", "_id", "id")
TEXT_COLUMNS = ("text", "query", "query_text", "title")
MORE_COLUMNS = (
    *("description", "narrative", "lang", "frequency", "first_seen", "last_seen", "clicks", "tags"),
)
DOCID_HEADERS = ("docid", "doc_id", "doc-id", "corpus-id", "_id")
DELIMITERS = ("\t", ";", ",")
TAG_SEPARATOR = re.compile(r"[;|,]")
EXPECTED = "a column qid (or query-id, query_id, _id, id) and a column text (or query)"
LARGEST_COUNT = 2**63 - 1


def query_table_rows(
    lines: Iterable[bytes], *, file: str, problems: Problems
) -> Iterator[QueryRow]:
    """Yield queries of whichever form the first line shows: JSON lines, CSV or headless TSV."""
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        problems.add(file, 0, f"is empty; expected a header with {EXPECTED}")
        return iter(())
    return _reader_for(first)(chain([first], rest), file=file, problems=problems)


def _reader_for(first: bytes) -> Callable[..., Iterator[QueryRow]]:
    line = first.removeprefix(BOM).strip()
    if line.startswith(b"{"):
        return json_query_rows
    header = _header_fields(line.decode(errors="replace"))
    return csv_query_rows if any(name in ID_COLUMNS for name in header) else tsv_query_rows


def _header_fields(line: str) -> list[str]:
    fields = next(csv.reader([line], delimiter=_delimiter_of(line)), [])
    return [field.strip().lower() for field in fields]


def _delimiter_of(header: str) -> str:
    """Return what separates the columns: spreadsheets write semicolons in half of Europe."""
    return max(DELIMITERS, key=header.count)


# One row, whatever it was written in


def _query_row(
    fields: dict[str, Any], line: int, *, file: str, problems: Problems
) -> QueryRow | None:
    """Return the row that named fields make, or None with what is wrong told."""
    known = {name: fields.pop(name, None) for name in MORE_COLUMNS}
    known["id"] = _first_of(fields, ID_COLUMNS)
    known["text"] = _first_of(fields, TEXT_COLUMNS)
    return query_row(known, fields, line, file=file, problems=problems)


def query_row(
    known: dict[str, Any], others: dict[str, Any], line: int, *, file: str, problems: Problems
) -> QueryRow | None:
    """Return the row of what is known of a query, by field, and of other columns.

    What is wrong is told, and the row is None.
    """
    said = dict.fromkeys(MORE_COLUMNS) | known
    qid, text = said.get("id"), said.get("text")
    reasons = [_id_reason(qid), _text_reason(text), *_more_reasons(said), _kept_reason(others)]
    found = [reason for reason in reasons if reason]
    for reason in found:
        problems.add(file, line, reason)
    if found or not isinstance(qid, str) or not isinstance(text, str):
        return None
    tags = _tags_of(said["tags"])
    return QueryRow(
        line,
        qid,
        text,
        metadata=others | ({"tags": tags} if tags else {}),
        description=said["description"] or "",
        narrative=said["narrative"] or "",
        lang=said["lang"] or "",
        frequency=_count_of(said["frequency"]),
        first_seen=(said["first_seen"] or "").strip(),
        last_seen=(said["last_seen"] or "").strip(),
        clicks=_clicks_of(said["clicks"]) or {},
        family=said.get("family") or "",
    )


def _tags_of(value: object) -> list[str]:
    """Tags of a list, or of a cell that separates them by `;`, `|` or `,`."""
    parts = value if isinstance(value, list) else TAG_SEPARATOR.split(str(value or ""))
    return [tag for part in parts if (tag := str(part).strip())]


def _clicks_of(value: object) -> dict[str, int] | None:
    """Counts by document id of an object or of its JSON; None where it is neither."""
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if not isinstance(value, dict):
        return None
    clicks = {str(docid): _count_of(n) for docid, n in value.items() if n is not None}
    good = {docid: n for docid, n in clicks.items() if n is not None and not id_problem(docid)}
    return good if len(good) == len(clicks) else None


def _first_of(fields: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Take the first of these fields out and return it; the others stay as metadata."""
    name = next((name for name in names if name in fields), None)
    return fields.pop(name) if name else None


def _id_reason(qid: object) -> str | None:
    if qid is None:
        return f"has no query id; expected {EXPECTED}"
    if not isinstance(qid, str):
        return f'query id is {json.dumps(qid)[:60]}; expected a string: write "{qid}"'
    reason = id_problem(qid)
    return f"query id {qid[:60]!r}: {reason}" if reason else None


def _text_reason(text: object) -> str | None:
    if text is None:
        return f"has no text; expected {EXPECTED}"
    if not isinstance(text, str):
        return f"text is {json.dumps(text)[:60]}; expected a string"
    if not text.strip():
        return "text is empty; a query needs words"
    reason = text_problem(text)
    return f"text {reason}" if reason else None


def _more_reasons(known: dict[str, Any]) -> Iterator[str]:
    for name in ("description", "narrative", "lang", "first_seen", "last_seen"):
        value = known[name]
        if value is not None and not isinstance(value, str):
            yield f"{name} is {json.dumps(value)[:60]}; expected a string"
            known[name] = ""
        elif value and text_problem(value):
            yield f"{name} {text_problem(value)}"
    if _count_of(known["frequency"]) is None and known["frequency"] not in (None, ""):
        yield f"frequency is {known['frequency']!r:.60}; expected a whole number from 0 up"
    for name in ("first_seen", "last_seen"):
        if known[name] and not _is_time(known[name]):
            yield (
                f"{name} is {known[name][:40]!r}; "
                "expected a date or time such as 2024-05-31 or 2024-05-31T09:30:00Z"
            )
    if _clicks_of(known["clicks"]) is None:
        yield (
            f"clicks is {str(known['clicks'])[:40]!r}; expected an object of counts by document id "
            'such as {"d1": 3}'
        )
    tags = known["tags"]
    if tags is not None and not isinstance(tags, str | list):
        yield f"tags is {json.dumps(tags, default=str)[:40]}; expected a list, or 'one; two'"
        known["tags"] = None


def _count_of(value: object) -> int | None:
    if isinstance(value, str):
        text = value.strip()
        value = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 <= value <= LARGEST_COUNT else None  # type: ignore[operator,return-value]


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text.strip())
    except ValueError:
        return False
    return True


def _kept_reason(fields: dict[str, Any]) -> str | None:
    """Return why the columns of other names cannot be kept as metadata."""
    try:
        written = json.dumps(fields, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return "holds a number too large for JSON readers; write it as a string"
    reason = "holds a NUL character (U+0000); remove it" if "\\u0000" in written else None
    return reason or text_problem(written)


# CSV


def csv_query_rows(lines: Iterable[bytes], *, file: str, problems: Problems) -> Iterator[QueryRow]:
    """Yield the queries of a CSV with header; cells may hold quoted line breaks.

    The delimiter is whichever of comma, semicolon and TAB the header has most of. Columns of
    other names are kept as metadata.
    """
    text_lines = _decoded(lines, file, problems)
    header = next(text_lines, None)
    if header is None:
        problems.add(file, 0, f"is empty; expected a header with {EXPECTED}")
        return
    names = _header_fields(header)
    missing = _header_problem(names)
    if missing:
        problems.add(file, 1, missing)
        return
    rows = csv.reader(text_lines, delimiter=_delimiter_of(header), strict=True)
    first_lines: dict[str, int] = {}
    for line, cells in _csv_cells(rows, file, problems):
        if len(cells) != len(names):
            text = f"has {len(cells)} cells, the header has {len(names)}; quote cells with commas"
            problems.add(file, line, text)
            continue
        row = _query_row(dict(zip(names, cells, strict=True)), line, file=file, problems=problems)
        if row and is_new(row.qid, first_lines, file=file, line=line, problems=problems):
            yield row


def _header_problem(names: list[str]) -> str | None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        return f"has two columns called {repeated[0]!r}; give each column a name of its own"
    if not set(names) & set(ID_COLUMNS) or not set(names) & set(TEXT_COLUMNS):
        return f"the header is {', '.join(names)[:100]}; expected {EXPECTED}"
    return None


def _csv_cells(rows: Any, file: str, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield the line each row begins on, and its cells; blank lines end up nowhere."""
    while True:
        line = rows.line_num + 2  # the reader counts what it has read, after the header
        try:
            cells = next(rows, None)
        except csv.Error as error:
            problems.add(file, line, f"is not CSV: {error}; check the quotes")
            return  # after a broken quote no line can be trusted
        if cells is None:
            return
        if cells:
            yield line, cells


def _decoded(lines: Iterable[bytes], file: str, problems: Problems) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(BOM) if number == 1 else line
        try:
            yield content.decode()
        except UnicodeDecodeError as error:
            text = f"byte {error.start + 1} is not UTF-8; save the file as CSV UTF-8"
            problems.add(file, number, text)
            yield content.decode(errors="replace")


# JSON lines and TSV


def json_query_rows(lines: Iterator[bytes], *, file: str, problems: Problems) -> Iterator[QueryRow]:
    """Yield the queries of a JSON lines file, with the fields that a CSV has as columns."""
    first_lines: dict[str, int] = {}
    for line, record in json_records(lines, file=file, problems=problems):
        fields = dict(record)
        metadata = fields.pop("metadata", None) or {}
        if not isinstance(metadata, dict):
            problems.add(file, line, 'metadata is not an object; write "metadata": {}')
            continue
        row = _query_row({**metadata, **fields}, line, file=file, problems=problems)
        if row and is_new(row.qid, first_lines, file=file, line=line, problems=problems):
            yield row


def tsv_query_rows(lines: Iterator[bytes], *, file: str, problems: Problems) -> Iterator[QueryRow]:
    """Yield the queries of a table without header: query id, TAB, text."""
    first_lines: dict[str, int] = {}
    for line, content in numbered(lines, file=file, problems=problems):
        try:
            qid, found, text = content.decode().partition("\t")
        except UnicodeDecodeError as error:
            problems.add(file, line, f"byte {error.start + 1} is not UTF-8; save it as UTF-8")
            continue
        if not found:
            text = f"has no TAB; expected query id, TAB, text, or a header with {EXPECTED}"
            problems.add(file, line, text)
            continue
        row = _query_row({"qid": qid, "text": text}, line, file=file, problems=problems)
        if row and is_new(row.qid, first_lines, file=file, line=line, problems=problems):
            yield row


def docid_rows(lines: Iterator[bytes], *, file: str, problems: Problems) -> Iterator[CorpusRow]:
    """Yield the documents of a list of ids, one a line, for a corpus without texts.

    A first line that says `docid` (or doc_id, doc-id, corpus-id, _id) is a header.
    """
    for line, content in numbered(lines, file=file, problems=problems):
        docid = content.decode(errors="surrogateescape")
        if line == 1 and docid in DOCID_HEADERS:
            problems.warn(file, 1, f"{docid!r} was taken as the header, not as a document")
            continue
        reason = id_problem(docid)
        if reason:
            problems.add(file, line, f"document id {docid[:60]!r}: {reason}")
        else:
            yield CorpusRow(line, docid)
