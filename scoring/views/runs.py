"""What scoring adds to a run's page, and the buttons that make or score runs."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmarks_app.models import Benchmark, Run
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view, may
from benchmarks_app.selectors import hidden_queries
from benchmarks_app.services.exposure import record_read
from scoring import selectors
from scoring.charts import sorted_bars
from scoring.core.measures import parse_measure
from scoring.models import ScoreSet
from scoring.services import measuring
from scoring.services.baselines import start_baselines
from scoring.services.errors import NoOpenPhaseError
from scoring.services.scoring import start_scoring_runs
from scoring.services.slice_scores import SliceMean, slice_means_of, slices_on_board
from scoring.shown import BOARD, FURTHER, MEASURES, measures_on
from scoring.views.measures import Asked, asked_measure


def _run(request: HttpRequest, benchmark: Benchmark, pk: int) -> Run:
    seen = Run.objects.visible_to(request.user).select_related("owner")
    return get_object_or_404(seen, benchmark=benchmark, pk=pk)


@require_safe
@benchmark_view(Action.VIEW)
def run_scores(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    """The scores of a run: a part of its page, or a page of its own without htmx."""
    run = _run(request, benchmark, pk)
    score_sets = selectors.score_sets_of_run(run)
    asked = _add_asked(request, score_sets)
    context = {
        "run": run,
        "score_sets": selectors.score_sets_of_run(run) if asked.is_added else score_sets,
        "asked": asked,
        "measures": MEASURES,
        "board": BOARD,
        "further": FURTHER,
        "release": selectors.newest_release(benchmark),
        "slices": _slice_means(score_sets[:1], asked),
    }
    template = "scoring/_run_scores.html" if request.htmx else "scoring/run_scores.html"
    return render(request, template, context, status=422 if asked.error else 200)


def _slice_means(shown: list[ScoreSet], asked: Asked) -> list[SliceMean]:
    """The run's means by slice on the release that is shown first."""
    if not shown:
        return []
    score_set, measure = shown[0], asked.measure
    slices = slices_on_board(score_set.release)
    found = slice_means_of(score_set, slices, measure.name)
    lacking = {one.name for one in slices} - {row.slice.name for row in found}
    for name in lacking:
        measuring.add_slice_scores(
            release=score_set.release, score_sets=[score_set], slice_name=name, names=[measure.name]
        )
    return slice_means_of(score_set, slices, measure.name) if lacking else found


def _add_asked(request: HttpRequest, score_sets: list[ScoreSet]) -> Asked:
    """Compute the measure that is asked for on the release that is shown first."""
    shown = score_sets[:1]
    threshold = selectors.relevance_threshold(shown[0].release) if shown else 1
    asked = asked_measure(request, threshold)
    if shown and asked.is_added and request.user.is_authenticated:
        release = shown[0].release
        measuring.add_measure(release=release, score_sets=shown, name=asked.measure.name)
    return asked


@require_safe
@benchmark_view(Action.VIEW)
def run_queries(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    run = _run(request, benchmark, pk)
    score_set = _score_set(run, request.GET.get("release", ""))
    threshold = selectors.relevance_threshold(score_set.release)
    asked = asked_measure(request, threshold)
    measure = asked.measure
    is_best_first = request.GET.get("order") == "best"
    known, n_withheld = _seen_queries(
        request, score_set, measuring.per_query_values(score_set, measure.name)
    )
    rows = selectors.sorted_queries(known, column=measure.name, is_descending=is_best_first)
    page = page_of(request, rows)
    values = [row[measure.name] for row in rows]
    context = {
        "run": run,
        "score_set": score_set,
        "release": score_set.release,
        "measure": measure,
        "asked": asked,
        "measures": list(dict.fromkeys([*measures_on(threshold), measure])),
        "columns": [shown for shown in measures_on(threshold)[: len(BOARD)] if shown != measure],
        "is_best_first": is_best_first,
        "page": page,
        "rows": selectors.query_rows(score_set, page.object_list),
        "chart": sorted_bars(values),
        "mean": parse_measure(measure.name).over_all(values),
        "n_withheld": n_withheld,
    }
    status = 422 if asked.error else 200
    return render(request, "scoring/run_queries.html", context, status=status)


def _seen_queries(
    request: HttpRequest, score_set: ScoreSet, rows: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], int]:
    """The values this person may see, and of how many queries they are withheld.

    A value of a query of a hidden split tells of its grades: keepers see it, which is written down.
    """
    hidden = hidden_queries(score_set.release)
    if not hidden:
        return rows, 0
    benchmark = score_set.release.benchmark
    if may(request.user, Action.EDIT, benchmark):
        what = f"run {score_set.run.name} on {score_set.release.version}, query by query"
        record_read(actor=request.user, benchmark=benchmark, what=what)
        return rows, 0
    seen = [row for row in rows if row["qid"] not in hidden]
    return seen, len(rows) - len(seen)


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
