"""Pools: which there are."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.common.selectors import pools as selectors
from benchmarks_app.models import Benchmark, Run
from benchmarks_app.paging import page_of
from benchmarks_app.permissions import Action, benchmark_view
from benchmarks_app.requests import PersonRequest

PAGE_SIZE = 25


@require_safe
@benchmark_view(Action.SEE_POOLS)
def pool_list(request: PersonRequest, benchmark: Benchmark) -> HttpResponse:
    page = page_of(request, selectors.pools_of(benchmark), PAGE_SIZE)
    n_runs = Run.objects.visible_to(request.user).filter(benchmark=benchmark).count()
    return render(request, "annotation/pools/pool_list.html", {"page": page, "n_runs": n_runs})
