"""Queries from a file of texts, and their families as a file."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from benchwright.errors import Problems
from benchwright.families.errors import QueryFileError
from benchwright.families.grouping import GroupedQueries
from benchwright.families.linking import QueryText
from benchwright.files.sources import open_lines, shown_name
from benchwright.formats.beir import BOM
from benchwright.formats.mapping import Content, guessed
from benchwright.formats.tables import SEPARATOR, cells_of
from benchwright.formats.trec_topics import read_topics
from benchwright.ids import id_problem

_IDS = ("_id", "id", "qid", "query-id", "query_id")
_TEXTS = ("text", "query", "question", "title")
TOPIC = re.compile(r"<top(ic)?[\s>]|<topics|<\?xml", re.IGNORECASE)
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
FAMILY_COLUMNS = ("query-id", "family", "doubt", "review", "why", "text")
LINK_COLUMNS = ("query-a", "query-b", "reason", "similarity", "text-a", "text-b")


def read_query_texts(path: Path) -> list[QueryText]:
    """The queries of JSON lines, TSV, CSV, TREC topics, or a query a line; also compressed.

    JSON lines and headed tables name the columns (`_id` or `qid`, `text` or `query`); a table
    without a header is id and text; a query alone on its line has the number of the line as its id.

    Raises
    ------
    FileProblemsError
        With every wrong line.
    QueryFileError
        If there is no query in it.
    """
    file = shown_name(path)
    problems = Problems()
    queries: dict[str, QueryText] = {}
    lines_of: dict[str, int] = {}
    for number, *cells in _rows(path, file, problems):
        qid, text = (cell.strip() for cell in cells)
        if not qid or not text:
            problems.add(file, number, "has no id or no text. Give it both, or drop the line.")
            continue
        if qid in queries:
            problem = f"query '{qid}' was on line {lines_of[qid]} before; expected each id once."
            problems.add(file, number, f"{problem} Drop one of the lines.")
            continue
        if reason := id_problem(qid):
            problems.add(file, number, f"query id {qid!r:.40}: {reason}")
            continue
        if not text.isascii() and HALF_CHARACTER.search(text):
            problem = "the text holds half a character (a lone surrogate). Write it as UTF-8."
            problems.add(file, number, problem)
            continue
        queries[qid], lines_of[qid] = QueryText(qid, text), number
    problems.raise_found()
    if not queries:
        reason = "holds no query. Expected JSON lines, TSV, CSV, or a query a line."
        raise QueryFileError(file=file, reason=reason)
    return list(queries.values())


def _texts(path: Path, file: str, problems: Problems) -> Iterator[tuple[int, str]]:
    """Every line from the first that holds any on, as text; what is no UTF-8 is blank."""
    has_begun = False
    for number, line in enumerate(open_lines(path), start=1):
        content = line.removeprefix(BOM) if number == 1 else line
        try:
            text = content.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            problems.add(file, number, "is not UTF-8. Save the file as UTF-8.")
            text = ""
        is_told_to_excel = number == 1 and SEPARATOR.fullmatch(content)
        has_begun = has_begun or bool(text.strip() and not is_told_to_excel)
        if has_begun:
            yield number, text


def _rows(path: Path, file: str, problems: Problems) -> Iterator[tuple[int, str, str]]:
    """Line number, id and text of each query."""
    lines = _texts(path, file, problems)
    first = next(lines, None)
    if first is None:
        return
    begins, head = first
    lines = chain([first], lines)
    if TOPIC.match(head.lstrip()):
        content = b"".join(open_lines(path))
        for topic in read_topics(content, file=file, problems=problems):
            yield topic.line, topic.qid, topic.text
    elif head.lstrip().startswith("{"):
        yield from _json_rows(lines, file, problems)
    elif delimiter := _delimiter(head, file):
        rows = _csv_rows(lines, delimiter, begins, file, problems)
        if delimiter == "\t":  # quotes are text there
            rows = ((number, line.split("\t")) for number, line in lines if line.strip())
        yield from _table_rows(rows, _header(cells_of(head, delimiter)), file, problems)
    else:
        yield from ((number, str(number), line) for number, line in lines if line.strip())


def _delimiter(head: str, file: str) -> str:
    """What stands between the cells of a table that begins so; empty where it is none.

    Commas are part of queries, unless a header or the name of the file says otherwise.
    """
    if "\t" in head:
        return "\t"
    delimiter = max(",;", key=head.count)
    return delimiter if ".csv" in file.lower() or _header(cells_of(head, delimiter)) else ""


def _header(cells: Sequence[str]) -> tuple[int, int] | None:
    """The places of id and text, if the first line names them."""
    columns = guessed(Content.QUERIES, cells)
    if not columns.keys() >= {"id", "text"}:
        return None
    return cells.index(columns["id"]), cells.index(columns["text"])


def _csv_rows(
    lines: Iterator[tuple[int, str]], delimiter: str, begins: int, file: str, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """The line that each row begins in, and its cells, which may hold line breaks in quotes."""
    reader = csv.reader((f"{line}\n" for _, line in lines), delimiter=delimiter, strict=True)
    while True:
        number = begins + reader.line_num
        try:
            cells = next(reader, None)
        except csv.Error as error:
            problem = f"is not CSV: {error}; check the quotes, or save as JSON lines"
            problems.add(file, number, problem, is_whole=True)
            return
        if cells is None:
            return
        if any(map(str.strip, cells)):
            yield number, cells


def _table_rows(
    rows: Iterator[tuple[int, list[str]]],
    header: tuple[int, int] | None,
    file: str,
    problems: Problems,
) -> Iterator[tuple[int, str, str]]:
    qids, texts = header or (0, 1)
    n_columns = max(qids, texts) + 1
    for number, cells in islice(rows, int(header is not None), None):
        if len(cells) >= n_columns:
            yield number, cells[qids], cells[texts]
        else:
            problem = f"has fewer than {n_columns} columns. Mend or drop the line."
            problems.add(file, number, problem)


def _json_rows(
    lines: Iterator[tuple[int, str]], file: str, problems: Problems
) -> Iterator[tuple[int, str, str]]:
    for number, line in lines:
        if line.strip():
            row = _of_json(line)
            if row is None:
                problem = 'is no JSON object with an id ("_id") and a text ("text"). '
                problems.add(file, number, problem + "Mend or drop the line.")
            else:
                yield number, *row


def _of_json(line: str) -> tuple[str, str] | None:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    qid = next((row[key] for key in _IDS if key in row), None)
    text = next((row[key] for key in _TEXTS if isinstance(row.get(key), str)), None)
    return (str(qid), text) if qid is not None and text is not None else None


def family_lines(groups: GroupedQueries, texts: dict[str, str]) -> Iterator[str]:
    """A line a query, under a header: its family (its first id), doubt, and whether to look."""
    yield "\t".join(FAMILY_COLUMNS) + "\n"
    for family in groups.families:
        for qid in family.members:
            review = "yes" if family.is_flagged else "no"
            cells = (qid, family.name, f"{family.doubt:.4f}", review, family.why)
            yield "\t".join([*cells, _one_line(texts[qid])]) + "\n"


def link_lines(groups: GroupedQueries, texts: dict[str, str]) -> Iterator[str]:
    """A line a link, under a header: two queries, the reason, the similarity, both texts."""
    yield "\t".join(LINK_COLUMNS) + "\n"
    for link in groups.links:
        both = [_one_line(texts[qid]) for qid in (link.a, link.b)]
        cells = (link.a, link.b, link.reason.value, f"{link.similarity:.4f}")
        yield "\t".join([*cells, *both]) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
