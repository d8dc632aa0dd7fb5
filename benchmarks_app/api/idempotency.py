"""A POST that is sent again with its Idempotency-Key gets the answer it got, and does nothing."""

import hashlib
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.request import Request

from benchmarks_app.common.services.keyed_requests import KEPT_FOR, claim, done
from benchmarks_app.errors import KeyBusyError, KeyReusedError, RepeatedKeyError
from benchmarks_app.models import KeyedRequest

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST = 255
# A first request of which nothing was heard for so long was lost with its process.
LOST_AFTER = timedelta(minutes=10)


class AnsweredBefore(Exception):
    """The same request was answered before."""

    def __init__(self, keyed: KeyedRequest) -> None:
        self.keyed = keyed

    def answer(self) -> HttpResponse:
        return HttpResponse(
            self.keyed.answer,
            status=self.keyed.status,
            content_type="application/json",
            headers={REPLAYED: "true"},
        )


def claimed(request: Request) -> KeyedRequest | None:
    """The row that this request holds until it is answered; None where it has no key.

    Raises
    ------
    AnsweredBefore
        If the same request was answered within 24 hours.
    KeyReusedError, KeyBusyError, RepeatedKeyError
        If the key was of another request; if the first is still being answered; if it is no key.
    """
    if HEADER not in request.headers:
        return None
    key = _key_of(request.headers[HEADER])
    now = timezone.now()
    digest, fingerprint = hashlib.sha256(key.encode()).hexdigest(), fingerprint_of(request)
    keyed, is_mine = claim(user=request.user, key_sha256=digest, fingerprint=fingerprint, at=now)
    if is_mine:
        return keyed
    is_over = keyed.began_at <= now - KEPT_FOR
    if not is_over and keyed.fingerprint != fingerprint:
        raise KeyReusedError
    if not is_over and keyed.status is not None:
        raise AnsweredBefore(keyed)
    if is_over or _is_lost(keyed, now):
        row, is_mine = claim(
            user=request.user, key_sha256=digest, fingerprint=fingerprint, at=now, over=keyed
        )
        if is_mine:
            return row
    raise KeyBusyError


def keep(keyed: KeyedRequest, response: HttpResponseBase) -> None:
    """Keep the answer for who asks again; an error made nothing, and gives the key back."""
    is_kept = 200 <= response.status_code < 300 and isinstance(response, HttpResponse)
    answer = response.content.decode() if is_kept and isinstance(response, HttpResponse) else ""
    done(keyed, status=response.status_code if is_kept else None, answer=answer)


def fingerprint_of(request: Request) -> str:
    """SHA-256 of what is asked: method, address, fields, and the bytes of files.

    Not of the body as it came: a form is parted by other words each time it is sent.
    """
    parts = [request.method, request.get_full_path(), list(_fields(request.data))]
    written = json.dumps(parts, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()


def _fields(data: Any) -> Iterator[Any]:
    if not hasattr(data, "lists"):
        yield data
        return
    for name, values in sorted(data.lists()):
        yield name, [_digest(it) if isinstance(it, UploadedFile) else it for it in values]


def _digest(file: UploadedFile) -> list[str | None]:
    digest = hashlib.sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return [file.name, digest.hexdigest()]


def _key_of(text: str) -> str:
    """The key; as a string of structured fields it stands in quotation marks."""
    key = text.strip().removeprefix('"').removesuffix('"')
    if not 1 <= len(key) <= LONGEST or not (key.isascii() and key.isprintable()):
        raise RepeatedKeyError(n=len(key), most=LONGEST)
    return key


def _is_lost(keyed: KeyedRequest, now: datetime) -> bool:
    return keyed.status is None and keyed.began_at <= now - LOST_AFTER
