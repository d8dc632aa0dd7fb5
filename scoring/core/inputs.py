"""Qrels and runs that are in memory already, under the rules that files are read by.

Accepted: nested mappings as pytrec_eval has them (`{query: {document: score}}`), a mapping of each
query to its results as pairs or rows, and every table of `scoring.core.columns`. Ids are text or
bytes; text is encoded as UTF-8. What a file would be refused for is refused here, with its place.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from operator import index
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from benchmarks_app.core.problems import Problems
from scoring.core.columns import QRELS, RUN, Wanted, rows_of
from scoring.core.reading.loading import Qrels
from scoring.core.reading.ranking import Scored

LARGEST_GRADE = 999_999_999  # nine digits, as in a file


class Result(NamedTuple):
    """A document with its score."""

    docid: bytes
    score: float


Results: TypeAlias = dict[bytes, Sequence[Scored]]
"""Query to its results, in the order given; one without results was answered with nothing."""

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class Taken(Generic[Content]):
    """What was given, by the bytes of its ids; `is_text` says that its query ids came as text."""

    content: Content
    is_text: bool


def take_qrels(given: Any) -> Taken[Qrels]:
    """The grades of qrels in memory.

    Raises
    ------
    ColumnsError
        If it is nothing that qrels can be.
    FileProblemsError
        If a grade is no whole number, an id neither text nor bytes, or a document has two grades.
    """
    problems = Problems()
    groups = _groups(given, QRELS, problems)
    grades = {
        qid: _checked(group, _grade, problems, QRELS) for qid, group in groups.content.items()
    }
    problems.raise_found()
    return Taken(grades, groups.is_text)


def take_run(given: Any) -> Taken[Results]:
    """The results of a run in memory.

    Raises
    ------
    ColumnsError
        If it is nothing that a run can be.
    FileProblemsError
        If a score is no number or NaN, an id neither text nor bytes, or a document stands twice in
        one query.
    """
    problems = Problems()
    groups = _groups(given, RUN, problems)
    results: Results = {
        qid: list(map(Result._make, _checked(group, _score, problems, RUN).items()))
        for qid, group in groups.content.items()
    }
    problems.raise_found()
    return Taken(results, groups.is_text)


# --- queries -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """Documents and values of one query, not looked at yet; `place` says where the n-th stands."""

    docids: list[Any]
    values: list[Any]
    place: Callable[[int], str]


Groups: TypeAlias = Taken[dict[bytes, _Group]]


def _groups(given: Any, wanted: Wanted, problems: Problems) -> Groups:
    if isinstance(given, Mapping):
        return _nested(given, wanted, problems)
    return _grouped(rows_of(given, wanted), wanted, problems)


def _nested(given: Mapping[Any, Any], wanted: Wanted, problems: Problems) -> Groups:
    groups: dict[bytes, _Group] = {}
    for name, documents in given.items():
        place = f"{wanted.name}[{name!r}]"
        qid = _encoded(name)
        if qid is None:
            problems.add(place, 0, _id_problem("query", name))
        elif qid in groups:
            problems.add(place, 0, "was there as text and as bytes; expected it once. Keep one.")
        else:
            groups[qid] = _group(documents, place, wanted, problems)
    return Taken(groups, any(isinstance(name, str) for name in given))


def _group(documents: Any, place: str, wanted: Wanted, problems: Problems) -> _Group:
    if isinstance(documents, Mapping):
        docids = list(documents)
        return _Group(docids, list(documents.values()), lambda n: f"{place}[{docids[n]!r}]")
    pairs = _pairs(documents)
    if pairs is None:
        text = (
            f"is {str(documents)[:60]!r}; expected {{document: {wanted.values[0]}}} "
            f"or a list of (document, {wanted.values[0]})."
        )
        problems.add(place, 0, text)
        return _Group([], [], lambda n: place)
    return _Group(*pairs, lambda n: f"{place}[{n}]")


def _pairs(documents: Any) -> tuple[list[Any], list[Any]] | None:
    """Documents and values of a list of results or of pairs; None where it is no such list."""
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        return None
    rows = list(documents)
    if all(hasattr(row, "docid") and hasattr(row, "score") for row in rows):
        return [row.docid for row in rows], [row.score for row in rows]
    try:
        pairs = [(docid, value) for docid, value in rows]
    except (TypeError, ValueError):
        return None
    return [docid for docid, _ in pairs], [value for _, value in pairs]


def _grouped(rows: Iterable[tuple[Any, Any, Any]], wanted: Wanted, problems: Problems) -> Groups:
    groups: dict[bytes, _Group] = {}
    last, qid, is_text = object(), None, False
    numbers: dict[bytes, list[int]] = {}
    for number, (name, docid, value) in enumerate(rows):
        if name is not last:
            last, qid = name, _encoded(name)
            is_text = is_text or isinstance(name, str)
        if qid is None:
            problems.add(_row(wanted, number), 0, _id_problem("query", name))
            continue
        if qid not in groups:
            numbers[qid] = []
            groups[qid] = _Group([], [], _placed(numbers[qid], wanted))
        group = groups[qid]
        group.docids.append(docid)
        group.values.append(value)
        numbers[qid].append(number)
    return Taken(groups, is_text)


def _placed(numbers: Sequence[int], wanted: Wanted) -> Callable[[int], str]:
    return lambda n: _row(wanted, numbers[n])


def _row(wanted: Wanted, number: int) -> str:
    return f"{wanted.name}, row {number} (from 0)"


# --- documents and values ------------------------------------------------------------------


Value = TypeVar("Value", int, float)


def _checked(
    group: _Group, read: Callable[[Any], Value | None], problems: Problems, wanted: Wanted
) -> dict[bytes, Value]:
    """The documents and values of a query, in their order; nothing where one cannot be taken."""
    docids = [_encoded(docid) for docid in group.docids]
    values = [read(value) for value in group.values]
    documents = dict(zip(docids, values, strict=True))
    if len(documents) < len(docids) or None in documents or None in values:
        _tell(group, docids, values, problems, wanted)
    return cast("dict[bytes, Value]", documents)


def _tell(
    group: _Group,
    docids: Sequence[bytes | None],
    values: Sequence[Any],
    problems: Problems,
    wanted: Wanted,
) -> None:
    first: dict[bytes, int] = {}
    for number, (docid, value) in enumerate(zip(docids, values, strict=True)):
        place = group.place(number)
        if docid is None:
            problems.add(place, 0, _id_problem("document", group.docids[number]))
        elif value is None:
            problems.add(place, 0, _value_problem(group.values[number], wanted))
        elif first.setdefault(docid, number) != number:
            before = first[docid]
            # As in a file, the same grade again says nothing new.
            if wanted is RUN or values[before] != value:
                problems.add(place, 0, _duplicate_problem(docid, group.place(before)))


def _duplicate_problem(docid: bytes, before: str) -> str:
    shown = docid.decode("utf-8", "backslashreplace")
    return (
        f"document '{shown}' was at {before} already; expected it once a query. "
        "Drop one of the two."
    )


def _encoded(name: Any) -> bytes | None:
    """The bytes of an id, or None where it is none."""
    if isinstance(name, str):
        return name.encode("utf-8", "surrogateescape")
    return bytes(name) if isinstance(name, bytes) else None


def _id_problem(kind: str, name: Any) -> str:
    return (
        f"{kind} id is {name!r}, {type(name).__name__}; expected text or bytes. "
        "Ids are never numbers: 007 is not 7. Read the column as text."
    )


def _value_problem(value: Any, wanted: Wanted) -> str:
    if wanted is QRELS:
        return f"grade is {value!r}; expected a whole number of at most nine digits. Correct it."
    return f"score is {value!r}; expected a number. Drop the row or give it a score."


def _score(value: Any) -> float | None:
    if type(value) is not float:
        if isinstance(value, str | bytes):
            return None
        try:
            value = float(value)
        except (TypeError, ValueError, OverflowError):
            return None
    return None if isnan(value) else value


def _grade(value: Any) -> int | None:
    try:
        grade = index(value)
    except TypeError:
        score = _score(value)
        if score is None or not score.is_integer():
            return None
        grade = int(score)
    return grade if abs(grade) <= LARGEST_GRADE else None
