"""Rows of a table whose columns were mapped: documents, queries, grades and results.

What a cell cannot be is told with its line; a value of another type that can only mean one thing
(a number as an id, a list of sentences as a text) is taken.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from hashlib import sha256
from itertools import chain, islice
from math import isnan
from typing import Any, NamedTuple

from benchwright.errors import Problems
from benchwright.formats.beir import (
    LARGEST_GRADE,
    CorpusRow,
    GradedRow,
    QueryRow,
    is_new,
    metadata_problem,
    text_problem,
)
from benchwright.formats.mapping import EVERY_ROW, PARENT_FROM_ID
from benchwright.formats.numbers import MOST_WORDS, FileGrade, real, whole, word_of
from benchwright.formats.tables import Record
from benchwright.formats.tabular import query_row
from benchwright.ids import id_problem

Numbered = Iterable[tuple[int, Record]]
Say = Callable[[str], None]
Mapped = Mapping[str, str]
PARENT_KEY, URL_KEY = "parent_id", "url"
GRADE_OF_EVERY_ROW = 1
SHOWN = 40
# They tell whether a column of grades holds words.
FIRST_ROWS = 50


class ResultRow(NamedTuple):
    """One result of a run and the line it stands on."""

    line: int
    qid: str
    docid: str
    score: float


def document_rows(
    numbered: Numbered,
    mapping: Mapped,
    *,
    file: str,
    problems: Problems,
    kept: Collection[str] = (),
) -> Iterable[CorpusRow]:
    """Yield the documents; columns of no field become metadata, those `kept` also where empty."""
    # The path of an image stays in the metadata, under its column's name.
    used = {column for field, column in mapping.items() if field != "image"}
    for line, record in numbered:
        say = _teller(problems, file, line)
        docid = _id(record, mapping["id"], "document id", say)
        title = _text(record, mapping.get("title"), say)
        text = _text(record, mapping.get("text"), say)
        others = _others(record, used, say, kept)
        link = _link(record, mapping.get("url"), say)
        parent = _parent(record, mapping.get("parent"), docid, say)
        if None in (docid, title, text, others, link, parent):
            continue
        more = {URL_KEY: link} if link else {}
        # What an id says of its parent needs no metadata.
        if parent and mapping.get("parent") != PARENT_FROM_ID:
            more[PARENT_KEY] = parent
        metadata = (others or {}) | more
        yield CorpusRow(line, docid or "", title or "", text or "", metadata, parent or "")


def query_rows(
    numbered: Numbered, mapping: Mapped, *, file: str, problems: Problems, lang: str = ""
) -> Iterable[QueryRow]:
    """Yield the queries; `lang` is of those whose row names none.

    The path of an image stays in the metadata, under its column's name; with one the text may lack.
    """
    used = {column for field, column in mapping.items() if field != "image"}
    first_lines: dict[str, int] = {}
    for line, record in numbered:
        say = _teller(problems, file, line)
        others = _others(record, used, say)
        if others is None:
            continue
        fields = {field: _plain(record.get(column)) for field, column in mapping.items()}
        for field in ("id", "family"):
            fields[field] = _id_text(fields.get(field))
        for field in ("text", "description", "narrative"):
            fields[field] = joined(fields.get(field))
        fields["lang"] = fields.get("lang") or lang
        row = query_row(fields, others, line, file=file, problems=problems)
        if row and is_new(row.qid, first_lines, file=file, line=line, problems=problems):
            yield row


def qrel_rows(
    numbered: Numbered, mapping: Mapped, *, file: str, problems: Problems
) -> Iterable[GradedRow]:
    """Yield the grades: numbers or words, 1 where somebody said that every row is relevant."""
    grades = _Grades(mapping["grade"], file, problems)
    for line, record in grades.told_by_the_first(numbered):
        say = _teller(problems, file, line)
        qid = _id(record, mapping["query"], "query id", say)
        docid = _id(record, mapping["document"], "document id", say)
        grade = grades.of(record, line)
        if qid is not None and docid is not None and grade is not None:
            yield GradedRow(line, qid, docid, grade)


def judged_query_rows(
    numbered: Numbered, mapping: Mapped, *, file: str, problems: Problems, lang: str = ""
) -> Iterable[QueryRow]:
    """Yield each query once; one id with two texts is a problem.

    A query without an id of its own has one that follows from its text (`query_key`).
    """
    texts: dict[str, str] = {}
    for line, record in numbered:
        text = joined(record.get(mapping["text"]))
        qid = judged_qid(record, mapping)
        row = query_row(
            {"id": qid, "text": text, "lang": lang}, {}, line, file=file, problems=problems
        )
        if row is None:
            continue
        text = " ".join(row.text.split())
        if row.qid not in texts:
            texts[row.qid] = text
            yield row
        elif texts[row.qid] != text:
            say = _teller(problems, file, line)
            say(f"query '{row.qid}' has another text here than before; keep one of the two")


def judged_qrel_rows(
    numbered: Numbered, mapping: Mapped, *, file: str, problems: Problems
) -> Iterable[GradedRow]:
    """Yield the grades; what is wrong with the queries `judged_query_rows` tells."""
    grades = _Grades(mapping["grade"], file, problems)
    for line, record in grades.told_by_the_first(numbered):
        say = _teller(problems, file, line)
        qid = judged_qid(record, mapping)
        docid = _id(record, mapping["document"], "document id", say)
        grade = grades.of(record, line)
        if qid is not None and docid is not None and grade is not None:
            yield GradedRow(line, qid, docid, grade)


def judged_qid(record: Record, mapping: Mapped) -> str | None:
    """The id of a row's query: its own, or one of its text; None where it has neither."""
    own = _id_text(record.get(mapping.get("id", "")))
    if isinstance(own, str) and not id_problem(own):
        return own
    text = joined(record.get(mapping["text"]))
    return query_key(text) if isinstance(text, str) and text.strip() else None


def query_key(text: str) -> str:
    """The id of a query that has none but its text: the same for the same words.

    >>> query_key("wireless  mouse") == query_key(" wireless mouse ")
    True
    """
    return f"q-{sha256(' '.join(text.split()).encode()).hexdigest()[:12]}"


class _Grades:
    """Reads the grades of a column: numbers, or words of which somebody says the numbers.

    A column is one of words where its first rows hold no number; a word among numbers is a mistake.
    """

    def __init__(self, column: str, file: str, problems: Problems) -> None:
        self.column, self.file, self.problems = column, file, problems
        self.has_told_truth = self.is_of_words = False
        self.words: set[str] = set()

    def told_by_the_first(self, numbered: Numbered) -> Numbered:
        """The same records, once the first of them have told whether grades are words here."""
        rows = iter(numbered)
        first = list(islice(rows, FIRST_ROWS))
        values = [_alone(record.get(self.column)) for _, record in first]
        self.is_of_words = all(whole(value) is None and _truth(value) is None for value in values)
        return chain(first, rows)

    def of(self, record: Record, line: int) -> FileGrade | None:
        if self.column == EVERY_ROW:
            return GRADE_OF_EVERY_ROW
        value = _alone(record.get(self.column))
        if (truth := _truth(value)) is not None:
            if not self.has_told_truth:
                words = f"column '{self.column}': true was read as 1, false as 0."
                self.problems.warn(self.file, line, words)
            self.has_told_truth = True
            value = int(truth)
        say = _teller(self.problems, self.file, line)
        word = word_of(value) if self.is_of_words else ""
        if word and word not in self.words and len(self.words) == MOST_WORDS:
            say(
                f"grade (column '{self.column}') is {_shown(word)} after {MOST_WORDS} other words; "
                "expected the grades of one scale. Choose the column that has them."
            )
            return None
        if word:
            self.words.add(word)
        return word or _grade(value, self.column, say)


def _alone(value: Any) -> Any:
    """What stands alone in a list, as tools write one label; anything else as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def run_rows(
    numbered: Numbered, mapping: Mapped, *, file: str, problems: Problems
) -> Iterable[ResultRow]:
    """Yield the results; where only ranks are given, the score is the rank, negative."""
    column = mapping.get("score")
    for line, record in numbered:
        say = _teller(problems, file, line)
        qid = _id(record, mapping["query"], "query id", say)
        docid = _id(record, mapping["document"], "document id", say)
        score = _score(record.get(column), column, say) if column else None
        if not column:
            rank = whole(record.get(mapping["rank"]))
            score = None if rank is None else real(-rank)
            if score is None:
                cell = _shown(record.get(mapping["rank"]))
                say(f"rank is {cell}; expected a whole number. Drop the line or number it.")
        if qid is not None and docid is not None and score is not None:
            yield ResultRow(line, qid, docid, score)


def _teller(problems: Problems, file: str, line: int) -> Say:
    return lambda text: problems.add(file, line, text)


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    text = value if isinstance(value, str) else repr(value)
    return f"'{text[:SHOWN]}…'" if len(text) > SHOWN else f"'{text}'"


def _id_text(value: object) -> Any:
    """A whole number as the digits it is written with; anything else as it is."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _id(record: Record, column: str, what: str, say: Say) -> str | None:
    value = _id_text(record.get(column))
    if not isinstance(value, str):
        say(f"{what} (column '{column}') is {_shown(value)}; expected a text such as d1")
        return None
    reason = id_problem(value)
    if reason:
        say(f"{what} {_shown(value)} (column '{column}'): {reason}")
        return None
    return value


def joined(value: object) -> Any:
    """A list of sentences as one text, a number as its digits; anything else as it is."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(part.strip() for part in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _text(record: Record, column: str | None, say: Say) -> str | None:
    """The text of a column, empty where there is none; None with what is wrong told."""
    value = joined(record.get(column)) if column else ""
    if value is None:
        return ""
    if not isinstance(value, str):
        say(f"column '{column}' is {_shown(value)}; expected a text")
        return None
    reason = text_problem(value)
    if reason:
        say(f"column '{column}' {reason}")
        return None
    return value


def _link(record: Record, column: str | None, say: Say) -> str | None:
    return (_text(record, column, say) or "").strip() if column else ""


def _parent(record: Record, column: str | None, docid: str | None, say: Say) -> str | None:
    if not column or docid is None:
        return ""
    if column == PARENT_FROM_ID:
        before, mark, _ = docid.rpartition("#")
        if mark and before:
            return before
        say(f"document id '{docid}' has no #; expected X#Y, of which X is the parent")
        return None
    if record.get(column) in (None, ""):
        return ""
    return _id(record, column, "parent", say)


def _plain(value: object) -> Any:
    """A value as JSON can hold it; missing where it is no number."""
    if isinstance(value, float) and isnan(value):
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta | Decimal):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


def _others(
    record: Record, used: set[str], say: Say, kept: Collection[str] = ()
) -> dict[str, Any] | None:
    """What the columns without a field say; without those that say nothing."""
    others = {}
    for column, value in record.items():
        if column in used or value is None or isinstance(value, bytes):
            continue
        if value == "" and column not in kept:
            continue
        plain = _plain(value)
        if plain is not None:
            others[column] = plain
    if others and (reason := metadata_problem(others)):
        say(f"other columns: {reason}")
        return None
    return others


def _truth(value: object) -> bool | None:
    """The truth value that a cell is, however a table writes it; None where it is none."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _grade(value: object, column: str | None, say: Say) -> int | None:
    grade = whole(value)
    if grade is None:
        say(
            f"grade (column '{column}') is {_shown(value)}; expected a whole number such as 0, 1 "
            "or 2. Drop the line or give it a grade."
        )
    elif abs(grade) > LARGEST_GRADE:
        say(f"grade is {grade}; grades go from -{LARGEST_GRADE} to {LARGEST_GRADE}")
        return None
    return grade


def _score(value: object, column: str | None, say: Say) -> float | None:
    score = real(value)
    if score is None:
        mend = "Drop the line or give it a score."
        if isinstance(value, str) and real(value.replace(",", ".", 1)) is not None:
            mend = "Write its decimals after a point."
        say(f"score (column '{column}') is {_shown(value)}; expected a number. {mend}")
    return score
