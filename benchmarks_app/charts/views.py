"""What charts need beside their own addresses: the script that brings them to life."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from benchmarks_app.charts import drawing

FOREVER = "public, max-age=31536000, immutable"


@require_safe
def chart_bundle(request: HttpRequest, digest: str) -> HttpResponse:
    """Vega-Embed with all it needs, as the drawing library carries it; its name has its digest."""
    if digest != drawing.bundle_digest():
        raise Http404
    response = HttpResponse(drawing.bundle_gzipped(), content_type="text/javascript; charset=utf-8")
    response["Content-Encoding"] = "gzip"
    response["Cache-Control"] = FOREVER
    return response
