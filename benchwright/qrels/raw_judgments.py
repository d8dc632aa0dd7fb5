"""The events of a ledger as lines of JSON or CSV, one at a time."""

import csv
import hmac
import io
import json
from base64 import b32encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from benchwright.files.cells import safe_cell

# --- The events of a ledger as lines of JSON or CSV, one at a time.

LINES_PER_CHUNK = 200


@dataclass(frozen=True, slots=True)
class RawJudgment:
    """One event as it leaves the site, people by pseudonym; the fields are the columns, in order.

    `annotator` is who gave the label, `entered_by` who imported it if that was somebody else's
    file. `evidence` is a list of `{"start", "end", "text"}`; `at` is ISO 8601 in UTC.
    `machine` says which judge, model and prompt a campaign asked; None of all other events.
    """

    event: int
    at: str
    query: str
    document: str
    kind: str
    grade: int | None
    annotator: str
    reason: str
    note: str
    evidence: list[dict[str, Any]]
    confidence: str
    outcome: str
    purpose: str
    pool: str
    source: str
    entered_by: str
    guideline: int | None
    content_hash: str
    view: str
    shown_chars: int | None
    position: int | None
    dwell_ms: int | None
    is_extra: bool
    supersedes: int | None
    superseded_by: int | None
    machine: dict[str, Any] | None = None


COLUMNS: tuple[str, ...] = RawJudgment.__slots__


def jsonl_lines(rows: Iterable[RawJudgment]) -> Iterator[str]:
    """One JSON object a line, with every column; an unknown value is null."""
    for row in rows:
        values = {name: getattr(row, name) for name in COLUMNS}
        yield json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def csv_lines(rows: Iterable[RawJudgment]) -> Iterator[str]:
    """A header and a line for each event; an unknown value is empty, evidence is JSON.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    buffer = io.StringIO()
    # CR LF, as RFC 4180 has it: only then is a lone CR inside a cell quoted.
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows:
        yield _taken(buffer)
        writer.writerow([_cell(getattr(row, name)) for name in COLUMNS])
    yield _taken(buffer)


def _taken(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return safe_cell(value)


FORMATS: dict[str, Callable[[Iterable[RawJudgment]], Iterator[str]]] = {
    "jsonl": jsonl_lines,
    "csv": csv_lines,
}


def in_chunks(lines: Iterable[str]) -> Iterator[str]:
    """The same text in fewer pieces, so that sending costs less than reading."""
    chunk: list[str] = []
    for line in lines:
        chunk.append(line)
        if len(chunk) == LINES_PER_CHUNK:
            yield "".join(chunk)
            chunk = []
    if chunk:
        yield "".join(chunk)


# --- Names that stand for people in what leaves the site.

PREFIX = "annotator"
# 40 bits: among a thousand people two of one name are as likely as one in two million.
N_BYTES = 5


def pseudonym(person: int | str, *, benchmark: int | str, secret: str) -> str:
    """A person's name in the exports of a benchmark, such as "annotator-pf3w7c2a".

    It is the same in every export of the benchmark and another elsewhere. Without the secret (the
    site's own) nobody can tell whom it stands for, nor that two benchmarks share a person.

    Parameters
    ----------
    person
        A key that never changes: not a user name, which may.
    """
    key = f"pseudonym\n{benchmark}\n{person}".encode()
    digest = hmac.digest(secret.encode(), key, "sha256")
    return f"{PREFIX}-{b32encode(digest[:N_BYTES]).decode().lower()}"
