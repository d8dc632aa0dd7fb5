"""Domain errors become pages here, and nowhere else; and who may keep an answer is said here."""

import logging
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.template.loader import render_to_string

from benchmarks_app.language import is_translated, speak, told, translated
from benchmarks_app.migrated import NotMigratedError, explained
from benchwright.errors import BenchmarkError
from benchwright.full_disk import DiskFullError, is_disk_full

log = logging.getLogger(__name__)


class NullCharacterMiddleware:
    """An address with a NUL is no request (400): PostgreSQL takes no such text, and fails."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest
        return self.get_response(request)


class CompressedPagesMiddleware(GZipMiddleware):
    """Pages go compressed, which on a slow line is most of their time; files and streams do not.

    Django adds up to 100 random bytes to each, and masks the token of forms anew for each answer:
    from a length nobody reads what stands on a page.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        is_page = response.get("Content-Type", "").startswith("text/html")
        if response.streaming or not is_page:
            return response
        return super().process_response(request, response)


class DomainErrorMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

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
        if not isinstance(error, BenchmarkError):
            return None
        if is_translated(error, request):
            speak(request)
        context = {
            "title": translated(error.heading),
            "message": told(error),
            "code": error.code,
            "problems": error.facts.get("problems", ()),
        }
        response = render(request, "error.html", context, status=error.status)
        # For scripts: the sentence may be reworded, the code stays.
        response["X-Error-Code"] = error.code
        if error.retry_after is not None:
            response["Retry-After"] = error.retry_after
        return response


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
