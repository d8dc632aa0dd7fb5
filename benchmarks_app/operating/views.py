"""Figures of the site, for who has the operator's token."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """In Prometheus' format; there is nothing at this address where no token was set."""
    if not settings.METRICS_TOKEN:
        raise Http404
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() != "bearer" or not constant_time_compare(token, settings.METRICS_TOKEN):
        return HttpResponse(
            "Send the token of METRICS_TOKEN as a bearer token.\n",
            status=401,
            content_type="text/plain",
            headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
        )
    from benchmarks_app.operating.figures import exposition

    return HttpResponse(exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")
