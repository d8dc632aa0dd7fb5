"""All that the site knows of a person, as a zip of JSON lines."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks_app.common.selectors.people import named
from benchmarks_app.common.services import audit
from benchmarks_app.models import User
from benchmarks_app.person_records import RECORDS
from benchwright.formats.beir_writing import streamed_zip

ACTION = "export-person"
FOLDER = "known"
LINES_PER_PIECE = 500
README = """What this site knows of the person whose account is in account.jsonl.

A file for each kind of record, a JSON object a line; a file without lines says that there are none.
Passwords and the secrets of tokens are not in here: the site keeps digests of them.
other-work.jsonl counts the rows that name the person as who made or decided something.
"""


def export_person(*, user: User, actor: User | None) -> Iterator[bytes]:
    """Pieces of the zip, made while they are taken; that it was asked for is recorded."""
    audit.record(actor=actor, action=ACTION, target=named(user.pk))
    return streamed_zip(_members(user))


def _members(user: User) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield f"{FOLDER}/README.txt", [README.encode()]
    for kind, tell in sorted(RECORDS.items()):
        yield f"{FOLDER}/{kind}.jsonl", _lines(tell(user))


def _lines(rows: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    lines: list[str] = []
    for row in rows:
        lines.append(json.dumps(row, ensure_ascii=False, default=_plain) + "\n")
        if len(lines) == LINES_PER_PIECE:
            yield "".join(lines).encode()
            lines.clear()
    yield "".join(lines).encode()


def _plain(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
