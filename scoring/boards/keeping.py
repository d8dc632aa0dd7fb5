"""Boards are worked out once for each state of their benchmark, and kept as they are sent.

`benchmarks_app.changes` names the state; a key is made of it, of who reads (`audience_of`), and of
all else that a page depends on, so that nothing is ever taken away to be shown no more: nobody asks
for it. Kept are whole pages for who is not signed in, and for others what stands inside the frame
of a page: no name of a person who reads, no token and no mark of theirs is in it.
"""

import fcntl
import gzip
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache as once
from functools import wraps
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import zstandard
from django.conf import settings
from django.core.cache import cache
from django.core.cache.backends.filebased import FileBasedCache
from django.db.models import Min, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.safestring import SafeString, mark_safe
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from benchmarks_app.changes import public_state_of
from benchmarks_app.hosts import site_version
from benchmarks_app.language import readers_language
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.requests import SiteRequest, accepted_encoding
from benchmarks_app.static_files import lacks_styles, styles_of
from scoring.boards.selectors.audiences import EVERYBODY, audience_of
from scoring.models import Phase

# Of one board as it is sent, and of boards of a site; above that a third of them goes, by chance.
MOST_BYTES, MOST_KEPT = 1 << 20, 500
KEPT_FOR = timedelta(days=1)
LONGEST_ADDRESS = 1_000
# So long others wait for who renders the same board, before they do it as well.
LONGEST_WAIT_SECONDS, LOOK_EVERY_SECONDS = 5.0, 0.005
N_TURNS = 64
_TURNS = [Lock() for _ in range(N_TURNS)]
# Of gzip and zstd; what is large is sent to programs, and to compress it well takes longer than to
# make it.
LEVELS, LEVELS_OF_LARGE, LARGE = (6, 9), (1, 3), 1 << 18
# As the browser's own copy is asked for again each time, and is nobody else's.
CACHE_CONTROL = "private, no-cache"
HEADERS = ("Content-Type", "Content-Disposition")
# What no board that others are shown may hold.
TOKEN = b"csrfmiddlewaretoken"


@dataclass(frozen=True)
class Kept:
    """A board as it is sent: compressed, with the tag of what it says and until when it holds."""

    by_gzip: bytes
    by_zstd: bytes
    tag: str
    headers: dict[str, str]
    styles: tuple[str, ...]
    until: datetime

    @classmethod
    def of(cls, content: bytes, headers: dict[str, str], until: datetime) -> "Kept":
        # Weak: the same words in any encoding.
        tag = f'W/"{sha256(content).hexdigest()[:32]}"'
        of_gzip, of_zstd = LEVELS_OF_LARGE if len(content) > LARGE else LEVELS
        by_gzip = gzip.compress(content, of_gzip, mtime=0)
        by_zstd = zstandard.compress(content, of_zstd)
        return cls(by_gzip, by_zstd, tag, headers, styles_of(content), until)

    @property
    def content(self) -> bytes:
        return gzip.decompress(self.by_gzip)


# --- the store -----------------------------------------------------------------------------


def _store() -> FileBasedCache:
    """Shared by the web processes of a site: files of its data folder."""
    folder = Path(settings.DATA_DIR) / "cache" / "boards"
    seconds = KEPT_FOR.total_seconds()
    return FileBasedCache(str(folder), {"TIMEOUT": seconds, "OPTIONS": {"MAX_ENTRIES": MOST_KEPT}})


def find(key: str) -> Kept | None:
    """What is kept under a key and still holds; this process remembers what it read last."""
    kept = cache.get(key)
    if kept is None:
        kept = _store().get(key)
        if kept is not None:
            cache.set(key, kept)
    return kept if kept is not None and kept.until > timezone.now() else None


def keep(key: str, kept: Kept) -> None:
    if len(kept.by_gzip) <= MOST_BYTES:
        cache.set(key, kept)
        _store().set(key, kept)


@contextmanager
def turn(key: str) -> Iterator[None]:
    """One after the other, of all threads and processes; who has waited long enough goes on."""
    place = int(key[:8], 16) % N_TURNS
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    # Of the threads of a process one looks whether it is its turn, the others wait for it.
    is_first = _TURNS[place].acquire(timeout=LONGEST_WAIT_SECONDS)
    try:
        folder = Path(settings.DATA_DIR) / "cache" / "turns"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / str(place)).open("ab") as file:
            while time.monotonic() < deadline:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    time.sleep(LOOK_EVERY_SECONDS)
                else:
                    break
            yield  # closing the file ends the turn
    finally:
        if is_first:
            _TURNS[place].release()


# --- one place ------------------------------------------------------------------------------


class Content(NamedTuple):
    """What of an answer may be kept, and for how long at most."""

    body: bytes
    headers: dict[str, str]
    longest: timedelta = KEPT_FOR


# A benchmark by its key, its state, the audience, and what kind of answer it is.
Place = tuple[int, int, str, str]
Answer = TypeVar("Answer")


def _kept_or_made(
    request: HttpRequest | Request,
    place: Place | None,
    make: Callable[[], Answer],
    content_of: Callable[[Answer], Content | None],
) -> Kept | Answer:
    """What is kept at a place, made by one while others wait; an answer as `make` makes it where
    there is no place, or nothing of it may be kept."""
    if place is None or len(request.get_full_path()) > LONGEST_ADDRESS:
        return make()
    key = _key(request, *place)
    if kept := find(key):
        return kept
    with turn(key):
        if kept := find(key):
            return kept
        now = timezone.now()
        answer = make()
        content = content_of(answer)
        if content is None or TOKEN in content.body:
            return answer
        kept = Kept.of(content.body, content.headers, _until(place[0], now, content.longest))
        keep(key, kept)
        return kept


def _kept_for_audience(
    request: HttpRequest | Request,
    benchmark: Benchmark,
    kind: str,
    make: Callable[[], Answer],
    content_of: Callable[[Answer], Content | None],
) -> Kept | Answer:
    """As `_kept_or_made`, for those to whom it is the same as to who asks; else made for them."""
    audience, state = audience_of(request.user, benchmark)
    place = (benchmark.pk, state, audience, kind) if audience else None

    def content(answer: Answer) -> Content | None:
        # Who has come to be alone while it was made may have been told what others are not.
        still = audience_of(request.user, benchmark).name == audience
        return content_of(answer) if still else None

    return _kept_or_made(request, place, make, content)


@once
def _version() -> str:
    return site_version()


def _key(
    request: HttpRequest | Request, benchmark: int, state: int, audience: str, kind: str
) -> str:
    facts = (
        *(_version(), kind, benchmark, state, audience, readers_language(request)),
        *(request.scheme, request.get_host(), request.get_full_path()),
        *(request.COOKIES.get("theme", "")[:8], "HX-Request" in request.headers),
    )
    return sha256(repr(facts).encode()).hexdigest()


def _until(benchmark: int, now: datetime, longest: timedelta) -> datetime:
    moment = _next_moment(benchmark, now)
    return min(now + longest, moment) if moment else now + longest


def _next_moment(benchmark: int, now: datetime) -> datetime | None:
    """The first moment after `now` at which a run is shown or named, or a phase opens or closes."""
    moments = [
        *_first_after(Run.objects.filter(benchmark=benchmark), now, "public_from"),
        *_first_after(Run.objects.filter(benchmark=benchmark), now, "anonymous_until"),
        *_first_after(Phase.objects.filter(benchmark=benchmark), now, "opens_at"),
        *_first_after(Phase.objects.filter(benchmark=benchmark), now, "closes_at"),
    ]
    return min(moments, default=None)


def _first_after(rows: QuerySet[Any], now: datetime, name: str) -> list[datetime]:
    first = rows.filter(Q(**{f"{name}__gt": now})).aggregate(first=Min(name))["first"]
    return [first] if first else []


# --- whole answers -------------------------------------------------------------------------


def kept_for_everybody(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view's answers to who is not signed in are kept; it is asked once for each state.

    For a view of a public benchmark, above `benchmark_view`, which is asked where nothing is kept.
    """

    @wraps(view)
    def answering(request: SiteRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
        def make() -> HttpResponse:
            return view(request, slug, *args, **kwargs)

        state = public_state_of(slug) if _is_of_nobody(request) else None
        kept = _kept_or_made(request, state and (*state, EVERYBODY, "answer"), make, _page_content)
        return sent(request, kept) if isinstance(kept, Kept) else kept

    return answering


def kept_for_audience(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """The view's answers to who is signed in are kept, for those to whom they are the same.

    For a file, below `benchmark_view`, which says who may have it. Their browsers keep nothing.
    """

    @wraps(view)
    def answering(request: SiteRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        def make() -> HttpResponse:
            return view(request, *args, **kwargs)

        if not request.user.is_authenticated:
            return make()  # the whole answer is kept
        kept = _kept_for_audience(request, request.benchmark, "answer", make, _page_content)
        return compressed(request, kept) if isinstance(kept, Kept) else kept

    return answering


def _is_of_nobody(request: HttpRequest) -> bool:
    """Whether neither a session, a key nor a message comes with a request."""
    cookies = (settings.SESSION_COOKIE_NAME, "messages")
    return "Authorization" not in request.headers and not any(
        name in request.COOKIES for name in cookies
    )


def _page_content(response: HttpResponse) -> Content | None:
    is_of_all = (
        response.status_code == 200
        and not response.streaming
        and not response.cookies
        and not response.has_header("Content-Encoding")
    )
    headers = {name: response[name] for name in HEADERS if response.has_header(name)}
    return Content(response.content, headers) if is_of_all else None


def sent(request: HttpRequest, kept: Kept) -> HttpResponse:
    """The answer of what is kept: compressed as the asker takes it, or that they have it (304).

    A page into which its first styles go (`FirstStylesMiddleware`) is sent without a tag: with the
    styles its policy is another, which must not be taken for that of the next page.
    """
    if lacks_styles(request, kept.styles):
        return HttpResponse(kept.content, headers=kept.headers)
    response = compressed(request, kept)
    response["ETag"] = kept.tag
    response["Cache-Control"] = CACHE_CONTROL
    patch_vary_headers(response, ("Cookie",))
    answer = get_conditional_response(request, etag=kept.tag, response=response) or response
    if answer is not response:
        answer["Cache-Control"] = CACHE_CONTROL
        patch_vary_headers(answer, ("Cookie", "Accept-Encoding"))
    return answer


def compressed(request: HttpRequest | Request, kept: Kept) -> HttpResponse:
    """What is kept, in the first encoding that the asker takes."""
    encoding = accepted_encoding(request.headers.get("Accept-Encoding", ""))
    body = {"zstd": kept.by_zstd, "gzip": kept.by_gzip}.get(encoding) or kept.content
    response = HttpResponse(body, headers=kept.headers)
    if encoding:
        response["Content-Encoding"] = encoding
    patch_vary_headers(response, ("Accept-Encoding",))
    return response


# --- answers of the API ---------------------------------------------------------------------


def kept_json(request: Request, benchmark: Benchmark, make: Callable[[], Response]) -> HttpResponse:
    """An answer of an endpoint as bytes, made once for each audience and state.

    Limits, the tag and who may ask are the endpoint's, each time.
    """
    is_plain = "indent" not in request.headers.get("Accept", "")
    if not is_plain:
        return make()
    kept = _kept_for_audience(request, benchmark, "json", make, _json_content)
    return compressed(request, kept) if isinstance(kept, Kept) else kept


def _json_content(answer: Response) -> Content:
    # Not rendered yet, it still has Django's own type.
    headers = {**answer.headers, "Content-Type": JSONRenderer.media_type}
    return Content(JSONRenderer().render(answer.data), headers)


# --- what stands inside a page -------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What a view has rendered to stand in a page; `longest` says how long it may be kept."""

    content: str
    status: int = 200
    longest: timedelta = KEPT_FOR

    @property
    def html(self) -> SafeString:
        """As a template takes it, which has made it."""
        return mark_safe(self.content)


def kept_part(request: SiteRequest, make: Callable[[], Part]) -> Part:
    """As `make` makes it, or as it was made for the same audience in the same state."""
    if not request.user.is_authenticated:
        return make()  # the whole answer is kept
    kept = _kept_for_audience(request, request.benchmark, "part", make, _part_content)
    return Part(kept.content.decode()) if isinstance(kept, Kept) else kept


def _part_content(part: Part) -> Content | None:
    may_be_kept = part.status == 200 and part.longest
    return Content(part.content.encode(), {}, part.longest) if may_be_kept else None
