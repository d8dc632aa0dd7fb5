"""Reading a list of queries of whatever shape, as a stream."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.contamination.errors import OutsideColumnError
from benchwright.errors import News, Problems, ToldProblems
from benchwright.files.inputs import FileInput
from benchwright.formats.beir import BOM
from benchwright.formats.mapping import plain_name
from benchwright.formats.tables import Form, Head, Layout, cells_of, head_of, layout_of, records
from benchwright.sandbox import reader
from benchwright.uploads.row_streams import with_news

TEXT_COLUMNS = (
    *("text", "query", "query_text", "question", "title", "claim", "prompt", "anchor"),
    *("sentence1", "utterance", "search_query"),
)
DOCUMENT_COLUMNS = (
    *("relevant", "relevant_documents", "positives", "positive", "positive_passages", "pos"),
    *("positive_ids", "docids", "doc_ids", "docid", "doc_id", "corpus_id", "pid"),
)
ID_KEYS = ("docid", "_id", "id", "doc_id", "pid")
# Of a table without names: an id, the query, and perhaps its documents, as MS MARCO has them.
UNNAMED = {1: (0, None), 2: (1, None)}


@dataclass(frozen=True, slots=True)
class OutsideQuery:
    """A query of the list, the line it stands on, and ids of its relevant documents if given."""

    line: int
    text: str
    documents: tuple[str, ...] = ()


def read_outside(
    path: Path, *, file: str, folder: Path, problems: Problems
) -> Iterator[OutsideQuery]:
    """Yield the queries of a file: a query a line, or a table of any shape, plain or compressed.

    A table is JSON lines, Parquet, CSV with a header, or TSV with or without one. Without a header
    a lone column is the query; otherwise the second is, and a third holds relevant documents.

    Parameters
    ----------
    folder
        For a copy of a compressed Parquet file.

    Raises
    ------
    OutsideColumnError
        If a table names no column that may hold queries.
    """
    source = FileInput(path, file)
    head = head_of(source)
    if _is_plain(head, file):
        return _plain_lines(source, file, problems)
    layout = layout_of(source, head, folder)
    text, documents = _columns(layout, file)
    rows = records(source, layout, folder=folder, problems=problems)
    return _table_rows(rows, text, documents, file, problems)


@reader
def sent_outside(path: Path, name: str, folder: Path, limit: int) -> Iterator[OutsideQuery | News]:
    """As `read_outside`, with its problems between the queries."""
    problems = ToldProblems(limit)
    yield from with_news(read_outside(path, file=name, folder=folder, problems=problems), problems)


def _is_plain(head: Head, file: str) -> bool:
    """Whether each line is a query: commas are part of queries, unless a header says otherwise."""
    lines = [line for line in head.lines if line.strip()]
    if head.is_parquet or not lines or lines[0].lstrip().startswith((b"{", b"[")):
        return not lines and not head.is_parquet
    if all(b"\t" in line for line in lines):
        return False
    first = lines[0].decode(errors="replace")
    cells = cells_of(first, max(",;", key=first.count))
    names = set(map(plain_name, cells))
    is_named = bool(names & set(TEXT_COLUMNS)) and (len(names) > 1 or ".csv" in file.lower())
    return not is_named


def _plain_lines(source: FileInput, file: str, problems: Problems) -> Iterator[OutsideQuery]:
    for number, line in enumerate(source.lines(), start=1):
        content = line.removeprefix(BOM) if number == 1 else line
        try:
            text = content.decode().strip()
        except UnicodeDecodeError as error:
            problem = f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
            problems.add(file, number, problem)
            continue
        if text:
            yield OutsideQuery(number, text)


def _columns(layout: Layout, file: str) -> tuple[str, str | None]:
    """The column of the queries, and that of their documents if there is one."""
    columns = layout.columns
    if layout.form is Form.TSV or (layout.form is Form.CSV and not layout.has_header):
        text, documents = UNNAMED.get(len(columns), (1, 2))
        return columns[text], None if documents is None else columns[documents]
    named = {plain_name(column): column for column in reversed(columns)}
    text_column = next((named[name] for name in TEXT_COLUMNS if name in named), None)
    if text_column is None:
        raise OutsideColumnError(file=file, columns=", ".join(columns[:12]) or "none")
    return text_column, next((named[name] for name in DOCUMENT_COLUMNS if name in named), None)


def _table_rows(
    rows: Any, text: str, documents: str | None, file: str, problems: Problems
) -> Iterator[OutsideQuery]:
    for line, record in rows:
        value = record.get(text)
        if not isinstance(value, str) or not value.strip():
            cell = json.dumps(value, ensure_ascii=False, default=str)[:40]
            problems.add(file, line, f"{text} is {cell}; expected the words of a query")
            continue
        try:
            value.encode()
        except UnicodeEncodeError:
            problem = f"{text} holds half a character (a lone surrogate); write it as UTF-8"
            problems.add(file, line, problem)
            continue
        listed = record.get(documents) if documents else None
        yield OutsideQuery(line, value.strip(), tuple(_documents(listed)))


def _documents(value: Any) -> Iterator[str]:
    """Ids in a list, a list of objects, or a text with blanks between."""
    if isinstance(value, str):
        yield from value.replace(",", " ").split()
    elif isinstance(value, int):
        yield str(value)
    elif isinstance(value, list):
        for document in value:
            if isinstance(document, dict):
                document = next((document[key] for key in ID_KEYS if key in document), None)
            if isinstance(document, str | int):
                yield str(document)
