"""The ids and texts the server takes, and the one order that ids are ever sorted in."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Any, TypeVar

MAX_ID_BYTES = 512
# Of a run, a pool, a slice and whatever else people name, in characters.
LONGEST_NAME = 120
BYTE_ORDER_MARK = "\ufeff"

Value = TypeVar("Value")


def id_problem(text: str) -> str | None:
    """Return what is wrong with an id, or None where it can be taken.

    An id has 1 to 512 bytes of UTF-8 without white space or control characters. It is never
    normalised: two spellings of one character are two ids.

    Examples
    --------
    >>> id_problem("doc-17")
    >>> id_problem("two words")
    'the id holds white space (U+0020); ids are written without it'
    """
    if text.isascii() and text.isprintable() and " " not in text and 0 < len(text) <= MAX_ID_BYTES:
        return None  # the case of nearly every id, answered without a look at each character
    return _slow_id_problem(text)


def _slow_id_problem(text: str) -> str | None:
    if not text:
        return "the id is empty; give it at least one character"
    # What follows is too long in any case, and an answer of a server may be one id of megabytes.
    for character in text[: MAX_ID_BYTES + 1]:
        reason = _character_problem(character)
        if reason:
            return reason
    n_bytes = len(text.encode(errors="surrogatepass"))
    if n_bytes > MAX_ID_BYTES:
        return f"the id has {n_bytes} bytes; at most {MAX_ID_BYTES} are taken"
    return None


def _character_problem(character: str) -> str | None:
    code = f"U+{ord(character):04X}"
    # White space first: TAB and line feed are control characters too, and this says more.
    if character.isspace():
        return f"the id holds white space ({code}); ids are written without it"
    category = unicodedata.category(character)
    if category == "Cc" or character == BYTE_ORDER_MARK:
        return f"the id holds a control character ({code}); remove it"
    if category == "Cs":
        return f"the id holds half a character ({code}, a lone surrogate); write it as UTF-8"
    return None


def is_storable(value: Any) -> bool:
    """Whether a database takes every text of a JSON value: none has NUL or half a surrogate pair.

    Examples
    --------
    >>> is_storable({"a": ["b", 1]}), is_storable({"a": ["b\\0"]})
    (True, False)
    """
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if "\0" in part or part.encode("utf-8", "replace").decode() != part:
                return False
        elif isinstance(part, Mapping):
            waiting += [*part, *part.values()]
        elif isinstance(part, list | tuple):
            waiting += part
    return True


def storable(value: Value) -> Value:
    """The value with each NUL and half of a surrogate pair in its texts replaced, at any depth.

    PostgreSQL takes neither in a text or in JSON, and who writes a log or a verdict may write both.

    Examples
    --------
    >>> storable({"a\\0": ("b\\ud83d", 1)}) == {"a\ufffd": ["b?", 1]}
    True
    """
    replaced: Value = _storable(value)
    return replaced


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        whole = value.encode("utf-8", "replace").decode()
        return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, dict):
        return {_storable(key): _storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(inner) for inner in value]
    return value


def sorted_ids(ids: Iterable[str]) -> list[str]:
    """Return the ids by their encoded bytes, as ties, digests and exports need them."""
    return sorted(ids, key=str.encode)


def some_ids(ids: Iterable[str]) -> str:
    """The first three of them in their order, quoted, for a message.

    Examples
    --------
    >>> some_ids({"d9", "d1", "d3", "d2"})
    "'d1', 'd2', 'd3'"
    """
    return ", ".join(f"'{docid}'" for docid in nsmallest(3, ids, key=str.encode))


# --- What a label was given for: short enough for a table of labels, and whole.

HASH_LENGTH = 16


def text_hash(title: str, text: str) -> str:
    """The first 16 hex digits of a SHA-256 over title, line feed and text.

    >>> text_hash("module this", "The Zen") == text_hash("module", "this The Zen")
    False
    """
    content = f"{title}\n{text}".encode()
    return hashlib.sha256(content).hexdigest()[:HASH_LENGTH]


def content_hash(title: str, text: str, images: Sequence[str] = ()) -> str:
    """The SHA-256 of what a person sees, so that a label can be pinned to it; images by digest.

    >>> content_hash("module", "this") == content_hash("module this", "")
    False
    """
    content = json.dumps([title, text, *images], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()
