"""Runs of a benchmark."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from benchmarks_app.common.selectors.naming import facts_told, is_anonymous_to
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_list(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    kind = request.GET.get("kind", "")
    runs = Run.objects.visible_to(request.user).standing().filter(benchmark=benchmark)
    runs = runs.select_related("owner", "team", "benchmark").order_by("name", "pk")
    if kind in Run.Kind.values:
        runs = runs.filter(kind=kind)
    context = {
        "page": page_of(request, runs),
        "kind": kind,
        "kinds": Run.Kind.choices,
        "n_queries": benchmark.queries.committed().count(),
        # Runs are compared on a release.
        "may_compare": benchmark.releases.published().exists(),
        "has_corpus": benchmark.current_corpus_version is not None and benchmark.corpus.has_texts,
    }
    return render(request, "benchmarks_app/collections/run_list.html", context)


@require_safe
@benchmark_view(Action.SEE_RESULTS)
def run_detail(request: HttpRequest, benchmark: Benchmark, pk: int) -> HttpResponse:
    runs = Run.objects.visible_to(request.user).select_related(
        "owner", "team", "upload", "benchmark"
    )
    run = get_object_or_404(runs, benchmark=benchmark, pk=pk)
    context = {
        "run": run,
        "is_anonymous": is_anonymous_to(run, request.user),
        "facts": facts_told(run, request.user),
    }
    return render(request, "benchmarks_app/collections/run_detail.html", context)
