"""Static files: addresses that change with their content, and bytes that are compressed once."""

import base64
import gzip
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

COMPRESSED = frozenset({".css", ".js", ".svg", ".json"})
# Less fits into one packet as it is.
WORTH_IT = 1_000
# Names the styles that a browser has had, by their versions, and nobody; kept a year.
STYLES_COOKIE, STYLES_COOKIE_SECONDS = "styles", 365 * 24 * 3600
LARGEST_IN_PAGE, MOST_STYLES = 64 * 1024, 50
# As templates write it; what people write is escaped, and can be no such element.
STYLES_LINK = re.compile(
    rb'<link rel="stylesheet" href="'
    rb'(?P<address>[^"?]+/(?P<name>\w+/\w+\.css)\?v=(?P<version>[0-9a-f]{10}))">'
)


class VersionedStaticFiles(StaticFilesStorage):
    """Static files where they lie, nothing collected; `?v=` is a digest of what they say."""

    def url(self, name: str | None) -> str:
        version = version_of(name or "")
        return f"{super().url(name)}?v={version}" if version else super().url(name)


@cache
def version_of(name: str) -> str:
    """Ten hexadecimal digits of a file's SHA-256, read once per process; empty without a file."""
    path = finders.find(name)
    if not isinstance(path, str) or not Path(path).is_file():
        return ""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:10]


class CompressedStaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise, with a compressed twin of each text, made once and kept in the cache.

    Styles stand before the first paint of a page: on a slow line their bytes are its seconds.
    """

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """A file under the address of another version, by a page of another host, is not kept."""
        response: HttpResponse = WhiteNoiseMiddleware.serve(static_file, request)
        name = request.path.removeprefix(settings.STATIC_URL)
        if request.GET.get("v", version_of(name)) != version_of(name):
            response["Cache-Control"] = "no-cache"
        return response

    def get_static_file(self, path: str, url: str, stat_cache: Any = None) -> StaticFile:
        plain = super().get_static_file(path, url, stat_cache)
        twin = _twin_of(Path(path))
        if twin is None:
            return plain
        headers = [
            (name, value)
            for name, value in plain.alternatives[-1][2]
            if name not in {"Content-Length", "Vary", "ETag", "Last-Modified"}
        ]
        return StaticFile(path, headers, encodings={"gzip": str(twin)})


def _twin_of(path: Path) -> Path | None:
    """The compressed file beside whose name stands what it says; None where none is worth it."""
    if path.suffix not in COMPRESSED or path.stat().st_size < WORTH_IT:
        return None
    content = path.read_bytes()
    folder = Path(settings.DATA_DIR) / "cache" / "static"
    twin = folder / f"{hashlib.sha256(content).hexdigest()[:20]}{path.suffix}.gz"
    if not twin.exists():
        folder.mkdir(parents=True, exist_ok=True)
        begun = twin.with_suffix(f".{os.getpid()}")
        # The same bytes whenever it is made: no time is written into it.
        begun.write_bytes(gzip.compress(content, 9, mtime=0))
        begun.replace(twin)
    return twin


class _Styles(NamedTuple):
    content: bytes
    source: str  # as a Content-Security-Policy names them: by what they say


@cache
def _styles_of(name: str, version: str) -> _Styles | None:
    """Styles to be sent inside a page; None where they are too large, or another version's."""
    path = finders.find(name)
    if not isinstance(path, str) or version != version_of(name):
        return None
    content = Path(path).read_bytes()
    if len(content) > LARGEST_IN_PAGE:
        return None
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    return _Styles(content, f"'sha256-{digest}'")


class FirstStylesMiddleware:
    """To a browser that has not had them, the styles of a page go inside the page (ADR 43).

    A first paint then waits for one answer and not for two. The policy names these styles by their
    digest, so that still no other style inside a page holds. The browser fetches the file when the
    page is painted, and a cookie says that it has: the next page has the link alone. Whoever does
    not say that it opens a page for somebody (`Sec-Fetch-Dest`), such as a script, gets links. A
    page that anybody may keep has links for everybody: it is the same bytes for all.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        opens = request.headers.get("Sec-Fetch-Dest") == "document"
        is_for_all = response.get("Cache-Control", "").startswith("public")
        if opens and is_page and not is_for_all and not response.streaming:
            _bring_styles(request, response)
        return response


def styles_of(content: bytes) -> tuple[str, ...]:
    """The versions of the styles that a page links to."""
    return tuple(link["version"].decode() for link in STYLES_LINK.finditer(content))


def lacks_styles(request: HttpRequest, versions: Iterable[str]) -> bool:
    """Whether a page with these styles goes to a browser with some of them inside."""
    opens = request.headers.get("Sec-Fetch-Dest") == "document"
    return opens and not _had(request).issuperset(versions)


def _had(request: HttpRequest) -> set[str]:
    return set(re.findall(r"\b[0-9a-f]{10}\b", request.COOKIES.get(STYLES_COOKIE, "")))


def _bring_styles(request: HttpRequest, response: HttpResponse) -> None:
    had = _had(request)
    brought: dict[str, str] = {}  # sources by version

    def inside(link: re.Match[bytes]) -> bytes:
        version = link["version"].decode()
        styles = None if version in had else _styles_of(link["name"].decode(), version)
        if styles is None:
            return link[0]
        brought[version] = styles.source
        later = b'<link rel="prefetch" as="style" href="%s">' % link["address"]
        return b"<style>%s</style>%s" % (styles.content, later)

    content = STYLES_LINK.sub(inside, response.content)
    if not brought:
        return
    response.content = content
    if "Content-Length" in response:
        response["Content-Length"] = len(content)
    # What `csp_update` sets, which would replace what the view has set by it.
    policy = vars(response).get("_csp_update") or {}
    vars(response)["_csp_update"] = policy | {"style-src": list(brought.values())}
    response.set_cookie(
        STYLES_COOKIE,
        ".".join([*brought, *sorted(had)][:MOST_STYLES]),
        max_age=STYLES_COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
