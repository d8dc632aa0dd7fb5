"""Labels that were given elsewhere: TREC qrels, and tables with a header as CSV or TSV."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from benchwright.errors import News, Problems, ToldProblems
from benchwright.formats.beir import BOM, text_problem
from benchwright.formats.mapping import Content, guessed, is_named_grade, plain_name
from benchwright.formats.numbers import whole
from benchwright.formats.trec import read_qrels
from benchwright.ids import LONGEST_NAME, id_problem
from benchwright.sandbox import reader
from benchwright.uploads import Place, input_at
from benchwright.uploads.row_streams import with_news

# Beside those of qrels, which `core.mapping` knows; the likeliest first.
COLUMNS = {
    "rater": ("annotator", "rater", "assessor", "worker", "annotator_id", "worker_id"),
    "note": ("note", "reason", "comment"),
    "text_hash": ("text_hash",),
}
DELIMITERS = ("\t", ";", ",")
EXPECTED = (
    "TREC qrels (query 0 document grade), or a header that names query-id, corpus-id and grade, "
    "perhaps annotator, note and text-hash"
)


@dataclass(frozen=True, slots=True)
class Label:
    """One label of a file; `rater` is whom the file names, or '' where it names nobody.

    `text_hash` pins it to what its assessor read (`benchwright.ids`), or is ''.
    """

    line: int
    qid: str
    docid: str
    grade: int
    rater: str = ""
    note: str = ""
    text_hash: str = ""


def read_labels(
    lines: Iterable[bytes],
    *,
    file: str,
    problems: Problems,
    scale: Iterable[int],
    grade_map: Mapping[int, int] | None = None,
    rater: str = "",
) -> Iterator[Label]:
    """Yield the labels of whichever form the first line shows, in file order, each once.

    Parameters
    ----------
    problems
        What is wrong with a line, what was expected and what to do; the line yields nothing.
    scale
        Every grade that the benchmark has.
    grade_map
        From grades of the file to grades of the benchmark; others stay as they are.
    rater
        Who gave the labels for which the file names nobody.
    """
    check = _Check(file, problems, frozenset(scale), grade_map or {})
    for label in _rows(lines, file, problems, rater):
        if (good := check.taken(label)) is not None:
            yield good


@reader
def sent_labels(
    place: Place, scale: Sequence[int], grade_map: Mapping[int, int], rater: str, limit: int
) -> Iterator[Label | News]:
    """As `read_labels` of a file from outside, with its problems between them."""
    file, problems = input_at(place), ToldProblems(limit)
    labels = read_labels(
        file.lines(),
        file=file.shown,
        problems=problems,
        scale=scale,
        grade_map=grade_map,
        rater=rater,
    )
    yield from with_news(labels, problems)


@reader
def raters_at(
    place: Place, scale: Sequence[int], grade_map: Mapping[int, int], rater: str, most: int
) -> Counter[str]:
    """How many of the first `most` labels each rater gave; raises at a hundred problems."""
    file = input_at(place)
    labels = read_labels(
        file.lines(),
        file=file.shown,
        problems=Problems(),
        scale=scale,
        grade_map=grade_map,
        rater=rater,
    )
    return Counter(label.rater for label in islice(labels, most))


@dataclass(frozen=True, slots=True)
class _Row:
    """A line as it was written."""

    line: int
    qid: str
    docid: str
    grade: str
    rater: str
    note: str = ""
    text_hash: str = ""


class _Check:
    """Knows the scale, and which pairs came before."""

    def __init__(
        self, file: str, problems: Problems, scale: frozenset[int], grade_map: Mapping[int, int]
    ) -> None:
        self.file, self.problems = file, problems
        self.scale, self.grade_map = scale, grade_map
        self.seen: dict[tuple[str, str, str], tuple[int, int]] = {}

    def taken(self, row: _Row) -> Label | None:
        grade = self._grade(row)
        reasons = [
            *self._id_reasons("query", row.qid),
            *self._id_reasons("document", row.docid),
            *([] if len(row.rater) <= LONGEST_NAME else [_long_name(row.rater)]),
            *_text_reasons(annotator=row.rater, note=row.note, text_hash=row.text_hash),
        ]
        for reason in reasons:
            self.problems.add(self.file, row.line, reason)
        if reasons or grade is None or not self._is_first(row, grade):
            return None
        return Label(row.line, row.qid, row.docid, grade, row.rater, row.note, row.text_hash)

    def _grade(self, row: _Row) -> int | None:
        number = whole(row.grade)
        grade = None if number is None else self.grade_map.get(number, number)
        if grade in self.scale:
            return grade
        scale = ", ".join(map(str, sorted(self.scale)))
        advice = "Correct it, map it to another grade, or drop the line."
        text = f"grade is '{row.grade[:40]}'; expected one of {scale}. {advice}"
        self.problems.add(self.file, row.line, text)
        return None

    def _id_reasons(self, what: str, written: str) -> list[str]:
        reason = id_problem(written)
        return [f"{what} id {written[:60]!r}: {reason}"] if reason else []

    def _is_first(self, row: _Row, grade: int) -> bool:
        """Whether the rater says something about the pair for the first time in this file."""
        key = (row.rater, row.qid, row.docid)
        line, earlier = self.seen.setdefault(key, (row.line, grade))
        if line == row.line:
            return True
        who = f" of {row.rater}" if row.rater else ""
        pair = f"query '{row.qid}', document '{row.docid}'"
        if earlier == grade:
            text = f"{pair} has the same grade{who} on line {line}; counted once"
            self.problems.warn(self.file, row.line, text)
        else:
            text = f"{pair} has grade {earlier}{who} on line {line}, and {grade} here; keep one"
            self.problems.add(self.file, row.line, text)
        return False


def _text_reasons(**texts: str) -> list[str]:
    return [f"{name} {reason}" for name, text in texts.items() if (reason := text_problem(text))]


def _long_name(name: str) -> str:
    return f"annotator '{name[:40]}…' has more than {LONGEST_NAME} characters; shorten the name"


def _rows(lines: Iterable[bytes], file: str, problems: Problems, rater: str) -> Iterator[_Row]:
    rest = iter(lines)
    first = next(rest, None)
    if first is None:
        problems.add(file, 0, f"is empty; expected {EXPECTED}")
        return iter(())
    names = _header(first)
    both = chain([first], rest)
    if guessed(Content.QRELS, names).keys() >= {"query", "document"}:
        return _table_rows(both, names, file, problems, rater)
    return _qrel_rows(both, file, problems, rater)


def _qrel_rows(lines: Iterable[bytes], file: str, problems: Problems, rater: str) -> Iterator[_Row]:
    for row in read_qrels(lines, file=file, problems=problems):
        qid, docid = row.qid.decode(errors="replace"), row.docid.decode(errors="replace")
        yield _Row(row.line, qid, docid, str(row.grade), rater)


def _header(first: bytes) -> list[str]:
    line = first.removeprefix(BOM).decode(errors="replace").strip("\r\n")
    return [name.strip().strip('"').lower() for name in line.split(_delimiter(line))]


def _delimiter(line: str) -> str:
    return max(DELIMITERS, key=line.count)


def _table_rows(
    lines: Iterable[bytes], names: list[str], file: str, problems: Problems, rater: str
) -> Iterator[_Row]:
    columns = _columns(names)
    if "grade" not in columns:
        grades = [name for name in names if is_named_grade(name)]
        which = f"names {len(grades)} grades ({', '.join(grades)})" if grades else "names no grade"
        problems.add(file, 1, f"the header {which}; expected {EXPECTED}")
        return
    text_lines = _decoded(lines, file, problems)
    delimiter = _delimiter(next(text_lines, ""))
    for line, cells in _cells(text_lines, delimiter, file, problems):
        if len(cells) != len(names):
            text = f"has {len(cells)} cells, the header has {len(names)}; check the separators"
            problems.add(file, line, text)
            continue
        values = {key: cells[at] for key, at in columns.items()}
        yield _Row(line, **{**values, "rater": values.get("rater", "").strip() or rater})


def _columns(names: list[str]) -> dict[str, int]:
    """Where each field stands that the header names; of several grades, the one called so."""
    of_qrels = guessed(Content.QRELS, names)
    if "grade" in names:
        of_qrels["grade"] = "grade"
    columns = {
        field: names.index(of_qrels[name])
        for field, name in (("qid", "query"), ("docid", "document"), ("grade", "grade"))
        if name in of_qrels
    }
    plain = [plain_name(name) for name in names]
    for field, names_of_field in COLUMNS.items():
        if name := next((name for name in names_of_field if name in plain), None):
            columns[field] = plain.index(name)
    return columns


def _cells(
    lines: Iterator[str], delimiter: str, file: str, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """The line each row begins on, and its cells; a TSV has no quotes, a blank line no row."""
    quoting: Any = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    rows = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    while True:
        line = rows.line_num + 2  # the header was taken off before
        try:
            cells = next(rows, None)
        except csv.Error as error:
            problems.add(file, line, f"is not CSV: {error}; check the quotes")
            return  # after a broken quote no line can be trusted
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield line, cells


def _decoded(lines: Iterable[bytes], file: str, problems: Problems) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        content = line.removeprefix(BOM) if number == 1 else line
        try:
            yield content.decode()
        except UnicodeDecodeError as error:
            text = f"byte {error.start + 1} is not UTF-8; save the file as UTF-8"
            problems.add(file, number, text)
            yield content.decode(errors="replace")
