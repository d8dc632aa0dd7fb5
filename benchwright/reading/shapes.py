"""What kind of file a run or qrels are; its first line says, or its first bytes.

Besides TREC's own six and four columns there are MS MARCO's runs (query, document, rank), qrels of
three columns with BEIR's header or without, and runs as JSON or Parquet.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchwright.errors import Problems
from benchwright.files.sources import open_inflated, refuse_no_lines, settled, shown_name
from benchwright.formats.mapping import GRADE_NAMES
from benchwright.formats.numbers import whole
from benchwright.formats.trec import (
    BYTE_ORDER_MARK,
    QrelRow,
    RunRow,
    grade_problem,
    numbered_columns,
    split_columns,
    whole_number,
)

PARQUET_MAGIC = b"PAR1"
READ_AS_RANKING = (
    "3 columns; expected 6. Read as MS MARCO's query, document and rank: a score is minus the "
    "rank. Is it something else, write a TREC run."
)
READ_AS_THREE = (
    "3 columns and no header; expected 4 columns. Read as query, document and grade: put a 0 "
    "between the first two, or BEIR's header above."
)

_HEAD_BYTES = 1 << 16
_JSON = re.compile(rb'\s*\{\s*(["}]|$)')
# What headers of three-column qrels hold, lower-case and with hyphens.
_HEADER = (
    {b"query-id", b"qid", b"q-id", b"query", b"topic"},
    {b"corpus-id", b"docid", b"doc-id", b"pid", b"document"},
    {name.replace("_", "-").encode() for name in GRADE_NAMES},
)


class Shape(NamedTuple):
    """`trec`, `three` (columns), `beir` (three with a header), `json` or `parquet`; `line` is the
    first that is neither blank nor a comment, 0 where there is none."""

    kind: str
    line: int = 0


def run_shape(path: Path) -> Shape:
    """What kind of run a file is; `trec` where it can be nothing else.

    Raises
    ------
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated, or holds no lines of text.
    """
    head = _head_of(path)
    if head.startswith(PARQUET_MAGIC) and _ends_like_parquet(path):
        return Shape("parquet")
    refuse_no_lines(head, shown_name(path))
    if _JSON.match(head.removeprefix(BYTE_ORDER_MARK)):
        return Shape("json")
    line, columns = _first_columns(head)
    # Who lost three columns of a TREC run still has its Q0.
    is_three = len(columns) == 3 and columns[1].upper() != b"Q0" and columns[2].isdigit()
    return Shape("three" if is_three else "trec", line)


def qrels_shape(path: Path) -> Shape:
    """What kind of qrels a file holds; `trec` where it can be nothing else.

    Raises
    ------
    ArchiveError, MissingFileError
        If there is no such file, or it cannot be inflated, or holds no lines of text.
    """
    head = _head_of(path)
    refuse_no_lines(head, shown_name(path))
    line, columns = _first_columns(head)
    if len(columns) != 3:
        return Shape("trec", line)
    names = (column.lower().replace(b"_", b"-") for column in columns)
    if all(name in known for name, known in zip(names, _HEADER, strict=True)):
        return Shape("beir", line)
    return Shape("three" if whole(columns[2]) is not None else "trec", line)


def _head_of(path: Path) -> bytes:
    with open_inflated(path) as stream:
        return stream.read(_HEAD_BYTES)


def _ends_like_parquet(path: Path) -> bool:
    with settled(path).open("rb") as stream:
        stream.seek(0, 2)
        stream.seek(-min(len(PARQUET_MAGIC), stream.tell()), 2)
        return stream.read() == PARQUET_MAGIC


def _first_columns(head: bytes) -> tuple[int, list[bytes]]:
    for number, line in enumerate(head.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        columns = split_columns(line)
        if columns and not columns[0].startswith(b"#"):
            return number, columns
    return 0, []


def read_ranking(
    lines: Iterable[bytes], *, file: str, problems: Problems, first: int = 1, told: bool = False
) -> Iterator[RunRow]:
    """Rows of a run of three columns: query, document, rank; warned of, unless it was `told`.

    Raises
    ------
    FileProblemsError
        When `problems` has reached its limit.
    """
    columns_of = numbered_columns(lines, file=file, problems=problems, first=first)
    for number, columns in columns_of:
        if not told:
            problems.warn(file, number, READ_AS_RANKING)
            told = True
        rank = whole_number(columns[2]) if len(columns) == 3 else None
        if rank is None:
            text = "expected 3 columns (query, document, whole-number rank), as in the first line"
            problems.add(file, number, f"{text}. Correct the line or drop it.")
        else:
            yield RunRow(number, columns[0], columns[1], -float(rank), rank)


def read_three_qrels(
    lines: Iterable[bytes], *, shape: Shape, file: str, problems: Problems
) -> Iterator[QrelRow]:
    """Rows of qrels of three columns: query, document, grade; warned of where no header says so.

    Raises
    ------
    FileProblemsError
        When `problems` has reached its limit.
    """
    for number, columns in numbered_columns(lines, file=file, problems=problems):
        if number == shape.line and shape.kind == "beir":
            continue
        if number == shape.line:
            problems.warn(file, number, READ_AS_THREE)
        if len(columns) != 3:
            text = "expected 3 columns (query, document, grade), as in the first line"
            problems.add(file, number, f"{text}. Correct the line or drop it.")
        elif (grade := whole(columns[2])) is None:
            problems.add(file, number, grade_problem(columns[2]))
        else:
            yield QrelRow(number, columns[0], columns[1], grade)
