"""One query of named fields, and lists of document ids."""

import json
import re
from collections.abc import Iterator
from typing import Any

from benchwright.errors import Problems
from benchwright.formats.beir import CorpusRow, QueryRow, numbered, text_problem
from benchwright.formats.numbers import LONGEST_LANGUAGE, count_of, moment_of
from benchwright.ids import id_problem

MORE_COLUMNS = (
    *("description", "narrative", "lang", "frequency", "first_seen", "last_seen", "clicks", "tags"),
)
DOCID_HEADERS = ("docid", "doc_id", "doc-id", "corpus-id", "_id")
TAG_SEPARATOR = re.compile(r"[;|,]")
EXPECTED = "a column qid (or query-id, query_id, _id, id) and a column text (or query)"


def query_row(
    known: dict[str, Any], others: dict[str, Any], line: int, *, file: str, problems: Problems
) -> QueryRow | None:
    """Return the row of what is known of a query, by field, and of other columns.

    What is wrong is told, and the row is None; that JSON can hold the others is the caller's part.
    """
    fields = dict.fromkeys(MORE_COLUMNS) | known
    qid, text = fields.get("id"), fields.get("text")
    if fields.get("image") and (text is None or (isinstance(text, str) and not text.strip())):
        text = ""
    reason_of_text = None if text == "" and fields.get("image") else _text_reason(text)
    reasons = [
        reason for reason in (_id_reason(qid), reason_of_text, *_more_reasons(fields)) if reason
    ]
    for reason in reasons:
        problems.add(file, line, reason)
    if reasons or not isinstance(qid, str) or not isinstance(text, str):
        return None
    tags = _tags_of(fields["tags"])
    return QueryRow(
        line,
        qid,
        text,
        metadata=others | ({"tags": tags} if tags else {}),
        description=fields["description"] or "",
        narrative=fields["narrative"] or "",
        lang=fields["lang"] or "",
        frequency=count_of(fields["frequency"]),
        first_seen=(fields["first_seen"] or "").strip(),
        last_seen=(fields["last_seen"] or "").strip(),
        clicks=_clicks_of(fields["clicks"]) or {},
        family=fields.get("family") or "",
    )


def _tags_of(value: object) -> list[str]:
    """Tags of a list, or of a cell that separates them by `;`, `|` or `,`."""
    parts = value if isinstance(value, list) else TAG_SEPARATOR.split(str(value or ""))
    return [tag for part in parts if (tag := str(part).strip())]


def _clicks_of(value: object) -> dict[str, int] | None:
    """Counts by document id of an object or of its JSON; None where it is neither."""
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if not isinstance(value, dict):
        return None
    clicks = {str(docid): count_of(n) for docid, n in value.items() if n is not None}
    good = {docid: n for docid, n in clicks.items() if n is not None and not id_problem(docid)}
    return good if len(good) == len(clicks) else None


def _id_reason(qid: object) -> str | None:
    if qid is None:
        return f"has no query id; expected {EXPECTED}"
    if not isinstance(qid, str):
        return f'query id is {json.dumps(qid, default=str)[:60]}; expected a string: write "{qid}"'
    reason = id_problem(qid)
    return f"query id {qid[:60]!r}: {reason}" if reason else None


def _text_reason(text: object) -> str | None:
    if text is None:
        return f"has no text; expected {EXPECTED}"
    if not isinstance(text, str):
        return f"text is {json.dumps(text, default=str)[:60]}; expected a string"
    if not text.strip():
        return "text is empty; a query needs words, or an image"
    reason = text_problem(text)
    return f"text {reason}" if reason else None


def _more_reasons(fields: dict[str, Any]) -> Iterator[str]:
    for name in ("description", "narrative", "lang", "first_seen", "last_seen"):
        value = fields[name]
        if value is not None and not isinstance(value, str):
            yield f"{name} is {json.dumps(value, default=str)[:60]}; expected a string"
            fields[name] = ""
        elif value and text_problem(value):
            yield f"{name} {text_problem(value)}"
    if len(fields["lang"] or "") > LONGEST_LANGUAGE:
        yield f"lang is {fields['lang'][:40]!r}; expected a code such as en or zh-Hant"
    if count_of(fields["frequency"]) is None and fields["frequency"] not in (None, ""):
        yield f"frequency is {fields['frequency']!r:.60}; expected a whole number from 0 up"
    for name in ("first_seen", "last_seen"):
        if fields[name] and not moment_of(fields[name]):
            yield (
                f"{name} is {fields[name][:40]!r}; "
                "expected a date or time such as 2024-05-31 or 2024-05-31T09:30:00Z"
            )
    if _clicks_of(fields["clicks"]) is None:
        yield (
            f"clicks is {str(fields['clicks'])[:40]!r}; expected an object of counts by document "
            'id such as {"d1": 3}'
        )
    tags = fields["tags"]
    if tags is not None and not isinstance(tags, str | list):
        yield f"tags is {json.dumps(tags, default=str)[:40]}; expected a list, or 'one; two'"
        fields["tags"] = None


def docid_rows(lines: Iterator[bytes], *, file: str, problems: Problems) -> Iterator[CorpusRow]:
    """Yield the documents of a list of ids, one a line, for a corpus without texts.

    A first line that says `docid` (or doc_id, doc-id, corpus-id, _id) is a header.
    """
    for line, content in numbered(lines, file=file, problems=problems):
        docid = content.decode(errors="surrogateescape")
        if line == 1 and docid in DOCID_HEADERS:
            problems.warn(file, 1, f"{docid!r} was taken as the header, not as a document")
            continue
        reason = id_problem(docid)
        if reason:
            problems.add(file, line, f"document id {docid[:60]!r}: {reason}")
        else:
            yield CorpusRow(line, docid)
