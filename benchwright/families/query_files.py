"""Queries from a file of texts, and their families as a file."""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any

from benchwright.errors import Problems
from benchwright.families.errors import QueryFileError
from benchwright.families.grouping import GroupedQueries
from benchwright.families.linking import QueryText
from benchwright.files.sources import open_lines, shown_name
from benchwright.ids import id_problem

_IDS = ("_id", "id", "qid", "query-id", "query_id")
_TEXTS = ("text", "query", "question", "title")
_BOM = "\ufeff"
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
FAMILY_COLUMNS = ("query-id", "family", "doubt", "review", "why", "text")
LINK_COLUMNS = ("query-a", "query-b", "reason", "similarity", "text-a", "text-b")


def read_query_texts(path: Path) -> list[QueryText]:
    """The queries of JSON lines, TSV, CSV, or of a text with a query a line; also compressed.

    JSON lines and headed tables name the columns (`_id` or `qid`, `text` or `query`); a TSV without
    a header is id and text; a query alone on its line has the number of the line as its id.

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
    for number, qid, text in _rows(_texts(open_lines(path), file, problems), file, problems):
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


def _texts(lines: Iterable[bytes], file: str, problems: Problems) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, as text."""
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8").rstrip("\r\n").removeprefix(_BOM)
        except UnicodeDecodeError:
            problems.add(file, number, "is not UTF-8. Save the file as UTF-8.")
            continue
        if text.strip():
            yield number, text


def _rows(
    lines: Iterator[tuple[int, str]], file: str, problems: Problems
) -> Iterator[tuple[int, str, str]]:
    """Line number, id and text of each query."""
    first = next(lines, None)
    if first is None:
        return
    is_json = first[1].lstrip().startswith("{")
    delimiter = "\t" if "\t" in first[1] else "," if file.endswith((".csv", ".csv.gz")) else ""
    columns = _header(first[1], delimiter) if delimiter else None
    if columns is None:
        lines = chain([first], lines)
    for number, line in lines:
        if is_json:
            row = _of_json(line)
        elif delimiter:
            row = _of_table(line, delimiter, columns or (0, 1))
        else:
            row = str(number), line
        if row is None:
            problems.add(file, number, _expected(is_json, columns))
        elif not row[0].strip() or not row[1].strip():
            problems.add(file, number, "has no id or no text. Give it both, or drop the line.")
        else:
            yield number, row[0].strip(), row[1].strip()


def _expected(is_json: bool, columns: tuple[int, int] | None) -> str:
    if is_json:
        return 'is no JSON object with an id ("_id") and a text ("text"). Mend or drop the line.'
    return f"has fewer than {max(columns or (0, 1)) + 1} columns. Mend or drop the line."


def _header(line: str, delimiter: str) -> tuple[int, int] | None:
    """The places of id and text, if the first line names them."""
    names = [cell.strip().casefold() for cell in _cells(line, delimiter)]
    ids = [names.index(name) for name in _IDS if name in names]
    texts = [names.index(name) for name in _TEXTS if name in names]
    return (ids[0], texts[0]) if ids and texts else None


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == "\t":
        return line.split("\t")
    return next(csv.reader(StringIO(line)), [])


def _of_table(line: str, delimiter: str, columns: tuple[int, int]) -> tuple[str, str] | None:
    cells = _cells(line, delimiter)
    return (cells[columns[0]], cells[columns[1]]) if len(cells) > max(columns) else None


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
