"""TREC runs and qrels, read and written line by line; ids stay the bytes they are.

Columns are separated by ASCII spaces and tabs, never by other white space: U+00A0 or U+3000 may be
part of an id. Blank lines and lines beginning with `#` are passed over; one byte order mark at the
start of a file is left out, with a warning. What cannot be read is told to `problems`, and reading
goes on with the next line.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from benchmarks_app.core.formats.trec_topics import TopicRow, read_topics
from benchmarks_app.core.problems import Problems

__all__ = [
    "QrelRow",
    "RunRow",
    "TopicRow",
    "read_qrels",
    "read_run",
    "read_topics",
    "write_qrels",
    "write_run",
]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DEFAULT_TAG = b"run"

_SEPARATORS = re.compile(rb"[ \t\r]+")
_INTEGER = re.compile(rb"[+-]?[0-9]{1,9}")
_SHOWN_BYTES = 40


class RunRow(NamedTuple):
    """One result: `rank` is None where that column is no whole number, `tag` empty where missing.

    `line` counts from 1 and is 0 for a row that no file holds.
    """

    line: int
    qid: bytes
    docid: bytes
    score: float
    rank: int | None = None
    tag: bytes = b""


class QrelRow(NamedTuple):
    """One grade; below 0 means in the pool but not judged."""

    line: int
    qid: bytes
    docid: bytes
    grade: int


def read_run(lines: Iterable[bytes], *, file: str, problems: Problems) -> Iterator[RunRow]:
    """Rows of a run, in file order: query, unused, document, rank, score, tag, anything more.

    Scores are decimal, scientific or infinite. Warned of once a file: a missing tag, and a rank
    column that contradicts the scores (the scores decide).

    Raises
    ------
    FileProblemsError
        When `problems` has reached its limit.
    """
    ranks = _RankCheck(file, problems)
    is_tag_missed = False
    for number, columns in _columns(lines, file=file, problems=problems):
        row = _run_row(number, columns, file, problems)
        if row is None:
            continue
        if len(columns) == 5 and not is_tag_missed:
            problems.warn(file, number, "5 columns; expected 6. The tag is missing: add one.")
            is_tag_missed = True
        ranks.see(row)
        yield row


def read_qrels(lines: Iterable[bytes], *, file: str, problems: Problems) -> Iterator[QrelRow]:
    """Rows of qrels, in file order: query, unused, document, whole-number grade.

    Raises
    ------
    FileProblemsError
        When `problems` has reached its limit.
    """
    for number, columns in _columns(lines, file=file, problems=problems):
        if len(columns) != 4:
            problems.add(file, number, _qrel_columns_problem(columns))
        elif not _INTEGER.fullmatch(columns[3]):
            shown = _shown(columns[3])
            text = f"grade is {shown}; expected a whole number. Drop the line or give it a grade."
            problems.add(file, number, text)
        else:
            yield QrelRow(number, columns[0], columns[2], int(columns[3]))


def write_run(rows: Iterable[RunRow]) -> Iterator[bytes]:
    """Lines of a TREC run; reading them gives the same ids and, to the last bit, the same scores.

    A rank that is None becomes the position within the query, a missing tag `run`, and white space
    in a tag `_`.

    Examples
    --------
    >>> list(write_run([RunRow(0, b"q1", b"d7", 0.5)]))
    [b'q1 Q0 d7 1 0.5 run\\n']
    """
    seen: defaultdict[bytes, int] = defaultdict(int)
    for row in rows:
        seen[row.qid] += 1
        rank = seen[row.qid] if row.rank is None else row.rank
        tag = b"_".join(row.tag.split()) or DEFAULT_TAG
        yield b"%b Q0 %b %d %b %b\n" % (row.qid, row.docid, rank, repr(row.score).encode(), tag)


def write_qrels(rows: Iterable[QrelRow]) -> Iterator[bytes]:
    """Lines of TREC qrels, single spaces, in the order given.

    Examples
    --------
    >>> list(write_qrels([QrelRow(0, b"q1", b"d7", 2)]))
    [b'q1 0 d7 2\\n']
    """
    for row in rows:
        yield b"%b 0 %b %d\n" % (row.qid, row.docid, row.grade)


def _columns(
    lines: Iterable[bytes], *, file: str, problems: Problems
) -> Iterator[tuple[int, list[bytes]]]:
    for number, line in enumerate(lines, start=1):
        if number == 1 and line.startswith(BYTE_ORDER_MARK):
            line = line.removeprefix(BYTE_ORDER_MARK)
            problems.warn(
                file, 1, "begins with a byte order mark; expected none. It was left out: remove it."
            )
        columns = _split(line)
        if not columns or columns[0].startswith(b"#"):
            continue
        if b"\r" in line and _has_carriage_return_inside(line):
            text = "holds a carriage return; expected lines to end in LF or CR LF. Convert them."
            problems.add(file, number, text)
            continue
        yield number, columns


def _split(line: bytes) -> list[bytes]:
    if b"\x0b" in line or b"\x0c" in line:  # which bytes.split takes for white space
        return [column for column in _SEPARATORS.split(line.rstrip(b"\n")) if column]
    return line.split()


def _has_carriage_return_inside(line: bytes) -> bool:
    return b"\r" in line.strip(b" \t\r\n")


def _run_row(number: int, columns: list[bytes], file: str, problems: Problems) -> RunRow | None:
    if len(columns) < 5:
        problems.add(file, number, _run_columns_problem(columns))
        return None
    score = _score(columns[4])
    if score is None:
        shown = _shown(columns[4])
        text = f"score is {shown}; expected a number. Drop the line or give it a score."
        problems.add(file, number, text)
        return None
    tag = columns[5] if len(columns) > 5 else b""
    return RunRow(number, columns[0], columns[2], score, _rank(columns[3]), tag)


def _score(token: bytes) -> float | None:
    try:
        score = float(token)
    except ValueError:
        return None
    # float() also takes 1_0 and form feeds, which no other reader of runs does.
    is_plain = b"_" not in token and token == token.strip()
    return score if is_plain and score == score else None


def _rank(token: bytes) -> int | None:
    return int(token) if _INTEGER.fullmatch(token) else None


class _RankCheck:
    """Warns at the first row whose rank says better and whose score says worse, or the reverse."""

    def __init__(self, file: str, problems: Problems) -> None:
        self.file = file
        self.problems = problems
        self.last: dict[bytes, tuple[int, float]] | None = {}

    def see(self, row: RunRow) -> None:
        if self.last is None or row.rank is None:
            return
        rank, score = self.last.get(row.qid, (row.rank, row.score))
        self.last[row.qid] = (row.rank, row.score)
        if (row.rank > rank and row.score > score) or (row.rank < rank and row.score < score):
            text = (
                f"rank {row.rank} has score {row.score} and rank {rank} has {score}; "
                "expected scores that fall as ranks rise. The scores decide: correct the ranks."
            )
            self.problems.warn(self.file, row.line, text)
            self.last = None


def _run_columns_problem(columns: list[bytes]) -> str:
    return (
        f"{_counted(columns)}; expected 6 (query, Q0, document, rank, score, tag) "
        "separated by spaces or tabs. Complete the line or drop it."
    )


def _qrel_columns_problem(columns: list[bytes]) -> str:
    expected = "expected 4 (query, 0, document, grade) separated by spaces or tabs"
    advice = "Complete the line or drop it."
    if len(columns) == 3:
        advice = "Add the second column, or read the file as BEIR qrels, which have three."
    elif len(columns) > 4:
        advice = "Ids hold no white space: correct the line or drop it."
    return f"{_counted(columns)}; {expected}. {advice}"


def _counted(columns: list[bytes]) -> str:
    return f"{len(columns)} column{'s' if len(columns) > 1 else ''}"


def _shown(token: bytes) -> str:
    cut = "…" if len(token) > _SHOWN_BYTES else ""
    return f"'{token[:_SHOWN_BYTES].decode('utf-8', 'backslashreplace')}{cut}'"
