"""Files as other tools write them, as records of named columns.

One JSON document (an array of objects, judgments of OpenSearch, Quepid and Elasticsearch's
`rank_eval`, exports of Label Studio and Argilla), bulk requests and dumps of search engines,
spreadsheets, and LETOR's lines. Of JSON documents and of sheets the number of a record is told in
place of its line.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchwright.errors import Problems
from benchwright.files.inputs import Input
from benchwright.formats.errors import UnreadableKindError

Record = dict[str, Any]
Records = Iterator[tuple[int, Record]]
# A document is held whole while it is read.
MOST_JSON = 256 << 20
ACTIONS = ("index", "create", "update", "delete")
# A key that only such a document has: it may be one line.
WHOLE_KEYS = re.compile(
    rb'\{\s*"(judgmentRatings|requests|took)"|"(judgmentRatings|ratings)"\s*:\s*\['
)
LETOR = re.compile(rb"\s*[+-]?\d+(\.\d*)?\s+qid:\S+(\s+\d+:\S+)*\s*(#.*)?$")
# Not what is said under another name: `inc = 1`.
DOCID = re.compile(r"(?:doc_?id\s*[=:]\s*)?(\S+)(?!\S|\s*=)", re.IGNORECASE)
# As our own export says what a query is called, which is a number before.
DOCID_AND_QUERY = re.compile(r"docid = (\S+) query = (\S+)$")
PAIR_COLUMNS = ("query", "document", "score")
SHEET_MAGIC = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


# JSON documents


def is_whole_json(lines: Sequence[bytes]) -> bool:
    """Whether lines begin one JSON document, and not an object a line."""
    first, second = ([line for line in lines if line.strip()] + [b"", b""])[:2]
    first = first.strip()
    if first.startswith(b"["):
        # Objects in a list; a line that is one list among objects is a broken line.
        is_begun = first.rstrip(b"{").strip(b"[") == b"" or first.endswith(b",")
        return is_begun or not second.lstrip().startswith(b"{")
    if not first.startswith(b"{"):
        return False
    if first == b"{" or (not second and _is_of_pairs(first)):
        return True
    if WHOLE_KEYS.search(first) and (not second or not _is_json(first)):
        return True
    return bool(second) and not second.lstrip().startswith(b"{") and not _is_json(first)


def _is_of_pairs(line: bytes) -> bool:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return _are_pairs(document)


def _are_pairs(document: Any) -> bool:
    """Whether it is `{"q1": {"d1": 2}}`: documents of each query with a number."""
    return (
        isinstance(document, dict)
        and bool(document)
        and all(isinstance(member, dict) and member for member in document.values())
        and are_most(_is_number(value) for member in document.values() for value in member.values())
    )


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def json_document_records(table: Input, problems: Problems) -> Records:
    """Yield what a JSON document holds, each with the number of its record."""
    with table.opened() as stream:
        content = stream.read(MOST_JSON + 1)
    if len(content) > MOST_JSON:
        reason = f"is one JSON document of more than {MOST_JSON >> 20} MiB; write an object a line"
        problems.add(table.shown, 0, reason, is_whole=True)
        return
    try:
        document = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        reason = "is not UTF-8; save the file as UTF-8"
        if error.end == len(content):
            reason = "ends within a letter; the file may have been cut short. Write it again"
        problems.add(table.shown, line, reason, is_whole=True)
        return
    except json.JSONDecodeError as error:
        reason = f"is not JSON: {error.msg} (character {error.colno}); it may have been cut short"
        problems.add(table.shown, error.lineno, f"{reason}. Write it again", is_whole=True)
        return
    except RecursionError:
        problems.add(table.shown, 1, "is nested too deeply; write it flat", is_whole=True)
        return
    except ValueError:
        reason = "holds a number of more digits than are read; write it as a text"
        problems.add(table.shown, 0, reason, is_whole=True)
        return
    rows = _rows_of(document)
    if rows is None:
        reason = (
            "is JSON of no known shape; expected a list of objects, judgments of OpenSearch or "
            "Quepid, a request of rank_eval, or an object a line"
        )
        problems.add(table.shown, 1, reason, is_whole=True)
        return
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            reason = f"record {number} is {json.dumps(row)[:40]}; expected an object"
            problems.add(table.shown, number, reason)
            continue
        try:
            exported = list(_exported(row))
        except (AttributeError, TypeError):  # a part of it is not what its name says
            reason = f"record {number} is no annotated task as tools export one; export it again"
            problems.add(table.shown, number, reason)
            continue
        for record in exported:
            yield number, record


def json_document_columns(table: Input, n: int) -> tuple[str, ...]:
    """The columns of the first `n` records.

    Raises
    ------
    FileProblemsError
        If it holds none, with the reason.
    """
    names: dict[str, None] = {}
    problems = Problems()
    for _, record in islice(json_document_records(table, problems), n):
        names |= dict.fromkeys(record)
    if not names:
        problems.raise_found()
    return tuple(names)


def _rows_of(document: Any) -> Iterable[Any] | None:
    if isinstance(document, list):
        is_nested = document and all(_known(element) is not None for element in document)
        return (
            (row for element in document for row in _known(element) or ())
            if is_nested
            else document
        )
    return _known(document) if isinstance(document, dict) else None


def _known(document: Any) -> Iterable[Any] | None:
    """The rows of an object that is a document of its own; None of any other."""
    if not isinstance(document, dict):
        return None
    if isinstance(document.get("_source"), dict) and "judgmentRatings" in document["_source"]:
        return _known(document["_source"])
    if isinstance(ratings := document.get("judgmentRatings"), list):
        return _judged(ratings, "ratings")
    if isinstance(requests := document.get("requests"), list):
        return _rank_eval(requests)
    hits = document.get("hits")
    if isinstance(hits, dict) and isinstance(hits.get("hits"), list):
        nested = [_known(hit) for hit in hits["hits"]]
        is_judged = nested and all(rows is not None for rows in nested)
        return (row for rows in nested for row in rows or ()) if is_judged else hits["hits"]
    queries = document.get("queries")
    if isinstance(queries, list) and any(_is_of_quepid(query) for query in queries):
        return _judged(queries, "ratings")
    return _of_pairs(document) if _are_pairs(document) else None


def _is_of_quepid(query: Any) -> bool:
    return isinstance(query, dict) and "query_text" in query and "ratings" in query


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_pairs(document: Mapping[str, Mapping[str, Any]]) -> Iterator[Record]:
    """The rows of `{"q1": {"d1": 2}}`."""
    for query, scores in document.items():
        for docid, score in scores.items():
            yield dict(zip(PAIR_COLUMNS, (query, docid, score), strict=True))


def _judged(queries: Iterable[Any], key: str) -> Iterator[Any]:
    """A row a rating, of OpenSearch (`query`, `docId`) and of Quepid (`query_text`, `doc_id`)."""
    for query in queries:
        ratings = query.get(key) if isinstance(query, dict) else None
        text = query.get("query") or query.get("query_text") if isinstance(query, dict) else None
        if isinstance(ratings, dict):
            ratings = [{"doc_id": docid, "rating": rating} for docid, rating in ratings.items()]
        if not isinstance(ratings, list):
            yield query
            continue
        for rating in ratings:
            is_object = isinstance(rating, dict)
            docid = rating.get("docId", rating.get("doc_id")) if is_object else None
            grade = rating.get("rating") if is_object else None
            yield {"query_text": text, "document_id": docid, "rating": grade}


def _rank_eval(requests: Iterable[Any]) -> Iterator[Any]:
    """A row a rating of Elasticsearch's ranking evaluation."""
    for request in requests:
        ratings = request.get("ratings") if isinstance(request, dict) else None
        if not isinstance(ratings, list):
            yield request
            continue
        query_id = request.get("id")
        text = _words_of(request.get("params") or request.get("request")) or query_id
        for rating in ratings:
            facts = rating if isinstance(rating, dict) else {}
            yield {
                "query_id": query_id,
                "query_text": text,
                "document_id": facts.get("_id"),
                "rating": facts.get("rating"),
                "index": facts.get("_index"),
            }


_WORDS = ("query", "query_string", "value", "text", "q")


def _words_of(query: Any) -> str:
    """What a request asks for: its first text, under a name for it before any other."""
    if isinstance(query, str):
        return query
    if not isinstance(query, dict):
        return next(filter(None, map(_words_of, query)), "") if isinstance(query, list) else ""
    named = [query[name] for name in _WORDS if name in query]
    others = [value for name, value in query.items() if name not in (*_WORDS, *_NO_WORDS)]
    return next(filter(None, map(_words_of, (*named, *others))), "")


_NO_WORDS = ("fields", "type", "operator", "analyzer", "_source", "sort", "fuzziness", "filter")


# Exports of annotation tools


def _exported(row: Record) -> Iterator[Record]:
    """The records of an element: one, or of annotated tasks one for each answer."""
    if isinstance(row.get("data"), dict) and isinstance(
        row.get("annotations", row.get("completions")), list
    ):
        yield from _of_label_studio(row)
    elif isinstance(row.get("fields"), dict) and "responses" in row:
        yield from _of_argilla(row)
    elif isinstance(row.get("_source"), dict):
        yield hit_of(row)
    else:
        yield row


def _of_label_studio(task: Record) -> Iterator[Record]:
    """A record an annotation that was not cancelled: the task's data, and each answer by name."""
    for annotation in task.get("annotations", task.get("completions")) or ():
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        record = dict(task["data"])
        for answer in annotation.get("result") or ():
            value = answer.get("value") if isinstance(answer, dict) else None
            if isinstance(value, dict):
                value_of_type = value.get(answer.get("type", ""), value)
                record[str(answer.get("from_name"))] = _alone(value_of_type)
        yield record


def _of_argilla(row: Record) -> Iterator[Record]:
    """A record for each person who answered: fields, metadata, and each answer by its question."""
    answers: dict[Any, Record] = {}
    responses = row["responses"]
    if isinstance(responses, dict):
        for question, of_people in responses.items():
            for answer in of_people if isinstance(of_people, list) else ():
                answers.setdefault(answer.get("user_id"), {})[question] = _alone(
                    answer.get("value")
                )
    for response in responses if isinstance(responses, list) else ():
        if response.get("status", "submitted") == "submitted":
            values = response.get("values") or {}
            answers[response.get("user_id")] = {
                question: _alone(answer.get("value") if isinstance(answer, dict) else answer)
                for question, answer in values.items()
            }
    for answered in answers.values():
        yield {**(row.get("metadata") or {}), **row["fields"], **answered}


def _alone(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


# Search engines


def hit_of(row: Record) -> Record:
    """A document as searches and dumps give it: its id beside what it holds."""
    return {"_id": row.get("_id"), **row["_source"]}


def is_bulk(lines: Sequence[bytes]) -> bool:
    """Whether lines are a bulk request, or hits of a dump."""
    first = next((line for line in lines if line.strip()), b"")
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and (
        _action_of(record) is not None or isinstance(record.get("_source"), dict)
    )


def _action_of(record: Record) -> Record | None:
    if len(record) == 1 and (name := next(iter(record))) in ACTIONS:
        metadata = record[name]
        return {**metadata, "action": name} if isinstance(metadata, dict) else None
    return None


def bulk_records(numbered: Records, file: str, problems: Problems) -> Records:
    """Yield the documents of a bulk request or of a dump, with the line that holds each."""
    action: Record | None = None
    at = 0
    for line, record in numbered:
        if action is None and isinstance(record.get("_source"), dict):
            yield line, hit_of(record)
        elif action is None:
            action, at = _action_of(record), line
            if action is None:
                reason = f"is no action; expected one of {', '.join(ACTIONS)}, such as "
                problems.add(file, line, reason + '{"index": {"_id": "d1"}}')
            elif action["action"] == "delete":
                action = None
        else:
            doc = record.get("doc") if action["action"] == "update" else record
            if isinstance(doc, dict):
                yield line, {"_id": action.get("_id"), **doc}
            action = None
    if action is not None:
        reason = "the document of this action is missing; the file may have been cut short"
        problems.add(file, at, reason)


# LETOR


def is_letor(lines: Sequence[bytes]) -> bool:
    """Whether lines are grades with features, as SVMlight and LETOR have them."""
    rows = [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")][:20]
    return bool(rows) and are_most(bool(LETOR.match(line)) for line in rows)


def are_most(answers: Iterable[bool]) -> bool:
    """Whether two in three or more agree: a broken line among a file's first leaves it what it is.

    >>> are_most([True, True, False]), are_most([True, False])
    (True, False)
    """
    listed = list(answers)
    return 3 * sum(listed) >= 2 * len(listed) > 0


def letor_records(texts: Iterable[tuple[int, str, bool]], file: str, problems: Problems) -> Records:
    """Yield query, document and grade; features are left out."""
    for line, text, is_good in texts:
        before, _, comment = text.strip().partition("#")
        if not before.strip() or not is_good:
            continue
        cells = before.split()
        if len(cells) < 2 or not cells[1].startswith("qid:"):
            problems.add(file, line, "has no qid; expected 'grade qid:1 1:0.5 # document'")
            continue
        docid = DOCID.match(comment.strip())
        if docid is None:
            problem = "names no document; expected its id after '#': '2 qid:1 1:0.5 # d7'"
            problems.add(file, line, problem)
            continue
        own = DOCID_AND_QUERY.match(comment.strip())
        qid = own[2] if own else cells[1].removeprefix("qid:")
        yield line, {"query_id": qid, "document_id": docid[1], "grade": cells[0]}


# Spreadsheets


def sheet_rows(table: Input, folder: Path) -> tuple[list[list[Any]], str]:
    """The rows of the first sheet that has any, and what to say of the other sheets.

    Raises
    ------
    UnreadableKindError
        If it is no spreadsheet.
    """
    import python_calamine as calamine  # only where a file needs it

    try:
        book = calamine.CalamineWorkbook.from_path(str(table.seekable(folder)))
        sheets = {
            name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            for name in book.sheet_names
        }
    except (calamine.CalamineError, OSError, ValueError) as error:
        cause = str(error).splitlines()[0][:80] if str(error) else type(error).__name__
        kind = (
            f"an archive where a file is expected, or a spreadsheet that cannot be read ({cause})"
        )
        advice = "Take the file out of the archive; save a sheet as xlsx or CSV UTF-8."
        raise UnreadableKindError(file=table.shown, what=kind, advice=advice) from error
    name, rows = next(((name, rows) for name, rows in sheets.items() if rows), ("", []))
    others = [f"'{other}'" for other, rows in sheets.items() if rows and other != name]
    note = f"The sheet '{name}' is read, and not {', '.join(others)}." if others else ""
    return [[_cell(cell) for cell in row] for row in rows], note


def _cell(cell: Any) -> Any:
    """A number of a sheet as the whole number that it shows."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def sheet_records(
    rows: Sequence[Sequence[Any]], columns: Sequence[str], *, has_header: bool, has_index: bool
) -> Records:
    """Yield each row that holds anything, with its number in the sheet; the first is the header."""
    numbered = ((number, row) for number, row in enumerate(rows, start=1) if holds_any(row))
    for number, row in islice(numbered, int(has_header), None):
        yield number, dict(zip(columns, row[int(has_index) :], strict=False))


def holds_any(row: Sequence[Any]) -> bool:
    return any(cell != "" for cell in row)
