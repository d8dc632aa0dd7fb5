"""Rows of a query with the passages that were judged for it, as MIRACL's dataset repository has.

Positive passages have grade 1 and negative ones grade 0: both were judged.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from benchwright.errors import PassedOver, Problems
from benchwright.formats.beir import CorpusRow, QrelRow, QueryRow, is_new, text_problem
from benchwright.formats.mapped import joined
from benchwright.formats.tables import Record
from benchwright.formats.tabular import query_row
from benchwright.ids import id_problem

Numbered = Iterable[tuple[int, Record]]
GRADES = {"positive_passages": 1, "negative_passages": 0}
EXPECTED = 'a list of objects such as {"docid": "7#1", "title": "…", "text": "…"}'
QUERY_IDS = ("query_id", "qid", "_id")
_QUERIES = ("query", "text")
_DOCIDS = ("docid", "_id", "id")


def passage_query_rows(
    numbered: Numbered, *, file: str, problems: Problems, lang: str = ""
) -> Iterator[QueryRow]:
    """Yield the query of each row."""
    first_lines: dict[str, int] = {}
    for line, record in numbered:
        fields = {"id": _first(record, QUERY_IDS), "text": _first(record, _QUERIES), "lang": lang}
        row = query_row(fields, {}, line, file=file, problems=problems)
        if row and is_new(row.qid, first_lines, file=file, line=line, problems=problems):
            yield row


def passage_qrel_rows(numbered: Numbered, *, file: str, problems: Problems) -> Iterator[QrelRow]:
    """Yield the grade of each passage of each query.

    What is wrong with the queries themselves is told by `passage_query_rows`.
    """
    for line, record in numbered:
        qid = _first(record, QUERY_IDS)
        if not isinstance(qid, str) or id_problem(qid):
            continue
        for passage, grade in _passages(line, record, file, problems):
            yield QrelRow(line, qid, passage[0], grade)


def passage_document_rows(
    numbered: Numbered, *, file: str, problems: Problems
) -> Iterator[CorpusRow]:
    """Yield each passage once; another text under the same id is a problem."""
    digests: dict[str, int] = {}
    for line, record in numbered:
        # Told once, by `passage_qrel_rows`.
        for (docid, title, text), _ in _passages(line, record, file, PassedOver()):
            digest = hash((title, text))
            if docid not in digests:
                digests[docid] = digest
                yield CorpusRow(line, docid, title, text)
            elif digests[docid] != digest:
                problem = (
                    f"passage '{docid}' has another text here than before; keep one of the two"
                )
                problems.add(file, line, problem)


def _first(record: Record, names: tuple[str, ...]) -> Any:
    value = next((record[name] for name in names if record.get(name) is not None), None)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _passages(
    line: int, record: Record, file: str, problems: Problems
) -> Iterator[tuple[tuple[str, str, str], int]]:
    """Id, title and text of each passage that can be read, and its grade."""
    for column, grade in GRADES.items():
        passages = record.get(column)
        if passages is None:
            continue
        if not isinstance(passages, list):
            problems.add(file, line, f"{column} is not a list; expected {EXPECTED}")
            continue
        for number, passage in enumerate(passages, start=1):
            fields = passage if isinstance(passage, dict) else {}
            docid = _first(fields, _DOCIDS)
            title, text = (joined(fields.get(key)) or "" for key in ("title", "text"))
            if reason := _docid_problem(docid) or _text_problem(title=title, text=text):
                problem = f"{column}, passage {number}: {reason}; expected {EXPECTED}"
                problems.add(file, line, problem)
                continue
            yield (str(docid), title, text), grade


def _docid_problem(docid: Any) -> str | None:
    if docid is None:
        return "has no docid"
    return id_problem(docid) if isinstance(docid, str) else f"docid is {docid!r:.40}, not a text"


def _text_problem(**texts: Any) -> str | None:
    for key, text in texts.items():
        reason = text_problem(text) if isinstance(text, str) else f"is no text ({text!r:.40})"
        if reason:
            return f"{key} {reason}"
    return None
