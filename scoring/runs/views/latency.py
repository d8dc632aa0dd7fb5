"""How long the queries of a run took: a part of its page, and a picture."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.charts import chart_response
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from scoring.scores.charts.latency import latency_chart, latency_words
from scoring.scores.selectors.runs import latencies_of, query_latencies
from scoring.scores.views.finding import run_of


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_latency(request: SiteRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """A part of the run's page, empty where nothing was measured; without htmx its own page."""
    run = run_of(request, benchmark, pk)
    latencies = latencies_of(run)
    context = {
        "run": run,
        "kept": latencies,
        "words": latency_words(latencies.n_queries if latencies else 0, latencies),
    }
    template = "scoring/runs/_run_latency.html" if request.htmx else "scoring/runs/run_latency.html"
    return render(request, template, context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_latency_chart(
    request: HttpRequest, benchmark: Benchmark, pk: int, format: str
) -> HttpResponse:
    latencies = latencies_of(run_of(request, benchmark, pk))
    if latencies is None:
        raise Http404
    return chart_response(request, latency_chart(query_latencies(latencies).values()), format)
