"""What is answered before any view is asked, or where one broke: a page, or for a program JSON."""

import contextlib
import sys

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views import csrf, defaults

from benchmarks_app.language import speak
from benchmarks_app.problems import CONTENT_TYPE, problem
from benchwright.errors import BenchmarkError
from benchwright.full_disk import DiskFullError, is_disk_full

OF_PROGRAMS = "/api/v1/"
NOT_FOUND = "There is no such thing here, or it is not for you to see."
UNEXPECTED = "Unexpected error. The log of the site has the details."


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A page for a form; for a script, its code as JSON."""
    if request.content_type != "application/json":
        speak(request)
        return csrf.csrf_failure(request, reason=reason)
    message = "This page was open too long. Reload it and try again; nothing is lost."
    return JsonResponse({"code": "csrf", "message": message, "detail": {}}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path_info.startswith(OF_PROGRAMS):
        return _told(request, 404, "not-found", NOT_FOUND)
    speak(request)
    return defaults.page_not_found(request, exception)


def not_allowed(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not request.path_info.startswith(OF_PROGRAMS):
        speak(request)
    return defaults.permission_denied(request, exception)


def posts_only(request: HttpRequest, response: HttpResponseNotAllowed) -> HttpResponse:
    """A page for who opens the address of a form, as that of one that was refused there."""
    speak(request)
    context = {
        "title": _("Nothing is shown at this address"),
        "message": _("It takes what a form sends. Open the page that the form stands on."),
    }
    page = render(request, "error.html", context, status=405)
    page["Allow"] = response["Allow"]
    return page


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    status, code, message = 400, "bad-request", "The request is not one that can be read."
    if isinstance(exception, BenchmarkError):
        status, code, message = exception.status, exception.code, str(exception)
    elif isinstance(exception, DisallowedHost):
        message = "The site does not answer to this name. Who runs it can name it in ALLOWED_HOSTS."
    if request.path_info.startswith(OF_PROGRAMS):
        return _told(request, status, code, message)
    return _page(status, code, message)


def broken(request: HttpRequest) -> HttpResponse:
    # A file that is sent in is written before any view is asked.
    if is_disk_full(sys.exc_info()[1]):
        return _disk_full(request)
    if request.path_info.startswith(OF_PROGRAMS):
        return _told(request, 500, "unexpected", UNEXPECTED)
    return defaults.server_error(request)


def _disk_full(request: HttpRequest) -> HttpResponse:
    error = DiskFullError()
    for handler in getattr(request, "_upload_handlers", ()):
        # It tells once more that there is no room; the file goes all the same.
        with contextlib.suppress(OSError):
            handler.upload_interrupted()
    if request.path_info.startswith(OF_PROGRAMS):
        return _told(request, error.status, error.code, str(error))
    return _page(error.status, error.code, str(error))


def _page(status: int, code: str, message: str) -> HttpResponse:
    """A page without the request: what is sent cannot be read, and some of a page is of it."""
    context = {"title": "This did not work", "message": message, "code": code}
    page = render_to_string("error_alone.html", context)
    return HttpResponse(page, status=status, headers={"X-Error-Code": code})


def _told(request: HttpRequest, status: int, code: str, message: str) -> JsonResponse:
    """An error in the shape that every one of the API has."""
    error = problem(status=status, code=code, message=message, instance=request.path)
    headers = {"X-Error-Code": code}
    return JsonResponse(error, status=status, headers=headers, content_type=CONTENT_TYPE)
