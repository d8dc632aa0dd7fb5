"""Domain errors become pages here, and nowhere else."""

import logging
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from benchmarks_app.core.errors import BenchmarkError
from benchmarks_app.core.full_disk import DiskFullError, is_disk_full

log = logging.getLogger(__name__)


class DomainErrorMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if is_disk_full(error):
            log.error("the disk is full", exc_info=error)
            error = DiskFullError()
        if not isinstance(error, BenchmarkError):
            return None
        context = {
            "title": "This did not work",
            "message": str(error),
            "code": error.code,
            "problems": error.facts.get("problems", ()),
        }
        response = render(request, "error.html", context, status=error.status)
        # For scripts: the sentence may be reworded, the code stays.
        response["X-Error-Code"] = error.code
        return response
