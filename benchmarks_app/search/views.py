"""The page that finds pages; the palette shows its results as one types."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks_app.models import Benchmark
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest, SiteRequest
from benchmarks_app.search.selectors import asked_words, hits_of, site_hits_of


@require_safe
@benchmark_view(Action.VIEW)
def search(request: SiteRequest, benchmark: Benchmark) -> HttpResponse:
    words = asked_words(request.GET.get("q", ""))
    context = {"words": words, "groups": hits_of(benchmark, request.user, words)}
    part = "_search_results" if _is_part(request) else "search"
    return render(request, f"benchmarks_app/search/{part}.html", context)


@login_required
@require_safe
def site_search(request: PersonRequest) -> HttpResponse:
    """What is found from pages of no benchmark."""
    words = asked_words(request.GET.get("q", ""))
    context = {"words": words, "groups": site_hits_of(request.user, words)}
    part = "_search_results" if _is_part(request) else "search"
    return render(request, f"benchmarks_app/search/{part}.html", context)


def _is_part(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"
