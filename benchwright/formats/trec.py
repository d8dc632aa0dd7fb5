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

from benchwright.errors import Problems
from benchwright.files.encodings import as_shown
from benchwright.formats.errors import UnwritableRowError
from benchwright.formats.numbers import real, whole

__all__ = [
    "QrelRow",
    "RunLines",
    "RunRow",
    "read_qrels",
    "read_run",
    "write_qrels",
    "write_run",
]

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DEFAULT_TAG = b"run"
MARK_LEFT_OUT = "begins with a byte order mark; expected none. It was left out: remove it."
OTHER_FILE = "Lines of {of} are so: perhaps the two files stand in the other order. Else"
COMPLETE = "Complete the line or drop it."
OF_TABLES = (
    "Is it a table with commas or semicolons, separate its columns by tabs; a site reads it as it "
    "is, as a table."
)
TAG_MISSING = "5 columns; expected 6. The tag is missing: add one."

_SEPARATORS = re.compile(rb"[ \t\r]+")
_COLUMN = re.compile(rb"[^ \t\r\n]+")
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
    return RunLines(file=file, problems=problems).rows(lines)


class RunLines:
    """Reads the lines of one run piece by piece, as `read_run` does all at once."""

    def __init__(self, *, file: str, problems: Problems) -> None:
        self.file = file
        self.problems = problems
        self.ranks = RankCheck(file, problems)
        self.is_tag_missed = False

    def rows(self, lines: Iterable[bytes], *, first: int = 1) -> Iterator[RunRow]:
        """Rows of the next lines, of which the first has the number `first`."""
        columns_of = numbered_columns(lines, file=self.file, problems=self.problems, first=first)
        for number, columns in columns_of:
            row = _run_row(number, columns, self.file, self.problems)
            if row is None:
                continue
            if len(columns) == 5 and not self.is_tag_missed:
                self.problems.warn(self.file, number, TAG_MISSING)
                self.is_tag_missed = True
            self.ranks.see(row.qid, number, row.rank, row.score)
            yield row


def read_qrels(lines: Iterable[bytes], *, file: str, problems: Problems) -> Iterator[QrelRow]:
    """Rows of qrels, in file order: query, unused, document, whole-number grade.

    Raises
    ------
    FileProblemsError
        When `problems` has reached its limit.
    """
    for number, columns in numbered_columns(lines, file=file, problems=problems):
        if len(columns) != 4:
            problems.add(file, number, _qrel_columns_problem(columns))
        elif (grade := whole(columns[3])) is None:
            problems.add(file, number, grade_problem(columns[3]))
        else:
            yield QrelRow(number, columns[0], columns[2], grade)


def write_run(rows: Iterable[RunRow]) -> Iterator[bytes]:
    """Lines of a TREC run; reading them gives the same ids and, to the last bit, the same scores.

    A rank that is None becomes the position within the query, a missing tag `run`, and white space
    in a tag `_`.

    Raises
    ------
    UnwritableRowError
        At the first id that is empty or holds white space.

    Examples
    --------
    >>> list(write_run([RunRow(0, b"q1", b"d7", 0.5)]))
    [b'q1 Q0 d7 1 0.5 run\\n']
    """
    n_rows: defaultdict[bytes, int] = defaultdict(int)
    for row in rows:
        n_rows[row.qid] += 1
        rank = n_rows[row.qid] if row.rank is None else row.rank
        tag = b"_".join(row.tag.split()) or DEFAULT_TAG
        _check_ids(row, "TREC run")
        yield b"%b Q0 %b %d %b %b\n" % (row.qid, row.docid, rank, repr(row.score).encode(), tag)


def write_qrels(rows: Iterable[QrelRow]) -> Iterator[bytes]:
    """Lines of TREC qrels, single spaces, in the order given.

    Raises
    ------
    UnwritableRowError
        At the first id that is empty or holds white space.

    Examples
    --------
    >>> list(write_qrels([QrelRow(0, b"q1", b"d7", 2)]))
    [b'q1 0 d7 2\\n']
    """
    for row in rows:
        _check_ids(row, "TREC qrels")
        yield b"%b 0 %b %d\n" % (row.qid, row.docid, row.grade)


def _check_ids(row: RunRow | QrelRow, file: str) -> None:
    """Refuse ids that would be read as others, as columns are parted by white space."""
    if not (_COLUMN.fullmatch(row.qid) and _COLUMN.fullmatch(row.docid)):
        from benchwright.ids import id_problem  # which loads json: scoring does without

        ids = [row.qid.decode("utf-8", "replace"), row.docid.decode("utf-8", "replace")]
        reason = next(filter(None, map(id_problem, ids)), "")
        pair = "query '{}', document '{}'".format(*ids)
        raise UnwritableRowError(file=file, row=pair, reason=reason)


def numbered_columns(
    lines: Iterable[bytes], *, file: str, problems: Problems, first: int = 1
) -> Iterator[tuple[int, list[bytes]]]:
    """Number and columns of every line that is neither blank nor a comment.

    The first line has the number `first`; only line 1 may begin with a byte order mark.
    """
    for number, line in enumerate(lines, start=first):
        if number == 1 and line.startswith(BYTE_ORDER_MARK):
            line = line.removeprefix(BYTE_ORDER_MARK)
            problems.warn(file, 1, MARK_LEFT_OUT)
        columns = split_columns(line)
        if not columns or columns[0].startswith(b"#"):
            continue
        if b"\r" in line and b"\r" in line.strip(b" \t\r\n"):
            text = "holds a carriage return; expected lines to end in LF or CR LF. Convert them."
            problems.add(file, number, text)
            continue
        yield number, columns


def split_columns(line: bytes) -> list[bytes]:
    """The columns of a line, which only blanks, tabs, CR and LF separate."""
    if b"\x0b" in line or b"\x0c" in line:  # which bytes.split takes for white space
        return [column for column in _SEPARATORS.split(line.rstrip(b"\n")) if column]
    return line.split()


def _run_row(number: int, columns: list[bytes], file: str, problems: Problems) -> RunRow | None:
    if len(columns) < 5:
        problems.add(file, number, _run_columns_problem(columns))
        return None
    score = real(columns[4])
    if score is None:
        cell = _shown(columns[4])
        text = f"score is {cell}; expected a number. Drop the line or give it a score."
        problems.add(file, number, text)
        return None
    tag = columns[5] if len(columns) > 5 else b""
    return RunRow(number, columns[0], columns[2], score, whole_number(columns[3]), tag)


def whole_number(token: bytes) -> int | None:
    """The digits of a rank or a priority, or None where the token is not one of up to nine."""
    return int(token) if _INTEGER.fullmatch(token) else None


def grade_problem(token: bytes) -> str:
    cell = _shown(token)
    return f"grade is {cell}; expected a whole number. Drop the line or give it a grade."


def rank_warning(rank: int, score: float, last_rank: int, last_score: float) -> str:
    return (
        f"rank {rank} has score {score} and rank {last_rank} has {last_score}; "
        "expected scores that fall as ranks rise. The scores decide: correct the ranks."
    )


class RankCheck:
    """Warns at the first row whose rank says better and whose score says worse, or the reverse."""

    def __init__(self, file: str, problems: Problems) -> None:
        self.file = file
        self.problems = problems
        self.last: dict[bytes, tuple[int, float]] | None = {}

    def see(self, qid: bytes, line: int, rank: int | None, score: float) -> None:
        """Take the next row; one whose rank is None says nothing."""
        if self.last is None or rank is None:
            return
        last_rank, last_score = self.last.get(qid, (rank, score))
        self.last[qid] = (rank, score)
        if (rank > last_rank and score > last_score) or (rank < last_rank and score < last_score):
            text = rank_warning(rank, score, last_rank, last_score)
            self.problems.warn(self.file, line, text)
            self.last = None


def _run_columns_problem(columns: list[bytes]) -> str:
    advice = _advice_of(columns)
    if len(columns) == 4:
        advice = f"{OTHER_FILE.format(of='qrels')} complete the line or drop it."
    return (
        f"{_counted(columns)}; expected 6 (query, Q0, document, rank, score, tag) "
        f"separated by spaces or tabs. {advice}"
    )


def _qrel_columns_problem(columns: list[bytes]) -> str:
    expected = "expected 4 (query, 0, document, grade) separated by spaces or tabs"
    advice = _advice_of(columns)
    if len(columns) == 3 and advice == COMPLETE:
        advice = "Add the second column, or read the file as BEIR qrels, which have three."
    elif len(columns) == 6:
        advice = f"{OTHER_FILE.format(of='a run')} correct the line or drop it."
    elif len(columns) > 4:
        advice = "Ids hold no white space: correct the line or drop it."
    return f"{_counted(columns)}; {expected}. {advice}"


def _advice_of(columns: list[bytes]) -> str:
    """What to do with a line of too few columns; one of a table with commas has them all."""
    n_marks = sum(column.count(b",") + column.count(b";") for column in columns)
    return OF_TABLES if len(columns) < 4 and n_marks > 1 else COMPLETE


def _counted(columns: list[bytes]) -> str:
    return f"{len(columns)} column{'s' if len(columns) > 1 else ''}"


def _shown(token: bytes) -> str:
    cut = "…" if len(token) > _SHOWN_BYTES else ""
    return f"'{as_shown(token[:_SHOWN_BYTES])}{cut}'"
