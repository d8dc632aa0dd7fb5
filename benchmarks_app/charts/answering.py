"""A chart's own address: one picture, or its numbers, in the format that the address ends in."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag

from benchmarks_app.charts.chart import SIZES, Chart
from benchmarks_app.charts.themes import THEMES

TYPES = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}
# What the browser asks for again each time is told in a line that nothing has changed.
CACHING = "private, no-cache"


def chart_response(request: HttpRequest, chart: Chart, format: str) -> HttpResponse:
    """The chart as svg, png, csv or json (Vega-Lite with data); anything else is not found.

    `?theme=dark` and `?size=narrow` (or `wide`) choose the look; with `?download` the browser
    saves the file.
    """
    theme = request.GET.get("theme", "light")
    size = request.GET.get("size", "column")
    if format not in TYPES or theme not in THEMES or size not in SIZES:
        raise Http404
    etag = quote_etag(chart.digest(theme, size, format))
    response = get_conditional_response(request, etag=etag)
    response = response or _answer(chart, format, theme, size)
    response["ETag"] = etag
    response["Cache-Control"] = CACHING
    if "download" in request.GET:
        response["Content-Disposition"] = f'attachment; filename="{_file_name(chart)}.{format}"'
    patch_vary_headers(response, ["Cookie"])
    return response


def _answer(chart: Chart, format: str, theme: str, size: str) -> HttpResponse:
    if format == "csv":
        return HttpResponse(chart.csv(), content_type=TYPES[format])
    if format == "json":
        return JsonResponse(chart.vega_lite(theme, size))
    from benchmarks_app.charts.drawing import draw

    drawn = draw(chart, theme=theme, format=format, size=size)
    return HttpResponse(drawn, content_type=TYPES[format])


def _file_name(chart: Chart) -> str:
    words = "".join(letter if letter.isalnum() else " " for letter in chart.title.lower())
    return "-".join(words.encode("ascii", "ignore").decode().split()) or "chart"
