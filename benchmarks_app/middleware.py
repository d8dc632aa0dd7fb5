"""Domain errors become pages here, and nowhere else; and who may keep an answer is said here."""

import logging
import struct
from collections.abc import Callable
from secrets import randbelow, token_bytes
from typing import cast
from urllib.parse import parse_qs, urlencode, urlsplit

import zstandard
from django.conf import settings
from django.core.exceptions import BadRequest, ObjectDoesNotExist
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme

from benchmarks_app.common.views import bad_request, not_found, posts_only
from benchmarks_app.errors import LengthMissingError
from benchmarks_app.language import is_translated, speak, told, translated
from benchmarks_app.migrated import NotMigratedError, explained
from benchmarks_app.requests import accepted_encoding
from benchwright.errors import BenchmarkError
from benchwright.full_disk import DiskFullError, is_disk_full

log = logging.getLogger(__name__)
# Of a page that is made for one person: higher ones take four times as long for a hundredth.
ZSTD_LEVEL, LEAST = 3, 200
SKIPPABLE = 0x184D2A50


class NullCharacterMiddleware:
    """An address with a NUL is no request (400): PostgreSQL takes no such text, and fails."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest
        return self.get_response(request)


class LengthMiddleware:
    """A body without a length is refused (411): it would be read as an empty one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "Transfer-Encoding" in request.headers and not request.META.get("CONTENT_LENGTH"):
            return bad_request(request, LengthMissingError())
        return self.get_response(request)


class CompressedPagesMiddleware(GZipMiddleware):
    """Pages go compressed, which on a slow line is most of their time; files and streams do not.

    Up to 100 random bytes are added to each, and Django masks the token of forms anew for each
    answer: from a length nobody reads what stands on a page. zstd takes a tenth of the time of gzip
    and comes out smaller; it goes to who takes it, as browsers do by HTTPS.
    """

    max_random_bytes = 100

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        is_page = response.get("Content-Type", "").startswith("text/html")
        if response.streaming or not is_page:
            return response
        page = cast(HttpResponse, response)
        encoding = accepted_encoding(request.headers.get("Accept-Encoding", ""))
        is_plain = len(page.content) >= LEAST and not page.has_header("Content-Encoding")
        if encoding != "zstd" or not is_plain:
            return super().process_response(request, page)
        page.content = zstandard.compress(page.content, ZSTD_LEVEL) + _passed_over()
        page["Content-Encoding"], page["Content-Length"] = "zstd", str(len(page.content))
        if page.get("ETag", "").startswith('"'):
            page["ETag"] = f"W/{page['ETag']}"  # the same words, other bytes
        patch_vary_headers(page, ("Accept-Encoding",))
        return page


def _passed_over() -> bytes:
    """A frame of some length that a reader of zstd skips (RFC 8878, 3.1.2)."""
    n = randbelow(CompressedPagesMiddleware.max_random_bytes + 1)
    return struct.pack("<II", SKIPPABLE, n) + token_bytes(n)


class DomainErrorMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and request.method == "GET":
            return posts_only(request, response)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if is_disk_full(error):
            log.error("the disk is full", exc_info=error)
            error = DiskFullError()
        error = explained(error)
        if isinstance(error, NotMigratedError):
            log.error("%s", error)
            response = HttpResponse(render_to_string("503.html"), status=error.status)
            response["X-Error-Code"] = error.code
            return response
        if isinstance(error, ObjectDoesNotExist):  # somebody deleted it since the request began
            log.warning("what a page is of is gone", exc_info=error)
            return not_found(request, Http404())
        if not isinstance(error, BenchmarkError):
            return None
        if is_translated(error, request):
            speak(request)
        context = {
            "title": translated(error.heading),
            "message": told(error),
            "code": error.code,
            "problems": error.facts.get("problems", ()),
            "back_url": _page_of_form(request),
        }
        response = render(request, "error.html", context, status=error.status)
        # For scripts: the sentence may be reworded, the code stays.
        response["X-Error-Code"] = error.code
        if error.retry_after is not None:
            response["Retry-After"] = error.retry_after
        return response


class UnsavedFormMiddleware:
    """Who is sent to the sign-in by a form reads there that nothing was saved.

    They are led back to the page of the form: its own address may take posts only.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        address = urlsplit(response.get("Location", ""))
        following = parse_qs(address.query).get("next")
        if request.method != "POST" or address.path != reverse("sign-in") or not following:
            return response
        page = urlsplit(_page_of_form(request))._replace(scheme="", netloc="").geturl()
        query = urlencode({"next": page or following[0], "unsaved": 1}, safe="/")
        return HttpResponseRedirect(f"{address.path}?{query}")


def _page_of_form(request: HttpRequest) -> str:
    """The page of this site whose form was sent; nothing where none was, or it is not known."""
    page = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(
        page, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return page if request.method == "POST" and is_ours else ""


class PrivateAnswersMiddleware:
    """No cache keeps what the API answers, nor what was made for one person.

    Whoever comes with a session or a key, or gets a cookie, is one; to look the person up would
    cost a query. What the API answers with a tag their own cache may keep, and asks each time
    whether it is still so. An answer that says itself how long it is good (pictures, assets) keeps
    that.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_of_one = bool(
            settings.SESSION_COOKIE_NAME in request.COOKIES
            or "Authorization" in request.headers
            or response.cookies
        )
        is_api = request.path_info.startswith("/api/")
        if is_api and response.has_header("ETag"):
            response["Cache-Control"] = "private, no-cache"
        elif is_api or (is_of_one and not response.has_header("Cache-Control")):
            response["Cache-Control"] = "private, no-store"
        return response
