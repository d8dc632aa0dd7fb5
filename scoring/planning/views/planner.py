"""The planner: what labelling shows, what it costs, for which slice it is not enough."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.statistics.reliability import ASSUMED_SOURCE
from scoring.planning.charts import cost_chart
from scoring.planning.forms import PlannerForm, read_wish, wish_text
from scoring.planning.services.planning import known_of, planned


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def planner(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    """The form with its answer; the answer alone for htmx."""
    known = known_of(benchmark, request.user)
    form = PlannerForm(
        request.GET.dict(), seconds=known.seconds, has_runs=not known.growth.is_assumed
    )
    wish = form.wish()
    if known.growth.is_assumed:
        known = known_of(benchmark, request.user, systems=wish.systems)
    context = {
        "form": form,
        "wish": wish,
        "wish_text": wish_text(wish),
        "found": planned(benchmark, known, wish),
        "known": known,
        "assumed_source": ASSUMED_SOURCE,
    }
    template = (
        "scoring/planning/_planner_answer.html" if request.htmx else "scoring/planning/planner.html"
    )
    return render(request, template, context, status=422 if form.errors else 200)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def planner_chart(
    request: HttpRequest, benchmark: Benchmark, wish: str, format: str
) -> HttpResponse:
    chosen = read_wish(wish)
    if chosen is None:
        raise Http404
    known = known_of(benchmark, request.user, systems=chosen.systems)
    return chart_response(request, cost_chart(planned(benchmark, known, chosen), chosen), format)
