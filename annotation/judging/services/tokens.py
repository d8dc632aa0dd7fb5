"""Sealed tokens: what a labeling page holds instead of ids, bound to a document and its annotator.

A token can be neither changed nor read by who holds it: a slot's number would tell a document that
is there as a check from the others, because such slots are made last.
"""

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

from django.conf import settings
from django.http import Http404

from annotation.judging.protocol.errors import SlotOfAnotherError, SlotTokenError
from annotation.models import Slot
from benchmarks_app.models import User

SEAL_BYTES = 16
KEY_BYTES = 12


@dataclass(frozen=True, slots=True)
class Shown:
    """What was on the screen when a judgment was given; goes on the event.

    `excerpt_chars` and `full_chars` are how much there is to see of the document: a token holds
    them until the page says which of the two it was.
    """

    content_hash: str = ""
    guideline_id: int | None = None
    shown_position: int | None = None
    dwell_ms: int | None = None
    view: str = ""
    shown_chars: int | None = None
    excerpt_chars: int | None = None
    full_chars: int | None = None

    def seen(self, *, view: str = "", dwell_ms: int | None = None) -> Self:
        """The same, with what only the page knows: how much was open, and for how long."""
        chars = self.excerpt_chars if view == "excerpt" else self.full_chars
        return replace(self, view=view, dwell_ms=dwell_ms, shown_chars=chars if view else None)

    def as_fields(self) -> dict[str, Any]:
        return {
            "content_hash": self.content_hash,
            "guideline_id": self.guideline_id,
            "shown_position": self.shown_position,
            "dwell_ms": self.dwell_ms,
            "view": self.view,
            "shown_chars": self.shown_chars,
        }


def sealed_token(slot_id: int, annotator_id: int, display: Shown) -> str:
    """A token for one document on one person's page; nothing can be read from it."""
    payload = [
        slot_id,
        annotator_id,
        display.content_hash,
        display.guideline_id,
        display.shown_position,
        display.excerpt_chars,
        display.full_chars,
    ]
    return _sealed(json.dumps(payload, separators=(",", ":")).encode())


def read_token(*, token: str, annotator: User) -> tuple[Slot, Shown]:
    """The slot of a token, whoever holds it now, and what was shown.

    Tokens do not age: a judgment that was kept for a day is still taken.

    Raises
    ------
    SlotTokenError
        If this site did not seal the token.
    SlotOfAnotherError
        If it was issued to another person.
    """
    slot_id, display = opened_token(token, annotator.pk)
    slots = Slot.objects.select_related("pool__benchmark", "entry__document").filter(pk=slot_id)
    slot = slots.first()
    if slot is None:
        raise Http404
    return slot, display


def opened_token(token: str, annotator_id: int) -> tuple[int, Shown]:
    """The slot's primary key and what was shown; errors as of `read_token`."""
    try:
        slot_id, owner_id, content_hash, guideline_id, position, excerpt, full = json.loads(
            _opened(token)
        )
    except (ValueError, OverflowError) as error:
        raise SlotTokenError from error
    if owner_id != annotator_id:
        raise SlotOfAnotherError
    return slot_id, Shown(
        content_hash, guideline_id, position, excerpt_chars=excerpt, full_chars=full
    )


def key_of(slot_id: int, annotator_id: int) -> str:
    """What a page calls a document: the same for a person each time, and of no other use."""
    return _name("slot", slot_id, annotator_id)


def query_key_of(query_id: int, annotator_id: int) -> str:
    """What a page calls a query: the same for a person each time."""
    return _name("query", query_id, annotator_id)


def _name(what: str, number: int, annotator_id: int) -> str:
    key = f"{what} {number} {annotator_id}".encode()
    digest = hashlib.blake2b(key, key=_key("name"), digest_size=KEY_BYTES).digest()
    return urlsafe_b64encode(digest).decode()


# --- the seal ------------------------------------------------------------------------------------
# A synthetic initialisation vector (Rogaway & Shrimpton, EUROCRYPT 2006): a keyed digest of the
# message is both its proof and the start of the key stream that hides it.


def _sealed(message: bytes) -> str:
    seal = _seal(message)
    return urlsafe_b64encode(seal + _hidden(message, seal)).rstrip(b"=").decode()


def _opened(token: str) -> bytes:
    raw = urlsafe_b64decode(token.encode("ascii", "replace") + b"=" * (-len(token) % 4))
    seal, hidden = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
    message = _hidden(hidden, seal)
    if not hmac.compare_digest(seal, _seal(message)):
        raise SlotTokenError
    return message


def _seal(message: bytes) -> bytes:
    return hashlib.blake2b(message, key=_key("seal"), digest_size=SEAL_BYTES).digest()


def _hidden(message: bytes, seal: bytes) -> bytes:
    stream = hashlib.shake_256(_key("stream") + seal).digest(len(message))
    return (int.from_bytes(message) ^ int.from_bytes(stream)).to_bytes(len(message))


@lru_cache(maxsize=16)
def _derived(secret: str, use: str) -> bytes:
    return hashlib.blake2b(f"annotation.slot.{use}".encode(), key=_bounded(secret)).digest()


def _bounded(secret: str) -> bytes:
    return hashlib.sha512(secret.encode()).digest()


def _key(use: str) -> bytes:
    return _derived(settings.SECRET_KEY, use)
