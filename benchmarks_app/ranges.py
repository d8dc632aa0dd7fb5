"""Files as answers: whole, or a part that is asked for, with the tag of their bytes."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response

from benchmarks_app.places import BegunResponse, DetachedResponse
from benchmarks_app.problems import CONTENT_TYPE, problem
from benchwright.exports.exporter import CHUNK, file_pieces

# What is made for one answer is held whole up to here; what is larger is sent while it is made.
HELD = 8 << 20
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
# The bytes from one on, up to before another.
Pieces = Callable[[int, int], Iterator[bytes]]


def stored_response(
    request: HttpRequest, path: Path, *, sha256: str, content_type: str, name: str
) -> HttpResponseBase:
    """A stored file, whose digest is known, as a download."""
    return _ranged(
        request,
        lambda begin, end: file_pieces(path, begin, end),
        size=path.stat().st_size,
        sha256=sha256,
        headers=_headers(content_type, name),
    )


def made_response(
    request: HttpRequest, pieces: Iterable[bytes], *, content_type: str, name: str = ""
) -> HttpResponseBase:
    """What is made for this answer; of more than `HELD` bytes no part can be asked for."""
    content, rest = _held(iter(pieces))
    headers = _headers(content_type, name)
    if content is None:
        return BegunResponse(rest, headers={**headers, "Accept-Ranges": "none"})
    return _ranged(
        request,
        lambda begin, end: (content[at : min(at + CHUNK, end)] for at in range(begin, end, CHUNK)),
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        headers=headers,
    )


def _held(pieces: Iterator[bytes]) -> tuple[bytes | None, Iterator[bytes]]:
    parts, size = [], 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size > HELD:
            return None, chain(parts, pieces)
    return b"".join(parts), iter(())


def _headers(content_type: str, name: str) -> dict[str, str]:
    named = {"Content-Disposition": f'attachment; filename="{name}"'} if name else {}
    return {"Content-Type": content_type, **named}


def _ranged(
    request: HttpRequest, pieces: Pieces, *, size: int, sha256: str, headers: dict[str, str]
) -> HttpResponseBase:
    tag = f'"{sha256}"'
    headers = {**headers, "Accept-Ranges": "bytes", "ETag": tag}
    # Django's own, of the request itself: one of the API is in a wrapper.
    plain = getattr(request, "_request", request)
    if conditional := get_conditional_response(plain, etag=tag):
        conditional["ETag"] = tag
        return conditional
    begin, end = _part(request, tag, size)
    if begin >= end and size:
        return _beyond(request, size)
    response = DetachedResponse(
        pieces(begin, end), headers={**headers, "Content-Length": str(end - begin)}
    )
    if (begin, end) != (0, size):
        response.status_code = 206
        response["Content-Range"] = f"bytes {begin}-{end - 1}/{size}"
    return response


def _part(request: HttpRequest, tag: str, size: int) -> tuple[int, int]:
    """From which byte, up to before which: what `Range` asks for, if that is of this very file.

    Several ranges at once, and what is none, are answered with the whole file, as one may. An
    empty part is one that the file does not have.
    """
    match = RANGE.fullmatch(request.headers.get("Range", ""))
    is_this = request.headers.get("If-Range", tag) == tag
    if match is None or not is_this or request.method != "GET" or not any(match.groups()):
        return 0, size
    first, last = match.groups()
    if not first:
        return max(size - int(last), 0), size
    begin = int(first)
    if last and int(last) < begin:
        return 0, size
    return begin, min(int(last) + 1, size) if last else size


def _beyond(request: HttpRequest, size: int) -> JsonResponse:
    code = "range"
    message = f"The file has {size} bytes, and none of those that Range asks for."
    error = problem(status=416, code=code, message=message, instance=request.path)
    return JsonResponse(
        error,
        status=416,
        content_type=CONTENT_TYPE,
        headers={"Content-Range": f"bytes */{size}", "X-Error-Code": code},
    )
