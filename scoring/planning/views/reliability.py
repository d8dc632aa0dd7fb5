"""What a benchmark can show: a panel that other pages ask for, and the chart of a slice."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.models import Benchmark, Slice
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.reach import reach_of
from benchmarks_app.requests import SiteRequest
from benchmarks_app.slices.services.records import members_of
from benchwright.statistics.reliability import ASSUMED_SOURCE
from scoring.planning.services.reliability import reliability_of
from scoring.scores.charts import reach_chart
from scoring.scores.selectors.releases import release_of_version


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def reliability(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The panel: of all queries, or of what a release (`?release=`) grades; a page without htmx."""
    version = request.GET.get("release", "")
    release = release_of_version(benchmark, version) if version else None
    if version and release is None:
        raise Http404
    context = {
        "found": reliability_of(benchmark, release),
        "release": release,
        "assumed_source": ASSUMED_SOURCE,
    }
    template = (
        "scoring/planning/_reliability.html"
        if request.htmx
        else "scoring/planning/reliability.html"
    )
    return render(request, template, context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def slice_reach_chart(
    request: HttpRequest, benchmark: Benchmark, slice_name: str, format: str
) -> HttpResponse:
    """The smallest visible difference by the number of queries, with a slice on the curve."""
    part = get_object_or_404(Slice, benchmark=benchmark, name=slice_name)
    qids = members_of(part)
    if not qids:
        raise Http404
    reach = reach_of(benchmark, {part.name: qids})[part.name]
    return chart_response(request, reach_chart(part.name, reach), format)
