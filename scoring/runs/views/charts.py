"""The pictures of a run's pages, each at its own address, and how long its queries took."""

from collections.abc import Callable

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.charts import Chart, chart_response
from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import SiteRequest
from benchwright.errors import ScoringError
from scoring.comparisons.services.against import baselines_for, slices_against
from scoring.models import ScoreSet
from scoring.runs.charts import cumulative_chart, distribution_chart, grades_chart, slices_chart
from scoring.runs.services import grade_names, grade_ranks_of
from scoring.runs.views.runs import chosen_baseline
from scoring.scores.charts import latency_chart, latency_words
from scoring.scores.selectors.releases import measures_stored
from scoring.scores.selectors.runs import latencies_of, query_latencies
from scoring.scores.services import measuring
from scoring.scores.services.firewall import looked_at, measure_seen, sight_of, sight_written_down
from scoring.scores.shown import Shown
from scoring.scores.views import run_of, score_set_of


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_chart(
    request: HttpRequest,
    benchmark: Benchmark,
    pk: int,
    version: str,
    measure: str,
    run_chart: str,
    format: str,
) -> HttpResponse:
    """One of `CHARTS`, by its name; that of slices may name a baseline: `slices-12`."""
    name, _, baseline = run_chart.partition("-")
    if name not in CHARTS:
        raise Http404
    score_set = score_set_of(run_of(request, benchmark, pk), version)
    chosen = _measure(request, score_set, measure)
    return chart_response(request, CHARTS[name](request, score_set, chosen, baseline), format)


def _measure(request: HttpRequest, score_set: ScoreSet, text: str) -> Shown:
    """The measure of the address; others than those stored are for who is signed in."""
    try:
        chosen = measure_seen(request.user, score_set.release, text)
    except ScoringError as error:
        raise Http404 from error
    is_stored = chosen.name in measures_stored(score_set.release)
    if not is_stored and not request.user.is_authenticated:
        raise Http404
    return chosen


def distribution(request: HttpRequest, score_set: ScoreSet, measure: Shown, _: str) -> Chart:
    return distribution_chart(measure.label, _values(request, score_set, measure))


def cumulated(request: HttpRequest, score_set: ScoreSet, measure: Shown, _: str) -> Chart:
    return cumulative_chart(measure.label, _values(request, score_set, measure))


def _values(request: HttpRequest, score_set: ScoreSet, measure: Shown) -> list[float]:
    """Of the queries whose values this person may see."""
    what = looked_at(score_set, "how its values are spread")
    sight = sight_written_down(request.user, score_set.release, what)
    rows = measuring.per_query_values(score_set, measure.name)
    return [row[measure.name] for row in rows if row["qid"] not in sight.hidden]


def grades(request: HttpRequest, score_set: ScoreSet, measure: Shown, _: str) -> Chart:
    """Counts of documents, which in hidden queries would tell of single ones."""
    what = looked_at(score_set, "ranks by grade")
    sight = sight_written_down(request.user, score_set.release, what)
    return grades_chart(grade_ranks_of(score_set, sight), grade_names(score_set.release))


def slices(request: HttpRequest, score_set: ScoreSet, measure: Shown, wanted: str) -> Chart:
    sight = sight_of(request.user, score_set.release)
    choices = baselines_for(request.user, score_set)
    baseline = chosen_baseline(wanted, choices)
    rows = slices_against(score_set, baseline, measure.name, sight, request.user)
    return slices_chart(measure.label, rows, baseline.run.name if baseline else "")


CHARTS: dict[str, Callable[[HttpRequest, ScoreSet, Shown, str], Chart]] = {
    "distribution": distribution,
    "cumulative": cumulated,
    "grades": grades,
    "slices": slices,
}


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
