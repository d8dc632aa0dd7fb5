"""What is noted of each request: how long it took, and the name that its lines of the log have."""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from benchmarks_app.operating.spans import span
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
        name = request.headers.get(HEADER, "") if settings.TRUSTED_PROXIES else ""
        token = REQUEST.set(request_name(name))
        began = time.perf_counter()
        try:
            with span("request") as tell:
                response = self.get_response(request)
                view = _view(request)
                tell(
                    f"{_method(request)} {view}",
                    http__request__method=_method(request),
                    http__response__status_code=response.status_code,
                    benchwright__view=view,
                )
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

        labels = _view(request), _method(request), f"{status // 100}xx"
        REQUEST_SECONDS.labels(*labels).observe(seconds)


def _view(request: HttpRequest) -> str:
    """The name of the address that was asked for; no address itself, which may have a secret."""
    return request.resolver_match.view_name if request.resolver_match else "none"


def _method(request: HttpRequest) -> str:
    return request.method if request.method in METHODS else "other"
