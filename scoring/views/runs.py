"""What scoring adds to a run's page, and the buttons that make or score runs."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmarks_app.models import Benchmark, Run
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from scoring import selectors
from scoring.charts import sorted_bars
from scoring.models import ScoreSet
from scoring.services.baselines import start_baselines
from scoring.services.errors import NoOpenPhaseError
from scoring.services.scoring import start_scoring_runs


def _run(request: HttpRequest, benchmark: Benchmark, pk: int) -> Run:
    seen = Run.objects.visible_to(request.user).select_related("owner")
    return get_object_or_404(seen, benchmark=benchmark, pk=pk)


@require_safe
@benchmark_view(Action.VIEW)
def run_scores(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The scores of a run: a part of its page, or a page of its own without htmx."""
    run = _run(request, benchmark, pk)
    context = {
        "run": run,
        "score_sets": selectors.score_sets_of_run(run),
        "measures": selectors.MEASURES,
        "board": selectors.BOARD,
        "further": selectors.FURTHER,
        "release": selectors.newest_release(benchmark),
    }
    template = "scoring/_run_scores.html" if request.htmx else "scoring/run_scores.html"
    return render(request, template, context)


@require_safe
@benchmark_view(Action.VIEW)
def run_queries(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    run = _run(request, benchmark, pk)
    score_set = _score_set(run, request.GET.get("release", ""))
    measure = selectors.measure_of(request.GET.get("m"))
    is_best_first = request.GET.get("order") == "best"
    rows = selectors.sorted_queries(
        selectors.per_query_values(score_set), column=measure.name, is_descending=is_best_first
    )
    page = page_of(request, rows)
    values = [row[measure.name] for row in rows]
    context = {
        "run": run,
        "score_set": score_set,
        "release": score_set.release,
        "measure": measure,
        "measures": selectors.MEASURES,
        "columns": [shown for shown in selectors.BOARD if shown != measure],
        "is_best_first": is_best_first,
        "page": page,
        "rows": selectors.query_rows(score_set, page.object_list),
        "chart": sorted_bars(values),
        "mean": score_set.means.get(measure.name),
    }
    return render(request, "scoring/run_queries.html", context)


def _score_set(run: Run, version: str) -> ScoreSet:
    """The score set of the release that is asked for, of the newest where none is."""
    for score_set in selectors.score_sets_of_run(run):
        if not version or score_set.release.version == version:
            return score_set
    raise Http404


@require_POST
@benchmark_view(Action.EDIT)
def runs_score(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Score the runs that a release (the newest, or the one posted) has no scores of."""
    version = request.POST.get("release", "")
    release = (
        selectors.release_of_version(benchmark, version)
        if version
        else selectors.newest_release(benchmark)
    )
    if release is None:
        raise NoOpenPhaseError(benchmark=benchmark.name)
    job = start_scoring_runs(release=release, user=request.user)
    messages.success(request, f"The runs are being scored on {release.version}.")
    return redirect(job)


@require_POST
@benchmark_view(Action.EDIT)
def baselines_create(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    job = start_baselines(benchmark=benchmark, user=request.user)
    messages.success(request, "Four baselines are being made.")
    return redirect(job)
