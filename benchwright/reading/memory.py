"""Qrels and runs that are in memory already, under the rules that files are read by.

Accepted: nested mappings as pytrec_eval has them (`{query: {document: score}}`), a mapping of each
query to its results as pairs or rows, and every table of `memory_columns`. Ids are text or bytes;
text is encoded as UTF-8. What a file would be refused for is refused here, with its
place.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from operator import index
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from benchwright.errors import Problems
from benchwright.files.encodings import as_bytes, as_shown, as_text
from benchwright.reading.hits import Hit, QueryHits, find_hits
from benchwright.reading.loading import Qrels
from benchwright.reading.memory_columns import QRELS, RUN, Wanted, rows_of
from benchwright.reading.ranking import Scored

LARGEST_GRADE = 999_999_999  # nine digits, as in a file


class Result(NamedTuple):
    """A document with its score."""

    docid: bytes
    score: float


Results: TypeAlias = dict[bytes, Sequence[Scored]]
"""Query to its results, in the order given; one without results was answered with nothing."""

Documents: TypeAlias = dict[Any, float]
"""Score of each document of a query; the ids are all text or all bytes."""

# What puts tied documents in order: the rule and whether greater ids go first.
ORDERED_TIES = {"trec": True, "trec9": True, "docid-asc": False}

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
    taken = _take_documents(given)
    return Taken(_results(taken.content), taken.is_text)


def hits_of(
    given: Any, grades: Mapping[bytes, Mapping[bytes, int]], *, ties: str, depth: int | None
) -> Taken[dict[bytes, QueryHits[bytes]]]:
    """The hits of every query that a run in memory answers; raises as `take_run` and `find_hits`.

    Also the queries without qrels are there, without hits.
    """
    taken = _take_documents(given)
    if ties in ORDERED_TIES and depth is None:
        hits_of = {
            qid: QueryHits(qid, _hits(documents, grades[qid], ties), len(documents))
            for qid, documents in taken.content.items()
            if qid in grades
        }
    else:
        hits_of = find_hits(grades, _results(taken.content), ties=ties, depth=depth)
    hits = {
        qid: hits_of.get(qid) or QueryHits(qid, (), min(len(rows), depth or len(rows)))
        for qid, rows in taken.content.items()
    }
    return Taken(hits, taken.is_text)


def _take_documents(given: Any) -> Taken[dict[bytes, Documents]]:
    problems = Problems()
    groups = _groups(given, RUN, problems)
    documents = {qid: _documents(group, problems) for qid, group in groups.content.items()}
    problems.raise_found()
    return Taken(documents, groups.is_text)


def _results(run: Mapping[bytes, Documents]) -> Results:
    return {
        qid: [Result(cast("bytes", _encoded(docid)), score) for docid, score in documents.items()]
        for qid, documents in run.items()
    }


# --- hits ----------------------------------------------------------------------------------
# Nothing is sorted but numbers, and no id encoded that is neither judged nor tied with one that is.


def _hits(documents: Documents, grades: Mapping[bytes, int], ties: str) -> tuple[Hit, ...]:
    """The hits of one query, as `find_hits` finds them."""
    if ties == "trec9":
        documents = dict(zip(documents, array("f", documents.values()), strict=True))
    ascending = sorted(documents.values())
    is_text = isinstance(next(iter(documents), b""), str)
    groups: dict[float, dict[bytes, int]] = {}
    hits = []
    for docid, grade in grades.items():
        name = as_text(docid) if is_text else docid
        score = documents.get(name)
        if score is None:
            continue
        upto = bisect_right(ascending, score)
        rank = len(ascending) - upto + 1
        if upto > 1 and ascending[upto - 2] == score:
            if score not in groups:
                groups[score] = _places_in_tie(documents, score, ORDERED_TIES[ties])
            rank += groups[score][docid]
        hits.append(Hit(rank, grade))
    return tuple(sorted(hits))


def _places_in_tie(documents: Documents, score: float, is_descending: bool) -> dict[bytes, int]:
    tied = [cast("bytes", _encoded(docid)) for docid, of in documents.items() if of == score]
    ordered = sorted(tied, reverse=is_descending)
    return {docid: place for place, docid in enumerate(ordered)}


# --- queries -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """Documents and values of one query, not looked at yet; `place` says where the n-th stands.

    A mapping that was given is its own `docids`: it is not copied, only read.
    """

    docids: Collection[Any]
    values: Collection[Any]
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
        return _Group(documents, documents.values(), lambda n: f"{place}[{list(documents)[n]!r}]")
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
    columns: dict[bytes, tuple[list[Any], list[Any], list[int]]] = {}
    last, qid, is_text = object(), None, False
    for number, (name, docid, value) in enumerate(rows):
        if name is not last:
            last, qid = name, _encoded(name)
            is_text = is_text or isinstance(name, str)
        if qid is None:
            problems.add(_row(wanted, number), 0, _id_problem("query", name))
            continue
        docids, values, numbers = columns.setdefault(qid, ([], [], []))
        docids.append(docid)
        values.append(value)
        numbers.append(number)
    groups = {
        qid: _Group(docids, values, _placed(numbers, wanted))
        for qid, (docids, values, numbers) in columns.items()
    }
    return Taken(groups, is_text)


def _placed(numbers: Sequence[int], wanted: Wanted) -> Callable[[int], str]:
    return lambda n: _row(wanted, numbers[n])


def _row(wanted: Wanted, number: int) -> str:
    return f"{wanted.name}, row {number} (from 0)"


# --- documents and values ------------------------------------------------------------------


def _documents(group: _Group, problems: Problems) -> Documents:
    """The scores of a query by document; ids stay text where all of them are."""
    documents = group.docids
    if not isinstance(documents, dict):
        documents = dict(zip(group.docids, group.values, strict=True))
    if (
        len(documents) == len(group.docids)
        and set(map(type, group.values)) <= {float}
        and not any(map(isnan, group.values))
        and _are_ids(group.docids)
    ):
        return documents
    return dict(_checked(group, _score, problems, RUN))


def _are_ids(names: Collection[Any]) -> bool:
    """Whether all are bytes, or all are text that a file can hold."""
    if set(map(type, names)) == {str}:
        return _encoded("".join(names)) is not None
    return set(map(type, names)) <= {bytes}


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
    names, cells = list(group.docids), list(group.values)
    for number, (docid, value) in enumerate(zip(docids, values, strict=True)):
        place = group.place(number)
        if docid is None:
            problems.add(place, 0, _id_problem("document", names[number]))
        elif value is None:
            problems.add(place, 0, _value_problem(cells[number], wanted))
        elif first.setdefault(docid, number) != number:
            before = first[docid]
            # As in a file, the same grade again says nothing new.
            if wanted is RUN or values[before] != value:
                problems.add(place, 0, _duplicate_problem(docid, group.place(before)))


def _duplicate_problem(docid: bytes, before: str) -> str:
    name = as_shown(docid)
    return (
        f"document '{name}' was at {before} already; expected it once a query. Drop one of the two."
    )


def _encoded(name: Any) -> bytes | None:
    """The bytes of an id, or None where it is none."""
    if not isinstance(name, str):
        return bytes(name) if isinstance(name, bytes) else None
    try:
        return as_bytes(name)
    except UnicodeEncodeError:
        return None  # half a character, which no file can hold


def _id_problem(kind: str, name: Any) -> str:
    if isinstance(name, str):
        return f"{kind} id is {name!r}, which is no Unicode text; expected text or bytes."
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
