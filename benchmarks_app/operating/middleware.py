"""What is noted of each request: how long it took, and the name that its lines of the log have."""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from benchmarks_app.operating.tracing import REQUEST, request_name

HEADER = "X-Request-ID"
BROKEN = 500
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class WatchedRequests:
    """Names a request, and times it where the operator reads figures.

    An answer carries the name where something broke: who tells of it can be helped.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.headers.get(HEADER, "") if settings.TRUSTED_PROXIES else ""
        token = REQUEST.set(request_name(sent))
        began = time.perf_counter()
        try:
            response = self.get_response(request)
            if response.status_code >= BROKEN:
                response[HEADER] = REQUEST.get()
        finally:
            REQUEST.reset(token)
        if settings.METRICS_TOKEN:
            self._time(request, response.status_code, time.perf_counter() - began)
        return response

    @staticmethod
    def _time(request: HttpRequest, status: int, seconds: float) -> None:
        from benchmarks_app.operating.figures import REQUEST_SECONDS

        match = request.resolver_match
        view = match.view_name if match else "none"
        method = request.method if request.method in METHODS else "other"
        REQUEST_SECONDS.labels(view, method, f"{status // 100}xx").observe(seconds)
