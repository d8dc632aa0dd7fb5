"""What a labeling page says to the site, event by event: read, checked and bounded.

A page speaks JSON. Nothing here knows of a database: whether a grade is on the scale, or a document
still somebody's, is for the services.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from annotation.judging.protocol.errors import EventError

# A page that stayed open over lunch says nothing about how long a label takes.
MAX_DWELL_MS = 10 * 60 * 1000
MAX_NOTE = 20_000
MAX_SPANS = 50
MAX_SPAN_CHARS = 2_000
MAX_EVENTS = 200
MAX_HAVE = 200
MAX_WANT = 20
VIEWS = ("", "whole", "excerpt", "full")
CONFIDENCES = ("", "low")
_MISSING = object()


class Do(StrEnum):
    """What an annotator may do with a document."""

    GRADE = "grade"
    CANT_JUDGE = "cant_judge"
    UNDO = "undo"
    LATER = "later"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text that speaks for the grade: characters `start` up to `end`, and the words."""

    start: int
    end: int
    text: str

    def as_json(self) -> dict[str, Any]:
        return {"start": self.start, "end": self.end, "text": self.text}


@dataclass(frozen=True, slots=True)
class Said:
    """One event of a page; what a kind of event has no use for stays empty."""

    client_id: UUID
    do: Do
    token: str = ""
    grade: int | None = None
    reason: str = ""
    note: str = ""
    evidence: tuple[Span, ...] = ()
    confidence: str = ""
    dwell_ms: int | None = None
    view: str = ""
    undoes: UUID | None = None
    question: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """`say` is not read yet: one event that cannot be read must not hold up the others."""

    say: tuple[Any, ...]
    have: frozenset[str]
    want: int


def request_of(raw: object) -> Request:
    """The request of a page.

    Raises
    ------
    EventError
        If it is not one.
    """
    body = _mapping(raw, "the request")
    say, have = (_list(body.get(name, []), name) for name in ("say", "have"))
    if len(say) > MAX_EVENTS:
        raise EventError(what=f"say holds {len(say)} events", expected=f"{MAX_EVENTS} at most")
    if len(have) > MAX_HAVE:
        raise EventError(what=f"have holds {len(have)} keys", expected=f"{MAX_HAVE} at most")
    keys = frozenset(_text(key, "a key", 100) for key in have)
    return Request(tuple(say), keys, min(_whole(body.get("want", 0), "want"), MAX_WANT))


def client_id_of(raw: object) -> str:
    """The client id of an event as it was sent, to name an event that cannot be read."""
    client_id = raw.get("client_id") if isinstance(raw, Mapping) else None
    return client_id[:100] if isinstance(client_id, str) else ""


def said_of(raw: object) -> Said:
    """One event.

    Raises
    ------
    EventError
        If a part of it is missing, of another kind than expected, or too long.

    Examples
    --------
    >>> said_of({"client_id": "00000000-0000-4000-8000-000000000001", "do": "undo",
    ...          "undoes": "00000000-0000-4000-8000-000000000002"}).do
    <Do.UNDO: 'undo'>
    """
    event = _mapping(raw, "an event")
    client_id = _uuid(event.get("client_id"), "client_id")
    named = _text(event.get("do", ""), "do", 20)
    if named not in set(Do):
        raise EventError(what=f"do is '{named}'", expected=", ".join(Do))
    do = Do(named)
    if do is Do.UNDO:
        return Said(client_id, do, undoes=_uuid(event.get("undoes"), "undoes"))
    token = _text(event.get("token"), "token", 2_000)
    if do is Do.LATER:
        return Said(client_id, do, token)
    if do is Do.ASK:
        question = _text(event.get("question"), "question", MAX_NOTE).strip()
        if not question:
            raise EventError(what="the question is empty", expected="what you want to know")
        return Said(client_id, do, token, question=question)
    return _label(event, client_id, do, token)


def _label(event: Mapping[str, Any], client_id: UUID, do: Do, token: str) -> Said:
    return Said(
        client_id,
        do,
        token,
        grade=_whole(event.get("grade", _MISSING), "grade") if do is Do.GRADE else None,
        reason=_text(event.get("reason", ""), "reason", MAX_NOTE),
        note=_text(event.get("note", ""), "note", MAX_NOTE),
        evidence=spans_of(event.get("evidence", [])),
        confidence=_one_of(event.get("confidence", ""), "confidence", CONFIDENCES),
        dwell_ms=dwell_of(event.get("dwell_ms")),
        view=_one_of(event.get("view", ""), "view", VIEWS),
    )


def dwell_of(raw: object) -> int | None:
    """Milliseconds, or None where they are not known or too many to mean anything."""
    if raw is None:
        return None
    dwell = _whole(raw, "dwell_ms")
    return dwell if dwell <= MAX_DWELL_MS else None


def spans_of(raw: object) -> tuple[Span, ...]:
    """The marked parts of a text; the words of a very long one are kept to their beginning."""
    spans = _list(raw, "evidence")
    if len(spans) > MAX_SPANS:
        raise EventError(what=f"{len(spans)} parts are marked", expected=f"{MAX_SPANS} at most")
    return tuple(_span(_mapping(span, "a marked part")) for span in spans)


def _span(raw: Mapping[str, Any]) -> Span:
    start, end = (_whole(raw.get(name), name) for name in ("start", "end"))
    if start >= end:
        raise EventError(what=f"a part from {start} to {end}", expected="an end after its start")
    text = raw.get("text", "")
    if not isinstance(text, str):
        raise EventError(what="a part's text is not text", expected="the marked words")
    return Span(start, end, text[:MAX_SPAN_CHARS])


# --- values --------------------------------------------------------------------------------------


def _mapping(raw: object, name: str) -> Mapping[str, Any]:
    if not isinstance(raw, dict):
        raise EventError(what=f"{name} is {_kind(raw)}", expected="an object")
    return raw


def _list(raw: object, name: str) -> list[Any]:
    if not isinstance(raw, list):
        raise EventError(what=f"{name} is {_kind(raw)}", expected="a list")
    return raw


def _whole(raw: object, name: str) -> int:
    if not isinstance(raw, int) or isinstance(raw, bool) or not 0 <= raw < 2**31:
        raise EventError(what=f"{name} is {_kind(raw)}", expected="a whole number from 0")
    return raw


def _text(raw: object, name: str, longest: int) -> str:
    if not isinstance(raw, str):
        raise EventError(what=f"{name} is {_kind(raw)}", expected="text")
    if len(raw) > longest:
        raise EventError(what=f"{name} has {len(raw)} characters", expected=f"{longest} at most")
    # Half a surrogate pair and NUL are not for databases.
    return raw.encode("utf-8", "replace").decode().replace("\x00", "")


def _one_of(raw: object, name: str, allowed_texts: tuple[str, ...]) -> str:
    text = _text(raw, name, 20)
    if text not in allowed_texts:
        raise EventError(
            what=f"{name} is '{text}'", expected=", ".join(filter(None, allowed_texts))
        )
    return text


def _uuid(raw: object, name: str) -> UUID:
    try:
        return UUID(_text(raw, name, 40))
    except ValueError:
        raise EventError(what=f"{name} is no UUID", expected="a UUID") from None


def _kind(raw: object) -> str:
    if raw is _MISSING or raw is None:
        return "missing"
    return "a number out of range" if isinstance(raw, int | float) else type(raw).__name__
